//! The keys of `[data]` that are about numbers: matrices, and ratings that are kept as they are.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::data::{Format, MatrixFormat};

/// `data.format`: a rating file, a file of numbers, a graph, or no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataFormat {
    /// Ratings.
    Ratings(Format),
    /// Rows of numbers.
    Matrix(MatrixFormat),
    /// `"generated"`: what `data.generate` says.
    Generated,
    /// `"graph"`: the edges of a private graph, in any format of a topology.
    Graph,
}

impl DataFormat {
    /// The name in an experiment file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ratings(format) => format.name(),
            Self::Matrix(format) => format.name(),
            Self::Generated => "generated",
            Self::Graph => "graph",
        }
    }

    fn all() -> impl Iterator<Item = Self> {
        let ratings = Format::all().iter().copied().map(Self::Ratings);
        let matrices = MatrixFormat::all().iter().copied().map(Self::Matrix);
        ratings
            .chain(matrices)
            .chain([Self::Generated, Self::Graph])
    }

    /// The format of rating files, if it is one.
    #[must_use]
    pub fn ratings(self) -> Option<Format> {
        match self {
            Self::Ratings(format) => Some(format),
            Self::Matrix(_) | Self::Generated | Self::Graph => None,
        }
    }
}

impl From<Format> for DataFormat {
    fn from(format: Format) -> Self {
        Self::Ratings(format)
    }
}

impl fmt::Display for DataFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for DataFormat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for DataFormat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::all()
            .find(|format| format.name() == name)
            .ok_or_else(|| {
                let names: Vec<String> = Self::all().map(|f| format!("`{f}`")).collect();
                let names = names.join(", ");
                serde::de::Error::custom(format!(
                    "unknown variant `{name}`, expected one of {names}"
                ))
            })
    }
}

/// `data.ranges`: the public range of every column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a range such as [0, 16], a list with one range per column, or a file with one line low,high per column"
)]
pub enum RangesConfig {
    /// One for all columns.
    All([f64; 2]),
    /// One each.
    Each(Vec<[f64; 2]>),
    /// In a file, relative to the experiment file: one line `low,high` per column.
    File(PathBuf),
}

impl RangesConfig {
    /// The file, if they are in one.
    #[must_use]
    pub fn file(&self) -> Option<&PathBuf> {
        match self {
            Self::File(path) => Some(path),
            Self::All(_) | Self::Each(_) => None,
        }
    }

    pub(super) fn file_mut(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::File(path) => Some(path),
            Self::All(_) | Self::Each(_) => None,
        }
    }
}

/// `data.means`: public means, in the units of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a list with one number per column, or a file with them on one line"
)]
pub enum MeansConfig {
    /// One number per column.
    List(Vec<f64>),
    /// In a file, relative to the experiment file: one line of numbers.
    File(PathBuf),
}

impl MeansConfig {
    /// The file, if they are in one.
    #[must_use]
    pub fn file(&self) -> Option<&PathBuf> {
        match self {
            Self::File(path) => Some(path),
            Self::List(_) => None,
        }
    }

    pub(super) fn file_mut(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::File(path) => Some(path),
            Self::List(_) => None,
        }
    }
}

/// `data.centre`: what is taken from every number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "\"none\", \"public\", \"private\" or \"user\", or a number"
)]
pub enum Centre {
    /// By name.
    Named(NamedCentre),
    /// A public number, from every rating.
    Constant(f64),
}

/// The names of `data.centre`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NamedCentre {
    /// Nothing.
    None,
    /// The public means of `data.means`.
    Public,
    /// A mean that is released under noise first.
    Private,
    /// The mean of the user's own ratings, which is known to that user alone and costs nothing.
    User,
}

impl Centre {
    /// Nothing is taken.
    pub const NONE: Self = Self::Named(NamedCentre::None);

    /// This name, if it is one.
    #[must_use]
    pub fn name(self) -> Option<NamedCentre> {
        match self {
            Self::Named(name) => Some(name),
            Self::Constant(_) => None,
        }
    }
}

/// `data.mean_share`: the share of μ² that a private mean is given.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "\"auto\" or a number between 0 and 1")]
pub enum MeanShare {
    /// By the public rule of [`mean_share`](crate::algorithm::mean_share).
    Auto(Auto),
    /// This.
    Share(f64),
}

/// The word `"auto"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Auto {
    /// By a rule.
    Auto,
}

impl Default for MeanShare {
    fn default() -> Self {
        Self::Auto(Auto::Auto)
    }
}

/// `data.values`: what is kept of a rating.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RatingValues {
    /// Whether it is above the threshold.
    #[default]
    Interactions,
    /// The number.
    Ratings,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_read_back_and_unknown_ones_are_answered_with_all_names() {
        for format in DataFormat::all() {
            let text = serde_json::to_string(&format).expect("a name");
            let back: DataFormat = serde_json::from_str(&text).expect("reads back");
            assert_eq!(back, format);
        }
        let error = serde_json::from_str::<DataFormat>("\"csv\"").expect_err("no format");
        let text = error.to_string();
        assert!(
            text.contains("`jester`") && text.contains("`npy`"),
            "{text}"
        );
    }

    #[test]
    fn every_form_of_a_key_is_told_from_the_others() {
        #[derive(Deserialize)]
        struct Keys {
            ranges: RangesConfig,
            means: MeansConfig,
            centre: Centre,
            mean_share: MeanShare,
        }
        let read = |text: &str| toml::from_str::<Keys>(text);
        let one =
            read("ranges = [0, 16]\nmeans = [1, 2.5]\ncentre = \"private\"\nmean_share = \"auto\"");
        let one = one.expect("valid");
        assert_eq!(one.ranges, RangesConfig::All([0.0, 16.0]));
        assert_eq!(one.means, MeansConfig::List(vec![1.0, 2.5]));
        assert_eq!(one.centre.name(), Some(NamedCentre::Private));
        assert_eq!(one.mean_share, MeanShare::default());
        let two =
            read("ranges = [[0, 1], [-2, 3]]\nmeans = \"m.csv\"\ncentre = 2.5\nmean_share = 0.1");
        let two = two.expect("valid");
        assert_eq!(
            two.ranges,
            RangesConfig::Each(vec![[0.0, 1.0], [-2.0, 3.0]])
        );
        assert_eq!(two.means, MeansConfig::File("m.csv".into()));
        assert_eq!(two.centre, Centre::Constant(2.5));
        assert_eq!(two.mean_share, MeanShare::Share(0.1));
        let bad = read("ranges = [0, 1, 2]\nmeans = [1]\ncentre = \"none\"\nmean_share = 0.1");
        assert!(bad.is_err());
    }
}
