//! The keys that the derived reader of a table takes.

use serde::de::value::Error as ValueError;
use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};

/// The keys of a table, as its derived reader lists them.
pub(super) fn keys_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut keys: &[&str] = &[];
    // The reader never reads: it is refused as soon as it has said what it takes.
    let _: Result<T, ValueError> = T::deserialize(Keys(&mut keys));
    keys
}

/// Notes the keys that a reader asks for.
struct Keys<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Keys<'_> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, ValueError> {
        Err(ValueError::custom("no table"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        keys: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, ValueError> {
        *self.0 = keys;
        Err(ValueError::custom("no values"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq
        tuple tuple_struct map enum identifier ignored_any
    }
}
