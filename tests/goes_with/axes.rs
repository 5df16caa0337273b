//! What can be combined in an experiment file: kinds, wrappers, runners, noise, data.

use undertone::config::{Config, EngineKind};
use undertone::privacy::Scheme;
use undertone::protocol::Values;
use undertone::vocabulary::Distribution;

/// A setting of an axis: its name in the table, and what it sets in a file.
pub(super) struct Setting {
    /// The name.
    pub(super) name: &'static str,
    /// `key=value`, separated by spaces.
    pub(super) set: &'static str,
}

const fn setting(name: &'static str, set: &'static str) -> Setting {
    Setting { name, set }
}

/// Every kind of algorithm, with variants of it whose releases are others.
pub(super) const KINDS: [Setting; 31] = [
    setting("power", ""),
    setting("low-rank", "algorithm.output=low-rank"),
    setting(
        "histogram",
        "algorithm.kind=clipped-power algorithm.clip=histogram",
    ),
    setting(
        "histogram-lag",
        "algorithm.kind=clipped-power algorithm.clip=histogram algorithm.clip_lag=true",
    ),
    setting(
        "geometric",
        "algorithm.kind=clipped-power algorithm.clip=geometric",
    ),
    setting(
        "sparse-vector",
        "algorithm.kind=clipped-power algorithm.clip=sparse-vector",
    ),
    setting("momentum", "algorithm.kind=momentum algorithm.momentum=0.1"),
    setting("krylov", "algorithm.kind=krylov algorithm.block=2"),
    setting(
        "covariance",
        "algorithm.kind=covariance algorithm.iterations=1",
    ),
    setting(
        "isometric",
        "algorithm.kind=isometric-covariance algorithm.iterations=1",
    ),
    setting(
        "raked",
        "algorithm.kind=raked-covariance algorithm.iterations=1",
    ),
    setting("deflation", "algorithm.kind=deflation"),
    setting("ppi", "algorithm.kind=ppi"),
    setting(
        "ppi-coherence",
        "algorithm.kind=ppi algorithm.scale=fixed algorithm.coherence=3",
    ),
    setting("streaming", "algorithm.kind=streaming"),
    setting("pilot", "algorithm.kind=pilot algorithm.iterations=1"),
    setting("auto", "algorithm={kind=\"auto\",rank=1}"),
    setting(
        "auto-no-pilot",
        "algorithm={kind=\"auto\",rank=1} pilot={share=0.0}",
    ),
    setting("ridge", "algorithm.kind=spectral-ridge"),
    setting(
        "ridge-no-means",
        "algorithm.kind=spectral-ridge algorithm.iterations=1 completion.item_means=false",
    ),
    setting(
        "fw-covariance",
        "algorithm.kind=frank-wolfe algorithm.nuclear=5",
    ),
    setting(
        "fw-power",
        "algorithm.kind=frank-wolfe algorithm.nuclear=5 algorithm.global=power algorithm.inner=2",
    ),
    setting(
        "fw-oja",
        "algorithm.kind=frank-wolfe algorithm.nuclear=5 algorithm.global=oja algorithm.inner=2",
    ),
    setting(
        "fw-local-ridge",
        "algorithm.kind=frank-wolfe algorithm.local=ridge",
    ),
    setting(
        "fw-paper",
        "algorithm.kind=frank-wolfe algorithm.nuclear=5 algorithm.mode=paper",
    ),
    setting(
        "fw-power-paper",
        "algorithm.kind=frank-wolfe algorithm.nuclear=5 algorithm.global=power algorithm.inner=2 algorithm.mode=paper",
    ),
    setting(
        "fw-oja-paper",
        "algorithm.kind=frank-wolfe algorithm.nuclear=5 algorithm.global=oja algorithm.inner=2 algorithm.mode=paper",
    ),
    setting(
        "svd",
        "algorithm.kind=svd-completion algorithm.iterations=1",
    ),
    setting(
        "svd-paper",
        "algorithm.kind=svd-completion algorithm.iterations=1 algorithm.mode=paper",
    ),
    setting(
        "projected",
        "algorithm.kind=projected-gradient algorithm.nuclear=5",
    ),
    setting("popularity", "algorithm.start=popularity"),
];

const PUBLIC_MEAN: &str = "data.centre=public data.means=[0.5,0.5,0.5,0.5,0.5,0.5]";
const PRIVATE_MEAN: &str = "data.centre=private data.raw_clip=2";
const ITEMS: &str = "algorithm.precondition=items";
const DROPOUTS: &str = "dropouts={tolerate=1}";
const COMPARE: &str =
    "compare={algorithm={kind=\"power\",iterations=2},averaging={scheme=\"tree\"}}";
const GOSSIP: &str = "averaging.scheme=chebyshev";
const PUSH_SUM: &str = "averaging.scheme=push-sum";
const RECOMMENDER: &str = "recommender={items=4}";

/// Kinds that are mostly treated alike: where all of a group share a line, the line names the group.
pub(super) const GROUPS: [(&str, &[&str]); 3] = [
    (
        "plain*",
        &["power", "momentum", "krylov", "covariance", "isometric"],
    ),
    ("clips*", &["histogram", "histogram-lag", "geometric"]),
    (
        "completion*",
        &[
            "ridge",
            "ridge-no-means",
            "fw-covariance",
            "fw-power",
            "fw-oja",
            "fw-local-ridge",
            "fw-paper",
            "fw-power-paper",
            "fw-oja-paper",
            "svd",
            "svd-paper",
            "projected",
        ],
    ),
];

/// What goes round an algorithm, before it, beside it, or after it.
pub(super) const WRAPPERS: [Setting; 10] = [
    setting("alone", ""),
    setting("items", ITEMS),
    setting("private-mean", PRIVATE_MEAN),
    setting("public-mean", PUBLIC_MEAN),
    setting("pilot", "pilot={share=0.05}"),
    setting("dropouts", DROPOUTS),
    setting("compare", COMPARE),
    setting("recommender", RECOMMENDER),
    setting("persons", "privacy.participants_per_person=2"),
    setting("cap", "data.degree_cap=4"),
];

/// Two wrappers at once, and settings that are tried under the first adjacency of the data alone.
pub(super) const PAIRS: [(&str, [&str; 2]); 13] = [
    ("items+private-mean", [ITEMS, PRIVATE_MEAN]),
    ("items+dropouts", [ITEMS, DROPOUTS]),
    ("items+compare", [ITEMS, COMPARE]),
    ("items+recommender", [ITEMS, RECOMMENDER]),
    ("private-mean+dropouts", [PRIVATE_MEAN, DROPOUTS]),
    ("private-mean+compare", [PRIVATE_MEAN, COMPARE]),
    ("dropouts+compare", [DROPOUTS, COMPARE]),
    ("dropouts+recommender", [DROPOUTS, RECOMMENDER]),
    ("weights", ["privacy.budget=[2,1]", ""]),
    ("gossip", [GOSSIP, ""]),
    ("gossip+dropouts", [GOSSIP, DROPOUTS]),
    ("push-sum", [PUSH_SUM, ""]),
    ("push-sum+dropouts", [PUSH_SUM, DROPOUTS]),
];

/// The runners, in the order of the columns.
pub(super) const RUNNERS: [EngineKind; 6] = [
    EngineKind::Lockstep,
    EngineKind::Event,
    EngineKind::Swarm,
    EngineKind::Analytic,
    EngineKind::Federated,
    EngineKind::Central,
];

/// A letter of a runner's columns, and what stands for it in a configuration.
pub(super) struct Noise {
    /// The letter.
    pub(super) letter: char,
    /// What it stands for.
    pub(super) name: &'static str,
    set: fn(&mut Config),
}

impl Noise {
    /// Sets it.
    pub(super) fn apply(&self, config: &mut Config) {
        (self.set)(config);
    }
}

/// The noise, in the order of a runner's columns.
pub(super) const NOISES: [Noise; 12] = [
    Noise {
        letter: 'p',
        name: "pairwise",
        set: |_| {},
    },
    Noise {
        letter: 'l',
        name: "local",
        set: |config| config.noise.scheme = Scheme::Local,
    },
    Noise {
        letter: 'r',
        name: "ring",
        set: |config| config.noise.scheme = Scheme::Ring,
    },
    Noise {
        letter: 'i',
        name: "independent",
        set: |config| config.noise.scheme = Scheme::Independent,
    },
    Noise {
        letter: 'n',
        name: "none",
        set: |config| config.noise.scheme = Scheme::None,
    },
    Noise {
        letter: 'I',
        name: "Laplace, independent",
        set: |config| laplace(config, Scheme::Independent),
    },
    Noise {
        letter: 'L',
        name: "Laplace, local",
        set: |config| laplace(config, Scheme::Local),
    },
    Noise {
        letter: 'H',
        name: "Laplace, pairwise with holders",
        set: |config| {
            config.noise.distribution = Distribution::Laplace;
            config.noise.holders = Some(3);
        },
    },
    Noise {
        letter: 'W',
        name: "Wishart, independent",
        set: |config| wishart(config, Scheme::Independent),
    },
    Noise {
        letter: 'w',
        name: "Wishart, local",
        set: |config| wishart(config, Scheme::Local),
    },
    Noise {
        letter: 'f',
        name: "pairwise, values f32",
        set: |config| config.averaging.values = Values::F32,
    },
    Noise {
        letter: 'F',
        name: "ring, values f32",
        set: |config| {
            config.noise.scheme = Scheme::Ring;
            config.averaging.values = Values::F32;
        },
    },
];

/// Laplace noise of all peers: δ is 0.
fn laplace(config: &mut Config, scheme: Scheme) {
    config.noise.distribution = Distribution::Laplace;
    config.noise.scheme = scheme;
    config.privacy.delta = Some(0.0);
}

/// Wishart noise: δ is 0.
fn wishart(config: &mut Config, scheme: Scheme) {
    config.noise.distribution = Distribution::Wishart;
    config.noise.scheme = scheme;
    config.privacy.delta = Some(0.0);
}

/// What a file holds.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Data {
    /// Ratings above a threshold.
    Interactions,
    /// Ratings as numbers.
    Ratings,
    /// A matrix of numbers.
    Numbers,
    /// The edges of a private graph.
    Graph,
    /// A matrix whose rows and columns are the peers.
    Bipartite,
}

impl Data {
    pub(super) const ALL: [Self; 5] = [
        Self::Interactions,
        Self::Ratings,
        Self::Numbers,
        Self::Graph,
        Self::Bipartite,
    ];

    /// The name in the table.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Interactions => "interactions",
            Self::Ratings => "ratings",
            Self::Numbers => "numbers",
            Self::Graph => "graph",
            Self::Bipartite => "bipartite",
        }
    }

    /// `[data]` and `[peers]`.
    pub(super) fn settings(self) -> &'static str {
        match self {
            Self::Interactions => {
                "[data]\npath = \"ratings.csv\"\nformat = \"csv-triples\"\nitems_file = \"items.txt\"\ndegree_floor = 3\n[peers]\ncount = 6\n"
            }
            Self::Ratings => {
                "[data]\npath = \"ratings.csv\"\nformat = \"csv-triples\"\nitems_file = \"items.txt\"\nvalues = \"ratings\"\nranges = [1, 5]\nrow_clip = 3.0\n[peers]\ncount = 6\n"
            }
            Self::Numbers => {
                "[data]\npath = \"matrix.csv\"\nformat = \"matrix-csv\"\nranges = [0, 1]\nrow_clip = 2.0\n[peers]\ncount = 6\n"
            }
            Self::Graph => {
                "[data]\npath = \"graph.gml\"\nformat = \"graph\"\n[peers]\ncount = \"vertices\"\n"
            }
            Self::Bipartite => {
                "[data]\npath = \"matrix.csv\"\nformat = \"matrix-csv\"\nranges = [0, 1]\n[peers]\ncount = \"vertices\"\n"
            }
        }
    }

    /// The rule of bounds that goes with the data, and a clip under which one rating moves alone.
    pub(super) fn rule(self, adjacency: &str) -> &'static str {
        match (self, adjacency) {
            (Self::Ratings | Self::Numbers, "rating") => {
                "privacy.sensitivity=unit-row data.row_clip=13"
            }
            (Self::Ratings | Self::Numbers, "user" | "replace-user") => {
                "privacy.sensitivity=unit-row"
            }
            _ => "",
        }
    }

    /// The adjacencies under which something is allowed.
    pub(super) fn adjacencies(self) -> &'static [&'static str] {
        match self {
            Self::Interactions => &[
                "interaction",
                "user",
                "swap",
                "replace-user",
                "matrix",
                "unit-spectral",
                "entry",
            ],
            Self::Ratings => &["user", "replace-user", "rating", "entry"],
            Self::Numbers => &["user", "replace-user", "matrix", "unit-spectral", "entry"],
            Self::Graph => &["edge", "entry"],
            Self::Bipartite => &["entry-bipartite"],
        }
    }
}

/// All adjacencies.
pub(super) const ADJACENCIES: [&str; 10] = [
    "interaction",
    "user",
    "swap",
    "replace-user",
    "matrix",
    "unit-spectral",
    "entry",
    "rating",
    "edge",
    "entry-bipartite",
];

/// Rules of bounds beside that of [`Data::rule`], tried without a wrapper.
pub(super) const RULES: [&str; 5] = [
    "row-norm",
    "max-entry",
    "worst-case",
    "unit-row",
    "root-floor",
];
