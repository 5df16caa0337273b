//! One line on what an experiment was given because nothing was said.

use crate::cli::table::number;
use crate::config::Config;

/// The values of these keys in a resolved experiment, and where all others are; nothing where there are no keys.
pub(super) fn line(config: &Config, keys: &[&str]) -> Option<String> {
    let table = toml::Table::try_from(config).ok()?;
    let shown = |key: &&str| {
        let mut parts = key.split('.');
        let first = table.get(parts.next()?)?;
        let value = parts.try_fold(first, |value, part| value.get(part))?;
        Some(match value.as_float() {
            Some(value) => format!("{key} = {}", number(value)),
            None => format!("{key} = {value}"),
        })
    };
    let all: Vec<String> = keys.iter().filter_map(shown).collect();
    let all = all.join(", ");
    (!all.is_empty()).then(|| format!("defaults: {all} (all in config.toml)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_as_a_file_would_have_them() {
        let text = "[data]\npath = \"a\"\nformat = \"lightgcn\"\n[privacy]\nepsilon = 1.0\ndelta = 1.25e-6\n[topology]\ngenerator = \"ring\"";
        let config = Config::read(text).expect("valid");
        let found = line(
            &config,
            &["topology", "privacy.delta", "averaging.scheme", "faults"],
        );
        let expected = "defaults: topology = { generator = \"ring\" }, privacy.delta = 1.25e-6, averaging.scheme = \"tree\" (all in config.toml)";
        assert_eq!(found.as_deref(), Some(expected));
        assert_eq!(line(&config, &[]), None);
    }
}
