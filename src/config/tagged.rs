//! Tables whose other keys depend on their first.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A table whose first key says which others it may have. The reader of experiment files puts it there.
pub(super) trait TaggedTable: Sized {
    /// That key.
    const TAG: &'static str;
    /// What it can be.
    type Name: for<'de> Deserialize<'de>;

    /// What is said where the key is not there.
    fn missing() -> String {
        format!("missing field `{}`", Self::TAG)
    }

    /// Reads the other keys.
    fn read<'de, D: Deserializer<'de>>(name: Self::Name, keys: D) -> Result<Self, D::Error>;
}

/// Reads such a table, which is called so in errors.
pub(super) fn deserialize_tagged<'de, T: TaggedTable, D: Deserializer<'de>>(
    deserializer: D,
    expected: &'static str,
) -> Result<T, D::Error> {
    deserializer.deserialize_map(TagThenKeys(expected, PhantomData))
}

struct TagThenKeys<T>(&'static str, PhantomData<T>);

impl<'de, T: TaggedTable> Visitor<'de> for TagThenKeys<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let tag = T::TAG;
        match map.next_key::<String>()? {
            None => Err(A::Error::custom(T::missing())),
            Some(key) if key == tag => {
                let name = map.next_value()?;
                T::read(name, MapAccessDeserializer::new(map))
            }
            _ => {
                map.next_value::<IgnoredAny>()?;
                while let Some((key, _)) = map.next_entry::<String, IgnoredAny>()? {
                    if key == tag {
                        return Err(A::Error::custom(format!(
                            "{tag} must be the first key of the table, where Config::read and Config::of_table put it"
                        )));
                    }
                }
                Err(A::Error::custom(T::missing()))
            }
        }
    }
}
