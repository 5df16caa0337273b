//! Sparse rows times a block against nalgebra-sparse.

use nalgebra::DMatrix;
use nalgebra_sparse::CsrMatrix;
use nalgebra_sparse::ops::Op;
use nalgebra_sparse::ops::serial::spmm_csr_dense;
use undertone::linalg::{Block, SparseRows};

use super::{best_in_turns, values};

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
        let repetitions = if quick { 1 } else { 8 };
        let mut projections = vec![0.0; rows * p];
        let mut product = DMatrix::zeros(rows, p);
        let [ours, theirs] = best_in_turns(
            repetitions,
            [
                &mut || matrix.project_into(x.values(), p, &mut projections),
                &mut || multiply(&mut product, &csr, &dense),
            ],
        );
        line("R X", flops, ours, theirs);
        let mut image = DMatrix::zeros(columns, p);
        let [ours, theirs] = best_in_turns(
            repetitions,
            [
                &mut || drop(std::hint::black_box(matrix.gram_product(&x))),
                &mut || {
                    multiply(&mut product, &csr, &dense);
                    multiply(&mut image, &transposed, &product);
                },
            ],
        );
        line("Rt(R X)", 2.0 * flops, ours, theirs);
    }
}

/// Their product over what `out` held, as ours: neither allocates.
fn multiply(out: &mut DMatrix<f64>, matrix: &CsrMatrix<f64>, dense: &DMatrix<f64>) {
    spmm_csr_dense(0.0, out, 1.0, Op::NoOp(matrix), Op::NoOp(dense));
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
