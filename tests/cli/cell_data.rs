//! Data sets of one public shape: the same users, items, vertices and columns, and other values.

use crate::support::scratch::Scratch;

const USERS: usize = 8;
const ITEMS: usize = 6;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Data {
    /// Ratings above a threshold.
    Interactions,
    /// Ratings as numbers.
    Ratings,
    /// A matrix of numbers.
    Numbers,
    /// A matrix whose rows and columns are the peers.
    Vertices,
    /// The edges of a private graph.
    Graph,
}

/// Whether place (u, i) is taken; none of them where values are extreme.
type Holds = fn(usize, usize) -> bool;

/// The data sets, the ordinary one first.
pub(super) const SETS: [(&str, Option<Holds>); 6] = [
    ("full", Some(|_, _| true)),
    ("empty", Some(|_, _| false)),
    ("one interaction", Some(|u, i| (u, i) == (3, 2))),
    ("one item", Some(|_, i| i == 2)),
    ("one user", Some(|u, _| u == 3)),
    ("extreme values", None),
];

/// The numbers that are hardest to bear.
fn extreme(u: usize, i: usize) -> String {
    ["1e300", "-1e300", "5e-324"][(u + i) % 3].to_owned()
}

impl Data {
    /// Its sections of an experiment.
    pub(super) fn settings(self) -> &'static str {
        match self {
            Self::Interactions => {
                "[data]\npath = \"cell.csv\"\nformat = \"csv-triples\"\nitems_file = \"items.txt\"\ndegree_floor = 3\n[peers]\ncount = 6\n"
            }
            Self::Ratings => {
                "[data]\npath = \"cell.csv\"\nformat = \"csv-triples\"\nitems_file = \"items.txt\"\nvalues = \"ratings\"\nranges = [1, 5]\nrow_clip = 3.0\n[peers]\ncount = 6\n"
            }
            Self::Numbers => {
                "[data]\npath = \"cell.csv\"\nformat = \"matrix-csv\"\nranges = [0, 1]\nrow_clip = 2.0\n[peers]\ncount = 6\n"
            }
            Self::Vertices => {
                "[data]\npath = \"cell.csv\"\nformat = \"matrix-csv\"\nranges = [0, 1]\n[peers]\ncount = \"vertices\"\n"
            }
            Self::Graph => {
                "[data]\npath = \"cell.gml\"\nformat = \"graph\"\n[peers]\ncount = \"vertices\"\n"
            }
        }
    }

    /// Whether rows hold numbers, whose lengths nothing but a clip bounds.
    pub(super) fn of_numbers(self) -> bool {
        matches!(self, Self::Ratings | Self::Numbers)
    }

    /// Writes the data set of this place in [`SETS`] into `sims`.
    pub(super) fn write(self, scratch: &Scratch, at: usize) {
        let holds = SETS[at].1;
        let items: String = (0..ITEMS).map(|i| format!("i{i}\n")).collect();
        scratch.write("sims/items.txt", &items);
        let (name, text) = match self {
            Self::Interactions => (
                "cell.csv",
                triples(|u, i| match holds {
                    Some(holds) => Some(u8::from(holds(u, i)).to_string()),
                    None => Some(extreme(u, i)),
                }),
            ),
            Self::Ratings => (
                "cell.csv",
                triples(|u, i| match holds {
                    Some(holds) => holds(u, i).then(|| (1 + (3 * u + i) % 5).to_string()),
                    None => Some(extreme(u, i)),
                }),
            ),
            Self::Numbers | Self::Vertices => ("cell.csv", matrix(holds)),
            Self::Graph => ("cell.gml", graph(holds)),
        };
        scratch.write(&format!("sims/{name}"), &text);
    }
}

/// Every user rates something that is in no list, and what this says.
fn triples(rating: impl Fn(usize, usize) -> Option<String>) -> String {
    let mut text = "user,item,rating\n".to_owned();
    for u in 0..USERS {
        text += &format!("u{u},elsewhere,3\n");
        for i in 0..ITEMS {
            if let Some(rating) = rating(u, i) {
                text += &format!("u{u},i{i},{rating}\n");
            }
        }
    }
    text
}

fn matrix(holds: Option<Holds>) -> String {
    let number = |u: usize, i: usize| match holds {
        Some(holds) if holds(u, i) => format!("0.{}", 2 + (3 * u + i) % 5),
        Some(_) => "0".to_owned(),
        None => extreme(u, i),
    };
    let row = |u| {
        let row: Vec<String> = (0..ITEMS).map(|i| number(u, i)).collect();
        row.join(",") + "\n"
    };
    (0..USERS).map(row).collect()
}

fn graph(holds: Option<Holds>) -> String {
    let mut text = "graph [\n".to_owned();
    for u in 0..USERS {
        text += &format!("node [ id {u} label \"v{u}\" ]\n");
    }
    for u in 0..USERS {
        for v in u + 1..USERS {
            if holds.is_none_or(|holds| holds(u, v % ITEMS)) {
                text += &format!("edge [ source {u} target {v} ]\n");
            }
        }
    }
    text + "]\n"
}
