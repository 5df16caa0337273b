//! Keys of a session's tables that would take everybody's data to draw, and what no session has been shown to run.

use super::DeploymentError;
use crate::algorithm::{BlockSpec, Form, Precondition, Program, ReleaseSpec, Start, Unsupported};
use crate::config::{Config, DataFormat, RatingValues};
use crate::privacy::Scheme;
use crate::vocabulary::{Distribution, Quantity};

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

/// Refuses what a simulation draws from everybody's data.
pub(super) fn check(config: &Config) -> Result<(), DeploymentError> {
    let refused = |key, why| Err(DeploymentError::Key { key, why });
    let (data, algorithm) = (&config.data, config.algorithm.table());
    match data.format {
        DataFormat::Ratings(_) | DataFormat::Matrix(_) => {}
        _ => {
            let why = "members hold rows of interactions or of numbers: choose a format of those";
            return refused("data.format", why);
        }
    }
    if data.columns.is_some() {
        let why = "how a file is read is for its owner to say; leave it out";
        return refused("data.columns", why);
    }
    if data.header.is_some() {
        let why = "how a file is read is for its owner to say: `undertone node run --header`; leave it out";
        return refused("data.header", why);
    }
    if data.row_limit.is_some() {
        let why = "whoever has a longer row could not take part, and that it has one would show: row_clip shortens longer rows; leave it out";
        return refused("data.row_limit", why);
    }
    if !data.threshold.is_finite() {
        return refused("data.threshold", "give a finite number, such as 0.0");
    }
    if data.values == Some(RatingValues::Ratings) {
        let why = "ratings as numbers are not built for sessions yet: leave values out, or choose a format of matrices";
        return refused("data.values", why);
    }
    if data.items > 0 {
        let why = "the most rated items are drawn from everybody's data: `undertone node invite --items FILE` takes a public list";
        return refused("data.items", why);
    }
    if data.users_file.is_some() || data.users_hash.is_some() {
        let why =
            "every member reads the rows of its own users: leave users_file and users_hash out";
        return refused("data.users_file", why);
    }
    if data.titles.is_some() {
        let why = "reports of simulations show titles: `undertone recommend --titles FILE` shows them of a session";
        return refused("data.titles", why);
    }
    if algorithm.clip(1).is_some() {
        let why = "thresholds are chosen by how many rows there are, which nobody knows here: set algorithm.kind = \"power\" and leave clip out";
        return refused("algorithm.clip", why);
    }
    if config.noise.distribution == Distribution::Laplace {
        let why = "ledgers count losses of Gaussian noise: leave distribution and holders out";
        return refused("noise.distribution", why);
    }
    let required = algorithm.requirements();
    if required.start == Start::Popularity {
        let why = "popularity is drawn from everybody's data: leave start out";
        return refused("algorithm.start", why);
    }
    if required.weights.source != Precondition::None {
        let why = "weights of items are drawn from everybody's data: leave precondition out";
        return refused("algorithm.precondition", why);
    }
    let sketch = algorithm.sketch();
    if sketch.is_none_or(|program| program.check_each(supports).is_err()) {
        let why = "sessions run power, momentum, krylov, covariance, isometric-covariance and raked-covariance so far: choose one of those";
        return refused("algorithm.kind", why);
    }
    if config.noise.scheme == Scheme::None {
        let why = "without noise a session would publish private data: choose \"pairwise\", \"ring\" or \"local\"";
        return refused("noise.scheme", why);
    }
    Ok(())
}
