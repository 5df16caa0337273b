//! Decentralised equals central exactly, not only in law: the curator is given the sum of the peers' own
//! shares, and both trajectories are followed iteration by iteration.

use nalgebra::{DMatrix, SymmetricEigen};
use undertone::engine::central::{self, SumNoise};
use undertone::engine::{Outcome, ReleaseRecord, Session, Silent, lockstep};
use undertone::linalg::{Block, SparseRows, orthonormalise, subspace_distance};
use undertone::protocol::averaging::AveragingKind;
use undertone::scenario::Experiment;
use undertone::vocabulary::{PeerIndex, ReleaseId, Seed};

use crate::support::experiments::{CASES, experiment};

/// What a curator computes in one iteration.
struct Curated {
    /// The sensitivity Δ_l.
    sensitivity: f64,
    /// ‖noise‖_F in the sum.
    noise: f64,
    /// The noisy sum Y_l.
    sum: Block,
    /// X^l.
    basis: Block,
}

/// P1 Algorithm 1 written out: the exact sum over all rows plus every peer's own share, except `withheld`'s.
fn curator(session: &Session, withheld: Option<usize>) -> Vec<Curated> {
    let rows = session.all_rows();
    let mut basis = Block::clone(session.start());
    let mut trajectory = Vec::new();
    for (l, planned) in (1..).zip(session.plan().releases()) {
        let sensitivity = planned.bounds()[0].bound(basis.max_row_norm());
        let mut noise = Block::zeros(basis.rows(), basis.columns());
        let peers = (0..session.peers()).filter(|u| Some(*u) != withheld);
        for u in peers {
            let own = session.planned_noise().own(PeerIndex::from_index(u));
            own.add_to(ReleaseId(l), sensitivity, noise.values_mut());
        }
        let mut sum = rows.gram_product(&basis);
        sum.add_scaled(1.0, &noise);
        basis = orthonormalise(&sum).expect("a noisy sum has full rank");
        trajectory.push(Curated {
            sensitivity,
            noise: noise.norm(),
            sum,
            basis: basis.clone(),
        });
    }
    trajectory
}

fn distance(a: &Block, b: &Block) -> f64 {
    let mut difference = a.clone();
    difference.add_scaled(-1.0, b);
    difference.norm()
}

fn smallest_singular_value(block: &Block) -> f64 {
    block.to_matrix().singular_values().min()
}

/// Σ_u‖A_u‖₂ over all peers.
fn products(experiment: &Experiment) -> f64 {
    experiment.peer_rows().iter().map(largest_eigenvalue).sum()
}

/// ‖RᵀR‖₂ of one peer's rows.
fn largest_eigenvalue(rows: &SparseRows) -> f64 {
    let n = rows.dimension();
    let identity = Block::from_matrix(&DMatrix::identity(n, n));
    let gram = rows.gram_product(&identity).to_matrix();
    SymmetricEigen::new(gram).eigenvalues.max()
}

/// How far a peer's sum may lie from the curator's in one iteration, given that all peers' bases lie within
/// `apart` (Frobenius) of the curator's when it starts.
///
/// # Claim
/// With Ȳ the exact sum of what the peers published, S_u peer u's estimate, c the contraction of the rounds:
/// ‖S_u − Y‖ ≤ (c·initial_spread + rounding)·‖Ȳ‖ + Σ_u‖A_u‖₂·apart + |Δ'/Δ − 1|·‖noise‖ + rounding.
///
/// # Proof
/// S_u − Ȳ is what averaging left over, c·initial_spread·‖Ȳ‖ by definition of the two. Ȳ − Y has two parts.
/// Local products: Σ_u A_u(X_u − X), where A_u is the Gram matrix of u's rows. Noise: one vector per peer,
/// scaled by the agreed Δ' instead of Δ; both are the increasing function `bound` of largest row norms that
/// differ by at most `apart`. Pairwise terms cancel up to rounding: each of s additions rounds values of
/// the size of one peer's input.
fn sum_bound(
    experiment: &Experiment,
    record: &ReleaseRecord,
    curated: &Curated,
    start: &Block,
    (products, apart): (f64, f64),
) -> f64 {
    let spread = record.consensus.expect("peers").initial_spread;
    let published = record.totals.published.norm();
    let per_round = 4.0 * f64::EPSILON * f64::from(experiment.rounds()) * (1.0 + spread);
    let left_over = (experiment.contraction() * spread + per_round) * published;
    let norm = start.max_row_norm();
    let sensitivity = &experiment.sensitivity();
    let above = sensitivity.bound((norm + apart).min(1.0)) / curated.sensitivity - 1.0;
    let below = 1.0 - sensitivity.bound(norm - apart) / curated.sensitivity;
    let noise = experiment.noise();
    let degree = experiment.noise_topology().graph().max_degree() as f64;
    let input =
        curated.sensitivity * (noise.sigma_own() + noise.sigma_pairwise() * degree.sqrt()) + 1.0;
    let coordinates = (start.values().len() as f64).sqrt();
    let rounding = 16.0 * f64::EPSILON * experiment.peer_rows().len() as f64 * input * coordinates;
    left_over + products * apart + above.max(below) * curated.noise + rounding
}

/// What QR makes of that (Stewart 1977): √2‖E‖/σ_min(Y) to first order; the denominator covers the rest while
/// ‖E‖ is below a hundredth of σ_min.
fn basis_bound(sum_bound: f64, curated: &Curated) -> f64 {
    let relative = sum_bound / smallest_singular_value(&curated.sum);
    assert!(
        relative < 0.01,
        "the bound is too loose to say anything: {relative:e}"
    );
    2.0_f64.sqrt() * relative / (1.0 - relative).powi(2) + 1e-14
}

/// The first iteration in which the runs are farther apart than the averaging explains, with the figures; `products` is
/// Σ_u‖A_u‖₂.
fn first_departure(
    (experiment, products): (&Experiment, f64),
    ours: &Outcome,
    curator: &[Curated],
    start: &Block,
) -> Option<String> {
    let mut before = start;
    let mut apart = 0.0;
    assert_eq!(ours.records.len(), curator.len());
    for (record, curated) in ours.records.iter().zip(curator) {
        let bound = sum_bound(experiment, record, curated, before, (products, apart));
        let found = distance(&record.sum, &curated.sum);
        if found > bound {
            return Some(format!("{}: sums {found:e} > {bound:e}", record.iteration));
        }
        apart = basis_bound(bound, curated);
        let found = distance(&record.basis, &curated.basis);
        if found > apart {
            return Some(format!("{}: bases {found:e} > {apart:e}", record.iteration));
        }
        before = &curated.basis;
    }
    None
}

#[test]
fn with_the_peers_shares_the_curator_walks_the_same_path_on_every_topology() {
    for case in CASES {
        for (scheme, tolerance) in case.with_tolerances(&[1e-11, 1e-13]) {
            let set = format!("averaging.tolerance={tolerance:e}");
            let experiment = experiment(case, scheme, &[&set, "algorithm.iterations=3"]);
            let session = experiment.session(&Seed::from_u64(5));
            let ours = lockstep::run(&session, &mut Silent).expect("runs");
            let about = format!("{}, {scheme:?}, {tolerance:e}", case.name);
            let start = session.start();
            let experiment = (&experiment, products(&experiment));
            let departure = first_departure(experiment, &ours, &curator(&session, None), start);
            assert_eq!(departure, None, "{about}");
            // Any one peer's share withheld from the curator, and the paths part at once.
            for peer in [0, case.peers / 2, case.peers - 1] {
                let incomplete = curator(&session, Some(peer));
                let departure = first_departure(experiment, &ours, &incomplete, start);
                let first =
                    departure.unwrap_or_else(|| panic!("{about}: peer {peer} is not missed"));
                assert!(first.starts_with("iteration 1"), "{about}: {first}");
            }
        }
    }
}

#[test]
fn the_central_engine_is_the_curator_written_out() {
    for case in CASES {
        let experiment = experiment(case, AveragingKind::Chebyshev, &[]);
        let session = experiment.session(&Seed::from_u64(6));
        let engine = central::run(&session, SumNoise::Shares, &mut Silent).expect("runs");
        for (record, curated) in engine.records.iter().zip(curator(&session, None)) {
            assert!(distance(&record.sum, &curated.sum) <= 1e-12 * curated.sum.norm());
            assert!(
                distance(&record.basis, &curated.basis) <= 1e-10,
                "{}",
                case.name
            );
        }
    }
}

#[test]
fn without_noise_the_decentralised_basis_is_the_central_one() {
    for case in CASES {
        for scheme in case.schemes() {
            // Running totals do not come closer than rounding lets them.
            let tolerance = match scheme.passes_mass() {
                true => "averaging.tolerance=1e-11",
                false => "averaging.tolerance=1e-13",
            };
            let set = ["noise.scheme=none", tolerance];
            let experiment = experiment(case, scheme, &set);
            let session = experiment.session(&Seed::from_u64(7));
            let ours = lockstep::run(&session, &mut Silent).expect("runs");
            let central = central::run(&session, SumNoise::Nothing, &mut Silent).expect("runs");
            let apart = subspace_distance(ours.basis(), central.basis());
            assert!(apart <= 1e-8, "{}, {scheme:?}: {apart:e}", case.name);
        }
    }
}

#[test]
fn with_a_huge_epsilon_the_decentralised_basis_is_the_non_private_one() {
    for case in CASES {
        let close = |epsilon: &str| {
            let set = [epsilon, "averaging.tolerance=1e-13"];
            let experiment = experiment(case, AveragingKind::Chebyshev, &set);
            assert!(
                experiment.noise().sigma_own() > 0.0 && experiment.noise().sigma_pairwise() > 0.0
            );
            let session = experiment.session(&Seed::from_u64(8));
            let ours = lockstep::run(&session, &mut Silent).expect("runs");
            let plain = central::run(&session, SumNoise::Nothing, &mut Silent).expect("runs");
            subspace_distance(ours.basis(), plain.basis())
        };
        // Noise falls with 1/√ε once ε is large.
        let apart = close("privacy.epsilon=1e20");
        assert!(apart <= 1e-8, "{}: {apart:e}", case.name);
        let apart = close("privacy.epsilon=1e9");
        assert!(
            (1e-8..1e-2).contains(&apart),
            "{}: noise shows at 1e9: {apart:e}",
            case.name
        );
    }
}

#[test]
fn without_noise_the_curator_finds_the_eigenvectors_of_a_dense_decomposition() {
    let set = ["algorithm.iterations=1000", "noise.scheme=none"];
    let experiment = experiment(CASES[0], AveragingKind::Chebyshev, &set);
    let session = experiment.session(&Seed::from_u64(9));
    let outcome = central::run(&session, SumNoise::Nothing, &mut Silent).expect("runs");
    let n = experiment.user_rows().dimension();
    let mut dense = DMatrix::<f64>::zeros(experiment.user_rows().len(), n);
    for u in 0..experiment.user_rows().len() {
        let (items, values) = experiment.user_rows().row(u);
        for (&item, &value) in items.iter().zip(values) {
            dense[(u, item as usize)] = value;
        }
    }
    let eigen = SymmetricEigen::new(dense.tr_mul(&dense));
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let top = |rank: usize| Block::from_matrix(&eigen.eigenvectors.select_columns(&order[..rank]));
    let apart = subspace_distance(outcome.basis(), &top(3));
    assert!(apart <= 1e-8, "{apart:e}");
    // Column by column too: orthogonal iteration orders the eigenvectors themselves.
    for rank in 1..=2 {
        let leading = outcome.basis().to_matrix().columns(0, rank).into_owned();
        let apart = subspace_distance(&Block::from_matrix(&leading), &top(rank));
        assert!(apart <= 1e-8, "{rank}: {apart:e}");
    }
    let early = subspace_distance(&outcome.records[0].basis, &top(3));
    assert!(early > 1e-3, "one iteration is not enough: {early:e}");
}

/// What is changed for every algorithm that is not the power method.
const ALGORITHMS: [&[&str]; 2] = [
    &["algorithm.kind=covariance", "algorithm.iterations=1"],
    &["algorithm.kind=krylov", "algorithm.block=5"],
];

#[test]
fn other_algorithms_walk_the_curators_path_with_the_peers_shares_too() {
    for case in CASES {
        for set in ALGORITHMS {
            let set = [&["averaging.tolerance=1e-13"], set].concat();
            let experiment = experiment(case, AveragingKind::Chebyshev, &set);
            let session = experiment.session(&Seed::from_u64(8));
            let ours = lockstep::run(&session, &mut Silent).expect("runs");
            let with = |noise| central::run(&session, noise, &mut Silent).expect("runs");
            let (shares, nothing) = (with(SumNoise::Shares), with(SumNoise::Nothing));
            for ((x, y), z) in ours
                .records
                .iter()
                .zip(&shares.records)
                .zip(&nothing.records)
            {
                let about = format!("{}, {set:?}, {}", case.name, x.iteration);
                let apart = distance(&x.sum, &y.sum) / y.sum.norm();
                assert!(apart <= 1e-8, "{about}: sums {apart:e}");
                let apart = subspace_distance(&x.basis, &y.basis);
                assert!(apart <= 1e-5, "{about}: bases {apart:e}");
                assert!(
                    distance(&x.sum, &z.sum) > 1e-3 * z.sum.norm(),
                    "{about}: no noise"
                );
            }
        }
    }
}
