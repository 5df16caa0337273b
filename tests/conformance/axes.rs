//! The axes of the table: graphs, averaging schemes, values and algorithms, and which of them go together.

use std::sync::{Arc, LazyLock};

use undertone::algorithm::{
    Algorithm, Completion, Covariance, Krylov, LocalData, PowerMethod, Preconditioned,
    RakedCovariance, RatedRows, SHARES, SpectralRidge, Streaming,
};
use undertone::engine::{Session, SessionError};
use undertone::linalg::{ItemWeights, SparseRows};
use undertone::noise::WishartShares;
use undertone::papers::{
    Clip, ClipRule, ClippedPower, CompletionMode, Deflation, FrankWolfe, FrankWolfeParameters,
    Global, Local, PrivatePowerIteration, StepRule,
};
use undertone::privacy::ring::{Grid, Modulus};
use undertone::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use undertone::protocol::averaging::{
    AveragingError, AveragingKind, AveragingOptions, Length, Loss, MixingBounds, Schedule,
};
use undertone::protocol::{RingParameters, SessionPlanError, Values};
use undertone::topology::generators::{
    BarabasiAlbert, Complete, Hypercube, RandomRegular, Ring, Star,
};
use undertone::topology::{GeneratorConfig, LoadOptions, Topology, load};

use crate::programs::alternating;
use crate::support::repository;
use crate::support::sessions::{Parts, users};

/// Items of all cells.
const ITEMS: usize = 7;

/// Rounds of schemes that have no end of their own: so few that peers are far apart, as every bit of the way there must be equal.
const ROUNDS: u32 = 6;

const RANK: usize = 2;
const ITERATIONS: u32 = 2;

/// A graph, and whether it has the edges for doubling.
pub(super) struct Place {
    pub(super) name: &'static str,
    topology: LazyLock<Arc<Topology>>,
    pub(super) doubles: bool,
}

fn file(name: &str) -> Arc<Topology> {
    let path = repository(&format!("topologies/{name}.toml"));
    load(&path, LoadOptions::default())
        .expect("a named topology")
        .into()
}

fn generated(config: &GeneratorConfig, peers: usize) -> Arc<Topology> {
    let topology = Topology::generate(config, peers);
    topology.expect("a graph of this size").into()
}

const fn place(name: &'static str, doubles: bool, topology: fn() -> Arc<Topology>) -> Place {
    let topology = LazyLock::new(topology);
    Place {
        name,
        topology,
        doubles,
    }
}

/// Small ones first; the two beyond sixty peers last.
pub(super) static PLACES: [Place; 11] = [
    place("pair", true, || {
        generated(&GeneratorConfig::Hypercube(Hypercube { n: None }), 2)
    }),
    place("ring-8", false, || {
        generated(&GeneratorConfig::Ring(Ring { n: None }), 8)
    }),
    place("star-9", false, || {
        generated(&GeneratorConfig::Star(Star { n: None }), 9)
    }),
    place("complete-10", true, || {
        generated(&GeneratorConfig::Complete(Complete { n: None }), 10)
    }),
    place("abilene", false, || file("abilene")),
    place("hypercube-16", true, || {
        generated(&GeneratorConfig::Hypercube(Hypercube { n: None }), 16)
    }),
    place("random-regular-24-4", false, || {
        let (degree, seed) = (4, 1);
        let config = RandomRegular {
            n: None,
            degree,
            seed,
        };
        generated(&GeneratorConfig::RandomRegular(config), 24)
    }),
    place("karate", false, || file("karate")),
    place("barabasi-albert-40", false, || {
        let (edges_per_node, seed) = (2, 1);
        let config = BarabasiAlbert {
            n: None,
            edges_per_node,
            seed,
        };
        generated(&GeneratorConfig::BarabasiAlbert(config), 40)
    }),
    place("torus-8x8", false, || file("torus-8x8")),
    place("cogentco", false, || file("cogentco")),
];

/// How inputs are averaged.
pub(super) struct Scheme {
    pub(super) name: &'static str,
    kind: AveragingKind,
    /// Fan-in and turns of a tree.
    turns: Option<(u32, u32)>,
    /// The fraction of messages that are lost.
    pub(super) loss: f64,
    /// What becomes of each of [`VALUES`] on a graph that has the edges.
    entries: [Entry; VALUES.len()],
}

/// What becomes of a cell before anything runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Entry {
    /// There is a session.
    Runs,
    /// Doubling on a graph that lacks an edge.
    MissingEdge,
    /// Integers mod 2^k under a scheme that divides.
    Divides,
    /// Running totals in numbers of 4 bytes.
    MassInSingles,
    /// Integers mod 2^k in reals of 4 bytes.
    RingOfSingles,
}

use Entry::{Divides, MassInSingles, RingOfSingles, Runs};

/// f64 and f32; integers; integers in f32.
const GOSSIP: [Entry; VALUES.len()] = [Runs, Runs, Divides, Divides, RingOfSingles];
const EXACT: [Entry; VALUES.len()] = [Runs, Runs, Runs, Runs, RingOfSingles];
const PASSING: [Entry; VALUES.len()] = [Runs, MassInSingles, Divides, Divides, RingOfSingles];

const fn scheme(name: &'static str, kind: AveragingKind, entries: [Entry; VALUES.len()]) -> Scheme {
    Scheme {
        name,
        kind,
        turns: None,
        loss: 0.0,
        entries,
    }
}

pub(super) const SCHEMES: [Scheme; 9] = [
    scheme("linear", AveragingKind::Linear, GOSSIP),
    scheme("chebyshev", AveragingKind::Chebyshev, GOSSIP),
    scheme("tree", AveragingKind::Tree, EXACT),
    Scheme {
        turns: Some((2, 3)),
        ..scheme("trees in turn", AveragingKind::Tree, EXACT)
    },
    scheme("doubling", AveragingKind::Doubling, EXACT),
    scheme("push-sum", AveragingKind::PushSum, PASSING),
    scheme("pairwise", AveragingKind::Pairwise, PASSING),
    Scheme {
        loss: 0.2,
        ..scheme("push-sum, a fifth lost", AveragingKind::PushSum, PASSING)
    },
    Scheme {
        loss: 0.2,
        ..scheme("pairwise, a fifth lost", AveragingKind::Pairwise, PASSING)
    },
];

/// What coordinates are: reals of one width, or integers.
pub(super) struct Numbers {
    pub(super) name: &'static str,
    values: Values,
    ring: Option<Modulus>,
}

const fn numbers(name: &'static str, values: Values, ring: Option<Modulus>) -> Numbers {
    Numbers { name, values, ring }
}

pub(super) const VALUES: [Numbers; 5] = [
    numbers("f64", Values::F64, None),
    numbers("f32", Values::F32, None),
    numbers("ring 32", Values::F64, Some(Modulus::Bits32)),
    numbers("ring 64", Values::F64, Some(Modulus::Bits64)),
    numbers("ring 32 of f32", Values::F32, Some(Modulus::Bits32)),
];

impl Numbers {
    pub(super) fn are_integers(&self) -> bool {
        self.ring.is_some()
    }
}

/// An algorithm with its bounds.
pub(super) struct Method {
    pub(super) name: &'static str,
    algorithm: fn() -> Arc<dyn Algorithm>,
    sensitivity: fn() -> SensitivitySpec,
    /// Whether the two rows of every peer lie in two batches.
    batches: bool,
    /// Whether every peer adds all of a Wishart noise, where sums are of reals.
    wishart: bool,
}

fn of_interactions() -> SensitivitySpec {
    SensitivitySpec::new(Adjacency::Interaction, SensitivityRule::Exact, 1, None)
}

/// Entries of the matrix and of rows, of which no more is known.
fn of_entries() -> SensitivitySpec {
    SensitivitySpec::new(Adjacency::Entry, SensitivityRule::Exact, 1, None)
}

fn of_users() -> SensitivitySpec {
    SensitivitySpec::new(Adjacency::User, SensitivityRule::UnitRow, 1, None)
}

/// The same of users with no more ratings than there are items.
fn of_raters() -> SensitivitySpec {
    let cap = Some(ITEMS as u32);
    SensitivitySpec::new(Adjacency::User, SensitivityRule::UnitRow, 1, cap)
}

const fn method(name: &'static str, algorithm: fn() -> Arc<dyn Algorithm>) -> Method {
    Method {
        name,
        algorithm,
        sensitivity: of_interactions,
        batches: false,
        wishart: false,
    }
}

/// What is public of two rows at every peer; how many peers there are decides nothing here.
const RATED: RatedRows = RatedRows {
    slots: 40,
    radius: 1.0,
    most_ratings: ITEMS,
    user_centred: false,
};

/// Weights far apart.
fn weights() -> Arc<ItemWeights> {
    let weights = (0..ITEMS).map(|item| 0.6_f64.powi(item as i32)).collect();
    Arc::new(ItemWeights::new(weights).expect("positive"))
}

/// Another algorithm on P A P.
fn preconditioned(inner: Arc<dyn Algorithm>) -> Arc<dyn Algorithm> {
    Arc::new(Preconditioned::new(inner, weights()).expect("goes with a P"))
}

fn power() -> Arc<dyn Algorithm> {
    Arc::new(PowerMethod::new(ITEMS, RANK, ITERATIONS).expect("valid"))
}

fn krylov() -> Arc<dyn Algorithm> {
    Arc::new(Krylov::new(ITEMS, RANK, RANK + 1, ITERATIONS).expect("valid"))
}

fn covariance() -> Arc<dyn Algorithm> {
    Arc::new(Covariance::new(ITEMS, RANK).expect("valid"))
}

fn raked() -> Arc<dyn Algorithm> {
    Arc::new(RakedCovariance::new(ITEMS, RANK, 1).expect("valid"))
}

fn deflation() -> Arc<dyn Algorithm> {
    Arc::new(Deflation::new(ITEMS, RANK, 1, 0.2).expect("valid"))
}

fn ppi() -> Arc<dyn Algorithm> {
    Arc::new(PrivatePowerIteration::new(ITEMS, ITERATIONS, None).expect("valid"))
}

fn clipped() -> Arc<dyn Algorithm> {
    let clip = Clip {
        rule: ClipRule::Histogram,
        share: 0.1,
        quantile: 0.8,
        lag: false,
        slots: RATED.slots,
        test_epsilon: 0.0,
    };
    Arc::new(ClippedPower::new(ITEMS, RANK, ITERATIONS, clip).expect("valid"))
}

fn ridge() -> Arc<dyn Algorithm> {
    let completion = Completion {
        rows: RATED,
        item_means: true,
        shares: SHARES,
    };
    Arc::new(SpectralRidge::new(ITEMS, RANK, completion).expect("valid"))
}

fn frank_wolfe() -> Arc<dyn Algorithm> {
    let parameters = FrankWolfeParameters {
        rank: RANK,
        iterations: ITERATIONS,
        rows: RATED,
        local: Local::FrankWolfe {
            nuclear: 3.0,
            step: StepRule::Standard,
        },
        global: Global::Covariance,
        mode: CompletionMode::Tight,
    };
    Arc::new(FrankWolfe::new(ITEMS, parameters).expect("valid"))
}

fn streaming() -> Arc<dyn Algorithm> {
    Arc::new(Streaming::new(ITEMS, RANK, ITERATIONS).expect("valid"))
}

pub(super) const METHODS: [Method; 14] = [
    method("power", power),
    method("krylov", krylov),
    method("covariance", covariance),
    Method {
        wishart: true,
        ..method("covariance, Wishart noise", covariance)
    },
    method("raked-covariance", raked),
    method("preconditioned power", || preconditioned(power())),
    method("preconditioned krylov", || preconditioned(krylov())),
    Method {
        sensitivity: crate::programs::bounds_of_alternating,
        ..method("alternating", alternating)
    },
    Method {
        sensitivity: of_users,
        ..method("deflation", deflation)
    },
    Method {
        sensitivity: of_entries,
        ..method("ppi", ppi)
    },
    Method {
        sensitivity: of_users,
        ..method("clipped power", clipped)
    },
    Method {
        sensitivity: of_raters,
        ..method("spectral-ridge", ridge)
    },
    Method {
        sensitivity: of_raters,
        ..method("frank-wolfe", frank_wolfe)
    },
    Method {
        sensitivity: of_users,
        batches: true,
        ..method("streaming", streaming)
    },
];

/// One entry of each axis.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) place: &'static Place,
    pub(super) scheme: &'static Scheme,
    pub(super) values: &'static Numbers,
    pub(super) method: &'static Method,
    /// What the table says of it.
    pub(super) entry: Entry,
}

/// Why there is no session.
#[derive(Debug)]
pub(super) enum Refused {
    Averaging(AveragingError),
    Session(SessionError),
}

impl Cell {
    /// The cell of these positions: place, scheme, values, method.
    pub(super) fn at([place, scheme, values, method]: [usize; 4]) -> Self {
        let (place, scheme) = (&PLACES[place], &SCHEMES[scheme]);
        let doubling = scheme.kind == AveragingKind::Doubling;
        Self {
            place,
            scheme,
            values: &VALUES[values],
            method: &METHODS[method],
            entry: match doubling && !place.doubles {
                true => Entry::MissingEdge,
                false => scheme.entries[values],
            },
        }
    }

    /// The positions of all cells.
    pub(super) fn all() -> Vec<[usize; 4]> {
        let [places, schemes, values, methods] =
            [PLACES.len(), SCHEMES.len(), VALUES.len(), METHODS.len()];
        let cell = |n: usize| {
            let (n, method) = (n / methods, n % methods);
            let (n, value) = (n / values, n % values);
            [n / schemes, n % schemes, value, method]
        };
        (0..places * schemes * values * methods).map(cell).collect()
    }

    pub(super) fn name(&self) -> String {
        [
            self.place.name,
            self.scheme.name,
            self.values.name,
            self.method.name,
        ]
        .join(", ")
    }

    fn schedule(&self) -> Result<Schedule, AveragingError> {
        let kind = self.scheme.kind;
        let bounds = MixingBounds {
            lowest: -0.95,
            second: 0.95,
        };
        let length = match kind.is_exact() {
            true => Length::Own,
            false => Length::Rounds(ROUNDS),
        };
        let mut options = AveragingOptions::default();
        if let Some((fan_in, turns)) = self.scheme.turns {
            options = options.with_fan_in(fan_in)?.with_rotate(turns)?;
        }
        if self.scheme.loss > 0.0 {
            options = options.with_loss(Loss::new(self.scheme.loss).expect("a fraction"));
        }
        kind.compile(&**self.place.topology, bounds, length, options)
    }

    /// The session of this cell.
    pub(super) fn session(&self) -> Result<Session, Refused> {
        let schedule = self.schedule().map_err(Refused::Averaging)?;
        let ring = self.values.ring.map(|modulus| {
            // 64 bits hold what neither 32 do nor the 53 of an f64.
            let (exponent, clamp) = match modulus {
                Modulus::Bits32 => (16, 1 << 20),
                Modulus::Bits64 => (40, 1 << 52),
            };
            RingParameters {
                grid: Grid::new(exponent).expect("at most 44"),
                modulus,
                clamp,
            }
        });
        let peers = self.place.topology.graph().nodes();
        let matrices = self.method.wishart && ring.is_none();
        let wishart = matrices.then_some(WishartShares {
            dimension: ITEMS as u32,
            terms: (peers * (ITEMS + 1)) as u64,
            peers: peers as u32,
            isometric: false,
            mean: None,
        });
        let parts = Parts {
            topology: Arc::clone(&self.place.topology),
            schedule: Arc::new(schedule),
            algorithm: (self.method.algorithm)(),
            sensitivity: (self.method.sensitivity)(),
            // Partners of a ring share masks.
            sigmas: match ring {
                Some(_) => [0.05, 0.0, 0.0],
                None if matrices => [0.05, 0.0, 0.0],
                None => [0.05, 1.5, 0.0],
            },
            values: self.values.values,
            ring,
            wishart,
        };
        let held = |rows: SparseRows| match self.method.batches {
            true => LocalData::in_batches(rows, &[0, 1]).expect("two rows"),
            false => LocalData::from(rows),
        };
        let peers: Vec<LocalData> = users(peers, ITEMS).into_iter().map(held).collect();
        parts.session(&peers, 7).map_err(Refused::Session)
    }
}

impl Refused {
    /// What the table calls it.
    pub(super) fn entry(&self) -> Option<Entry> {
        Some(match self {
            Self::Averaging(AveragingError::NoGroups { .. }) => Entry::MissingEdge,
            Self::Session(SessionError::Inexact) => Divides,
            Self::Session(SessionError::MassValues { .. }) => MassInSingles,
            Self::Session(SessionError::Plan(SessionPlanError::Ring { .. })) => RingOfSingles,
            _ => return None,
        })
    }
}
