//! The layer map as tables.

/// What each layer may name, lowest first. `lib.rs` and `main.rs` stand above all.
pub(super) const BELOW: [(&str, &[&str]); 28] = [
    ("vocabulary", &[]),
    ("linalg", &["vocabulary"]),
    // Numbers and bytes to files: it knows nothing of what they mean.
    ("writing", &["vocabulary", "linalg"]),
    // Spectra are eigenvalues of operators.
    ("topology", &["vocabulary", "linalg"]),
    // Who did what, as sets: neighbouring data differ in one of them.
    ("interactions", &["vocabulary", "linalg"]),
    // Rows in memory, dealt to peers.
    ("dataset", &["vocabulary", "linalg", "interactions"]),
    // A reader hands sparse rows to the linear algebra.
    ("data", &["vocabulary", "linalg", "interactions", "dataset"]),
    ("algorithm", &["vocabulary", "linalg"]),
    // As a stranger would write algorithms.
    ("papers", &["vocabulary", "linalg", "algorithm"]),
    // What a user does with a basis: it needs no protocol and no privacy parameter.
    (
        "recommender",
        &["vocabulary", "linalg", "interactions", "data"],
    ),
    // Coalitions are sets of nodes of the noise graph; sensitivities are of blocks, adjacencies of datasets.
    (
        "privacy",
        &["vocabulary", "linalg", "topology", "interactions"],
    ),
    // A simulation deals streams to the edges of the noise graph.
    ("noise", &["vocabulary", "topology"]),
    // Neither topology nor data: a peer sees its own rows and its neighbours' messages.
    (
        "protocol",
        &["vocabulary", "linalg", "algorithm", "noise", "privacy"],
    ),
    // Agreement without a server: graphs are drawn from what members agreed on; sockets, clocks and disks are the node's.
    (
        "session",
        &[
            "vocabulary",
            "linalg",
            "topology",
            "algorithm",
            "noise",
            "privacy",
            "protocol",
        ],
    ),
    // What is promised and what keeps it, from data alone: no rows, no files, no engine.
    (
        "plan",
        &[
            "vocabulary",
            "linalg",
            "topology",
            "algorithm",
            "noise",
            "privacy",
            "protocol",
        ],
    ),
    // An engine is given rows; who builds a simulation has them as a data set.
    (
        "engine",
        &[
            "vocabulary",
            "linalg",
            "topology",
            "dataset",
            "algorithm",
            "noise",
            "privacy",
            "protocol",
            "plan",
        ],
    ),
    (
        "node",
        &[
            "vocabulary",
            "linalg",
            "writing",
            "topology",
            "algorithm",
            "noise",
            "privacy",
            "protocol",
            "plan",
            "session",
            "engine",
        ],
    ),
    // What a file says: names and limits of what it chooses among, and no experiment.
    (
        "config",
        &[
            "vocabulary",
            "topology",
            "interactions",
            "dataset",
            "data",
            "algorithm",
            "papers",
            "privacy",
            "protocol",
            "engine",
            "recommender",
        ],
    ),
    (
        "scenario",
        &[
            "vocabulary",
            "linalg",
            "topology",
            "interactions",
            "dataset",
            "data",
            "algorithm",
            "papers",
            "noise",
            "privacy",
            "protocol",
            "plan",
            "session",
            "engine",
            // One of its runners.
            "node",
            "recommender",
            "config",
        ],
    ),
    (
        "run",
        &[
            "vocabulary",
            "linalg",
            "topology",
            "interactions",
            "dataset",
            "data",
            "algorithm",
            "papers",
            "privacy",
            "protocol",
            "plan",
            "session",
            "engine",
            "node",
            "recommender",
            "writing",
            "config",
            "scenario",
        ],
    ),
    // Draws noise and plays sessions of its own; its tests run swarms.
    (
        "assess",
        &[
            "vocabulary",
            "linalg",
            "topology",
            "interactions",
            "dataset",
            "data",
            "algorithm",
            "papers",
            "noise",
            "privacy",
            "protocol",
            "plan",
            "engine",
            "node",
            "config",
            "scenario",
            "run",
        ],
    ),
    // Broken sessions for tests of tests, behind a feature.
    ("testing", &["engine", "assess"]),
    // Names only.
    (
        "prelude",
        &[
            "vocabulary",
            "linalg",
            "topology",
            "interactions",
            "dataset",
            "data",
            "algorithm",
            "papers",
            "privacy",
            "protocol",
            "plan",
            "engine",
            "node",
            "config",
            "scenario",
            "assess",
        ],
    ),
    (
        "campaign",
        &[
            "vocabulary",
            "linalg",
            "interactions",
            "dataset",
            "data",
            "algorithm",
            "papers",
            "privacy",
            "protocol",
            "plan",
            "engine",
            "recommender",
            "writing",
            "config",
            "scenario",
            "run",
            // A forecast of both parts of a run that chooses itself.
            "assess",
        ],
    ),
    // Pages show what experiments found; their tests run some.
    (
        "report",
        &[
            "topology", "privacy", "engine", "writing", "config", "scenario", "run", "assess",
            "campaign",
        ],
    ),
    // A picture of a run while it runs: places of nodes are the report's.
    (
        "live",
        &[
            "vocabulary",
            "linalg",
            "topology",
            "engine",
            "config",
            "scenario",
            "run",
            "assess",
            "report",
        ],
    ),
    (
        "cli",
        &[
            "vocabulary",
            "topology",
            // Formats by name.
            "interactions",
            "dataset",
            "data",
            "privacy",
            "session",
            "engine",
            "node",
            "writing",
            "config",
            "scenario",
            "run",
            "assess",
            "campaign",
            "report",
            "live",
        ],
    ),
    // Pages without code; one of them is computed by the tests of privacy.
    ("guide", &["privacy"]),
];

/// All that `node` may take from `engine`: what a run is given and what it reports, no other engine.
pub(super) const NODE_FROM_ENGINE: [&str; 15] = [
    "Session",
    "PublicSession",
    "PublicViews",
    "Collector",
    "Outcome",
    "Communication",
    "Consensus",
    "IterationRecord",
    "Observer",
    "Runner",
    "RunnerError",
    "Silent",
    "Totals",
    "EngineError",
    "engine",
];

/// Words that may occur only below some paths, in code that is not a test, and why.
pub(super) const CONFINED: [(&[&str], &[&str], &str); 13] = [
    (
        &["tokio", "tokio_util", "libp2p", "libp2p_stream", "futures"],
        &["src/node", "src/live"],
        "the core has no runtime",
    ),
    (&["axum"], &["src/live"], "one layer has a web server"),
    (
        &[
            "clap",
            "anstream",
            "anstyle",
            "indicatif",
            "anyhow",
            "signal_hook",
        ],
        &["src/cli"],
        "libraries have typed errors and no terminal",
    ),
    (
        &["OpenOptions", "sync_all"],
        &[
            "src/writing",
            "src/campaign/sweep/journal.rs",
            "src/node/store",
        ],
        "a result is written whole or not at all",
    ),
    (
        &["plotters"],
        &["src/report"],
        "the plotting crate draws reports, nothing else",
    ),
    (
        &["rand_distr"],
        &["src/campaign"],
        "its logarithms are the platform's: normal numbers are vocabulary's",
    ),
    (
        &["gemm", "mul_to"],
        &[],
        "nalgebra's products choose their kernel by the processor: use linalg's",
    ),
    (
        &["bincode"],
        &["src/protocol/wire/names.rs"],
        "it is unmaintained: replacing it touches one file",
    ),
    (
        &["println", "eprintln", "print", "eprint", "dbg"],
        &["src/cli"],
        "only the command line prints",
    ),
    (
        &["Instant", "SystemTime"],
        &[
            "src/scenario/clock.rs",
            "src/campaign",
            "src/node",
            "src/live",
            "src/cli",
        ],
        "a result that depends on the clock cannot be repeated",
    ),
    (
        &[
            "thread_rng",
            "ThreadRng",
            "OsRng",
            "SysRng",
            "from_os_rng",
            "getrandom",
        ],
        &["src/node", "src/session", "src/live"],
        "every stream of a simulation derives from the seed",
    ),
    (
        &["HashMap", "HashSet", "RandomState"],
        &["src/node"],
        "their order differs from run to run",
    ),
    (
        &["unbounded", "unbounded_channel", "mpsc"],
        &["src/campaign/sweep", "src/node"],
        "a queue without bound is memory without bound; the core has no queues between threads",
    ),
];
