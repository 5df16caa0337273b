//! What a table `[algorithm]` releases, whatever its numbers are.

use super::algorithm::{AlgorithmConfig, DataFacts};
use crate::algorithm::Program;

impl AlgorithmConfig {
    /// The program of one iteration of this kind on two items, with one column and without a clip: what it releases and what is proved of it, before
    /// items, ranks and iterations are known. `None` where the choice is left open, and for kinds that complete ratings.
    #[must_use]
    pub fn sketch(&self) -> Option<Program> {
        let sketched = Self {
            coherence: self.coherence.map(|_| 1.0),
            ..Self::plain(self.kind, 1, 1)
        };
        let algorithm = sketched.algorithm(&DataFacts::of_items(2, 1)).ok()?;
        Some(algorithm.program())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::AlgorithmKind;

    /// Whatever stands in the table: its numbers are checked when the data are known.
    #[test]
    fn every_kind_but_the_open_choice_and_completion_has_a_sketch() {
        use AlgorithmKind as Kind;
        let with = [
            Kind::Power,
            Kind::Momentum,
            Kind::Krylov,
            Kind::Covariance,
            Kind::IsometricCovariance,
            Kind::RakedCovariance,
            Kind::Deflation,
            Kind::Ppi,
            Kind::Streaming,
            Kind::Pilot,
        ];
        for kind in with {
            let config = AlgorithmConfig {
                coherence: Some(f64::NAN),
                block: Some(0),
                momentum: Some(-1.0),
                ..AlgorithmConfig::plain(kind, 0, 0)
            };
            let program = config.sketch().expect("a program");
            assert_eq!(program.kind(), kind.name());
            let ceiling = program.releases.iter().any(|one| one.ceiling.is_some());
            assert_eq!(ceiling, kind == Kind::Ppi);
        }
        let without = [
            Kind::Auto,
            Kind::SpectralRidge,
            Kind::FrankWolfe,
            Kind::SvdCompletion,
            Kind::ProjectedGradient,
        ];
        for kind in without {
            assert_eq!(AlgorithmConfig::plain(kind, 1, 2).sketch(), None);
        }
    }
}
