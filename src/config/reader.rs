//! Reads experiment files: as text, whose errors show the place, and as tables that overrides, sweeps and programs have made.

use std::borrow::Borrow;
use std::hash::Hash;

use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::{Deserialize, Deserializer};
use toml::de::{DeString, DeTable, DeValue, Error, ValueDeserializer};
use toml::map::Map;
use toml::{Spanned, Value};

use super::algorithms::{AnyAlgorithmTable, KIND, SHARED};
use super::data::{self, DataConfig, FAMILY, Family, ForeignKey};
use super::elsewhere::{has_key, misplaced};
use super::numbers::DataFormat;
use super::schema::Config;
use crate::algorithm::Weights;
use crate::data::Format;

/// The table that stands where a file has no `[algorithm]`: [`AnyAlgorithmTable::usual`].
pub(super) const USUAL: &str = "kind = \"covariance\"\nrank = 4\niterations = 1\n";

impl Config {
    /// Reads an experiment file.
    ///
    /// # Errors
    /// Where the text is no experiment, with line, column and key, what was found and what to write.
    pub fn read(text: &str) -> Result<Self, Error> {
        let read = || {
            let mut document = DeTable::parse(text)?;
            arrange(document.get_mut())?;
            Self::deserialize(toml::de::Deserializer::from(document))
        };
        read().map_err(|mut error: Error| {
            error.set_input(Some(text));
            error
        })
    }
}

/// A file of settings that overrides can change.
pub trait ReadTable: Sized {
    /// Reads its tables.
    ///
    /// # Errors
    /// Where they are no such file, with the key.
    fn of_table(table: toml::Table) -> Result<Self, Error>;
}

impl ReadTable for Config {
    fn of_table(table: toml::Table) -> Result<Self, Error> {
        Self::deserialize(arranged(table)?)
    }
}

/// The tables of a file as they can be read key by key.
///
/// # Errors
/// Where a table of an algorithm has keys of another kind.
pub(crate) fn arranged(mut table: toml::Table) -> Result<toml::Table, Error> {
    arrange(&mut table)?;
    Ok(table)
}

impl ReadTable for AnyAlgorithmTable {
    fn of_table(mut table: toml::Table) -> Result<Self, Error> {
        check(&mut table)?;
        Self::deserialize(table)
    }
}

impl AnyAlgorithmTable {
    /// The same with this P.
    ///
    /// # Errors
    /// Where the kind has none.
    pub fn with_weights(&self, weights: Weights) -> Result<Self, Error> {
        let mut table = toml::Table::try_from(self).map_err(Error::custom)?;
        let source = weights.source.name().to_owned();
        for (key, value) in [
            (
                "precondition",
                (!weights.source.is_none()).then_some(Value::String(source)),
            ),
            ("precondition_exponent", weights.exponent.map(Value::Float)),
            (
                "precondition_shrinkage",
                weights.shrinkage.map(Value::Float),
            ),
        ] {
            table.remove(key);
            table.extend(value.map(|value| (key.to_owned(), value)));
        }
        Self::of_table(table)
    }
}

/// A value of a table of TOML: of a text, which knows where it stands, or of a table in memory.
pub(super) trait Source: Sized + Clone {
    /// A key beside it.
    type Key: Borrow<str> + Hash + Eq + Ord + Clone;

    /// The table that it is, if it is one.
    fn table(&mut self) -> Option<&mut Map<Self::Key, Self>>;

    /// The text that it is, if it is one.
    fn text(&self) -> Option<&str>;

    /// A number, text or truth value as a file has it; nothing for lists and tables.
    fn shown(&self) -> String;

    /// The number that it is, if it is one.
    fn number(&self) -> Option<f64>;

    /// What it says.
    fn read<T: DeserializeOwned>(&self) -> Result<T, Error>;

    /// A key with a text.
    fn entry(key: &'static str, text: &'static str) -> (Self::Key, Self);

    /// [`USUAL`] as the table of a document.
    fn usual() -> Option<(Self::Key, Self)>;

    /// An error about this key.
    fn refusal(key: &Self::Key, why: String) -> Error;
}

impl Source for Value {
    type Key = String;

    fn table(&mut self) -> Option<&mut toml::Table> {
        self.as_table_mut()
    }

    fn text(&self) -> Option<&str> {
        self.as_str()
    }

    fn shown(&self) -> String {
        match self {
            Self::Array(_) | Self::Table(_) => String::new(),
            value => format!(" = {value}"),
        }
    }

    fn number(&self) -> Option<f64> {
        self.as_float()
            .or_else(|| self.as_integer().map(|number| number as f64))
    }

    fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        T::deserialize(self.clone())
    }

    fn entry(key: &'static str, text: &'static str) -> (String, Self) {
        (key.to_owned(), Self::String(text.to_owned()))
    }

    fn usual() -> Option<(String, Self)> {
        let table = toml::from_str(USUAL).ok()?;
        Some(("algorithm".to_owned(), Self::Table(table)))
    }

    fn refusal(_: &String, why: String) -> Error {
        Error::custom(why)
    }
}

impl<'i> Source for Spanned<DeValue<'i>> {
    type Key = Spanned<DeString<'i>>;

    fn table(&mut self) -> Option<&mut DeTable<'i>> {
        match self.get_mut() {
            DeValue::Table(table) => Some(table),
            _ => None,
        }
    }

    fn text(&self) -> Option<&str> {
        self.get_ref().as_str()
    }

    fn shown(&self) -> String {
        let value: Result<Value, _> = self.read();
        value.map_or_else(|_| String::new(), |value| value.shown())
    }

    fn number(&self) -> Option<f64> {
        let value: Value = self.read().ok()?;
        value.number()
    }

    fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        T::deserialize(ValueDeserializer::from(self.clone()))
    }

    fn entry(key: &'static str, text: &'static str) -> (Self::Key, Self) {
        let value = DeValue::String(text.into());
        (Spanned::new(0..0, key.into()), Spanned::new(0..0, value))
    }

    fn usual() -> Option<(Self::Key, Self)> {
        let table = DeTable::parse(USUAL).ok()?;
        let key = Spanned::new(0..0, "algorithm".into());
        Some((key, Spanned::new(0..0, DeValue::Table(table.into_inner()))))
    }

    fn refusal(key: &Self::Key, why: String) -> Error {
        let key = Spanned::new(key.span(), DeValue::String(key.get_ref().clone()));
        let refused = ValueDeserializer::from(key).deserialize_option(Refusal(why));
        match refused {
            Err(error) => error,
            Ok(never) => match never {},
        }
    }
}

/// Refuses every value, so that the error is about its place.
struct Refusal(String);

enum Never {}

impl<'de> Visitor<'de> for Refusal {
    type Value = Never;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }

    fn visit_some<D: Deserializer<'de>>(self, _: D) -> Result<Never, D::Error> {
        Err(D::Error::custom(self.0))
    }
}

/// Makes a document one that can be read key by key: tables of algorithms begin with their kind and have the keys of their kind alone, that of the data
/// likewise with its family, and `[compare.algorithm]` has what it shares with `[algorithm]`.
pub(super) fn arrange<S: Source>(document: &mut Map<S::Key, S>) -> Result<(), Error> {
    let of_vertices = document.get_mut("peers").and_then(S::table);
    let of_vertices = of_vertices.and_then(|peers| peers.get("count")?.text()) == Some("vertices");
    if let Some(data) = document.get_mut("data") {
        arrange_data(data, of_vertices)?;
    }
    if let Some(own) = document.get_mut("algorithm").and_then(S::table) {
        check(own)?;
    }
    let own = document.get("algorithm").cloned();
    let own = own.or_else(|| S::usual().map(|(_, usual)| usual));
    let compared = document.get_mut("compare").and_then(S::table);
    let compared = compared.and_then(|compare| compare.get_mut("algorithm"));
    let (Some(mut own), Some(compared)) = (own, compared.and_then(S::table)) else {
        return Ok(());
    };
    check(compared)?;
    for key in SHARED {
        if let Some((key, _)) = compared.get_key_value(key) {
            let name: &str = key.borrow();
            let why = format!(
                "[compare.algorithm] has {name} from [algorithm], so that the two methods find the same: leave it out"
            );
            return Err(S::refusal(key, why));
        }
    }
    let kind = compared.get(KIND).and_then(S::text).unwrap_or_default();
    let kind = kind.to_owned();
    for key in SHARED.into_iter().filter(|key| has_key(&kind, key)) {
        let given = own.table().and_then(|own| own.remove_entry(key));
        compared.extend(given);
    }
    Ok(())
}

/// Notes the family of the data first, and refuses keys that only other families have and keys that contradict each other.
fn arrange_data<S: Source>(value: &mut S, of_vertices: bool) -> Result<(), Error> {
    let Some(table) = value.table() else {
        return Ok(());
    };
    if let Some((key, _)) = table.get_key_value(FAMILY) {
        return Err(S::refusal(key, format!("unknown field `{FAMILY}`")));
    }
    // A format that is missing or unknown is answered with all formats.
    let format = match table.get("format").map(S::read::<DataFormat>) {
        None => DataFormat::Ratings(Format::CsvTriples),
        Some(format) => {
            format.map_err(|error| refusal(table, &["format"], error.message().to_owned()))?
        }
    };
    let values = table.get("values").and_then(S::text);
    let family = Family::of(format, values, of_vertices);
    let mut rest = Map::new();
    for (key, value) in std::mem::take(table) {
        match data::misplaced(family, key.borrow(), value.number()) {
            Some(ForeignKey::Refused(why)) => return Err(S::refusal(&key, why)),
            Some(ForeignKey::Neutral) => {}
            None => drop(rest.insert(key, value)),
        }
    }
    table.extend([S::entry(FAMILY, family.name())].into_iter().chain(rest));
    let checked = value.read::<DataConfig>()?.check();
    checked.map_err(|refused| match value.table() {
        // Where a key is missing, the key that asks for it is shown.
        Some(table) => refusal(table, &[refused.key, "centre", "format"], refused.why),
        None => Error::custom(refused.why),
    })
}

/// An error at the first of these keys that a table has.
fn refusal<S: Source>(table: &Map<S::Key, S>, keys: &[&str], why: String) -> Error {
    let found = keys.iter().find_map(|key| table.get_key_value(*key));
    match found {
        Some((key, _)) => S::refusal(key, why),
        None => Error::custom(why),
    }
}

/// Puts the kind first, and refuses keys that only other kinds have.
fn check<S: Source>(table: &mut Map<S::Key, S>) -> Result<(), Error> {
    let Some(kind) = table.remove_entry(KIND) else {
        return Ok(());
    };
    if let Some(name) = kind.1.text() {
        for (key, value) in table.iter() {
            if let Some(why) = misplaced(name, key.borrow(), &|| value.shown()) {
                return Err(S::refusal(key, why));
            }
        }
    }
    let rest = std::mem::take(table);
    table.extend([kind].into_iter().chain(rest));
    Ok(())
}

#[cfg(test)]
mod tests;
