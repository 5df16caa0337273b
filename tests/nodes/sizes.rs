//! Session files that imply sizes beyond a message, a policy's memory or minutes of work: refused in words before anything as large is made.

use std::fs;
use std::process::Command;

use super::group::Group;

/// What `undertone` with these arguments ends with and says, where it may take so many MiB of address space.
fn limited(group: &Group, mebibytes: u32, arguments: &[&str]) -> (Option<i32>, String) {
    let script = format!(
        "ulimit -v {}; exec \"$0\" \"$@\"",
        u64::from(mebibytes) << 10
    );
    let ran = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_undertone")])
        .args(arguments)
        .current_dir(group.path("."))
        .output()
        .expect("a shell");
    let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
    (ran.status.code(), errors)
}

/// A session file with other values of some keys, and so many columns.
fn edited(text: &str, columns: usize, keys: &[(&str, &str, String)]) -> String {
    let mut table: toml::Table = toml::from_str(text).expect("a session");
    for (section, key, value) in keys {
        let value: toml::Table = toml::from_str(&format!("x = {value}")).expect("a value");
        let section = table
            .entry(*section)
            .or_insert_with(|| toml::Table::new().into());
        match section {
            toml::Value::Table(section) => {
                _ = section.insert((*key).to_owned(), value["x"].clone())
            }
            toml::Value::Array(list) => {
                let tables = list.iter_mut().filter_map(toml::Value::as_table_mut);
                tables.for_each(|one| _ = one.insert((*key).to_owned(), value["x"].clone()));
            }
            other => panic!("{other}"),
        }
    }
    if columns > 0 {
        let names = (0..columns).map(|column| toml::Value::String(column.to_string()));
        table["items"]["names"] = toml::Value::Array(names.collect());
    }
    toml::to_string(&table).expect("TOML")
}

#[test]
fn sizes_are_bounded_before_anything_of_them_is_made() {
    let group = Group::new(3, 3, &[]);
    let policy = group.path("member-1/policy.toml");
    let text = fs::read_to_string(&policy).expect("a policy");
    let little = text.replace("max_memory = \"4 GiB\"", "max_memory = \"512 MiB\"");
    assert_ne!(little, text);
    fs::write(&policy, little).expect("written");
    let session = group.path("session.toml");
    let honest = fs::read_to_string(session).expect("a session");
    let of = |section, key, value: &str| (section, key, value.to_owned());
    let kind = |name: &str| of("algorithm", "kind", &format!("{name:?}"));
    let rank = |rank: &str| of("algorithm", "rank", rank);
    let once = || of("algorithm", "iterations", "1");
    let message = "a message holds at most 134217728";
    let work = "beyond 2^35";
    let memory = "policy: session.max_memory = 512 MiB";
    let cases = [
        (100_000, vec![rank("50000")], work),
        (600_000, vec![rank("230")], message),
        (300_000, vec![rank("300")], memory),
        (100_000, vec![kind("covariance"), once()], message),
        (100_000, vec![kind("isometric-covariance"), once()], message),
        (8_000, vec![kind("covariance"), once()], memory),
        (
            20_000,
            vec![kind("krylov"), of("algorithm", "block", "20000")],
            work,
        ),
        (
            20_000,
            vec![kind("krylov"), of("algorithm", "iterations", "100000")],
            memory,
        ),
        (
            0,
            vec![of("algorithm", "iterations", "4294967295")],
            "100000",
        ),
        (0, vec![rank("9223372036854775807")], "rank"),
        (0, vec![of("member", "rows", "9223372036854775807")], "rows"),
        (0, vec![of("averaging", "rounds", "4294967295")], "rounds"),
        (
            0,
            vec![of("privacy", "colluders", "9223372036854775807")],
            "colluders",
        ),
        (
            0,
            vec![of("dropouts", "tolerate", "4294967295")],
            "tolerate",
        ),
    ];
    for (columns, keys, expected) in cases {
        group.write("large.toml", &edited(&honest, columns, &keys));
        let check = ["node", "check", "large.toml", "--state", "member-1"];
        let (code, errors) = limited(&group, 1 << 11, &check);
        assert_eq!(code, Some(2), "{columns} {keys:?}: {errors}");
        assert!(errors.contains(expected), "{columns} {keys:?}: {errors}");
        assert!(!errors.contains("panicked"), "{errors}");
    }
    // Rows that members state are numbers of the plan: none are made, however many there are.
    let ring = [
        of("noise", "scheme", "\"ring\""),
        of("member", "rows", "8000000"),
    ];
    group.write("large.toml", &edited(&honest, 0, &ring));
    let check = ["node", "check", "large.toml", "--state", "member-1"];
    let (code, errors) = limited(&group, 1 << 11, &check);
    assert_eq!(code, Some(0), "{errors}");
    // A member that is to run what is too large is told the same, and nothing is set aside.
    let less = text.replace("max_memory = \"4 GiB\"", "max_memory = \"128 MiB\"");
    fs::write(&policy, &less).expect("written");
    let long = [kind("krylov"), of("algorithm", "iterations", "100000")];
    let memory = "policy: session.max_memory = 128 MiB";
    group.write("large.toml", &edited(&honest, 0, &long));
    let run = [
        "node",
        "run",
        "large.toml",
        "--unsigned",
        "--state",
        "member-1",
        "--data",
        "rows-1.csv",
        "--out",
        "result",
    ];
    let (code, errors) = limited(&group, 1 << 11, &run);
    assert!(code == Some(2) && errors.contains(memory), "{errors}");
    assert_eq!(group.ledger(1)["sessions"], serde_json::json!([]));
    // What fits is allowed.
    let (code, errors) = limited(
        &group,
        1 << 11,
        &["node", "check", "session.toml", "--state", "member-1"],
    );
    assert_eq!(code, Some(0), "{errors}");
}
