//! The runs of which receipts are stored.

use undertone::campaign::advise::Guess;
use undertone::campaign::auto::Auto;
use undertone::data::Dataset;
use undertone::engine::{Silent, Simulation};
use undertone::linalg::SparseRows;
use undertone::plan::Promise;
use undertone::privacy::Adjacency;
use undertone::run::receipt::Receipt;
use undertone::run::run;

use super::own::{CountingPower, OnePerPerson};
use crate::plans::settings::named;
use crate::support::experiments::{resolve, sims};

/// A receipt's file, and the setting of `tests/plans` that it is of.
const FILES: [(&str, &str); 24] = [
    ("power", "interactions: power"),
    ("momentum", "interactions: momentum"),
    ("krylov", "interactions: krylov"),
    ("covariance", "interactions: covariance"),
    ("isometric", "interactions: isometric"),
    ("raked", "interactions: raked"),
    ("deflation", "interactions: deflation"),
    ("ppi", "interactions: ppi, guess"),
    ("streaming", "interactions: streaming"),
    ("pilot-alone", "interactions: pilot"),
    ("preconditioned", "interactions: P"),
    ("ring", "interactions: ring"),
    ("local", "interactions: local"),
    ("independent", "interactions: independent"),
    ("curator", "interactions: curator"),
    ("laplace", "interactions: laplace of all"),
    ("laplace-holders", "interactions: laplace of holders"),
    ("losses", "gossip: crash"),
    ("private-mean", "numbers: private mean"),
    ("histogram", "numbers: histogram"),
    ("sparse-vector", "numbers: sparse vector"),
    ("spectral-ridge", "completion: spectral ridge"),
    ("frank-wolfe", "completion: frank-wolfe"),
    ("svd", "completion: svd"),
];

/// More of them.
const MORE: [(&str, &str); 6] = [
    ("projected-gradient", "completion: projected gradient"),
    ("geometric", "numbers: geometric"),
    ("graph", "graph: edges"),
    ("bipartite", "bipartite: power"),
    ("wishart", "interactions: covariance, wishart"),
    ("wishart-local", "interactions: isometric, wishart"),
];

/// What a run of a setting writes.
pub(super) fn of_file(file: &str) -> (String, Receipt) {
    let mut files = FILES.iter().chain(&MORE);
    let (file, setting) = files.find(|one| one.0 == file).expect("listed");
    let experiment = resolve(named(setting, "")).expect("valid");
    let report = run(&experiment, &mut Silent).expect("runs");
    ((*file).to_owned(), report.receipt)
}

/// An algorithm of one's own over rows in memory.
pub(super) fn own() -> (String, Receipt) {
    let mut rows = SparseRows::new(5);
    for i in 0..120_u32 {
        let x = f64::from(i);
        let row = (0..).zip([x.sin(), x.sin(), 0.3 * x.cos(), 0.1, 0.2]);
        rows.push_row(row).expect("ascending");
    }
    let dataset = Dataset::Samples { rows, radius: 1.5 };
    let algorithm = CountingPower {
        items: 5,
        iterations: 2,
    };
    let promise = Promise::new(2.0, 1e-5, Adjacency::User).expect("valid");
    let simulation = Simulation::new(dataset, algorithm, promise)
        .bound::<OnePerPerson>()
        .peers(12)
        .seed(3)
        .build()
        .expect("valid");
    let outcome = simulation.run(&mut Silent).expect("runs");
    let receipt = Receipt::of_simulation(&simulation, &outcome);
    ("own".to_owned(), receipt)
}

/// A pilot, a choice and the run that was chosen.
fn chosen() -> (String, Receipt) {
    let open = "algorithm={kind=\"auto\",rank=2};pilot={share=0.1}";
    let auto = Auto::new(named("interactions: power", open), &sims()).expect("valid");
    let chosen = auto.choose(&[Guess::new(1.5, 1.0, 1.5)], &|_, _| ());
    let report = chosen.expect("a choice").run(&mut Silent).expect("runs");
    ("chosen".to_owned(), report.receipt)
}

pub(super) fn all() -> Vec<(String, Receipt)> {
    let files = FILES.iter().chain(&MORE).map(|one| of_file(one.0));
    files.chain([own(), chosen()]).collect()
}
