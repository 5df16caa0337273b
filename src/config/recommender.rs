//! The table `[recommender]` of an experiment file.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::recommender::gram::GramMethod;

/// `[recommender]`: recommendations from the Gram matrix that the run releases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecommenderConfig {
    /// How items are scored.
    #[serde(default)]
    pub method: GramMethod,
    /// Of how many of the most popular items of `[data]` the matrix is released, `"auto"` for as many as are worth their noise. All
    /// others are recommended by popularity. A run fills in the number.
    #[serde(default)]
    pub items: ItemCount,
    /// The most items that `"auto"` chooses: n items make messages of n(n + 1)/2 numbers.
    #[serde(default = "most")]
    pub most: usize,
    /// `"auto"`: `data.degree_floor` is set from the mean degree, which is public. A run fills that in and leaves this out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degree_floor: Option<AutoFloor>,
}

fn most() -> usize {
    2500
}

/// The only word that [`RecommenderConfig::degree_floor`] knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AutoFloor {
    /// By a public rule.
    Auto,
}

/// How many items a matrix is released of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ItemCount {
    /// As many as are worth their noise.
    #[default]
    Auto,
    /// So many.
    Number(usize),
}

impl Serialize for ItemCount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Number(number) => serializer.serialize_u64(*number as u64),
        }
    }
}

impl<'de> Deserialize<'de> for ItemCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Word(AutoFloor),
            Number(u64),
        }
        let found = Written::deserialize(deserializer)
            .map_err(|_| de::Error::custom("expected \"auto\" or a number of items, at least 2"))?;
        match found {
            Written::Word(AutoFloor::Auto) => Ok(Self::Auto),
            Written::Number(number) => {
                Ok(Self::Number(usize::try_from(number).unwrap_or(usize::MAX)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_reads_back_as_written_and_other_words_are_refused() {
        let read = |text: &str| toml::from_str::<RecommenderConfig>(text);
        let default = read("").expect("defaults");
        assert_eq!((default.items, default.most), (ItemCount::Auto, 2500));
        let whole = read("method = \"item-regression\"\nitems = 300\ndegree_floor = \"auto\"")
            .expect("good");
        assert_eq!(whole.items, ItemCount::Number(300));
        assert_eq!(whole.method, GramMethod::ItemRegression);
        for config in [default, whole] {
            let text = toml::to_string(&config).expect("writes");
            assert_eq!(read(&text).expect("reads"), config, "{text}");
        }
        for wrong in [
            "items = \"all\"",
            "items = -1",
            "method = \"svd\"",
            "degree_floor = 3",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
