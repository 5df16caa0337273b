//! Session files with every key that a session may set, at ordinary and at extreme values, drawn from a seed.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::config::{Config, ReadTable as _};
use crate::session::{Invitation, PublicId};
use crate::vocabulary::{Label, Seed};

/// How many session files there are.
pub(super) const SESSIONS: usize = 300;

/// A number anywhere.
const REALS: &str =
    "nan inf -inf -1.0 0.0 5e-324 1e-310 1e-300 1e-9 0.25 0.5 1.0 2.0 4.0 1e9 1e300 1.7e308";
/// A number of things.
const COUNTS: &str = "0 1 2 3 5 1000 -1";
/// Yes or no.
const FLAGS: &str = "true false";

/// Table, key, and values between blanks.
const KEYS: &[(&str, &str, &str)] = &[
    ("session", "version", "1 2 3"),
    ("session", "name", "'' 'a' 'probe'"),
    ("session", "nonce", "'' 'ab'"),
    (
        "session",
        "opens",
        "1970-01-01T00:00:00Z 2099-01-01T00:00:00Z 2024-01-01T00:00:00",
    ),
    (
        "session",
        "closes",
        "1970-01-01T00:00:00Z 2099-06-01T00:00:00Z",
    ),
    ("session", "min_peers", COUNTS),
    ("session", "grace_seconds", "0 1 86400 86401"),
    ("session", "step_limit_seconds", "0 1 86400 86401"),
    ("session", "linger_seconds", "0 1 86400 86401"),
    ("session", "convener", "'' 'x'"),
    ("member", "rows", "0 1 2 3 11 12 13 1000 8589934592"),
    ("member", "name", "'' 'x'"),
    ("member", "reachable", FLAGS),
    ("member", "addresses", "[] ['/ip4/127.0.0.1/tcp/1']"),
    ("member", "id", "'' 'x'"),
    ("stated", "sigma_own", REALS),
    ("stated", "sigma_pairwise", REALS),
    (
        "items",
        "names",
        "[] ['1'] ['1','2'] ['3','2','1'] ['0.5','0.25','0.75'] ['user','item','rating'] ['1','2','3','4']",
    ),
    ("data", "path", "'rows.csv' ''"),
    ("data", "obtain", "'x'"),
    (
        "data",
        "format",
        "'matrix-csv' 'npy' 'table' 'csv-triples' 'lightgcn' 'jester' 'movielens-csv' 'movielens-dat' 'eachmovie' 'matrix-market' 'scipy-npz' 'graph' 'generated'",
    ),
    (
        "data",
        "columns",
        "{user='x',item=1} {rating=2} {user=1,item=1} {peer='x'}",
    ),
    ("data", "threshold", REALS),
    ("data", "items", COUNTS),
    ("data", "items_file", "'rows.csv' '/dev/null'"),
    ("data", "items_hash", "'x'"),
    ("data", "users_file", "'rows.csv' '/dev/null'"),
    ("data", "users_hash", "'x'"),
    ("data", "titles", "'rows.csv' '/dev/null'"),
    (
        "data",
        "image",
        "[1,3] [3,1] [2,2] [0,0] [3,9223372036854775807]",
    ),
    ("data", "degree_floor", COUNTS),
    ("data", "degree_cap", COUNTS),
    ("data", "header", FLAGS),
    ("data", "drop", "[1] [1,2] [1,2,3] [4] ['last'] []"),
    ("data", "generate", "{kind='spiked'}"),
    (
        "data",
        "ranges",
        "[0.0,1.0] [0.0,1e-320] [-1.7e308,1.7e308] [1.0,1.0] [nan,1.0] [[0.0,1.0],[0.0,1.0],[0.0,1.0]] [[0.0,1.0]] 'rows.csv'",
    ),
    ("data", "row_limit", REALS),
    (
        "data",
        "centre",
        "'none' 'public' 'private' 'user' 0.5 1e308",
    ),
    (
        "data",
        "means",
        "[0.5,0.25,0.75] [0.0,0.0,0.0] [1.7e308,-1.7e308,0.0] [nan,0.0,0.0] [0.5] 'rows.csv'",
    ),
    ("data", "raw_clip", REALS),
    ("data", "mean_share", "'auto' 0.5"),
    ("data", "row_clip", REALS),
    ("data", "values", "'ratings' 'interactions'"),
    ("data", "scale", "[0.0,1.0] [0.0,1e-320] [-1e308,1e308]"),
    (
        "topology",
        "generator",
        "'complete' 'ring' 'path' 'star' 'random-regular'",
    ),
    ("topology", "seed", "'beacon' 1"),
    ("noise_topology", "generator", "'complete' 'ring' 'path'"),
    (
        "algorithm",
        "kind",
        "'power' 'momentum' 'krylov' 'covariance' 'isometric-covariance' 'raked-covariance' 'deflation' 'spectral-ridge' 'clipped-power'",
    ),
    ("algorithm", "rank", "0 1 2 3 4"),
    ("algorithm", "block", "0 1 2 3 4"),
    ("algorithm", "iterations", "0 1 2 5"),
    ("algorithm", "start", "'random' 'popularity'"),
    ("algorithm", "momentum", REALS),
    ("algorithm", "eigenvalue_share", REALS),
    ("algorithm", "scale", "'auto'"),
    ("algorithm", "coherence", REALS),
    ("algorithm", "arrival", "'round-robin'"),
    ("algorithm", "output", "'low-rank' 'basis'"),
    (
        "algorithm",
        "clip",
        "'none' 'histogram' 'geometric' 'sparse-vector'",
    ),
    ("algorithm", "clip_share", REALS),
    ("algorithm", "clip_quantile", REALS),
    ("algorithm", "clip_lag", FLAGS),
    ("algorithm", "nuclear", REALS),
    ("algorithm", "step", "'standard'"),
    ("algorithm", "local", "'ridge'"),
    ("algorithm", "global", "'power'"),
    ("algorithm", "inner", COUNTS),
    ("algorithm", "oja_step", "'auto'"),
    ("algorithm", "mode", "'paper' 'tight'"),
    ("algorithm", "step_size", REALS),
    ("algorithm", "precondition", "'none' 'items'"),
    ("algorithm", "precondition_exponent", REALS),
    ("algorithm", "precondition_shrinkage", REALS),
    ("privacy", "epsilon", REALS),
    ("privacy", "delta", REALS),
    (
        "privacy",
        "adjacency",
        "'user' 'replace-user' 'swap' 'interaction' 'matrix' 'unit-spectral' 'entry' 'rating' 'edge' 'entry-bipartite'",
    ),
    (
        "privacy",
        "sensitivity",
        "'exact' 'unit-row' 'row-norm' 'worst-case' 'max-entry' 'root-floor'",
    ),
    ("privacy", "calibration", "'analytic' 'zcdp'"),
    ("privacy", "budget", "'even' [1.0,2.0] [0.0,1.0]"),
    ("privacy", "colluders", COUNTS),
    ("privacy", "overhead", REALS),
    ("privacy", "on_disconnect", "'refuse' 'smallest-component'"),
    ("privacy", "participants_per_person", COUNTS),
    (
        "noise",
        "scheme",
        "'pairwise' 'ring' 'local' 'none' 'independent'",
    ),
    ("noise", "bits", "32 64 16"),
    ("noise", "distribution", "'gaussian' 'laplace' 'wishart'"),
    ("noise", "holders", COUNTS),
    (
        "averaging",
        "scheme",
        "'tree' 'doubling' 'linear' 'chebyshev' 'pairwise'",
    ),
    ("averaging", "tolerance", REALS),
    ("averaging", "rounds", COUNTS),
    ("averaging", "root", "'a' 'b' 'z'"),
    ("averaging", "seed", COUNTS),
    ("averaging", "fan_in", COUNTS),
    ("averaging", "rotate", COUNTS),
    ("averaging", "base", COUNTS),
    ("averaging", "values", "'f64' 'f32'"),
    ("dropouts", "tolerate", COUNTS),
    ("dropouts", "retries", "0 1 2"),
    ("dropouts", "publish", "'open' 'sealed'"),
];

/// Sessions of these members, the first of which is asked.
pub(super) struct Sessions {
    members: [PublicId; 3],
}

/// Numbers drawn one after the other.
struct Draws {
    seed: Seed,
    count: u64,
}

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.count += 1;
        let name = self.count.to_string();
        let bits = self.seed.named(Label::Beacon, &name).bits("draw");
        (bits % bound as u64) as usize
    }

    fn of(&mut self, values: &str) -> Value {
        let all: Vec<&str> = values.split(' ').collect();
        let text = all[self.below(all.len())];
        let table: Table = toml::from_str(&format!("x = {text}")).expect("TOML");
        table["x"].clone()
    }
}

fn table(text: &str) -> Table {
    toml::from_str(text).expect("TOML")
}

impl Sessions {
    pub(super) fn new(members: [PublicId; 3]) -> Self {
        Self { members }
    }

    /// A session about numbers (kind 0) or ratings (kind 1), all keys of which are ordinary.
    fn ordinary(&self, kind: usize) -> Table {
        let mut plan = table(
            "name = 'probe'\n[session]\nversion = 2\nname = 'probe'\nopens = 2020-01-01T00:00:00Z\ncloses = 2099-01-01T00:00:00Z\nmin_peers = 3\n\
             [stated]\nsigma_own = 1e300\nsigma_pairwise = 1e300\n[topology]\ngenerator = 'complete'\n\
             [algorithm]\nkind = 'power'\nrank = 1\niterations = 2\n[averaging]\nscheme = 'tree'\n\
             [privacy]\nepsilon = 1.0\ndelta = 1e-6\nadjacency = 'interaction'\ncolluders = 1\n",
        );
        let of_kind = [
            "[items]\nnames = ['1', '2', '3']\n[data]\nformat = 'matrix-csv'\nrow_clip = 1.0\n\
             [privacy]\nepsilon = 1.0\ndelta = 1e-6\ncolluders = 1\nadjacency = 'user'\nsensitivity = 'unit-row'\n",
            "[items]\nnames = ['item 0', 'item 1', 'item 2', 'item 3', 'item 9']\n[data]\nformat = 'csv-triples'\n",
        ];
        plan.extend(table(of_kind[kind]));
        let session = plan["session"].as_table_mut().expect("a table");
        session.insert("nonce".to_owned(), "ab".repeat(32).into());
        session.insert("convener".to_owned(), self.members[1].to_string().into());
        let members = self.members.iter().zip(["a", "b", "c"]);
        let members = members.map(|(id, name)| {
            let address = Value::Array(vec!["/ip4/127.0.0.1/tcp/9".into()]);
            Value::Table(Table::from_iter([
                ("id".to_owned(), id.to_string().into()),
                ("name".to_owned(), name.into()),
                ("addresses".to_owned(), address),
                ("rows".to_owned(), Value::Integer(20)),
            ]))
        });
        plan.insert("member".to_owned(), Value::Array(members.collect()));
        plan
    }

    /// A session file of this number and kind: up to three keys of it are as the number says.
    pub(super) fn file(&self, number: u64, kind: usize) -> String {
        let mut draws = Draws {
            seed: Seed::from_u64(number),
            count: 0,
        };
        let mut plan = self.ordinary(kind);
        // Every key in turn, and others by chance.
        let mut keys = vec![(number as usize / 2) % KEYS.len()];
        keys.extend((0..draws.below(3) / 2).map(|_| draws.below(KEYS.len())));
        for key in keys {
            let (at, name, values) = KEYS[key];
            let value = draws.of(values);
            let own = self.members[0].to_string();
            let place = match at {
                "member" => {
                    let all = plan["member"].as_array_mut().expect("a list");
                    let own = all.iter_mut().find(|one| one["id"].as_str() == Some(&own));
                    match own {
                        Some(Value::Table(own)) => own,
                        _ => continue,
                    }
                }
                at => {
                    let empty = Value::Table(Table::new());
                    let place = plan.entry(at.to_owned()).or_insert(empty);
                    place.as_table_mut().expect("a table")
                }
            };
            place.insert(name.to_owned(), value);
            // Keys that belong to one another are given together, or the second hides the first.
            match name {
                "means" => drop(place.insert("centre".to_owned(), "public".into())),
                "retries" | "publish" => {
                    drop(place.insert("tolerate".to_owned(), Value::Integer(1)))
                }
                "raw_clip" => drop(place.insert("centre".to_owned(), "private".into())),
                _ => {}
            }
        }
        toml::to_string(&plan).expect("TOML")
    }

    /// A session about numbers with these keys of its data, these columns, and so many rows planned for.
    pub(super) fn asking(&self, keys: &str, names: [&str; 3], rows: i64) -> String {
        let mut plan = self.ordinary(0);
        let data = plan["data"].as_table_mut().expect("a table");
        data.extend(table(keys));
        let names = names.map(Value::from).to_vec();
        plan["items"]["names"] = Value::Array(names);
        for member in plan["member"].as_array_mut().expect("a list") {
            member["rows"] = Value::Integer(rows);
        }
        toml::to_string(&plan).expect("TOML")
    }
}

/// Fails for a key of a session's tables that is not among those generated: what the readers expect is what they say of an unknown key.
pub(super) fn assert_complete() {
    let ids = [1, 2, 3].map(|byte: u8| crate::session::Identity::from_secret([byte; 32].into()));
    let sessions = Sessions::new(ids.map(|identity| identity.id()));
    let mut known: BTreeSet<(&str, &str)> = BTreeSet::new();
    known.extend(KEYS.iter().map(|(table, key, _)| (*table, *key)));
    let tables: BTreeSet<&str> = KEYS.iter().map(|(table, ..)| *table).collect();
    // Graphs have a table for every generator, and belong to nobody's rows.
    let tables = tables.into_iter().filter(|at| !at.contains("topology"));
    // Every kind of algorithm has keys of its own.
    let kinds = KEYS
        .iter()
        .filter(|key| (key.0, key.1) == ("algorithm", "kind"));
    let kinds = kinds.flat_map(|(.., values)| values.split(' '));
    let kinds = kinds.map(|kind| kind.trim_matches('\''));
    let all = tables.flat_map(|at| match at {
        "algorithm" => kinds.clone().map(|kind| (at, Some(kind))).collect(),
        _ => vec![(at, None)],
    });
    for (at, kind) in all {
        let mut plan = sessions.ordinary(0);
        let mut stray = Table::from_iter([("stray".to_owned(), Value::Boolean(true))]);
        stray.extend(kind.map(|kind| ("kind".to_owned(), kind.into())));
        let stray = match at {
            "member" => Value::Array(vec![Value::Table(stray)]),
            _ => Value::Table(stray),
        };
        plan.insert(at.to_owned(), stray);
        let text = toml::to_string(&plan).expect("TOML");
        let error = match at {
            "session" | "member" | "stated" | "items" => Invitation::read(text.as_bytes())
                .expect_err("stray")
                .to_string(),
            _ => {
                plan.retain(|key, _| {
                    key == at
                        || matches!(
                            key,
                            "data" | "topology" | "algorithm" | "privacy" | "averaging"
                        )
                });
                plan.insert("name".to_owned(), "x".into());
                plan.insert("seed".to_owned(), Value::Integer(1));
                plan.insert("peers".to_owned(), Value::Table(table("count = 3")));
                let read = Config::of_table(plan);
                read.expect_err("stray").to_string()
            }
        };
        let (_, expected) = error.split_once("expected").expect("a list of keys");
        let expected = expected.lines().next().unwrap_or_default();
        let expected: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        assert!(!expected.is_empty(), "{error}");
        for key in expected {
            assert!(known.contains(&(at, key)), "[{at}] {key} is not generated");
        }
    }
}
