//! Schemes that repeat one linear step with all neighbours in every round.

use super::coefficients::Coefficients;
use super::{
    AveragingError, AveragingOptions, AveragingScheme, DEFAULT_TOLERANCE, Length, MAX_ROUNDS,
    MixingBounds, Neighbourhood, Schedule,
};

/// A scheme that is a two-term recurrence over the mixing matrix W.
///
/// In round k every peer sends its value to all its neighbours and puts
/// x^{k+1} = a_k · W x^k + b_k · x^k + c_k · x^{k−1}. a_k + b_k + c_k = 1 keeps the mean in every round, so the last value is
/// a mean and the schedule's last factor is s.
pub trait Recurrence {
    /// Rounds after which ‖x^k − x̄‖ ≤ tolerance · ‖x⁰ − x̄‖ for every x⁰, as a real number.
    fn rounds_needed(&self, bounds: MixingBounds, tolerance: f64) -> f64;

    /// The guaranteed factor by which ‖x^k − x̄‖ has shrunk after `rounds` rounds, for every x⁰.
    fn shrinks(&self, bounds: MixingBounds, rounds: u32) -> f64;

    /// The coefficients of rounds 0, 1, …, `rounds − 1`.
    fn coefficients(&self, bounds: MixingBounds, rounds: u32) -> Vec<Coefficients>;
}

impl<R: Recurrence> AveragingScheme for R {
    fn compile(
        &self,
        network: &dyn Neighbourhood,
        bounds: MixingBounds,
        length: Length,
        _options: AveragingOptions,
    ) -> Result<Schedule, AveragingError> {
        let rounds = match length {
            Length::Own => self.rounds(bounds, DEFAULT_TOLERANCE)?,
            Length::Tolerance(tolerance) => self.rounds(bounds, tolerance)?,
            Length::Rounds(rounds) => rounds,
        };
        Ok(Schedule::recurrence(
            network,
            self.schedule(bounds, rounds)?,
        ))
    }

    fn contraction(&self, bounds: MixingBounds, rounds: u32) -> Result<f64, AveragingError> {
        check_bounds(bounds)?;
        Ok(self.shrinks(bounds, rounds))
    }

    fn rounds(&self, bounds: MixingBounds, tolerance: f64) -> Result<u32, AveragingError> {
        check_bounds(bounds)?;
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return Err(AveragingError::Tolerance { tolerance });
        }
        let needed = self.rounds_needed(bounds, tolerance).ceil().max(1.0);
        if needed <= f64::from(MAX_ROUNDS) {
            Ok(needed as u32)
        } else {
            Err(AveragingError::TooManyRounds {
                tolerance,
                needed,
                limit: MAX_ROUNDS,
            })
        }
    }

    fn schedule(
        &self,
        bounds: MixingBounds,
        rounds: u32,
    ) -> Result<Vec<Coefficients>, AveragingError> {
        check_bounds(bounds)?;
        Ok(self.coefficients(bounds, rounds))
    }
}

fn check_bounds(bounds: MixingBounds) -> Result<(), AveragingError> {
    let MixingBounds { lowest, second } = bounds;
    if lowest > -1.0 && second < 1.0 && lowest <= second {
        Ok(())
    } else {
        Err(AveragingError::NotContracting { lowest, second })
    }
}
