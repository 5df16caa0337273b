//! What holds of all algorithms here.

mod joint_privacy;
mod wrapped;

use super::*;
use crate::algorithm::{AlgorithmTable, Completer, CompleterParts, PartsError, SpectralRidgeTable};

/// What predicts ratings, made again from its parts.
pub(crate) fn made_again(parts: &CompleterParts) -> Result<Box<dyn Completer>, PartsError> {
    let made = [
        FrankWolfeTable::completer(parts)?,
        ProjectedGradientTable::completer(parts)?,
        SvdCompletionTable::completer(parts)?,
        SpectralRidgeTable::completer(parts)?,
    ];
    Ok(made.into_iter().flatten().next().expect("a method"))
}
