//! What recommendations from a released Gram matrix take from an experiment file: of which items it is released, and with which floor.
//!
//! Items and floor are functions of the list of items with its degrees, of the number of users and of settings. The degrees are counted in the
//! data, also where a file lists the items; that they are public is an assumption, which receipts state ([`super::assumptions`]). Under it the
//! peers' rows are r ∩ L with L fixed, as under any list.

use super::error::{ExperimentError, PrivacyTableError, RecommenderTableError};
use super::promise;
use super::rules::{Rule, keep};
use crate::algorithm::{Program, ReleaseSpec, Unsupported};
use crate::config::{AnyAlgorithmTable, Config, ItemCount, RecommenderConfig};
use crate::data::{Interactions, ItemNames};
use crate::plan;
use crate::privacy::{Adjacency, PrivacyError, SensitivitySpec};
use crate::recommender::gram::{FloorRule, items_worth_their_noise};
use crate::vocabulary::{Distribution, Quantity};

/// Whether recommendations can be made of this release: a triangle of the Gram matrix itself.
///
/// # Errors
/// [`Unsupported`] for any other release.
fn supports(program: &Program, release: &ReleaseSpec) -> Result<(), Unsupported> {
    let triangles = [Quantity::PackedTriangle, Quantity::IsometricTriangle];
    let first = release.blocks.first();
    let is_gram = first.is_some_and(|block| triangles.contains(&block.quantity));
    match is_gram && program.proved.matrix_only {
        true => Ok(()),
        false => Err(Unsupported::algorithm(
            "[recommender]",
            program,
            "it needs a Gram matrix that is released; set algorithm.kind = \"covariance\" or \"isometric-covariance\", or leave [recommender] out",
        )),
    }
}

/// Whether a run of this algorithm releases a Gram matrix, and in which coordinates.
fn released(algorithm: &AnyAlgorithmTable) -> Option<Quantity> {
    let program = algorithm.table().sketch()?;
    program.check_each(supports).ok()?;
    let first = program.releases.first()?.blocks.first()?;
    Some(first.quantity)
}

/// What recommendations do not go with.
const RULES: &[Rule] = &[
    (
        "method",
        |config| config.data.is_of_numbers(),
        "is for who chose what: give a rating file, and leave data.values and the keys of numbers out",
    ),
    (
        "method",
        |config| config.compare.is_some(),
        "is of this algorithm's release, and [compare] runs another: leave one of the two out",
    ),
    (
        "items",
        |config| {
            let few = |table: RecommenderConfig| {
                table.most < 2 || matches!(table.items, ItemCount::Number(0 | 1))
            };
            config.recommender.is_some_and(few)
        },
        "must be at least 2, and so must most: one item goes together with none",
    ),
];

/// Refuses keys that do not go with each other, whatever the data.
pub(super) fn check(config: &Config) -> Result<(), ExperimentError> {
    let Some(table) = config.recommender else {
        return Ok(());
    };
    if released(&config.algorithm).is_none() {
        let (method, algorithm) = (table.method.name(), config.algorithm.name());
        return Err(RecommenderTableError::Algorithm { method, algorithm }.into());
    }
    keep(RULES, config, |key, why| {
        RecommenderTableError::Key { key, why }.into()
    })
}

/// The items that the matrix is released of, where that are fewer than `[data]` keeps.
pub(super) fn list(config: &Config, catalogue: impl FnOnce() -> Interactions) -> Option<ItemNames> {
    match config.recommender?.items {
        ItemCount::Number(items) => Some(ItemNames::most_rated(&catalogue(), items)),
        ItemCount::Auto => None,
    }
}

/// Fills in how many items there are and, where that is asked for, the floor.
pub(super) fn complete(
    config: &mut Config,
    read: &Interactions,
    list: Option<&ItemNames>,
) -> Result<(), ExperimentError> {
    let Some(table) = config.recommender else {
        return Ok(());
    };
    let mut degrees = match list {
        Some(list) => list.restrict(read).0.item_degrees(),
        None => read.item_degrees(),
    };
    degrees.sort_unstable_by(|a, b| b.cmp(a));
    if config.data.items() > 0 {
        degrees.truncate(config.data.items());
    }
    // As many as peers will hold: each is held out with a known probability.
    let share = 1.0 - config.held_share().unwrap_or(0.0);
    let expected = |d: &u32| (share * f64::from(*d)).round() as u32;
    let degrees: Vec<u32> = degrees.iter().map(expected).collect();
    let users = read.users();
    let rule = match config.privacy.adjacency {
        Adjacency::User | Adjacency::ReplaceUser => FloorRule::USER,
        _ => FloorRule::INTERACTION,
    };
    let given = config.data.degree_floor();
    let floor = |degrees: &[u32]| match table.degree_floor {
        Some(_) => rule.floor(degrees, users),
        None => given,
    };
    let items = match table.items {
        ItemCount::Number(items) => items,
        ItemCount::Auto => {
            let unit = unit_noise(config)?;
            let sigma = |floor| unit(floor).unwrap_or(f64::INFINITY);
            // What a floor that has no proof is refused with is said where the experiment is planned.
            items_worth_their_noise(&degrees, table.most, floor, sigma)
        }
    };
    let listed = &degrees[..items.min(degrees.len())];
    config.data.set_degree_floor(floor(listed));
    config.recommender = Some(RecommenderConfig {
        items: ItemCount::Number(items.min(degrees.len()).max(2)),
        degree_floor: None,
        ..table
    });
    Ok(())
}

/// The noise of a trusted curator on an entry off the diagonal, for each floor.
fn unit_noise(
    config: &Config,
) -> Result<impl Fn(u32) -> Result<f64, PrivacyError> + use<>, ExperimentError> {
    let promise = promise::of(config, false).map_err(PrivacyTableError::from)?;
    let gaussian = promise.noise.distribution() == Distribution::Gaussian;
    let multiplier = match gaussian && !promise.noise.is_none() {
        true => {
            let calibrated = plan::multiplier(&promise, 1);
            calibrated.map_err(PrivacyTableError::from)?.z()
        }
        false => 0.0,
    };
    let quantity = released(&config.algorithm).unwrap_or(Quantity::PackedTriangle);
    let factor = match quantity {
        Quantity::IsometricTriangle => std::f64::consts::FRAC_1_SQRT_2,
        _ => 1.0,
    };
    let (privacy, cap) = (config.privacy.clone(), config.data.degree_cap().copied());
    Ok(move |floor| {
        let spec = SensitivitySpec::new(privacy.adjacency, privacy.sensitivity(), floor, cap);
        Ok(factor * multiplier * spec.of(quantity, 1)?.bound(1.0))
    })
}
