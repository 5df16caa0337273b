//! Keys of a session's tables that would take everybody's data to draw, and what no session has been shown to run.

use super::DeploymentError;
use crate::algorithm::{BlockSpec, Form, Precondition, Program, ReleaseSpec, Start, Unsupported};
use crate::config::{Config, DataConfig, DataFormat};
use crate::privacy::Scheme;
use crate::scenario::rules::{Rule, keep};
use crate::vocabulary::Quantity;

/// Whether members run this release of a program: a sum over all rows about the matrix alone, or of raked triangles, that finds a basis.
///
/// # Errors
/// [`Unsupported`] for any other, of which no session has been shown.
fn supports(program: &Program, release: &ReleaseSpec) -> Result<(), Unsupported> {
    let raked = |block: &BlockSpec| block.quantity == Quantity::TriangleAndMargins;
    let proved = program.proved.matrix_only || release.blocks.iter().all(raked);
    let plain = release.form == Form::Sum && release.batch.is_none();
    match proved && plain && program.rank > 0 {
        true => Ok(()),
        false => Err(Unsupported::algorithm(
            "a session",
            program,
            "choose power, momentum, krylov, covariance, isometric-covariance or raked-covariance",
        )),
    }
}

/// What a simulation draws from everybody's data, and what no session has been shown to run.
const RULES: &[Rule] = &[
    (
        "data.format",
        |config| {
            let format = config.data.format();
            !matches!(format, DataFormat::Ratings(_) | DataFormat::Matrix(_))
        },
        "members hold rows of interactions or of numbers: choose a format of those",
    ),
    (
        "data.columns",
        |config| config.data.columns().is_some(),
        "how a file is read is for its owner to say; leave it out",
    ),
    (
        "data.header",
        |config| config.data.header().is_some(),
        "how a file is read is for its owner to say: `undertone node run --header`; leave it out",
    ),
    (
        "data.row_limit",
        |config| config.data.row_limit().is_some(),
        "whoever has a longer row could not take part, and that it has one would show: row_clip shortens longer rows; leave it out",
    ),
    (
        "data.threshold",
        |config| !config.data.threshold().is_finite(),
        "give a finite number, such as 0.0",
    ),
    (
        "data.values",
        |config| matches!(config.data, DataConfig::Ratings(_)),
        "ratings as numbers are not built for sessions yet: leave values out, or choose a format of matrices",
    ),
    (
        "data.items",
        |config| config.data.items() > 0,
        "the most rated items are drawn from everybody's data: `undertone node invite --items FILE` takes a public list",
    ),
    (
        "data.users_file",
        |config| config.data.users_file().is_some() || config.data.users_hash().is_some(),
        "every member reads the rows of its own users: leave users_file and users_hash out",
    ),
    (
        "data.titles",
        |config| config.data.titles().is_some(),
        "reports of simulations show titles: `undertone recommend --titles FILE` shows them of a session",
    ),
    (
        "algorithm.clip",
        |config| config.algorithm.clip(1).is_some(),
        "thresholds are chosen by how many rows there are, which nobody knows here: set algorithm.kind = \"power\" and leave clip out",
    ),
    (
        "noise.distribution",
        |config| config.noise.distribution.is_pure(),
        "ledgers count losses of Gaussian noise: leave distribution and holders out",
    ),
    (
        "algorithm.start",
        |config| config.algorithm.table().requirements().start == Start::Popularity,
        "popularity is drawn from everybody's data: leave start out",
    ),
    (
        "algorithm.precondition",
        |config| config.algorithm.weights().source != Precondition::None,
        "weights of items are drawn from everybody's data: leave precondition out",
    ),
    (
        "algorithm.kind",
        |config| {
            let sketch = config.algorithm.table().sketch();
            sketch.is_none_or(|program| program.check_each(supports).is_err())
        },
        "sessions run power, momentum, krylov, covariance, isometric-covariance and raked-covariance so far: choose one of those",
    ),
    (
        "noise.scheme",
        |config| config.noise.scheme == Scheme::None,
        "without noise a session would publish private data: choose \"pairwise\", \"ring\" or \"local\"",
    ),
];

/// Refuses what no session can have.
pub(super) fn check(config: &Config) -> Result<(), DeploymentError> {
    keep(RULES, config, |key, why| DeploymentError::Key { key, why })
}
