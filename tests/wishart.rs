//! (ε, 0) by Wishart noise, from an experiment file to what is released, verified and checked.

use undertone::config::read_config;
use undertone::engine::central::{self, SumNoise};
use undertone::engine::{Federated, Outcome, Runner as _, Silent, lockstep};
use undertone::linalg::{Block, PackedTriangle};
use undertone::privacy::Epsilon;
use undertone::protocol::averaging::AveragingKind;
use undertone::run::receipt::Receipt;
use undertone::run::run;
use undertone::run::variance::Variance;
use undertone::scenario::{Experiment, Materials};
use undertone::vocabulary::Seed;

use crate::equivalence::{difference, written};
use crate::plain_pca::{config, sims};
use crate::support::experiments::{CASES, experiment};

const WISHART: [&str; 2] = ["noise.distribution=wishart", "privacy.delta=0"];
const DIGITS: &str = "pca-digits.toml";
const CANCER: &str = "pca-breast-cancer.toml";
/// Whose bound in the nuclear norm is proved, of ratings.
const ROWS: [&str; 4] = [
    "privacy.adjacency=user",
    "privacy.sensitivity=exact",
    "algorithm.kind=isometric-covariance",
    "algorithm.iterations=1",
];
const PRIVATE_MEAN: [&str; 2] = ["data.centre=private", "data.mean_share=0.1"];

fn resolved(name: &str, set: &[&str]) -> Experiment {
    let set = [&WISHART[..], set].concat();
    Experiment::resolve(config(name, &set), &sims()).unwrap_or_else(|error| panic!("{error}"))
}

fn public_mean(name: &str) -> [String; 2] {
    let label = name.trim_start_matches("pca-").trim_end_matches(".toml");
    [
        "data.centre=public".to_owned(),
        format!("data.means=data/{label}/means.csv"),
    ]
}

/// The mean captured variance over the seeds from 0, and its standard deviation over seeds.
fn captured(name: &str, set: &[&str], seeds: u64) -> (f64, f64) {
    let materials = Materials::new(&sims());
    let set = [&WISHART[..], set].concat();
    let mut config = config(name, &set);
    let mut variance: Option<Variance> = None;
    let found: Vec<f64> = (0..seeds)
        .map(|seed| {
            config.seed = seed;
            let experiment = Experiment::resolve_from(config.clone(), &materials)
                .unwrap_or_else(|error| panic!("{error}"));
            let session = experiment.session(&Seed::from_u64(seed));
            let outcome = experiment
                .simulation()
                .runner()
                .run(&session, &mut Silent)
                .expect("runs");
            let variance =
                variance.get_or_insert_with(|| Variance::of(&experiment).expect("within reach"));
            let parts = variance.parts(outcome.basis());
            parts.last().expect("a component").captured
        })
        .collect();
    let mean = found.iter().sum::<f64>() / seeds as f64;
    let squares: f64 = found.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (seeds - 1) as f64).sqrt())
}

/// A file of the least and the largest number of every column of the biopsies, taken for public: `ranges.csv` has rounder and wider ones, with which
/// less is captured.
fn narrow_ranges(folder: &std::path::Path) -> String {
    let file = std::fs::File::open(sims().join("data/breast-cancer/breast-cancer.csv.gz"));
    let mut text = String::new();
    let mut reader = flate2::read::GzDecoder::new(file.expect("there"));
    std::io::Read::read_to_string(&mut reader, &mut text).expect("readable");
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| {
            line.split(',')
                .map(|x| x.parse().expect("a number"))
                .collect()
        })
        .collect();
    // The last column is the diagnosis.
    let lines = (0..rows[0].len() - 1).map(|column| {
        let of = |one: fn(f64, f64) -> f64| rows.iter().map(|row| row[column]).reduce(one);
        let (low, high) = (of(f64::min).expect("rows"), of(f64::max).expect("rows"));
        format!("{low},{high}\n")
    });
    let path = folder.join("ranges.csv");
    std::fs::write(&path, lines.collect::<String>()).expect("writable");
    format!("data.ranges={}", path.display())
}

/// What is run: a file, further keys, and the least mean captured variance by ε.
type Figures = (&'static str, &'static [&'static str], &'static [(f64, f64)]);

/// Central, and under a secure sum with one colluder: 100 peers, and three hospitals.
const FIGURES: [Figures; 4] = [
    (
        DIGITS,
        &["engine.kind=central"],
        &[(0.5, 0.455), (1.0, 0.70), (2.0, 0.865), (5.0, 0.975)],
    ),
    (
        DIGITS,
        &["engine.kind=federated"],
        &[(0.5, 0.455), (1.0, 0.70), (2.0, 0.865), (5.0, 0.975)],
    ),
    (CANCER, &["engine.kind=central"], &[(1.0, 0.86)]),
    (
        CANCER,
        &[
            "engine.kind=federated",
            "peers.count=3",
            "topology={generator=\"complete\"}",
        ],
        &[(1.0, 0.83)],
    ),
];

/// Means of 40 seeds. Standard errors are below 0.006 for digits and 0.01 for breast cancer, and NumPy's means lie three of them above the limits.
#[test]
#[ignore = "two minutes without optimisation: 400 runs"]
fn captured_variance_is_what_the_guide_says() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let narrow = narrow_ranges(folder.path());
    for (name, more, cells) in FIGURES {
        for &(epsilon, least) in cells {
            let epsilon = format!("privacy.epsilon={epsilon}");
            let public = public_mean(name);
            let public = public.each_ref().map(String::as_str);
            let mut set = [&public[..], more, &[epsilon.as_str()]].concat();
            if name == CANCER {
                set.push(&narrow);
            }
            let (mean, sd) = captured(name, &set, 40);
            eprintln!("{name} {more:?} {epsilon}: {mean:.3} ({sd:.3}), at least {least}");
            assert!(mean >= least, "{name} {more:?} {epsilon}: {mean} ({sd})");
        }
    }
    for (name, raw_clip) in [(DIGITS, "data.raw_clip=4.5"), (CANCER, "data.raw_clip=2.8")] {
        for engine in ["engine.kind=central", "engine.kind=federated"] {
            for epsilon in [0.5, 1.0, 2.0, 5.0] {
                let epsilon = format!("privacy.epsilon={epsilon}");
                let set = [&PRIVATE_MEAN[..], &[raw_clip, engine, epsilon.as_str()]].concat();
                let (mean, sd) = captured(name, &set, 40);
                eprintln!("{name} private mean, {engine} {epsilon}: {mean:.3} ({sd:.3})");
            }
        }
    }
}

/// One cell of that table, as quick as it gets: breast cancer at ε = 1, six seeds of standard deviation 0.025. The Laplace triangle has 0.49 there.
#[test]
fn breast_cancer_at_epsilon_1_keeps_most_of_the_variance() {
    let public = public_mean(CANCER);
    let public = public.each_ref().map(String::as_str);
    for engine in ["engine.kind=central", "engine.kind=federated"] {
        let (mean, sd) = captured(CANCER, &[&public[..], &[engine]].concat(), 6);
        assert!(mean > 0.78, "{engine}: {mean} ({sd})");
    }
}

/// Σ Δ/b over all releases, with the noise as drawn, is ε: a private mean spends the share it is given.
#[test]
fn the_spent_epsilon_is_the_sum_over_releases() {
    let private = [&PRIVATE_MEAN[..], &["data.raw_clip=4.5"]].concat();
    for (more, shares) in [(&[][..], vec![1.0]), (&private, vec![0.1, 0.9])] {
        for engine in ["engine.kind=central", "engine.kind=federated"] {
            let set = [&[engine], more].concat();
            let experiment = resolved(DIGITS, &set);
            let session = experiment.session(&Seed::from_u64(1));
            let wishart = *experiment.noise().wishart_noise().expect("Wishart");
            let parts: Vec<f64> = session
                .plan()
                .releases()
                .iter()
                .map(|release| {
                    let terms = release.terms(0.5);
                    terms.sensitivity / (wishart.scale() * terms.scale)
                })
                .collect();
            for (part, share) in parts.iter().zip(&shares) {
                assert!((part - share).abs() < 1e-11, "{more:?}: {parts:?}");
            }
            assert_eq!(parts.len(), shares.len());
            assert_eq!(experiment.noise().epsilon(), Some(1.0));
            assert_eq!(wishart.mean_shape().is_some(), shares.len() == 2);
            // Of 100 peers with a colluder 66 draw a term, of a curator all 65.
            let terms = if engine.ends_with("central") { 65 } else { 66 };
            assert_eq!(wishart.terms(), terms);
        }
    }
    // The whole chain once, by hand: digits, clip 3, ε = 1: the triangle is in units of 9, and b is 1 of them.
    let experiment = resolved(DIGITS, &["engine.kind=central"]);
    let session = experiment.session(&Seed::from_u64(1));
    let terms = session.plan().releases()[0].terms(0.0);
    let b = session.sigma_central() * terms.scale / 65.0_f64.sqrt();
    assert!((b - 1.0).abs() < 1e-11, "{b}");
}

/// The standard deviation of the noise that a run draws on every release is the one that is stated.
#[test]
fn noise_has_the_stated_standard_deviation() {
    let private = [&PRIVATE_MEAN[..], &["data.raw_clip=4.5"]].concat();
    for engine in ["engine.kind=central", "engine.kind=federated"] {
        let experiment = resolved(DIGITS, &[&[engine], &private[..]].concat());
        let mut squares = [0.0; 2];
        let mut numbers = [0.0; 2];
        for seed in 0..12 {
            let session = experiment.session(&Seed::from_u64(seed));
            let outcome = experiment
                .simulation()
                .runner()
                .run(&session, &mut Silent)
                .expect("runs");
            for (l, record) in outcome.records.iter().enumerate() {
                let pairs = record.sum.values().iter().zip(record.totals.local.values());
                let noise = pairs.map(|(sum, local)| (sum - local) / record.sigmas[0]);
                squares[l] += noise.map(|x| x * x).sum::<f64>();
                numbers[l] += record.sum.values().len() as f64;
            }
        }
        for (l, (sum, count)) in squares.into_iter().zip(numbers).enumerate() {
            let found = sum / count;
            // Of Laplace numbers squares have the variance 5: 768 of them.
            let allowed = if l == 0 { 0.35 } else { 0.1 };
            assert!(
                (found - 1.0).abs() < allowed,
                "{engine} release {l}: {found}"
            );
        }
    }
}

/// A curator with the peers' shares, the server and the network over a tree release the same numbers, to rounding; one peer's share more
/// or less would show.
#[test]
fn a_curator_with_the_same_terms_releases_the_same() {
    let set = [&WISHART[..], &ROWS, &["engine.kind=federated"]].concat();
    let experiment = experiment(CASES[2], AveragingKind::Tree, &set);
    let session = experiment.session(&Seed::from_u64(7));
    let outcomes: [Outcome; 2] = [
        central::run(&session, SumNoise::Shares, &mut Silent).expect("runs"),
        Federated.run(&session, &mut Silent).expect("runs"),
    ];
    let [curator, server] = outcomes.map(|outcome| outcome.records);
    assert_eq!(curator[0].sum, server[0].sum);
    let network = lockstep::run(&session, &mut Silent).expect("runs").records;
    let mut gap = Block::clone(&network[0].sum);
    gap.add_scaled(-1.0, &server[0].sum);
    assert!(gap.norm() < 1e-11 * server[0].sum.norm());
    let alone = central::run(&session, SumNoise::Nothing, &mut Silent).expect("runs");
    let mut noise = Block::clone(&alone.records[0].sum);
    noise.add_scaled(-1.0, &server[0].sum);
    assert!(noise.norm() > 0.1 * server[0].sum.norm());
}

#[test]
fn one_seed_gives_equal_bits_on_every_engine() {
    let with = |engine: &str, more: &[&str]| {
        let engine = format!("engine.kind={engine}");
        let local = ["noise.scheme=local", engine.as_str()];
        let set = [&WISHART[..], &ROWS, &local, more].concat();
        written(&experiment(CASES[2], AveragingKind::Chebyshev, &set))
    };
    let lockstep = with("lockstep", &[]);
    let event = with("event", &[]);
    assert_eq!(difference(&lockstep, &event), None);
    if cfg!(feature = "node") {
        let swarm = with("swarm", &["engine.transport=memory"]);
        assert_eq!(difference(&lockstep, &swarm), None);
    }
    // Not because nothing is drawn.
    let other = with("lockstep", &["privacy.epsilon=0.5"]);
    assert!(difference(&lockstep, &other).is_some());
}

#[test]
fn what_does_not_go_with_wishart_noise_is_refused_with_what_to_change() {
    let refused = |set: &[&str]| {
        let set = [&WISHART[..], set].concat();
        let found = Experiment::resolve(config(DIGITS, &set), &sims());
        found.err().unwrap_or_else(|| panic!("{set:?}")).to_string()
    };
    let central = "engine.kind=central";
    let cases: &[(&[&str], &str)] = &[
        (&[], "set engine.kind = \"federated\" or \"central\""),
        (
            &["engine.kind=event"],
            "set engine.kind = \"federated\" or \"central\"",
        ),
        (&["privacy.delta=1e-5", central], "set privacy.delta = 0"),
        (
            &["privacy.delta=1e-5", "noise.scheme=local"],
            "set privacy.delta = 0",
        ),
        (&["noise.scheme=ring"], "mod 2^k"),
        (&["noise.scheme=ring", "engine.kind=federated"], "mod 2^k"),
        (
            &["noise.scheme=independent"],
            "independent shares protect only",
        ),
        (
            &["engine.kind=analytic", "algorithm.kind=power"],
            "Gaussian law",
        ),
        (&["noise.holders=2", "noise.scheme=local"], "leave it out"),
        (&[central, "privacy.calibration=zcdp"], "\"analytic\""),
        (&[central, "privacy.epsilon=0"], "epsilon is 0"),
        (&["engine.kind=federated", "privacy.colluders=100"], "100"),
        (
            &[central, "algorithm.kind=power"],
            "\"isometric-covariance\"",
        ),
        (
            &[central, "algorithm.kind=krylov"],
            "\"isometric-covariance\"",
        ),
        (
            &[central, "data.centre=private", "data.raw_clip=4.5"],
            "give a number",
        ),
        (
            &[
                central,
                "privacy.adjacency=unit-spectral",
                "privacy.sensitivity=exact",
            ],
            "user + unit-row",
        ),
    ];
    for (set, expected) in cases {
        let text = refused(set);
        assert!(text.contains(expected), "{set:?}: {text}");
    }
}

#[test]
fn receipts_state_wishart_noise_and_are_computed_again() {
    for set in [
        &["noise.scheme=local"][..],
        &["engine.kind=federated"],
        &["engine.kind=central"],
    ] {
        let set = [&WISHART[..], &ROWS, set].concat();
        let experiment = experiment(CASES[2], AveragingKind::Chebyshev, &set);
        let report = run(&experiment, &mut Silent).expect("runs");
        let receipt = Receipt::of(&experiment, &report.outcome);
        let failing = |receipt: &Receipt| -> Vec<String> {
            let findings = receipt.check().expect("checked");
            let failed = findings.into_iter().filter(|finding| !finding.agrees);
            failed.map(|finding| finding.what).collect()
        };
        assert_eq!(failing(&receipt), Vec::<String>::new(), "{set:?}");
        let statement = receipt.statement.clone().expect("private");
        assert!(statement.contains("covered by no epsilon"), "{statement}");
        // A receipt that claims a smaller ε, another law, fewer terms or less noise does not hold.
        let mut better = receipt.clone();
        better.promise.epsilon = Epsilon::new(better.promise.epsilon.get() * 0.5).expect("above 0");
        assert!(!failing(&better).is_empty());
        let mut other = receipt.clone();
        let noise = other.guarantee["noise"].as_object_mut().expect("a table");
        noise.remove("wishart").expect("stated");
        assert_eq!(failing(&other), ["guarantee.noise.wishart"]);
        for (key, factor) in [("terms", 0.9), ("scale", 0.5)] {
            let mut fewer = receipt.clone();
            let value = &mut fewer.guarantee["noise"]["wishart"][key];
            *value = match key {
                "terms" => (value.as_u64().expect("a count") - 1).into(),
                _ => (value.as_f64().expect("a number") * factor).into(),
            };
            assert_eq!(failing(&fewer), [format!("guarantee.noise.wishart.{key}")]);
        }
    }
}

/// ‖A − A′‖_*/Δ_* for the noise-free sums of two experiments with the same plan.
fn ratio(a: &Experiment, b: &Experiment) -> f64 {
    let released = |one: &Experiment| {
        let session = one.session(&Seed::from_u64(1));
        let outcome = central::run(&session, SumNoise::Nothing, &mut Silent).expect("runs");
        let sensitivity = session.plan().releases()[0].terms(0.0).sensitivity;
        (Block::clone(&outcome.records[0].sum), sensitivity)
    };
    let ((mut sum, bound), (other, same)) = (released(a), released(b));
    assert_eq!(bound, same);
    sum.add_scaled(-1.0, &other);
    let n = a.session(&Seed::from_u64(1)).plan().program().items;
    PackedTriangle::new(n, sum.values()).nuclear_norm() / bound
}

/// Neighbouring files of numbers, through means, ranges and clip: the worst pair attains the bound, and none exceeds it.
#[test]
fn neighbouring_files_of_numbers_attain_the_bound_and_never_exceed_it() {
    let rows = |third: &str| {
        let of = |row: u32| {
            let numbers = (0..5_u32).map(|c| ((row * 7 + c * c * 5 + row * c) % 17).to_string());
            numbers.collect::<Vec<_>>().join(",")
        };
        let lines = (0..12).map(|row| if row == 2 { third.to_owned() } else { of(row) });
        lines.collect::<Vec<_>>().join("\n") + "\n"
    };
    let of_file = |text: &str, set: &[&str]| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("m.csv"), text).expect("writable");
        let small = [
            "data.path=m.csv",
            "data.drop=[]",
            "peers.count=6",
            "topology.degree=3",
            "algorithm={kind=\"covariance\",rank=2}",
            "engine.kind=federated",
        ];
        let config = config(DIGITS, &[&WISHART[..], &small, set].concat());
        Experiment::resolve(config, folder.path()).unwrap_or_else(|error| panic!("{error}"))
    };
    let means: [&[&str]; 3] = [
        &["data.row_clip=0.5"],
        &[
            "data.row_clip=0.5",
            "data.centre=public",
            "data.means=[1, 2, 3, 4, 5]",
        ],
        &[
            "data.row_clip=0.5",
            "data.centre=public",
            "data.means=[0, 0, 0, 0, 0]",
        ],
    ];
    for adjacency in ["user", "replace-user"] {
        let mut worst = 0.0_f64;
        for means in means {
            let adjacent = format!("privacy.adjacency={adjacency}");
            let set = [means, &[adjacent.as_str()]].concat();
            let filled = of_file(&rows("16,0,0,0,0"), &set);
            let others: &[&str] = match adjacency {
                "user" => &[",,,,"],
                _ => &[",,,,", "0,0,0,0,16", "1,2,3,4,5", "1e300,-1e300,0,0,7"],
            };
            for other in others {
                worst = worst.max(ratio(&filled, &of_file(&rows(other), &set)));
            }
        }
        assert!((worst - 1.0).abs() < 1e-9, "{adjacency}: {worst}");
    }
}

/// Neighbouring files of ratings, through floor, root floor and cap.
#[test]
fn neighbouring_files_of_ratings_attain_the_bound_and_never_exceed_it() {
    // The third of five users has these items of eight.
    let ratings = |items: &[u32]| {
        let mut text = "user,item,rating\n".to_owned();
        for user in 0..5_u32 {
            for item in 0..8_u32 {
                let has = match user {
                    2 => items.contains(&item),
                    _ => (user * 3 + item * item + item) % 3 != 0 || item == user,
                };
                if has {
                    text += &format!("{user},{item},1\n");
                }
            }
        }
        text
    };
    let of_file = |items: &[u32], set: &[&str]| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("r.csv"), ratings(items)).expect("writable");
        std::fs::write(folder.path().join("items.txt"), "0\n1\n2\n3\n4\n5\n6\n7\n")
            .expect("writable");
        let file = folder.path().join("e.toml");
        let text = "data = { path = \"r.csv\", format = \"csv-triples\", items_file = \"items.txt\" }\n\
                    peers = { count = 2, partition = \"hashed\" }\n\
                    topology = { generator = \"complete\" }\n\
                    algorithm = { kind = \"covariance\", rank = 2 }\n\
                    privacy = { epsilon = 1.0, delta = 0.0, adjacency = \"user\" }\n\
                    noise = { distribution = \"wishart\" }\n\
                    engine = { kind = \"federated\" }\n";
        std::fs::write(&file, text).expect("writable");
        let set: Vec<String> = set.iter().map(ToString::to_string).collect();
        let config = read_config(&file, &set).unwrap_or_else(|error| panic!("{error}"));
        Experiment::resolve(config, folder.path()).unwrap_or_else(|error| panic!("{error}"))
    };
    type Pair<'a> = (&'a [u32], &'a [u32]);
    let cases: [(&[&str], &[Pair<'_>]); 6] = [
        (
            &["data.degree_floor=3"],
            &[(&[1, 2, 3, 4], &[]), (&[1, 2], &[])],
        ),
        (
            &["data.degree_floor=5", "data.degree_cap=3"],
            &[(&[1, 2, 3], &[]), (&[1, 2, 3, 4, 5], &[])],
        ),
        (
            &["data.degree_floor=3", "privacy.adjacency=replace-user"],
            &[(&[1, 2, 3], &[4, 5, 6]), (&[1, 2, 3, 4], &[4, 5])],
        ),
        (
            &["data.degree_floor=4", "privacy.adjacency=interaction"],
            &[
                (&[1, 2, 3], &[1, 2, 3, 4]),
                (&[1, 2, 3, 4], &[1, 2, 3, 4, 5]),
                (&[1], &[]),
            ],
        ),
        (
            &[
                "data.degree_floor=4",
                "privacy.adjacency=interaction",
                "privacy.sensitivity=root-floor",
            ],
            &[
                (&[1, 2, 3], &[1, 2, 3, 4]),
                (&[1, 2, 3, 4], &[1, 2, 3, 4, 5]),
                (&[1], &[]),
            ],
        ),
        (
            &["data.degree_floor=4", "privacy.adjacency=swap"],
            &[
                (&[1, 2, 3, 4], &[2, 3, 4, 5]),
                (&[1, 2], &[2, 3]),
                (&[1, 2, 3, 4], &[1, 2, 3]),
            ],
        ),
    ];
    for (set, pairs) in cases {
        let found = pairs
            .iter()
            .map(|(a, b)| ratio(&of_file(a, set), &of_file(b, set)));
        let worst = found.fold(0.0, f64::max);
        assert!((worst - 1.0).abs() < 1e-9, "{set:?}: {worst}");
    }
}
