//! A chunk of a schedule whose peers all end with the same bits: what they end with, once.

use std::ops::Range;

use rayon::prelude::*;

use crate::protocol::Values;
use crate::protocol::averaging::CommonEnd;

/// Coordinates that a thread takes at least: two cache lines.
const LEAST: usize = 16;

/// What all peers end with in one chunk of coordinates, and what is known of the inputs. Keeps its memory from one chunk to
/// the next.
#[derive(Default)]
pub(super) struct Together {
    pieces: Vec<Piece>,
    totals: Vec<f64>,
    /// Σ_u ‖x_u − x̄‖² of the inputs.
    square: f64,
    end: Vec<f64>,
}

/// The same for some of the coordinates.
#[derive(Default)]
struct Piece {
    columns: Range<usize>,
    totals: Vec<f64>,
    squares: Vec<f64>,
    end: Vec<f64>,
    registers: Vec<f64>,
}

impl Together {
    /// Σ_u of the inputs in peer order, one per coordinate.
    pub(super) fn totals(&self) -> &[f64] {
        &self.totals
    }

    /// Σ_u ‖x_u − x̄‖² of the inputs.
    pub(super) fn square(&self) -> &f64 {
        &self.square
    }

    /// Every peer's sum.
    pub(super) fn end(&self) -> &[f64] {
        &self.end
    }

    /// Evaluates a chunk on so many threads.
    ///
    /// # Shapes
    /// `inputs` is peers × `width`, one peer after the other.
    pub(super) fn evaluate(
        &mut self,
        common: &CommonEnd,
        values: Values,
        (width, inputs): (usize, &[f64]),
        threads: usize,
    ) {
        let each = width.div_ceil(threads).max(LEAST);
        let pieces = width.div_ceil(each);
        self.pieces.resize_with(pieces, Piece::default);
        for (k, piece) in self.pieces.iter_mut().enumerate() {
            piece.columns = k * each..width.min((k + 1) * each);
        }
        match self.pieces.as_mut_slice() {
            [all] => all.evaluate(common, values, (width, inputs)),
            pieces => pieces
                .par_iter_mut()
                .for_each(|piece| piece.evaluate(common, values, (width, inputs))),
        }
        let Self {
            pieces,
            totals,
            square,
            end,
        } = self;
        let join = |joined: &mut Vec<f64>, part: fn(&Piece) -> &[f64]| {
            joined.clear();
            joined.extend(pieces.iter().flat_map(part));
        };
        join(totals, |piece| &piece.totals);
        join(end, |piece| &piece.end);
        // Coordinate by coordinate, so that the number of threads leaves no trace.
        *square = pieces.iter().flat_map(|piece| &piece.squares).sum();
    }
}

impl Piece {
    fn evaluate(&mut self, common: &CommonEnd, values: Values, (width, inputs): (usize, &[f64])) {
        let Self {
            columns,
            totals,
            squares,
            end,
            registers,
        } = self;
        for numbers in [&mut *totals, &mut *squares, &mut *end] {
            numbers.clear();
            numbers.resize(columns.len(), 0.0);
        }
        for x in inputs.chunks_exact(width) {
            for (total, x) in totals.iter_mut().zip(&x[columns.clone()]) {
                *total += x;
            }
        }
        let peers = (inputs.len() / width) as f64;
        let means: Vec<f64> = totals.iter().map(|total| total / peers).collect();
        for x in inputs.chunks_exact(width) {
            let numbers = squares.iter_mut().zip(&means).zip(&x[columns.clone()]);
            for ((square, mean), x) in numbers {
                let apart = x - mean;
                *square += apart * apart;
            }
        }
        let input = |u: usize| &inputs[u * width..][columns.clone()];
        common.evaluate(values, input, registers, end);
    }
}
