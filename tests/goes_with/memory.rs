//! The table of rows in memory: kinds in lines, adjacencies in words, noise in letters.

use std::num::NonZeroU32;
use std::sync::Arc;

use undertone::algorithm::{
    Algorithm, AlgorithmError, Completion, Covariance, IsometricCovariance, Krylov, Momentum,
    Pilot, PowerMethod, Preconditioned, RakedCovariance, RatedRows, SHARES, SpectralRidge,
    Streaming,
};
use undertone::data::{Dataset, Interactions, RowBounds};
use undertone::engine::Simulation;
use undertone::engine::SimulationError;
use undertone::linalg::{ItemWeights, SparseRows};
use undertone::papers::{
    Clip, ClipRule, ClippedPower, CompletionMode, Deflation, FrankWolfe, FrankWolfeParameters,
    Global, Local, OjaStep, PrivatePowerIteration, ProjectedGradient, StepRule, SvdCompletion,
};
use undertone::plan::{Noise, Promise};
use undertone::privacy::Adjacency;
use undertone::protocol::averaging::AveragingKind;

use super::keys::Keys;
use super::table::{ALLOWED, Row, Section};

/// Rows and columns; a graph has as many vertices as rows.
const ROWS: usize = 8;
const ITEMS: usize = 6;

/// D of interactions.
const FLOOR: u32 = 3;

/// Some noise, its name and the letter of its column.
type NoiseColumn = (char, &'static str, fn() -> Noise);

/// The noise of each column.
pub(super) const NOISES: [NoiseColumn; 4] = [
    ('p', "pairwise", || Noise::pairwise(0.01)),
    ('l', "local", || Noise::Local),
    ('r', "ring", || Noise::ring(0.01)),
    ('i', "independent", || Noise::Independent),
];

/// What the rows are.
fn datasets() -> [(&'static str, Dataset); 3] {
    let rows = [0, 1, 2, 3].map(|first| (first..ITEMS as u32).collect::<Vec<_>>());
    let rows: Vec<Vec<u32>> = rows.iter().cycle().take(ROWS).cloned().collect();
    let interactions = Interactions::from_rows(ITEMS, &rows).expect("in range");
    let mut samples = SparseRows::new(ITEMS);
    for row in 0..ROWS {
        let entries = (0..ITEMS as u32).map(|i| (i, f64::from(1 + (3 * row as u32 + i) % 5) / 5.0));
        samples.push_row(entries).expect("ascending");
    }
    let vertices = ROWS as u32;
    let edges = (0..vertices).flat_map(|u| (u + 1..vertices).map(move |v| (u, v)));
    let edges = edges.filter(|(u, v)| (3 * u + v) % 5 != 0).collect();
    [
        (
            "interactions",
            Dataset::Interactions {
                interactions,
                degree_floor: NonZeroU32::new(FLOOR).expect("above 0"),
            },
        ),
        (
            "samples",
            Dataset::Samples {
                rows: samples,
                radius: 2.0,
            },
        ),
        (
            "graph",
            Dataset::Graph {
                vertices: ROWS,
                edges,
            },
        ),
    ]
}

/// An algorithm, or why its numbers make none.
type Made = Result<Arc<dyn Algorithm>, AlgorithmError>;

fn made(algorithm: Result<impl Algorithm + 'static, AlgorithmError>) -> Made {
    algorithm.map(|algorithm| Arc::new(algorithm) as Arc<dyn Algorithm>)
}

fn rated() -> RatedRows {
    RatedRows {
        slots: ROWS,
        radius: 2.0,
        most_ratings: ITEMS,
        user_centred: false,
    }
}

/// Every kind that rows in memory can ask for, and an algorithm of one's own round another. `items` are the columns.
fn kinds(items: usize) -> Vec<(&'static str, Made)> {
    let (rank, iterations) = (1, 2);
    let power = PowerMethod::new(items, rank, iterations).expect("fits");
    let weights = ItemWeights::of_degrees(&vec![4; items], 0.25, 0.0).expect("in range");
    let weighed = Preconditioned::new(Arc::new(power), Arc::new(weights));
    let weighed = weighed.expect("a power method");
    let clipped = |rule, lag| {
        let clip = Clip {
            rule,
            share: 0.1,
            quantile: 0.95,
            lag,
            slots: ROWS,
            test_epsilon: match rule {
                ClipRule::SparseVector => 0.1,
                _ => 0.0,
            },
        };
        made(ClippedPower::new(items, rank, iterations, clip))
    };
    let krylov = Krylov::new(items, rank, 2, iterations);
    let ppi = |coherence| made(PrivatePowerIteration::new(items, iterations, coherence));
    let ridge = |item_means| {
        let completion = Completion {
            rows: rated(),
            item_means,
            shares: SHARES,
        };
        made(SpectralRidge::new(items, rank, completion))
    };
    let frank_wolfe = |local, global, mode| {
        let parameters = FrankWolfeParameters {
            rank,
            iterations,
            rows: rated(),
            local,
            global,
            mode,
        };
        made(FrankWolfe::new(items, parameters))
    };
    let svd = |mode| made(SvdCompletion::new(items, rank, rated(), mode));
    let projected = ProjectedGradient::new(items, rank, iterations, rated(), (5.0, 0.5));
    let ball = Local::FrankWolfe {
        nuclear: 5.0,
        step: StepRule::Constant,
    };
    let (plain, several) = (Global::Covariance, Global::Power { inner: 2 });
    let oja = Global::Oja {
        inner: 2,
        step: OjaStep::Theorem,
    };
    let (tight, paper) = (CompletionMode::Tight, CompletionMode::Paper);
    vec![
        ("power", made(Ok(power))),
        ("own-items", made(Ok(weighed))),
        ("histogram", clipped(ClipRule::Histogram, false)),
        ("histogram-lag", clipped(ClipRule::Histogram, true)),
        ("geometric", clipped(ClipRule::Geometric, false)),
        ("sparse-vector", clipped(ClipRule::SparseVector, false)),
        (
            "momentum",
            made(Momentum::new(items, rank, iterations, 0.1)),
        ),
        ("krylov", made(krylov)),
        ("covariance", made(Covariance::new(items, rank))),
        ("isometric", made(IsometricCovariance::new(items, rank))),
        ("raked", made(RakedCovariance::new(items, rank, FLOOR))),
        (
            "deflation",
            made(Deflation::new(items, rank, iterations, 0.05)),
        ),
        ("ppi", ppi(None)),
        ("ppi-coherence", ppi(Some(3.0))),
        ("streaming", made(Streaming::new(items, rank, iterations))),
        ("pilot", made(Pilot::new(items))),
        ("ridge", ridge(true)),
        ("ridge-no-means", ridge(false)),
        ("fw-covariance", frank_wolfe(ball, plain, tight)),
        ("fw-power", frank_wolfe(ball, several, tight)),
        ("fw-oja", frank_wolfe(ball, oja, tight)),
        ("fw-local-ridge", frank_wolfe(Local::Ridge, plain, tight)),
        ("fw-paper", frank_wolfe(ball, plain, paper)),
        ("fw-power-paper", frank_wolfe(ball, several, paper)),
        ("fw-oja-paper", frank_wolfe(ball, oja, paper)),
        ("svd", svd(tight)),
        ("svd-paper", svd(paper)),
        ("projected", made(projected)),
    ]
}

/// What its words and letters are.
pub(super) fn head() -> String {
    let letters: String = NOISES.iter().map(|(letter, ..)| *letter).collect();
    let names = NOISES.map(|(letter, name, _)| format!("{letter} {name}"));
    let words = Adjacency::ALL.map(|adjacency| adjacency.to_string());
    format!(
        "Words of rows in memory: {}, no privacy\nLetters of a word: {}\n{}\n",
        words.join(", "),
        names.join("; "),
        Adjacency::ALL.map(|_| letters.as_str()).join(" ")
    )
}

/// One word for each adjacency, and a word of one letter for no privacy at all.
fn cells(dataset: &Dataset, algorithm: &Made, keys: &mut Keys) -> Vec<Vec<String>> {
    let mut cell = |promise: Promise| {
        let algorithm = match algorithm {
            Ok(algorithm) => Arc::clone(algorithm),
            Err(error) => return keys.named(&error.to_string()),
        };
        let simulation =
            Simulation::new(dataset.clone(), algorithm, promise).averaging(AveragingKind::Tree);
        said(simulation.seed(1).build().map(drop), keys)
    };
    let mut words = Vec::new();
    for adjacency in Adjacency::ALL {
        let promise = Promise::new(2.0, 1e-5, adjacency).expect("a budget");
        let with = |(_, _, noise): NoiseColumn| promise.clone().with_noise(noise());
        words.push(NOISES.map(|noise| cell(with(noise))).to_vec());
    }
    let adjacency = match dataset.bounds() {
        RowBounds::Edges => Adjacency::Edge,
        _ => Adjacency::User,
    };
    words.push(vec![cell(Promise::none(adjacency))]);
    words
}

fn said(built: Result<(), SimulationError>, keys: &mut Keys) -> String {
    match built {
        Ok(()) => ALLOWED.to_owned(),
        Err(error) => keys.named(&error.to_string()),
    }
}

/// A section for each data set.
pub(super) fn sections(keys: &mut Keys) -> Vec<Section> {
    let sections = datasets().into_iter().map(|(name, dataset)| {
        let rows = kinds(dataset.items())
            .into_iter()
            .map(|(name, algorithm)| Row {
                name: name.to_owned(),
                cells: cells(&dataset, &algorithm, keys),
            });
        Section {
            name: format!("memory {name}"),
            rows: rows.collect(),
        }
    });
    sections.collect()
}
