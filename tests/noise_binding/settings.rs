//! Every setting that the guide names, changed alone.

use std::fs;
use std::io::BufRead;

use flate2::read::GzDecoder;

use crate::support::repository;

use super::{FAULTS, all_pairs, runs};

/// The quickstart's ratings as interactions.
const INTERACTIONS: [&str; 98] = [
    "seed=8",
    "name=other",
    "data.path=../sims/data/ml-latest-small/../ml-latest-small/ratings.csv.gz",
    "data.obtain=\"somewhere\"",
    "data.titles=TITLES",
    "data.format=table;data.columns={rating=\"timestamp\"}",
    "data.format=table;data.columns={rating=\"timestamp\"};data.header=true;data.threshold=1e9",
    "data.path=PLACED;data.format=table;data.columns={peer=\"peer\"}",
    "data.threshold=0.4",
    "data.threshold=3",
    "data.items=199",
    "data.items=210",
    "data.items=0;data.items_file=ITEMS",
    "data.items=0;data.items_file=ITEMS;data.items_hash=\"fe070d4778defd687cf11af492c3c8e519519f763a12aba424478027c72305a7\"",
    "data.users_file=USERS",
    "data.users_file=USERS;data.users_hash=585edfed6ac4a4b6233792df2766fe5b7a4cbc3fbc72716c2de7e88cc19953cb",
    "peers.partition=hashed",
    "peers.partition=hashed;data.users_file=USERS",
    "data.degree_floor=19",
    "data.degree_floor=40",
    "peers.count=9",
    "peers.count=12",
    "peers.partition=contiguous",
    "peers.partition=random",
    "peers.partition=contiguous;peers.sizes=[100,100,100,100,100,100,9,1]",
    "topology={generator=\"ring\"}",
    "topology={generator=\"random-regular\", degree=4, seed=1}",
    "topology={generator=\"random-regular\", degree=4, seed=2}",
    "topology={edges=[[0,1],[1,2],[2,3],[3,4],[4,5],[5,6],[6,7],[7,0]]}",
    "topology={nodes=[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\"], edges=[[\"a\",\"b\"],[\"b\",\"c\"],[\"c\",\"d\"],[\"d\",\"e\"],[\"e\",\"f\"],[\"f\",\"g\"],[\"g\",\"h\"],[\"h\",\"a\"]]}",
    "topology={file=\"../topologies/karate.edges\"};peers.count=34;privacy.colluders=0",
    "topology={file=\"../topologies/karate.edges\", largest_component=true};peers.count=34;privacy.colluders=0",
    "topology={file=\"../topologies/karate.edges\", parallel_edges=\"merge\"};peers.count=34;privacy.colluders=0",
    "noise_topology={generator=\"ring\"}",
    "noise_topology={generator=\"random-regular\", degree=4, seed=1}",
    "algorithm.rank=5",
    "algorithm.rank=7",
    "algorithm.iterations=2",
    "algorithm.iterations=4",
    "algorithm.start=popularity",
    "algorithm.output=low-rank",
    "algorithm.kind=momentum;algorithm.momentum=0.2",
    "algorithm.kind=momentum;algorithm.momentum=0.3",
    "algorithm.kind=krylov;algorithm.block=6",
    "algorithm.kind=krylov;algorithm.block=7",
    "algorithm.kind=covariance;algorithm.iterations=1",
    "algorithm.kind=isometric-covariance;algorithm.iterations=1",
    "algorithm.kind=raked-covariance;algorithm.iterations=1",
    "algorithm.kind=streaming",
    "algorithm.kind=streaming;algorithm.arrival=round-robin",
    "algorithm.precondition=items",
    "algorithm.precondition=items;algorithm.precondition_exponent=0.3",
    "algorithm.precondition=items;algorithm.precondition_shrinkage=0.1",
    "privacy.epsilon=2.1",
    "privacy.epsilon=2.0000000001",
    "privacy.delta=2e-5",
    "privacy.adjacency=user",
    "privacy.adjacency=user;data.degree_cap=100",
    "privacy.adjacency=replace-user",
    "privacy.adjacency=swap",
    "privacy.sensitivity=row-norm",
    "privacy.sensitivity=worst-case",
    "privacy.sensitivity=max-entry",
    "privacy.calibration=paper",
    "privacy.colluders=0",
    "privacy.colluders=2",
    "privacy.overhead=0.02",
    "privacy.budget=[3, 2, 1]",
    "privacy.budget=[1, 1, 1]",
    "privacy.on_disconnect=smallest-component",
    "privacy.participants_per_person=2",
    "noise.scheme=local",
    "noise.scheme=independent;engine.kind=federated",
    "noise.scheme=ring",
    "noise.scheme=ring;noise.bits=64",
    "noise.distribution=laplace;privacy.delta=0;noise.scheme=independent;engine.kind=federated",
    "noise.distribution=laplace;noise.holders=3",
    "noise.distribution=wishart;privacy.delta=0;noise.scheme=local;algorithm.kind=covariance;algorithm.iterations=1",
    "noise.distribution=wishart;privacy.delta=0;noise.scheme=local;algorithm.kind=isometric-covariance;algorithm.iterations=1",
    "averaging={scheme=\"chebyshev\", tolerance=1e-9}",
    "averaging={scheme=\"chebyshev\", tolerance=1e-6}",
    "averaging={scheme=\"chebyshev\", rounds=9}",
    "averaging={scheme=\"linear\", rounds=7}",
    "averaging={scheme=\"push-sum\", rounds=40}",
    "averaging={scheme=\"push-sum\", rounds=40};engine.kind=event;engine.loss=0.01",
    "averaging={scheme=\"pairwise\", rounds=60}",
    "averaging={scheme=\"pairwise\", rounds=60, seed=1}",
    "averaging={scheme=\"tree\", fan_in=2}",
    "averaging={scheme=\"tree\", rotate=2}",
    "averaging={scheme=\"doubling\", base=2}",
    "averaging={scheme=\"tree\", root=\"3\"}",
    "averaging.values=f32",
    "engine.kind=event;engine.latency={exponential={mean_micros=900}}",
    "engine.kind=federated",
    "engine.kind=central",
    "engine.kind=analytic",
    "engine.kind=analytic;engine.probes=3",
    "compare.algorithm={kind=\"krylov\", iterations=2}",
];

const MEASURED: [&str; 7] = [
    "evaluation.holdout=0.1",
    "evaluation.holdout=1e-12",
    "evaluation.test=../sims/data/ml-latest-small/ratings.csv.gz",
    "evaluation.top=7",
    "evaluation.reference_floor=1",
    "evaluation.diagnostics=true",
    "engine.kind=swarm;engine.transport=memory",
];

/// Ten columns of numbers with a header.
const OF_NUMBERS: [&str; 7] = [
    "data={path=\"../sims/data/breast-cancer/breast-cancer.csv.gz\",format=\"matrix-csv\",header=true,drop=[\"last\"],ranges=[0,100],row_clip=3}",
    "peers.count=8",
    "topology={generator=\"complete\"}",
    "averaging={scheme=\"tree\"}",
    "algorithm={kind=\"power\",rank=6,iterations=14}",
    "privacy.adjacency=user",
    "privacy.sensitivity=unit-row",
];

const NUMBERS: [&str; 9] = [
    "data.drop=[1]",
    "data.image=[5,6]",
    "data.header=false;data.path=../sims/data/digits/digits.csv.gz",
    "data.row_clip=2.9",
    "data.row_limit=1e6",
    "data.ranges=[0,4000]",
    "data.centre=private;data.raw_clip=2",
    "data.centre=private;data.raw_clip=2;data.mean_share=0.2",
    "data.centre=public;data.means=[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
];

/// One vector after the other.
const VECTORS: [&str; 5] = [
    "algorithm.rank=1;algorithm.scale=fixed;algorithm.coherence=200",
    "algorithm.kind=deflation;algorithm.rank=2;algorithm.iterations=3",
    "algorithm.kind=deflation;algorithm.rank=2;algorithm.iterations=3;algorithm.eigenvalue_share=0.1",
    "algorithm.kind=power",
    "algorithm.iterations=7",
];

/// Rows shortened to thresholds that are released first.
const CLIPS: [&str; 4] = [
    "algorithm.clip=geometric",
    "algorithm.clip_share=0.2",
    "algorithm.clip_quantile=0.9",
    "algorithm.clip_lag=true",
];

/// Numbers that are generated.
const GENERATED: [&str; 3] = [
    "data.generate={kind=\"spiked\",rows=60,columns=200,strengths=[3.0],noise=0.1,seed=2}",
    "data.generate={kind=\"spiked\",rows=60,columns=200,strengths=[2.0],noise=0.1,seed=1}",
    "data.format=generated",
];

/// Ratings as numbers.
const OF_RATINGS: [&str; 7] = [
    "data={path=\"../sims/data/ml-latest-small/ratings.csv.gz\",format=\"movielens-csv\",items=60,values=\"ratings\",ranges=[0.5,5],row_clip=5}",
    "peers.count=8",
    "topology={generator=\"complete\"}",
    "averaging={scheme=\"tree\"}",
    "algorithm={kind=\"power\",rank=6,iterations=3}",
    "privacy.adjacency=user",
    "privacy.sensitivity=unit-row",
];

const RATINGS: [&str; 6] = [
    "data.values=ratings;data.items=61",
    "data.row_clip=6",
    "data.ranges=[0,5]",
    "data.scale=[0,1]",
    "data.centre=user",
    "data.centre=3.5",
];

/// What is set of ratings that are completed, the first of each list being its base: their releases are of one size.
const COMPLETION: [&[&str]; 5] = [
    &[
        "data.centre=user;algorithm={kind=\"spectral-ridge\",rank=4,iterations=2}",
        "completion.test_share=0.1",
        "completion.shares=[0.2,0.05,0.75]",
        "privacy.epsilon=3",
    ],
    &[
        "data.centre=user;algorithm={kind=\"svd-completion\",rank=4,iterations=1}",
        "algorithm={kind=\"spectral-ridge\",rank=4,iterations=1};completion.item_means=false",
        "algorithm.mode=paper",
    ],
    &[
        "data.centre=user;algorithm={kind=\"frank-wolfe\",rank=4,iterations=2,nuclear=5}",
        "algorithm.nuclear=6",
        "algorithm.iterations=3",
        "algorithm.step=standard",
        "algorithm={kind=\"frank-wolfe\",rank=4,iterations=2,local=\"ridge\"}",
        "algorithm.mode=paper",
    ],
    &[
        "data.centre=user;algorithm={kind=\"frank-wolfe\",rank=4,iterations=4,nuclear=5,global=\"power\",inner=9}",
        "algorithm.inner=10",
        "algorithm.global=oja",
        "algorithm.global=oja;algorithm.oja_step=printed",
    ],
    &[
        "data.centre=user;algorithm={kind=\"projected-gradient\",rank=4,iterations=2,nuclear=5}",
        "algorithm.step_size=0.4",
        "algorithm.nuclear=6",
    ],
];

/// A Gram matrix that recommends.
const RECOMMENDER: [&str; 7] = [
    "recommender={items=60}",
    "recommender={items=61}",
    "recommender={items=60,method=\"low-pass\"}",
    "recommender={most=60}",
    "recommender={items=60,degree_floor=\"auto\"}",
    "privacy.epsilon=3",
    "evaluation.holdout=0.2",
];

/// Counts of 1,200 items and of their users.
const PILOT: [&str; 2] = ["pilot={share=0.06}", "pilot={share=0.05,bytes=100000}"];

/// Checks all pairs of a base and its changes, and that so many pairs at least are the same to the bit: those that differ in what is measured.
fn independent(base: &[&str], changes: &[&str], least: usize) {
    let same = all_pairs(&runs(base, changes));
    assert!(same >= least, "{same} pairs are the same to the bit");
}

#[test]
fn of_interactions() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let list = folder.path().join("items.txt");
    let names: String = (1..=200).map(|item| format!("{item}\n")).collect();
    fs::write(&list, names).expect("writable");
    let list = format!("\"{}\"", list.display());
    let users = folder.path().join("users.txt");
    let names: String = (1..=600).map(|user| format!("{user}\n")).collect();
    fs::write(&users, names).expect("writable");
    let users = format!("\"{}\"", users.display());
    let ratings = fs::File::open(repository("sims/data/ml-latest-small/ratings.csv.gz"));
    let ratings = std::io::BufReader::new(GzDecoder::new(ratings.expect("embedded")));
    let at_peers = ratings.lines().map(|line| {
        let line = line.expect("text");
        let user = line
            .split(',')
            .next()
            .and_then(|user| user.parse::<u32>().ok());
        let peer = user.map_or("peer".to_owned(), |user| (user % 7).to_string());
        format!("{line},{peer}\n")
    });
    let placed = folder.path().join("placed.csv");
    fs::write(&placed, at_peers.collect::<String>()).expect("writable");
    let placed = format!("\"{}\"", placed.display());
    let titles = folder.path().join("titles.csv");
    fs::write(&titles, "id,title\n1,One\n").expect("writable");
    let titles = format!("\"{}\"", titles.display());
    let changes: Vec<String> = INTERACTIONS
        .iter()
        .chain(&MEASURED)
        .filter(|change| cfg!(feature = "node") || !change.contains("swarm"))
        .map(|change| change.replace("ITEMS", &list).replace("USERS", &users))
        .map(|change| change.replace("PLACED", &placed))
        .map(|change| change.replace("TITLES", &titles))
        .collect();
    let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
    independent(&super::COMMON, &changes, 10);
    let vectors = ["algorithm={kind=\"ppi\",rank=1,iterations=6}"];
    independent(&[&super::COMMON[..], &vectors].concat(), &VECTORS, 0);
}

#[test]
fn of_numbers() {
    independent(&OF_NUMBERS, &NUMBERS, 0);
    let clipped = [
        &OF_NUMBERS[..],
        &["algorithm.kind=clipped-power", "algorithm.clip=histogram"],
    ]
    .concat();
    independent(&clipped, &CLIPS, 0);
    let generated = "data={format=\"generated\",generate={kind=\"spiked\",rows=60,columns=200,strengths=[3.0],noise=0.1,seed=1},ranges=[-5,5],row_clip=3}";
    let base = [&[generated][..], &OF_NUMBERS[1..]].concat();
    independent(&base, &GENERATED, 1);
}

#[test]
fn of_ratings() {
    independent(&OF_RATINGS, &RATINGS, 0);
    for list in COMPLETION {
        let set: Vec<&str> = list[0].split(';').collect();
        independent(&[&OF_RATINGS, &set[..]].concat(), &list[1..], 0);
    }
}

#[test]
fn of_recommenders_and_pilots() {
    let matrix = [
        "algorithm.kind=isometric-covariance",
        "algorithm.iterations=1",
    ];
    independent(&[&super::COMMON[..], &matrix].concat(), &RECOMMENDER, 0);
    let pilot = [
        "algorithm={kind=\"pilot\",rank=1,iterations=1}",
        "data.items=1200",
        "pilot={share=0.05}",
    ];
    independent(&[&super::COMMON[..], &pilot].concat(), &PILOT, 0);
}

/// A key of the guide that no test changes is a setting that noise might not be bound to.
#[test]
fn every_key_of_the_guide_is_changed() {
    let guide = fs::read_to_string(repository("src/guide/experiment_files.md")).expect("readable");
    let all = [
        &INTERACTIONS[..],
        &MEASURED,
        &NUMBERS,
        &GENERATED,
        &VECTORS,
        &CLIPS,
        &RATINGS,
        &RECOMMENDER,
        &PILOT,
        &FAULTS,
    ];
    let all: Vec<&str> = all
        .into_iter()
        .chain(COMPLETION)
        .flatten()
        .copied()
        .collect();
    let mut section = "";
    let mut missing = Vec::new();
    let mut keys = 0;
    for line in guide.lines() {
        if let Some(heading) = line.strip_prefix("# ") {
            section = heading
                .split('`')
                .nth(1)
                .unwrap_or("")
                .trim_matches(['[', ']']);
        }
        let Some(cell) = line
            .strip_prefix("| `")
            .and_then(|line| line.split(" |").next())
        else {
            continue;
        };
        for key in cell.split('`').step_by(2) {
            let key = key.trim_matches(['[', ']']);
            let full = match section {
                "" | "noise" => key.to_owned(),
                section if key.starts_with(section) => key.to_owned(),
                section => format!("{section}.{key}"),
            };
            let (table, leaf) = full.rsplit_once('.').unwrap_or(("", &full));
            let changed = all.iter().any(|change| {
                change.contains(&format!("{full}="))
                    || (change.contains(&format!("{table}={{"))
                        && change.contains(&format!("{leaf}=")))
            });
            keys += 1;
            if !changed {
                missing.push(full);
            }
        }
    }
    assert!(keys >= 100, "{keys}");
    assert!(missing.is_empty(), "{missing:#?}");
}
