//! Trees of sources made up to be caught, and trees that look like them.

use super::circles;
use super::modules::Modules;
use super::source::Source;
use super::submodules;

fn tree(files: &[(&str, &str)]) -> Modules {
    let all = [("src/lib.rs", "")].iter().chain(files);
    let sources: Vec<Source> = all.map(|(path, text)| Source::new(path, text)).collect();
    Modules::of(&sources)
}

#[test]
fn circles_of_files_are_caught_however_they_are_written() {
    let circles_found = |files: &[(&str, &str)]| {
        let modules = tree(files);
        (
            circles::of_files(&modules).len(),
            circles::of_neighbours(&modules).len(),
        )
    };
    let head = (
        "src/data/mod.rs",
        "mod a;\nmod b;\nmod c;\npub use a::A;\npub use b::B;\npub use c::C;",
    );
    let written = [
        // By the file, by the parent's re-export, by an absolute path, in the code itself, by another name, in a group.
        (
            "use super::b::B;\npub struct A(B);",
            "use super::a::A;\npub struct B(A);",
        ),
        (
            "use super::B;\npub struct A(B);",
            "use crate::data::A;\npub struct B(A);",
        ),
        (
            "pub struct A(crate::data::b::B);",
            "pub struct B(super::A);",
        ),
        (
            "use super::{b as other};\npub struct A(other::B);",
            "use super::{a::{A as First}};\npub struct B(First);",
        ),
        (
            "use super::b;\npub struct A(b::B);",
            "pub fn f() { super::a::g() }\npub struct B;",
        ),
    ];
    for (a, b) in written {
        let found = circles_found(&[head, ("src/data/a.rs", a), ("src/data/b.rs", b)]);
        assert_eq!(found, (1, 1), "{a}\n{b}");
    }
    // Of three files, told once.
    let three = [
        head,
        ("src/data/a.rs", "use super::B;\npub struct A(B);"),
        ("src/data/b.rs", "use super::C;\npub struct B(C);"),
        ("src/data/c.rs", "use super::A;\npub struct C(A);"),
    ];
    assert_eq!(circles_found(&three), (1, 1));
    // Of folders, though no two files name each other.
    let folders = [
        ("src/data/mod.rs", "mod a;\nmod b;"),
        (
            "src/data/a/mod.rs",
            "mod x;\nmod y;\npub use x::X;\npub use y::Y;",
        ),
        (
            "src/data/a/x.rs",
            "use crate::data::b::Q;\npub struct X(Q);",
        ),
        ("src/data/a/y.rs", "pub struct Y;"),
        ("src/data/b/mod.rs", "mod p;\nmod q;\npub use q::Q;"),
        (
            "src/data/b/p.rs",
            "use super::super::a::Y;\npub struct P(Y);",
        ),
        ("src/data/b/q.rs", "pub struct Q;"),
    ];
    assert_eq!(circles_found(&folders), (0, 1));
}

#[test]
fn parents_tests_and_comments_make_no_circle() {
    let files = [
        // A parent hands its children on; they use what it defines.
        (
            "src/data/mod.rs",
            "mod a;\nmod b;\npub use a::A;\npub struct Limit;\npub fn f() { a::g() }",
        ),
        (
            "src/data/a.rs",
            "use super::b::B;\nuse super::Limit;\npub struct A(B, Limit);\npub fn g() {}",
        ),
        (
            "src/data/b.rs",
            "//! See [`super::a::A`].\npub struct B;\n// use super::a::A;\n#[cfg(test)]\nmod tests { use super::super::a::A; }",
        ),
        ("src/data/tests.rs", "use super::a::A;\nuse super::b::B;"),
        // Names of other crates, and of types.
        (
            "src/data/c.rs",
            "use std::fmt;\nfn f(d: fmt::Debug) { Self::a(d); T::b(); a::b() }",
        ),
    ];
    let modules = tree(&files);
    assert_eq!(circles::of_files(&modules), [""; 0]);
    assert_eq!(circles::of_neighbours(&modules), [""; 0]);
}

#[test]
fn submodules_that_look_up_are_caught() {
    let found = |path: &str, text: &str| {
        let modules = tree(&[
            (path, text),
            (
                "src/privacy/mod.rs",
                "pub mod accountant;\nmod noise_plan;\npub use noise_plan::NoisePlan;\npub struct Own;",
            ),
            ("src/privacy/noise_plan/mod.rs", "pub struct NoisePlan;"),
            ("src/data/interactions.rs", "pub struct Interactions;"),
            (
                "src/data/mod.rs",
                "mod interactions;\npub use interactions::Interactions;",
            ),
            ("src/engine/mod.rs", "pub mod event;\npub mod lockstep;"),
            ("src/engine/lockstep/mod.rs", "pub fn run() {}"),
            ("src/topology/graph.rs", "pub struct Graph;"),
            ("src/topology/mod.rs", "mod graph;\npub use graph::Graph;"),
        ]);
        submodules::wrong(&modules).len()
    };
    let accountant = "src/privacy/accountant/search.rs";
    assert_eq!(found(accountant, "use crate::privacy::NoisePlan;"), 1);
    assert_eq!(
        found(accountant, "use super::super::noise_plan::NoisePlan;"),
        1
    );
    assert_eq!(found(accountant, "use crate::data::Interactions;"), 1);
    assert_eq!(
        found(
            accountant,
            "use crate::topology::Graph;\nuse crate::privacy::Own;"
        ),
        0
    );
    assert_eq!(
        found("src/engine/event/mod.rs", "use crate::engine::lockstep;"),
        1
    );
    assert_eq!(
        found(
            "src/engine/event/mod.rs",
            "fn f() { super::lockstep::run() }"
        ),
        1
    );
    assert_eq!(
        found("src/engine/event/tests.rs", "use crate::engine::lockstep;"),
        0
    );
    assert_eq!(
        found(
            "src/privacy/sensitivity/rule.rs",
            "use crate::topology::Graph;"
        ),
        1
    );
}

#[test]
fn a_layer_reached_through_a_re_export_is_caught() {
    let files = |protocol| {
        [
            ("src/topology/mod.rs", "mod graph;\npub use graph::Graph;"),
            (
                "src/topology/graph.rs",
                "pub struct Graph;\npub struct Node;",
            ),
            // Allowed to name the graph itself, and hands it on.
            (
                "src/privacy/mod.rs",
                "mod plan;\npub use crate::topology::Graph as Net;\npub use crate::topology::*;\npub use plan::Plan;",
            ),
            ("src/privacy/plan.rs", "pub struct Plan;"),
            ("src/protocol/peer.rs", protocol),
        ]
    };
    let wrong = |protocol| submodules::wrong_layers(&tree(&files(protocol))).len();
    assert_eq!(wrong("use crate::privacy::Net;"), 1);
    assert_eq!(wrong("use crate::privacy::Graph;"), 1);
    assert_eq!(wrong("fn f(net: &crate::privacy::Net) {}"), 1);
    assert_eq!(wrong("use crate::privacy::Plan;"), 0);
}

#[test]
fn a_way_from_the_protocol_to_the_graph_is_caught() {
    let files = |plan| {
        [
            ("src/topology/mod.rs", "pub struct Graph;"),
            (
                "src/privacy/mod.rs",
                "mod plan;\npub use plan::Plan;\nmod view;",
            ),
            ("src/privacy/plan.rs", plan),
            (
                "src/privacy/view.rs",
                "use crate::topology::Graph;\npub struct View(Graph);",
            ),
            ("src/protocol/peer.rs", "use crate::privacy::Plan;"),
        ]
    };
    let found = |plan| submodules::reached_by_the_protocol(&tree(&files(plan)));
    assert_eq!(found("pub struct Plan;"), [""; 0]);
    let way =
        "src/protocol/peer.rs -> src/privacy/plan.rs -> src/privacy/view.rs -> src/topology/mod.rs";
    assert_eq!(
        found("use super::view::View;\npub struct Plan(View);"),
        [way]
    );
}
