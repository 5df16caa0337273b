//! Sources made up to be caught, and sources that look like them.

use super::source::Source;
use super::{misplaced, wrong_engine_parts, wrong_imports};

#[test]
fn every_kind_of_import_that_points_up_is_caught() {
    let up = [
        ("src/protocol/peer.rs", "use crate::topology::Graph;"),
        ("src/protocol/peer.rs", "fn f() { crate::data::load(); }"),
        (
            "src/protocol/averaging/mod.rs",
            "use crate::{linalg::Block, engine::Session};",
        ),
        ("src/linalg/block.rs", "use super::super::privacy::Budget;"),
        (
            "src/privacy/accountant/mod.rs",
            "pub(in crate::privacy) fn f(x: &crate::protocol::Peer) {}",
        ),
        ("src/engine/mod.rs", "use crate::node::run;"),
        (
            "src/topology/mod.rs",
            "mod tests { use super::super::engine::Session; }",
        ),
        ("src/data/mod.rs", "use crate :: cli :: main ;"),
        ("src/noise/mod.rs", "use crate::algorithm;"),
        ("src/algorithm/mod.rs", "use undertone::engine;"),
        ("src/unknown/mod.rs", "fn f() {}"),
    ];
    for (path, text) in up {
        assert_eq!(
            wrong_imports(&Source::new(path, text)).len(),
            1,
            "{path}: {text}"
        );
    }
    let down = [
        (
            "src/protocol/peer.rs",
            "use crate::linalg::Block; // not crate::topology::Graph",
        ),
        (
            "src/protocol/peer.rs",
            "/// See [`crate::engine::Session`].\nuse super::inbox::Inbox;",
        ),
        (
            "src/protocol/peer.rs",
            "const TEXT: &str = \"use crate::engine::Session;\";",
        ),
        (
            "src/privacy/noise_plan/pairwise.rs",
            "use super::super::PrivacyError;",
        ),
        (
            "src/privacy/a/b.rs",
            "use super::super::topology_free::engine;",
        ),
        (
            "src/run/execute.rs",
            "use crate::{engine, node::run, data};",
        ),
        ("src/lib.rs", "pub mod engine;"),
    ];
    for (path, text) in down {
        assert_eq!(
            wrong_imports(&Source::new(path, text)),
            [""; 0],
            "{path}: {text}"
        );
    }
    let node = |text| wrong_engine_parts(&Source::new("src/node/driver.rs", text));
    assert_eq!(node("use crate::engine::{Session, Outcome};"), [""; 0]);
    assert_eq!(node("use crate::engine::lockstep;").len(), 1);
    assert_eq!(
        node("use crate::engine::{Session, event::Latency};").len(),
        1
    );
    assert_eq!(
        node("#[cfg(test)]\nmod tests { use crate::engine::lockstep; }"),
        [""; 0]
    );
}

#[test]
fn every_confined_word_is_caught_outside_its_place_and_only_there() {
    let found = |path, text| misplaced(&Source::new(path, text)).len();
    assert_eq!(found("src/engine/mod.rs", "use std::time::Instant;"), 1);
    assert_eq!(
        found("src/campaign/study/cost.rs", "use std::time::Instant;"),
        0
    );
    assert_eq!(
        found("src/protocol/inbox.rs", "let seen: HashMap<u32, u32> = x;"),
        1
    );
    assert_eq!(
        found(
            "src/protocol/inbox.rs",
            "let seen: BTreeMap<u32, u32> = x; // no HashMap"
        ),
        0
    );
    assert_eq!(found("src/data/mod.rs", "fn f() { println!(\"x\"); }"), 1);
    assert_eq!(
        found(
            "src/data/mod.rs",
            "#[cfg(test)]\nmod tests { fn f() { println!(\"x\"); } }"
        ),
        0
    );
    assert_eq!(
        found(
            "src/data/mod.rs",
            "#[cfg(test)]\nmod tests;\nfn f() { eprintln!(); }"
        ),
        1
    );
    assert_eq!(
        found(
            "src/data/mod.rs",
            "#[cfg(not(test))]\nfn f() { eprintln!(); }"
        ),
        1
    );
    assert_eq!(
        found("src/data/tests.rs", "fn f() { eprintln!(\"SKIPPED\"); }"),
        0
    );
    assert_eq!(found("src/engine/event/mod.rs", "tokio::spawn(f)"), 1);
    assert_eq!(found("src/protocol/message.rs", "bincode::encode(x)"), 1);
    assert_eq!(found("src/noise/mod.rs", "let r = rand::rngs::OsRng;"), 1);
}
