//! What a completer consists of, so that it can be written to files and made again from them.

use std::collections::BTreeMap;

use super::Completer;
use crate::linalg::Block;

/// The public numbers of a completer.
///
/// Every method of completion is made from these four: directions, numbers that go with each direction, numbers of an item, and
/// numbers of the whole. All are functions of released sums.
#[derive(Clone, Debug, PartialEq)]
pub struct CompleterParts {
    /// The name of the method.
    pub method: String,
    /// V, n × d, one direction per column; d may be 0.
    pub directions: Block,
    /// Numbers of each direction by name, d of each.
    pub of_directions: BTreeMap<String, Vec<f64>>,
    /// One number per item that is part of every prediction; none or n.
    pub item_means: Vec<f64>,
    /// Numbers of the whole by name.
    pub constants: BTreeMap<String, f64>,
}

/// Numbers that make no completer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartsError {
    /// A method that this version does not know.
    #[error(
        "no method of completion is called {found:?}: predict with the version that wrote these files"
    )]
    Method {
        /// The name found.
        found: String,
    },
    /// A number that is not there, or not what the method needs.
    #[error(
        "{what} of a completer is {problem}: the files are not those of one run, or were changed"
    )]
    Number {
        /// Which.
        what: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl CompleterParts {
    /// What these parts make, where they are of this method.
    ///
    /// # Errors
    /// [`PartsError`] of `make`, and of [`Self::check`].
    pub fn made<C: Completer + 'static>(
        &self,
        method: &str,
        make: impl FnOnce(&Self) -> Result<C, PartsError>,
    ) -> Result<Option<Box<dyn Completer>>, PartsError> {
        if self.method != method {
            return Ok(None);
        }
        self.check()?;
        make(self).map(|completer| Some(Box::new(completer) as Box<dyn Completer>))
    }

    /// A number of the whole.
    ///
    /// # Errors
    /// [`PartsError::Number`] if it is missing or not finite.
    pub fn constant(&self, name: &str) -> Result<f64, PartsError> {
        let found = self.constants.get(name).copied();
        finite(name, found.as_slice()).map(|numbers| numbers[0])
    }

    /// The numbers of all directions by this name.
    ///
    /// # Errors
    /// [`PartsError::Number`] if there is not one for each, or one is not finite.
    pub fn of_each(&self, name: &str) -> Result<&[f64], PartsError> {
        let found = self.of_directions.get(name).map_or(&[][..], Vec::as_slice);
        if found.len() != self.directions.columns() {
            return Err(PartsError::number(name, "not there once per direction"));
        }
        match found.is_empty() {
            true => Ok(found),
            false => finite(name, found),
        }
    }

    /// Whether a flag is set; not where it is missing.
    ///
    /// # Errors
    /// [`PartsError::Number`] if it is neither 0 nor 1.
    pub fn flag(&self, name: &str) -> Result<bool, PartsError> {
        match self.constants.get(name) {
            None => Ok(false),
            Some(_) => self.count(name, 1).map(|set| set == 1),
        }
    }

    /// A number of the whole that is above 0.
    ///
    /// # Errors
    /// [`PartsError::Number`] if it is missing, not finite or not above 0.
    pub fn positive(&self, name: &str) -> Result<f64, PartsError> {
        match self.constant(name)? {
            found if found > 0.0 => Ok(found),
            _ => Err(PartsError::number(name, "not above 0")),
        }
    }

    /// A number of the whole that is a whole number from 0 to `most`.
    ///
    /// # Errors
    /// [`PartsError::Number`] if it is missing or none.
    pub fn count(&self, name: &str, most: u32) -> Result<u32, PartsError> {
        match self.constant(name)? {
            found if found.fract() == 0.0 && (0.0..=f64::from(most)).contains(&found) => {
                Ok(found as u32)
            }
            _ => Err(PartsError::number(name, "not a whole number in its range")),
        }
    }

    /// Refuses directions and item means that are not finite or not of the same items.
    ///
    /// # Errors
    /// [`PartsError::Number`].
    pub fn check(&self) -> Result<(), PartsError> {
        let n = self.directions.rows();
        if !(self.item_means.is_empty() || self.item_means.len() == n) {
            return Err(PartsError::number(
                "the item means",
                "not one per row of the directions",
            ));
        }
        if !self.item_means.iter().all(|x| x.is_finite()) {
            return Err(PartsError::number("an item mean", "not finite"));
        }
        if !self.directions.values().iter().all(|x| x.is_finite()) {
            return Err(PartsError::number("a direction", "not finite"));
        }
        Ok(())
    }
}

fn finite<'a>(what: &str, numbers: &'a [f64]) -> Result<&'a [f64], PartsError> {
    if numbers.is_empty() {
        return Err(PartsError::number(what, "missing"));
    }
    match numbers.iter().all(|x| x.is_finite()) {
        true => Ok(numbers),
        false => Err(PartsError::number(what, "not finite")),
    }
}

impl PartsError {
    /// A number of this name that is not what it should be.
    #[must_use]
    pub fn number(what: &str, problem: &'static str) -> Self {
        let what = what.to_owned();
        Self::Number { what, problem }
    }
}
