//! The `[sweep]` table.

use std::fmt;
use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// `[sweep]`: methods × grid × seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepConfig {
    /// How many seeds, from the experiment's own upwards; or a list.
    #[serde(default)]
    pub seeds: Seeds,
    /// The method that crossings of the target are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Which error the target, the coincidences and the frontier are about.
    #[serde(default, skip_serializing_if = "SweptError::is_default")]
    pub error: SweptError,
    /// Whose bytes the frontier is about.
    #[serde(default, skip_serializing_if = "SweptBytes::is_default")]
    pub bytes: SweptBytes,
    /// The error whose x is asked for; of captured variance, Recall and NDCG 1 − the measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<f64>,
    /// Pairs of methods whose errors must have the same law.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coincide: Vec<[String; 2]>,
    /// Lists of values over keys of the experiment file, as written; the first key is the x axis.
    pub over: Ordered<Vec<toml::Value>>,
    /// What is compared; one method that changes nothing where absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<MethodConfig>,
}

impl SweepConfig {
    /// Whether the curve at this place, of as many as there are, is one of the baseline's. Curves are in the order of the methods, as many of each.
    #[must_use]
    pub fn is_baseline(&self, place: usize, curves: usize) -> bool {
        let each = (curves / self.methods.len().max(1)).max(1);
        let method = self.methods.get(place / each);
        method.is_some_and(|method| Some(&method.name) == self.baseline.as_ref())
    }
}

/// What relative errors are measured against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SweptError {
    /// The non-private run of the file's own algorithm from the same X⁰: what privacy costs.
    #[default]
    NonPrivate,
    /// The exact eigenvectors: what privacy and the algorithm cost together. The one to compare algorithms by.
    Exact,
    /// Of numbers: the part of the variance captured by the exact leading eigenvectors that is lost.
    Variance,
    /// Of ratings: the root mean squared error of predictions of those that no peer holds.
    Rmse,
    /// Of recommendations: the part of a user's held-out interactions that is not in the list, 1 − Recall.
    Recall,
    /// The same where early places of the list count more, 1 − NDCG.
    Ndcg,
}

impl SweptError {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The reference, in words.
    #[must_use]
    pub fn reference(self) -> &'static str {
        match self {
            Self::NonPrivate => "the non-private run",
            Self::Exact => "the exact eigenvectors",
            Self::Variance => "the variance that the exact eigenvectors capture",
            Self::Rmse => "the ratings kept aside",
            Self::Recall | Self::Ndcg => "the held-out interactions",
        }
    }

    /// The measure that an error stands for: 1 − the error for captured variance, Recall and NDCG, of which more is better, else the error itself.
    #[must_use]
    pub fn measure(self, error: f64) -> f64 {
        match self.is_share() {
            true => 1.0 - error,
            false => error,
        }
    }

    /// Whether the measure is a share of which more is better, so that the error is 1 − the measure.
    #[must_use]
    pub fn is_share(self) -> bool {
        matches!(self, Self::Variance | Self::Recall | Self::Ndcg)
    }

    /// Whether runs are measured by their users' lists, and not by their bases or predictions.
    #[must_use]
    pub fn is_of_lists(self) -> bool {
        matches!(self, Self::Recall | Self::Ndcg)
    }
}

/// Whose bytes errors are drawn against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SweptBytes {
    /// Those of the busiest peer: what one of them must be able to send.
    #[default]
    Largest,
    /// Those of a peer on average: what all of them send together, over their number.
    Mean,
}

impl SweptBytes {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whose, in words.
    #[must_use]
    pub fn sender(self) -> &'static str {
        match self {
            Self::Largest => "the busiest peer",
            Self::Mean => "a peer on average",
        }
    }
}

/// `[[sweep.methods]]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodConfig {
    /// What tables and plots call it.
    pub name: String,
    /// Keys of the experiment file and their values, as written.
    #[serde(default)]
    pub set: Ordered<toml::Value>,
}

/// The seeds of a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a number of seeds, or a list of seeds such as [1, 2, 5]"
)]
pub enum Seeds {
    /// So many: the experiment's seed and those after it.
    Count(u32),
    /// These.
    List(Vec<u64>),
}

impl Default for Seeds {
    /// Ten, as in P1.
    fn default() -> Self {
        Self::Count(10)
    }
}

/// A table whose keys stay in the order they were written.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordered<T>(pub Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Visitor<T> {
            type Value = Ordered<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of keys in quotes, for example \"privacy.epsilon\" = ...")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Ordered<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    entries.push((key, map.next_value()?));
                }
                Ok(Ordered(entries))
            }
        }
        deserializer.deserialize_map(Visitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        seeds = [4, 9]
        target = 0.1
        error = "exact"
        bytes = "mean"
        [over]
        "privacy.epsilon" = [0.5, 1]
        "algorithm.rank" = [2]
        "data.items" = [20, 10]
        [[methods]]
        name = "b"
        set = { "z.last" = 1, "a.first" = "x" }
    "#;

    #[test]
    fn keys_stay_in_the_order_written() {
        let config: SweepConfig = toml::from_str(TEXT).expect("valid");
        let keys: Vec<&str> = config.over.0.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["privacy.epsilon", "algorithm.rank", "data.items"]);
        assert_eq!(config.methods[0].set.0[0].0, "z.last");
        assert_eq!(config.seeds, Seeds::List(vec![4, 9]));
        assert_eq!(config.error, SweptError::Exact);
        assert_eq!(config.bytes, SweptBytes::Mean);
        let again: SweepConfig = toml::from_str(&toml::to_string(&config).expect("serialises"))
            .expect("what is written can be read");
        assert_eq!(again, config);
        // Through a table too, as overrides go.
        let table = toml::Table::try_from(&config).expect("a table");
        assert_eq!(SweepConfig::deserialize(table).expect("valid"), config);
    }

    #[test]
    fn unknown_keys_and_unquoted_keys_are_refused() {
        for (from, to, needle) in [
            ("target", "targets", "unknown field `targets`"),
            ("name =", "nam =", "unknown field `nam`"),
            ("[4, 9]", "\"x\"", "a number of seeds"),
            ("\"exact\"", "\"exactly\"", "unknown variant `exactly`"),
            (
                "\"privacy.epsilon\"",
                "privacy.epsilon",
                "expected a sequence",
            ),
        ] {
            let text = TEXT.replacen(from, to, 1);
            let error = toml::from_str::<SweepConfig>(&text)
                .expect_err(to)
                .to_string();
            assert!(error.contains(needle), "{error}");
        }
    }
}
