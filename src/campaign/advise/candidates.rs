//! What can be advised, and what each costs.

use std::sync::Arc;

use crate::algorithm::{
    AlgorithmTable, CovarianceTable, DataFacts, IsometricCovarianceTable, KrylovTable, Program,
    RakedCovarianceTable, ReleaseSpec, Unsupported,
};
use crate::config::{AnyAlgorithmTable, Config};
use crate::plan::{self, BudgetShare};
use crate::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use crate::protocol::averaging::Load;
use crate::protocol::{SessionParameters, SessionPlan};
use crate::scenario::Experiment;
use crate::vocabulary::{Quantity, Seed};

/// Degree floors that are tried, besides the file's own.
pub(super) const FLOORS: [u32; 13] = [1, 2, 3, 5, 7, 10, 14, 20, 28, 40, 56, 80, 113];
/// Iterations of block Krylov that are tried. The power method with as many columns sends the same, and was nowhere better by more than the
/// measurement is uncertain.
const KRYLOV: [u32; 4] = [1, 2, 3, 4];
/// Its blocks, in multiples of the rank.
const BLOCKS: [usize; 3] = [1, 2, 4];

/// An algorithm under a degree floor that can be run, over whatever averaging scheme.
#[derive(Clone, Debug)]
pub(super) struct Proposal {
    pub(super) algorithm: AnyAlgorithmTable,
    pub(super) floor: u32,
    /// Whose bound is taken, and whether the floor is a root floor.
    pub(super) rule: SensitivityRule,
    /// The public parameters of its plan on the real items.
    pub(super) parameters: SessionParameters,
    /// Standard deviation of the noise in the sum per unit sensitivity.
    pub(super) sigma: f64,
    /// Coordinates of a release.
    pub(super) coordinates: usize,
}

impl Proposal {
    /// What it is called over this averaging scheme.
    pub(super) fn name(&self, scheme: &str) -> String {
        let kind = format!("{} over {scheme}", self.algorithm.name());
        name(&kind, &self.algorithm, self.floor)
    }

    /// What a run has the peers exchange where messages of a sum hold so many numbers beside its coordinates.
    pub(super) fn load(&self, extra: usize) -> Load {
        let parameters = &self.parameters;
        let held = self.coordinates + extra;
        Load::sum(parameters.scale_rounds, held, parameters.values)
            .repeated(self.algorithm.table().iterations())
    }
}

fn name(kind: &str, algorithm: &AnyAlgorithmTable, floor: u32) -> String {
    let table = algorithm.table();
    let first = table
        .sketch()
        .map(|program| program.releases[0].blocks[0].quantity);
    match first {
        Some(Quantity::Product) => format!(
            "{kind}, L = {}, b = {}, D = {floor}",
            table.iterations(),
            table.query_columns()
        ),
        _ => format!("{kind}, D = {floor}"),
    }
}

/// The algorithms that are tried for this rank on so many items, each with what is tried instead where its release has no proved
/// sensitivity.
///
/// Of the two ways to release the matrix the isometric one has at most the other's noise on every entry off the diagonal: for one
/// interaction under a root floor D its Δ is below √(2/D) and the noise is divided by √2, which is below the packed triangle's
/// 1.04/√D; under a plain floor it is √(1−1/(2D)) of that one's 1/√D.
fn algorithms(
    own: &dyn AlgorithmTable,
    items: usize,
) -> Vec<(AnyAlgorithmTable, Option<AnyAlgorithmTable>)> {
    let (rank, start) = (own.rank(), own.requirements().start);
    let krylov = KRYLOV.into_iter().flat_map(|l| {
        let blocks = BLOCKS.map(|times| rank.saturating_mul(times)).into_iter();
        // More directions than items repeat earlier ones.
        let fresh = blocks.filter(move |block| block.saturating_mul(l as usize) <= items);
        fresh.map(move |block| {
            let krylov = KrylovTable {
                rank,
                block: Some(block),
                iterations: l,
                start,
                ..KrylovTable::default()
            };
            (krylov.into(), None)
        })
    });
    let isometric = IsometricCovarianceTable {
        rank,
        iterations: 1,
        start,
        ..IsometricCovarianceTable::default()
    };
    let packed = CovarianceTable {
        rank,
        iterations: 1,
        start,
        ..CovarianceTable::default()
    };
    let raked = RakedCovarianceTable {
        rank,
        iterations: 1,
        start,
    };
    krylov
        .chain([
            (isometric.into(), Some(packed.into())),
            (raked.into(), None),
        ])
        .collect()
}

/// The candidates of this experiment, and those that cannot be run with the reason.
pub(super) fn settings(experiment: &Experiment) -> (Vec<Proposal>, Vec<(String, String)>) {
    let config = experiment.config();
    let mut floors = FLOORS.to_vec();
    floors.push(config.data.degree_floor());
    floors.sort_unstable();
    floors.dedup();
    let session = experiment.session(&Seed::from_u64(config.seed));
    let own = session.plan().parameters();
    let (mut settings, mut refused) = (Vec::new(), Vec::new());
    for (algorithm, instead) in
        algorithms(config.algorithm.table(), experiment.user_rows().dimension())
    {
        for &floor in &floors {
            let first = setting(experiment, own, algorithm, floor);
            let second = |why| match instead {
                Some(other) => setting(experiment, own, other, floor),
                None => Err(why),
            };
            match first.or_else(second) {
                Ok(setting) => settings.push(setting),
                Err(why) => {
                    refused.push((name(algorithm.name(), &algorithm, floor), why));
                }
            }
        }
    }
    (settings, refused)
}

/// The rule of all candidates: root floors in place of plain ones wherever these would have the tight bound for one interaction, since there
/// their error was nowhere above that of plain floors by more than 5 %, and up to 20 % below it. Any other rule is kept.
pub(super) fn rule(config: &Config) -> SensitivityRule {
    let privacy = &config.privacy;
    let of_one = privacy.adjacency == Adjacency::Interaction && config.data.degree_cap().is_none();
    match privacy.sensitivity() {
        SensitivityRule::Exact if of_one => SensitivityRule::RootFloor,
        other => other,
    }
}

/// Whether a release can be tried on a stand-in: products, triangles and triangles with margins, of a matrix as it is.
///
/// # Errors
/// [`Unsupported`] for a release that no trial run is made for.
fn supports(program: &Program, release: &ReleaseSpec) -> Result<(), Unsupported> {
    let tried = match release.blocks.as_slice() {
        [only] => match only.quantity {
            Quantity::Product | Quantity::PackedTriangle | Quantity::IsometricTriangle => {
                program.proved.matrix_only
            }
            other => other == Quantity::TriangleAndMargins,
        },
        _ => false,
    };
    match tried {
        true => Ok(()),
        false => Err(Unsupported::algorithm(
            "advice",
            program,
            "it tries sums of products and triangles on stand-ins; choose krylov, covariance, isometric-covariance or raked-covariance",
        )),
    }
}

fn setting(
    experiment: &Experiment,
    own: &SessionParameters,
    algorithm: AnyAlgorithmTable,
    floor: u32,
) -> Result<Proposal, String> {
    let config = experiment.config();
    let items = experiment.user_rows().dimension();
    let built = algorithm
        .table()
        .algorithm(&DataFacts::of_items(items, floor))
        .map_err(|error| error.to_string())?;
    let program = Arc::new(built.program());
    program
        .check_each(supports)
        .map_err(|error| error.to_string())?;
    let block = &program.releases[0].blocks[0];
    let privacy = &config.privacy;
    let (adjacency, rule) = (privacy.adjacency, rule(config));
    let sensitivity =
        SensitivitySpec::new(adjacency, rule, floor, config.data.degree_cap().copied());
    sensitivity
        .of(block.quantity, block.columns)
        .map_err(|error| error.to_string())?;
    let promise = experiment.plan().promise();
    let calibrated = plan::multiplier(promise, algorithm.table().iterations())
        .map_err(|error| error.to_string())?;
    let parameters = SessionParameters {
        program: Arc::clone(&program),
        sensitivity,
        scale_rounds: experiment
            .topology()
            .graph()
            .diameter_bound()
            .unwrap_or(own.peers),
        // Candidates are compared by the noise of real numbers: a grid costs at most β more.
        ring: None,
        laplace: None,
        wishart: None,
        // Candidates spend evenly, whatever the file's own algorithm does.
        noise_factors: Vec::new(),
        ..own.clone()
    };
    let plan = SessionPlan::new(parameters, built).map_err(|error| error.to_string())?;
    // How much more noise than a curator's the sum has does not depend on the algorithm: all scales are multiples of z.
    let part = experiment.part().map_or(1.0, BudgetShare::factor);
    let more = if experiment.is_private() {
        part * experiment.noise().sigma_sum() / experiment.calibrated().z()
    } else {
        0.0
    };
    Ok(Proposal {
        algorithm,
        floor,
        rule,
        sigma: calibrated.z() * more,
        coordinates: plan.most_values(),
        parameters: plan.parameters().clone(),
    })
}
