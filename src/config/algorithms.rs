//! The table `[algorithm]` of an experiment file: which kinds there are, and how their keys are read and written.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::table_keys::keys_of;
use super::tagged::{TaggedTable, deserialize_tagged};
use crate::algorithm::{
    self, AlgorithmTable, Completer, CompleterParts, PartsError, Start, Weights,
};
use crate::papers;

/// The key that says which kind a table is of.
pub(super) const KIND: &str = "kind";

/// Keys that `[compare.algorithm]` has from `[algorithm]`, where its kind has them.
pub(super) const SHARED: [&str; 5] = [
    "rank",
    "start",
    "precondition",
    "precondition_exponent",
    "precondition_shrinkage",
];

/// Defines all kinds: their tables, their reader and their writer.
macro_rules! kinds {
    ($($name:literal => $variant:ident($table:ty),)+) => {
        /// `[algorithm]`: the keys of one kind.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize)]
        #[serde(tag = "kind")]
        pub enum AnyAlgorithmTable {
            $(
                #[doc = concat!("`kind = \"", $name, "\"`")]
                #[serde(rename = $name)]
                $variant($table),
            )+
        }

        /// The names that `kind` has.
        #[derive(Deserialize)]
        pub(super) enum Kind {
            $(#[serde(rename = $name)] $variant,)+
        }

        /// All kinds by name, each with its keys.
        pub(super) const KINDS: &[(&str, fn() -> &'static [&'static str])] =
            &[$(($name, keys_of::<$table>),)+];

        impl AnyAlgorithmTable {
            /// The name in files.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                }
            }

            /// The keys.
            #[must_use]
            pub fn table(&self) -> &dyn AlgorithmTable {
                match self {
                    $(Self::$variant(table) => table,)+
                }
            }

            /// What predicts ratings, made again from its public numbers: it predicts what the one that gave them predicts, to the bit.
            ///
            /// # Errors
            /// [`PartsError`] for a method of no kind, and for numbers that it cannot have.
            pub fn completer(parts: &CompleterParts) -> Result<Box<dyn Completer>, PartsError> {
                $(if let Some(completer) = <$table>::completer(parts)? {
                    return Ok(completer);
                })+
                let found = parts.method.clone();
                Err(PartsError::Method { found })
            }
        }

        impl TaggedTable for AnyAlgorithmTable {
            const TAG: &'static str = KIND;
            type Name = Kind;

            fn read<'de, D: Deserializer<'de>>(kind: Kind, keys: D) -> Result<Self, D::Error> {
                match kind {
                    $(Kind::$variant => Deserialize::deserialize(keys).map(Self::$variant),)+
                }
            }
        }

        $(
            impl From<$table> for AnyAlgorithmTable {
                fn from(table: $table) -> Self {
                    Self::$variant(table)
                }
            }
        )+
    };
}

kinds! {
    "power" => Power(algorithm::PowerTable),
    "momentum" => Momentum(algorithm::MomentumTable),
    "krylov" => Krylov(algorithm::KrylovTable),
    "covariance" => Covariance(algorithm::CovarianceTable),
    "isometric-covariance" => IsometricCovariance(algorithm::IsometricCovarianceTable),
    "raked-covariance" => RakedCovariance(algorithm::RakedCovarianceTable),
    "deflation" => Deflation(papers::DeflationTable),
    "ppi" => Ppi(papers::PpiTable),
    "streaming" => Streaming(algorithm::StreamingTable),
    "clipped-power" => ClippedPower(papers::ClippedPowerTable),
    "spectral-ridge" => SpectralRidge(algorithm::SpectralRidgeTable),
    "frank-wolfe" => FrankWolfe(papers::FrankWolfeTable),
    "svd-completion" => SvdCompletion(papers::SvdCompletionTable),
    "projected-gradient" => ProjectedGradient(papers::ProjectedGradientTable),
    "pilot" => Pilot(algorithm::PilotTable),
    "auto" => Auto(algorithm::AutoTable),
}

impl AnyAlgorithmTable {
    /// What is computed where nothing is said: the covariance matrix, of which four directions are kept.
    #[must_use]
    pub fn usual() -> Self {
        Self::Covariance(algorithm::CovarianceTable {
            rank: 4,
            iterations: 1,
            ..algorithm::CovarianceTable::default()
        })
    }

    /// The power method of this rank, with so many iterations and this start.
    #[must_use]
    pub fn power(rank: usize, iterations: u32, start: Start) -> Self {
        Self::Power(algorithm::PowerTable {
            rank,
            iterations,
            start,
            ..algorithm::PowerTable::default()
        })
    }

    /// The keys of P, where there is one.
    #[must_use]
    pub fn weights(&self) -> Weights {
        self.table().requirements().weights
    }

    /// How contributions are clipped of rows that fill some of so many slots; `None` where they are not.
    #[must_use]
    pub fn clip(&self, slots: usize) -> Option<papers::Clip> {
        match self {
            Self::ClippedPower(table) => Some(table.rule(slots)),
            _ => None,
        }
    }

    /// Whether the algorithm is still to be chosen.
    #[must_use]
    pub fn is_auto(&self) -> bool {
        matches!(self, Self::Auto(_))
    }

    /// Whether it is a pilot, of which a choice is made.
    #[must_use]
    pub fn is_pilot(&self) -> bool {
        matches!(self, Self::Pilot(_))
    }
}

impl<'de> Deserialize<'de> for AnyAlgorithmTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_tagged(
            deserializer,
            "a table with the kind of the algorithm and its keys",
        )
    }
}

/// `[compare.algorithm]`: as `[algorithm]`, of which it has rank, start and P.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct ComparedAlgorithm(pub AnyAlgorithmTable);

impl Serialize for ComparedAlgorithm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error as _;
        let mut own = toml::Table::try_from(self.0).map_err(S::Error::custom)?;
        for key in SHARED {
            own.remove(key);
        }
        own.serialize(serializer)
    }
}
