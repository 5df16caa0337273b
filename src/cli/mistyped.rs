//! Tips for options that are not there but are keys of experiment files: `--epsilon 1`.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Command, CommandFactory};

use super::arguments::Arguments;
use crate::config::keys_called;

/// Keys that a tip names at most.
const MOST: usize = 3;

/// The error of parsing these arguments, with a tip to use `--set` where an unknown option is the last part of a key of experiment files.
pub(super) fn with_tip(mut error: Error, typed: &[String]) -> Error {
    if error.kind() != ErrorKind::UnknownArgument || !takes_keys(typed) {
        return error;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let Some(name) = option.strip_prefix("--") else {
        return error;
    };
    let (name, value) = match name.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (name, value_after(typed, option)),
    };
    let value = value.unwrap_or_else(|| "VALUE".to_owned());
    let keys = keys_called(&name.replace('-', "_"));
    if !(1..=MOST).contains(&keys.len()) {
        return error;
    }
    let tips = keys
        .iter()
        .map(|key| format!("it is a key of the experiment file: use '--set {key}={value}'"));
    let tips = tips.map(Into::into).collect();
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    // Of options that look alike and mean something else.
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::Usage);
    error
}

/// What was typed after this option, as its value.
fn value_after(typed: &[String], option: &str) -> Option<String> {
    let place = typed
        .iter()
        .position(|word| word == option || word.starts_with(&format!("{option}=")))?;
    let value = match typed[place].split_once('=') {
        Some((_, value)) => value,
        None => typed.get(place + 1)?,
    };
    (!value.starts_with('-')).then(|| value.to_owned())
}

/// Whether the command that was typed has `--set`.
fn takes_keys(typed: &[String]) -> bool {
    let mut command: Command = Arguments::command();
    for word in typed {
        let Some(inner) = command.find_subcommand(word) else {
            break;
        };
        command = inner.clone();
    }
    command
        .get_arguments()
        .any(|argument| argument.get_long() == Some("set"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn shown(words: &str) -> String {
        let typed: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let all = std::iter::once("undertone").chain(words.split(' '));
        let error = Arguments::try_parse_from(all).expect_err(words);
        with_tip(error, &typed).to_string()
    }

    #[test]
    fn keys_of_the_file_are_set_with_set() {
        for words in ["privacy a.toml --epsilon 1", "run a.toml --epsilon=1"] {
            let text = shown(words);
            assert!(text.contains("'--set privacy.epsilon=1'"), "{text}");
            assert!(!text.contains("--version"), "{text}");
        }
        assert!(shown("run a.toml --degree-floor").contains("--set data.degree_floor=VALUE"));
        // Nobody's key, and a command without --set.
        for words in ["run a.toml --epsilom 1", "topology list --epsilon 1"] {
            assert!(!shown(words).contains("--set"), "{words}");
        }
    }
}
