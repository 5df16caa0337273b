//! What a scheme can be told beside how long it runs.

use super::{AveragingError, AveragingKind, Loss};

/// The most children a peer of a tree may be given, and the largest base of doubling: larger numbers change nothing.
const MOST: u32 = 1 << 20;

/// The most trees that take turns.
const MAX_TURNS: u32 = 64;

/// An option that some schemes know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AveragingOption {
    /// The peer that knows the sum first.
    Root,
    /// The seed of public randomness.
    Seed,
    /// The most peers whose values one peer takes on their way to the root.
    FanIn,
    /// How many trees take turns.
    Rotate,
    /// How many peers exchange in one group.
    Base,
}

impl AveragingOption {
    /// Its key in the table `[averaging]`.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Seed => "seed",
            Self::FanIn => "fan_in",
            Self::Rotate => "rotate",
            Self::Base => "base",
        }
    }

    /// The schemes that know it, as one writes them in files: `"tree" or "doubling"`.
    pub(super) fn known_by(self) -> String {
        let schemes = AveragingKind::all().filter(|kind| kind.scheme().options().contains(&self));
        let names: Vec<String> = schemes.map(|kind| format!("{:?}", kind.name())).collect();
        if names.is_empty() {
            "no scheme of this version".to_owned()
        } else {
            names.join(" or ")
        }
    }
}

/// The options given to a scheme; what is not given is the scheme's own choice.
///
/// Options are public, as the graph is: they decide bytes and time, and hide nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AveragingOptions {
    root: Option<u32>,
    seed: Option<u64>,
    fan_in: Option<u32>,
    rotate: Option<u32>,
    base: Option<u32>,
    loss: Loss,
}

impl AveragingOptions {
    /// The peer that knows the sum first, by its index.
    #[must_use]
    pub fn with_root(mut self, peer: u32) -> Self {
        self.root = Some(peer);
        self
    }

    /// The seed of public randomness.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The most children of a peer in a tree, at least 2.
    ///
    /// # Errors
    /// [`AveragingError::OutOfRange`] outside 2 … 2²⁰.
    pub fn with_fan_in(mut self, fan_in: u32) -> Result<Self, AveragingError> {
        self.fan_in = Some(within(AveragingOption::FanIn, fan_in, (2, MOST))?);
        Ok(self)
    }

    /// How many trees take turns, at least 1.
    ///
    /// # Errors
    /// [`AveragingError::OutOfRange`] outside 1 … 64.
    pub fn with_rotate(mut self, turns: u32) -> Result<Self, AveragingError> {
        self.rotate = Some(within(AveragingOption::Rotate, turns, (1, MAX_TURNS))?);
        Ok(self)
    }

    /// How many peers exchange in one group of doubling, at least 2.
    ///
    /// # Errors
    /// [`AveragingError::OutOfRange`] outside 2 … 2²⁰.
    pub fn with_base(mut self, base: u32) -> Result<Self, AveragingError> {
        self.base = Some(within(AveragingOption::Base, base, (2, MOST))?);
        Ok(self)
    }

    /// The fraction of messages to do without.
    #[must_use]
    pub fn with_loss(mut self, loss: Loss) -> Self {
        self.loss = loss;
        self
    }

    /// The fraction of messages to do without.
    #[must_use]
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// The peer that knows the sum first, if it was chosen.
    #[must_use]
    pub fn root(&self) -> Option<u32> {
        self.root
    }

    /// The seed of public randomness; 0 where none was given.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// The most children of a peer in a tree, if it was chosen.
    #[must_use]
    pub fn fan_in(&self) -> Option<u32> {
        self.fan_in
    }

    /// How many trees take turns; 1 where nothing was given.
    #[must_use]
    pub fn rotate(&self) -> u32 {
        self.rotate.unwrap_or(1)
    }

    /// How many peers exchange in one group of doubling, if it was chosen.
    #[must_use]
    pub fn base(&self) -> Option<u32> {
        self.base
    }

    /// Refuses what was given and this scheme does not know.
    pub(super) fn check(&self, scheme: AveragingKind) -> Result<(), AveragingError> {
        if !self.loss.is_none() && !scheme.passes_mass() {
            let scheme = scheme.name();
            return Err(AveragingError::Lossless { scheme });
        }
        let given = [
            (AveragingOption::Root, self.root.is_some()),
            (AveragingOption::Seed, self.seed.is_some()),
            (AveragingOption::FanIn, self.fan_in.is_some()),
            (AveragingOption::Rotate, self.rotate.is_some()),
            (AveragingOption::Base, self.base.is_some()),
        ];
        let known = scheme.scheme().options();
        let unknown = given.iter().find(|(one, set)| *set && !known.contains(one));
        unknown.map_or(Ok(()), |&(option, _)| {
            let scheme = scheme.name();
            Err(AveragingError::UnknownOption { scheme, option })
        })
    }
}

fn within(
    option: AveragingOption,
    found: u32,
    (least, most): (u32, u32),
) -> Result<u32, AveragingError> {
    if (least..=most).contains(&found) {
        Ok(found)
    } else {
        Err(AveragingError::OutOfRange {
            option,
            found,
            least,
            most,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_a_scheme_does_not_know_is_refused_with_the_schemes_that_do() {
        let options = AveragingOptions::default();
        let all = [
            (AveragingOption::Root, options.with_root(0)),
            (AveragingOption::Seed, options.with_seed(0)),
            (
                AveragingOption::FanIn,
                options.with_fan_in(2).expect("2 is allowed"),
            ),
            (
                AveragingOption::Rotate,
                options.with_rotate(1).expect("1 is allowed"),
            ),
            (
                AveragingOption::Base,
                options.with_base(2).expect("2 is allowed"),
            ),
        ];
        for kind in AveragingKind::all() {
            assert_eq!(options.check(kind), Ok(()), "nothing given");
            for (option, given) in all {
                let known = kind.scheme().options().contains(&option);
                assert_eq!(given.check(kind).is_ok(), known, "{kind:?} {option:?}");
            }
        }
        let error = all[0]
            .1
            .check(AveragingKind::Linear)
            .expect_err("gossip has no root");
        let text = error.to_string();
        assert!(
            text.contains("averaging.root") && text.contains("\"tree\""),
            "{text}"
        );
    }

    #[test]
    fn numbers_out_of_range_are_refused_with_the_range() {
        let options = AveragingOptions::default();
        for refused in [
            options.with_fan_in(0),
            options.with_fan_in(1),
            options.with_fan_in(MOST + 1),
            options.with_rotate(0),
            options.with_rotate(MAX_TURNS + 1),
            options.with_base(1),
        ] {
            let error = refused.expect_err("out of range");
            assert!(
                matches!(error, AveragingError::OutOfRange { .. }),
                "{error}"
            );
        }
        let error = options.with_rotate(65).expect_err("too many");
        assert_eq!(
            error.to_string(),
            "averaging.rotate must lie between 1 and 64, found 65"
        );
    }
}
