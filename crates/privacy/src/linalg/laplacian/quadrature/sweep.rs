//! One pass over the rows of a block, with sums that lose little.

use super::scalar::Scalar;

/// Rows whose contributions are summed in the vectors' precision; more are summed with compensation.
pub(super) const CHUNK: usize = 32;

/// The rows of a step: some, or all.
#[derive(Clone, Copy)]
pub(super) enum Rows<'a> {
    Listed(&'a [u32]),
    All(usize),
}

/// Calls `each` for every row with N sums per vector to add to, and returns their totals: chunks in the vectors'
/// precision, chunks together in double precision.
#[inline(always)]
pub(super) fn sweep<S: Scalar, const W: usize, const N: usize>(
    rows: Rows<'_>,
    mut each: impl FnMut(usize, &mut [[S; W]; N]),
) -> [[f64; W]; N] {
    let mut totals = [[0.0; W]; N];
    let mut lost = [[0.0; W]; N];
    let mut flush = |sums: &[[S; W]; N]| {
        for k in 0..N {
            for l in 0..W {
                // Knuth's exact addition: what `next` lacks of the sum is carried along.
                let (total, term) = (totals[k][l], sums[k][l].wide());
                let next: f64 = total + term;
                let part = next - total;
                lost[k][l] += (total - (next - part)) + (term - part);
                totals[k][l] = next;
            }
        }
    };
    match rows {
        Rows::Listed(list) => {
            for chunk in list.chunks(CHUNK) {
                let mut sums = [[S::default(); W]; N];
                for &i in chunk {
                    each(i as usize, &mut sums);
                }
                flush(&sums);
            }
        }
        Rows::All(n) => {
            for start in (0..n).step_by(CHUNK) {
                let mut sums = [[S::default(); W]; N];
                for i in start..(start + CHUNK).min(n) {
                    each(i, &mut sums);
                }
                flush(&sums);
            }
        }
    }
    for k in 0..N {
        for l in 0..W {
            totals[k][l] += lost[k][l];
        }
    }
    totals
}
