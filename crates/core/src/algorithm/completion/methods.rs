//! Which methods of completion there are, to make one again from files.

use super::Completer;
use super::frank_wolfe::FrankWolfeCompleter;
use super::parts::{CompleterParts, PartsError};
use super::projected_gradient::GradientCompleter;
use super::spectral_ridge::Ridge;
use super::svd::Projection;

/// The completer that consists of these parts: predicts what the one that gave them predicts, to the bit.
///
/// # Errors
/// [`PartsError`] for a method that is not known and for numbers that it cannot have.
pub fn completer(parts: &CompleterParts) -> Result<Box<dyn Completer>, PartsError> {
    parts.check()?;
    match parts.method.as_str() {
        Ridge::METHOD => Ok(Box::new(Ridge::of(parts)?)),
        FrankWolfeCompleter::METHOD => Ok(Box::new(FrankWolfeCompleter::of(parts)?)),
        Projection::METHOD => Ok(Box::new(Projection::of(parts)?)),
        GradientCompleter::METHOD => Ok(Box::new(GradientCompleter::of(parts)?)),
        other => Err(PartsError::Method {
            found: other.to_owned(),
        }),
    }
}
