//! Sparse rows times a block against nalgebra-sparse.

use nalgebra_sparse::CsrMatrix;
use undertone::linalg::{Block, SparseRows};

use super::{best_of, values};

/// GFLOP/s (2 per entry and column) of R·X and of Rᵀ(R·X).
pub(crate) fn bench(quick: bool) {
    println!("\nsparse rows × dense block");
    println!(
        "{:>18} {:>9} {:>4} {:>10} {:>9} {:>15} {:>7}",
        "rows x columns", "entries", "p", "product", "GFLOP/s", "nalgebra-sparse", "ratio"
    );
    let (rows, columns, degree) = if quick {
        (2000, 500, 20)
    } else {
        (100_000, 10_000, 100)
    };
    let matrix = matrix(rows, columns, degree);
    let csr = csr(&matrix);
    let transposed = csr.transpose();
    let widths: &[usize] = if quick { &[32] } else { &[8, 32, 64] };
    for &p in widths {
        let x = Block::from_values(columns, p, values(columns * p));
        let dense = x.to_matrix();
        let flops = 2.0 * (matrix.entries() * p) as f64;
        let line = |product: &str, flops: f64, ours: f64, theirs: f64| {
            println!(
                "{:>18} {:>9} {p:>4} {product:>10} {:>9.1} {:>15.1} {:>7.1}",
                format!("{rows} x {columns}"),
                matrix.entries(),
                flops / ours / 1e9,
                flops / theirs / 1e9,
                theirs / ours
            );
        };
        let ours = best_of(5, || matrix.project(x.values(), p));
        let theirs = best_of(2, || &csr * &dense);
        line("R X", flops, ours, theirs);
        let ours = best_of(5, || matrix.gram_product(&x));
        let theirs = best_of(2, || &transposed * (&csr * &dense));
        line("Rt(R X)", 2.0 * flops, ours, theirs);
    }
}

fn matrix(rows: usize, columns: usize, degree: usize) -> SparseRows {
    let mut matrix = SparseRows::new(columns);
    let step = columns / degree;
    for i in 0..rows {
        // One column of every stripe, so that they ascend.
        let column = |k: usize| k * step + (i * 7919 + k * 104_729 + i * k) % step;
        matrix
            .push_row((0..degree).map(|k| (column(k) as u32, 1.0 / (1 + k) as f64)))
            .expect("ascending");
    }
    matrix
}

fn csr(matrix: &SparseRows) -> CsrMatrix<f64> {
    let (mut offsets, mut columns, mut entries) = (vec![0], Vec::new(), Vec::new());
    for i in 0..matrix.len() {
        let (c, v) = matrix.row(i);
        columns.extend(c.iter().map(|&c| c as usize));
        entries.extend_from_slice(v);
        offsets.push(columns.len());
    }
    CsrMatrix::try_from_csr_data(matrix.len(), matrix.dimension(), offsets, columns, entries)
        .expect("rows ascend")
}
