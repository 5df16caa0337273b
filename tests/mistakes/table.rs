//! The mistakes: each is a right file with one change.

/// An experiment file with one mistake.
pub(super) struct Mistake {
    /// What is wrong.
    pub(super) what: &'static str,
    base: &'static str,
    right: &'static str,
    wrong: &'static str,
    /// How the line begins that is to be named.
    pub(super) line: &'static str,
    /// The key, or the value, that is to be named.
    pub(super) key: &'static str,
    /// What to write instead, as the refusal says it.
    pub(super) instead: &'static str,
}

impl Mistake {
    /// The file.
    pub(super) fn file(&self) -> String {
        assert!(self.base.contains(self.right), "{}", self.what);
        self.base.replacen(self.right, self.wrong, 1)
    }
}

/// Ratings, with everything at its default that can be.
const SHORT: &str = "[data]
path = \"ratings.csv\"
format = \"csv-triples\"
items = 6
[privacy]
epsilon = 2.0
";

/// Ratings, with what most files say.
const RATINGS: &str = "[data]
path = \"ratings.csv\"
format = \"csv-triples\"
items = 6
[peers]
count = 6
[topology]
generator = \"ring\"
[algorithm]
kind = \"krylov\"
rank = 2
iterations = 3
[privacy]
epsilon = 2.0
delta = 1e-5
colluders = 1
[noise]
scheme = \"pairwise\"
[averaging]
scheme = \"tree\"
";

/// Rows of numbers.
const ROWS: &str = "[data]
path = \"rows.csv\"
format = \"matrix-csv\"
header = true
ranges = [[150, 200], [40, 120], [40, 90]]
row_clip = 1.5
[algorithm]
kind = \"covariance\"
rank = 2
iterations = 1
[privacy]
epsilon = 2.0
";

/// A private graph.
const GRAPH: &str = "[data]
path = \"friends.edges\"
format = \"graph\"
[algorithm]
kind = \"power\"
rank = 2
iterations = 2
[topology]
generator = \"ring\"
[privacy]
epsilon = 2.0
adjacency = \"edge\"
";

pub(super) const BASES: [&str; 4] = [SHORT, RATINGS, ROWS, GRAPH];

macro_rules! mistakes {
    ($($what:literal: $base:ident, $right:literal => $wrong:literal, at $line:literal, $key:literal, $instead:literal;)*) => {
        &[$(Mistake { what: $what, base: $base, right: $right, wrong: $wrong, line: $line, key: $key, instead: $instead }),*]
    };
}

pub(super) const MISTAKES: &[Mistake] = mistakes! {
    "a key is misspelt": SHORT, "items = 6" => "itms = 6", at "itms", "itms", "`items`";
    "a table is misspelt": SHORT, "[privacy]" => "[privcy]", at "[privcy]", "privcy", "`privacy`";
    "a table is missing": SHORT, "[privacy]\nepsilon = 2.0\n" => "", at "[data]", "privacy", "epsilon = 1.0";
    "the table of data is missing": SHORT, "[data]\npath = \"ratings.csv\"\nformat = \"csv-triples\"\nitems = 6\n" => "", at "[privacy]", "data", "path = \"ratings.csv\"";
    "a key is missing": SHORT, "epsilon = 2.0\n" => "", at "[privacy]", "epsilon", "epsilon = 1.0";
    "the format is missing": SHORT, "format = \"csv-triples\"\n" => "", at "[data]", "format", "format = \"csv-triples\"";
    "the rank is missing": RATINGS, "rank = 2\n" => "", at "[algorithm]", "rank", "rank = 4";
    "the kind is missing": RATINGS, "kind = \"krylov\"\n" => "", at "[algorithm]", "kind", "kind = \"covariance\"";
    "the iterations are missing": RATINGS, "iterations = 3\n" => "", at "[algorithm]", "iterations", "iterations = 3";
    "a clip of another kind": RATINGS, "iterations = 3" => "iterations = 3\nclip = \"histogram\"", at "clip", "algorithm.clip = \"histogram\"", "set algorithm.kind = \"clipped-power\"";
    "a key that only its kind needs is missing": RATINGS, "\"krylov\"" => "\"momentum\"", at "[algorithm]", "momentum", "momentum = 0.01";
    "a key beside an open choice": RATINGS, "\"krylov\"" => "\"auto\"", at "iterations", "iterations = 3", "leave it out";
    "a key stands in the wrong table": SHORT, "items = 6" => "items = 6\nepsilon = 2.0", at "epsilon", "epsilon", "privacy.epsilon";
    "a key stands above the tables": SHORT, "[data]\n" => "epsilon = 2.0\n[data]\n", at "epsilon", "epsilon", "privacy.epsilon";
    "a key stands twice": RATINGS, "rank = 2" => "rank = 2\nrank = 3", at "rank = 3", "rank", "leave one of the two out";
    "a table stands twice": SHORT, "epsilon = 2.0\n" => "epsilon = 2.0\n[ privacy ]\n", at "[ privacy ]", "privacy", "leave one of the two out";
    "a text is not closed": SHORT, "\"ratings.csv\"" => "\"ratings.csv", at "path", "path", "\"";
    "a number in quotes": SHORT, "items = 6" => "items = \"6\"", at "items", "items", "without quotes";
    "a text without quotes": SHORT, "\"csv-triples\"" => "csv-triples", at "format", "format", "must be quoted";
    "a comma in a number": SHORT, "2.0" => "2,0", at "epsilon", "epsilon", "0.5";
    "half an iteration": RATINGS, "iterations = 3" => "iterations = 3.5", at "iterations", "iterations", "a whole number";
    "a negative number of items": SHORT, "items = 6" => "items = -6", at "items", "items", "a whole number of at least 0";
    "epsilon in per cent": SHORT, "2.0" => "\"200%\"", at "epsilon", "epsilon", "a number, without quotes";
    "epsilon is negative": SHORT, "2.0" => "-2.0", at "epsilon", "epsilon", "above 0";
    "epsilon is zero": SHORT, "2.0" => "0.0", at "epsilon", "epsilon", "above 0";
    "epsilon is no number": SHORT, "2.0" => "nan", at "epsilon", "epsilon", "above 0";
    "epsilon is infinite": SHORT, "2.0" => "inf", at "epsilon", "epsilon", "above 0";
    "delta is one in percent": RATINGS, "1e-5" => "10.0", at "delta", "delta", "between 0 and 1";
    "delta is negative": RATINGS, "1e-5" => "-1e-5", at "delta", "delta", "between 0 and 1";
    "delta is zero": RATINGS, "1e-5" => "0.0", at "delta", "delta", "between 0 and 1";
    "a kind is misspelt": RATINGS, "\"krylov\"" => "\"krilov\"", at "kind", "krilov", "`krylov`";
    "a format is misspelt": SHORT, "csv-triples" => "csv-triple", at "format", "csv-triple", "`csv-triples`";
    "an adjacency is misspelt": RATINGS, "colluders = 1" => "adjacency = \"users\"", at "adjacency", "users", "`user`";
    "a generator is misspelt": RATINGS, "\"ring\"" => "\"rings\"", at "[topology]", "rings", "`ring`";
    "noise is misspelt": RATINGS, "\"pairwise\"" => "\"pairwize\"", at "scheme", "pairwize", "`pairwise`";
    "an averaging is misspelt": RATINGS, "\"tree\"" => "\"trees\"", at "scheme = \"trees\"", "trees", "`tree`";
    "an engine is misspelt": RATINGS, "[averaging]" => "[engine]\nkind = \"lockstepp\"\n[averaging]", at "kind = \"lock", "lockstepp", "`lockstep`";
    "a key of another kind": RATINGS, "rank = 2" => "rank = 2\nmomentum = 0.1", at "momentum", "momentum", "momentum";
    "a block where the kind has none": RATINGS, "kind = \"krylov\"\nrank = 2" => "kind = \"power\"\nrank = 2\nblock = 3", at "block", "block", "krylov";
    "a clip where the kind has none": RATINGS, "rank = 2" => "rank = 2\nclip_share = 0.2", at "clip_share", "clip_share", "clip";
    "a step of another kind": RATINGS, "rank = 2" => "rank = 2\nstep = \"standard\"", at "step", "step", "frank-wolfe";
    "a coherence of another kind": RATINGS, "rank = 2" => "rank = 2\ncoherence = 3.0", at "coherence", "coherence", "ppi";
    "no eigenvector is wanted": RATINGS, "rank = 2" => "rank = 0", at "rank", "rank", "at least 1";
    "more eigenvectors than items": RATINGS, "rank = 2" => "rank = 7", at "rank", "rank", "6";
    "no iteration": RATINGS, "iterations = 3" => "iterations = 0", at "iterations", "iterations", "1";
    "a block below the rank": RATINGS, "rank = 2" => "rank = 2\nblock = 1", at "block", "block", "at least";
    "ranges for ratings": SHORT, "items = 6" => "items = 6\nranges = [0, 5]", at "ranges", "ranges", "values = \"ratings\"";
    "a header for ratings": SHORT, "items = 6" => "items = 6\nheader = true", at "header", "header", "matrix-csv";
    "items of numbers": ROWS, "header = true" => "header = true\nitems = 2", at "items", "items", "leave it out";
    "a length is missing": ROWS, "row_clip = 1.5\n" => "", at "[data]", "row_clip", "row_clip = 1.0, a public bound";
    "a length of nothing": ROWS, "row_clip = 1.5" => "row_clip = 0.0", at "row_clip", "row_clip", "above 0";
    "a range that is none": ROWS, "[40, 120]" => "[120, 40]", at "ranges", "ranges", "low";
    "a range of a column that is not there": ROWS, "[40, 90]]" => "[40, 90], [0, 1]]", at "ranges", "ranges", "3";
    "a range is missing": ROWS, ", [40, 90]]" => "]", at "ranges", "ranges", "3";
    "means without saying that they are public": ROWS, "row_clip" => "means = [0.1, 0.2, 0.3]\nrow_clip", at "means", "means", "centre = \"public\"";
    "no peers": RATINGS, "count = 6" => "count = 0", at "count", "count", "at least";
    "peers in words": RATINGS, "count = 6" => "count = \"all\"", at "count", "count", "users";
    "more peers than users": RATINGS, "count = 6" => "count = 600", at "[peers]", "600 peers", "at most 12";
    "all peers collude": RATINGS, "colluders = 1" => "colluders = 6", at "colluders", "colluders", "5";
    "colluders cut a ring": RATINGS, "colluders = 1" => "colluders = 2", at "colluders", "colluders", "set colluders to 1 or fewer";
    "a file of data that is not there": SHORT, "ratings.csv" => "rating.csv", at "path", "rating.csv", "path";
    "a file of a graph that is not there": RATINGS, "generator = \"ring\"" => "file = \"friend.edges\"", at "file", "friend.edges", "put it there";
    "a degree that no graph has": RATINGS, "generator = \"ring\"" => "generator = \"random-regular\"\ndegree = 6\nseed = 1", at "degree", "degree", "5";
    "a degree of a ring": RATINGS, "generator = \"ring\"" => "generator = \"ring\"\ndegree = 4", at "[topology]", "degree", "leave it out";
    "rounds and a tolerance": RATINGS, "scheme = \"tree\"" => "scheme = \"chebyshev\"\nrounds = 3\ntolerance = 1e-6", at "tolerance", "rounds", "not both";
    "integers of a kind that sends reals": RATINGS, "scheme = \"tree\"" => "scheme = \"tree\"\nvalues = \"f16\"", at "values", "f16", "f32";
    "edges are records of no ratings": RATINGS, "colluders = 1" => "adjacency = \"edge\"", at "format", "adjacency", "another adjacency";
    "users are records of no graph": GRAPH, "adjacency = \"edge\"" => "adjacency = \"user\"", at "format", "adjacency", "edge";
    "a hold-out of everything": RATINGS, "[averaging]" => "[evaluation]\nholdout = 1.0\n[averaging]", at "holdout", "holdout", "below 1";
    "a seed below zero": SHORT, "[data]\n" => "seed = -1\n[data]\n", at "seed", "seed", "at least 0";
    "a name that leaves the folder": SHORT, "[data]\n" => "name = \"../up\"\n[data]\n", at "name", "name", "letters";
};
