//! Sparse rows times a dense row-major block, and back, in columns of a fixed width held in registers.
//!
//! One sum per output coordinate, over the entries in their order, whatever the width and the instruction
//! set: products and sums are never fused, so the bits are those of the plain loop.

use std::ops::Range;

use super::SparseRows;

/// Writes the projections r·X of the rows `range` to `out`, (range length) × p.
pub(super) fn project(
    rows: &SparseRows,
    range: Range<usize>,
    x: &[f64],
    p: usize,
    out: &mut [f64],
) {
    pulp::Arch::new().dispatch(Project {
        rows,
        range,
        x,
        p,
        out,
    });
}

/// Adds the items `items` of the n × p product RᵀP of the rows `range` to `out`, (items length) × p.
///
/// `projections` are those of the range alone.
pub(super) fn add_back(
    rows: &SparseRows,
    range: Range<usize>,
    projections: &[f64],
    p: usize,
    items: Range<usize>,
    out: &mut [f64],
) {
    pulp::Arch::new().dispatch(AddBack {
        rows,
        range,
        projections,
        p,
        items,
        out,
    });
}

struct Project<'a> {
    rows: &'a SparseRows,
    range: Range<usize>,
    x: &'a [f64],
    p: usize,
    out: &'a mut [f64],
}

struct AddBack<'a> {
    rows: &'a SparseRows,
    range: Range<usize>,
    projections: &'a [f64],
    p: usize,
    items: Range<usize>,
    out: &'a mut [f64],
}

/// Adds `value` times `x` to `sums`, which is as long.
///
/// By index: in the build of tests `zip` of two slices is a call of its own, which costs more than the sums.
#[inline(always)]
fn add_multiple(sums: &mut [f64], value: f64, x: &[f64]) {
    let x = &x[..sums.len()];
    for (place, sum) in sums.iter_mut().enumerate() {
        *sum += value * x[place];
    }
}

/// Calls `$kernel::<width>(first column)` for `$p` columns, widest blocks first.
macro_rules! in_blocks {
    ($p:expr, $task:ident.$kernel:ident) => {{
        let (p, mut first) = ($p, 0);
        while p - first >= 32 {
            $task.$kernel::<32>(first);
            first += 32;
        }
        if p - first >= 16 {
            $task.$kernel::<16>(first);
            first += 16;
        }
        if p - first >= 8 {
            $task.$kernel::<8>(first);
            first += 8;
        }
        if p - first >= 4 {
            $task.$kernel::<4>(first);
            first += 4;
        }
        while first < p {
            $task.$kernel::<1>(first);
            first += 1;
        }
    }};
}

impl pulp::NullaryFnOnce for Project<'_> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        in_blocks!(self.p, self.columns);
    }
}

impl Project<'_> {
    #[inline(always)]
    fn columns<const B: usize>(&mut self, first: usize) {
        let p = self.p;
        for (i, out) in self.range.clone().zip(self.out.chunks_exact_mut(p)) {
            let (columns, values) = self.rows.row(i);
            let mut sums = [0.0; B];
            for (&column, &value) in columns.iter().zip(values) {
                let x = &self.x[column as usize * p + first..][..B];
                add_multiple(&mut sums, value, x);
            }
            out[first..first + B].copy_from_slice(&sums);
        }
    }
}

impl pulp::NullaryFnOnce for AddBack<'_> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        in_blocks!(self.p, self.columns);
    }
}

impl AddBack<'_> {
    #[inline(always)]
    fn columns<const B: usize>(&mut self, first: usize) {
        let (p, items) = (self.p, self.items.clone());
        let (begin, end) = (items.start as u32, items.end as u32);
        for (i, projection) in self.range.clone().zip(self.projections.chunks_exact(p)) {
            let (columns, values) = self.rows.row(i);
            let low = columns.partition_point(|&c| c < begin);
            let high = low + columns[low..].partition_point(|&c| c < end);
            let mut factors = [0.0; B];
            factors.copy_from_slice(&projection[first..first + B]);
            for (&column, &value) in columns[low..high].iter().zip(&values[low..high]) {
                let base = (column - begin) as usize * p + first;
                let out = &mut self.out[base..][..B];
                add_multiple(out, value, &factors);
            }
        }
    }
}
