//! From a file of numbers to the rows that peers hold, and what is released first where their mean is private.
//!
//! # Neighbours stay neighbours
//! A record of a matrix is one row (one slot for a row, which may be empty), a record of ratings that are kept as numbers all
//! ratings of one user. The steps between the file and the peers are, in this order:
//!
//! | step | what it looks at |
//! | --- | --- |
//! | columns that are left out | the number of a column |
//! | `ranges`, `scale` | one number, public constants |
//! | item list, hold-out, degree cap (ratings only) | one user's row: see [`super::filters`]; `completion.test_share` is a hold-out |
//! | `centre = "public"` or a number | one number, a public constant; an empty slot stays empty |
//! | `centre = "user"` | one user's row |
//! | `row_clip` | one row, a public constant |
//! | partition | the place of a row in the public list |
//!
//! Each maps a row by a function of that row alone and an empty row to an empty row, so that two files that differ in one row,
//! or in whether its slot is filled, still do afterwards or have become equal. What they become has norm at most 1 for every
//! file, and that is all that the bounds of `sensitivity = "unit-row"` ask for. `centre = "private"` takes place at the peers,
//! see [`Centred`]: it is part of the releases and accounted with them. Methods of completion get rows that are
//! not shortened, with an entry for every rating, also where the rating is the user's mean: they shorten every contribution themselves
//! to norm 1, whatever the row ([`SpectralRidge`](crate::algorithm::SpectralRidge)).

use std::path::Path;
use std::sync::Arc;

use super::data_summary::DataSummary;
use super::error::{DataTableError, ExperimentError, PrivacyTableError};
use super::graph;
use super::held::Held;
use super::rating;
use super::rating_scale::RatingScale;
use super::rules::{Rule, keep_data};
use crate::algorithm::{Centred, OnBipartite, Output, Prelude, Start, mean_share};
use crate::config::{
    AnyAlgorithmTable, Centre, Config, DataConfig, DataFormat, MatrixCentre, MeanShare,
    MeansConfig, NamedCentre, RangesConfig,
};
use crate::data::{
    self, DataError, Dataset, Format, Interactions, Loaded, MatrixFormat, MatrixOptions,
    PreparationError, TableOptions,
};
use crate::linalg::SparseRows;
use crate::plan::{self, Promise};
use crate::privacy::{Adjacency, Sensitivity, SensitivityRule};
use crate::vocabulary::{Distribution, Quantity};

/// Rows that are no interactions.
const NUMBERS: &[Rule] = &[
    (
        "format",
        |config| {
            let held_out = config.evaluation.holdout.is_some() || config.evaluation.test.is_some();
            !config.data.is_of_ratings() && held_out
        },
        "is one of matrices, of which nothing is held out: leave evaluation.holdout and evaluation.test out",
    ),
    (
        "format",
        |config| {
            let start = config.algorithm.table().requirements().start;
            config.evaluation.reference_floor.is_some() || start == Start::Popularity
        },
        "is read as numbers, which have no degrees: leave evaluation.reference_floor out, and algorithm.start at \"random\"",
    ),
    (
        "format",
        |config| {
            let output = config.algorithm.table().requirements().output;
            output == Output::LowRank || config.evaluation.diagnostics
        },
        "is read as numbers, whose exact components are of another matrix than the one that is released: leave algorithm.output and \
         evaluation.diagnostics out",
    ),
    (
        "centre",
        |config| config.data.has_private_mean() && !may_follow_a_mean(&config.algorithm),
        "= \"private\" is for algorithm.kind = \"power\", \"momentum\", \"krylov\", \"covariance\" and \"isometric-covariance\": choose one \
         of them, or another centre",
    ),
];

/// A matrix is read or generated.
const SOURCE: &[Rule] = &[(
    "path",
    |config| {
        let generated = config.data.format() == DataFormat::Generated;
        generated != config.data.path().as_os_str().is_empty()
    },
    "is the file to read: give it, except with format = \"generated\", which reads none",
)];

/// Refuses keys that do not go with each other, whatever the data.
pub(super) fn check(config: &Config) -> Result<(), ExperimentError> {
    check_source(config)?;
    check_read(config)
}

/// Refuses a matrix that is read from no file, and one that is generated and read.
pub(super) fn check_source(config: &Config) -> Result<(), ExperimentError> {
    keep_data(SOURCE, config)
}

/// Refuses keys of what is read that do not go with those of other tables, whichever file it is read from.
pub(super) fn check_read(config: &Config) -> Result<(), ExperimentError> {
    graph::check(config)?;
    let (adjacency, rule) = (config.privacy.adjacency, config.privacy.sensitivity());
    match &config.data {
        DataConfig::Graph(_) | DataConfig::Bipartite(_) => return Ok(()),
        DataConfig::Interactions(_) if adjacency != Adjacency::Rating => return Ok(()),
        DataConfig::Interactions(_) => {}
        DataConfig::Ratings(_) | DataConfig::Matrix(_) => keep_data(NUMBERS, config)?,
    }
    // Numbers have no interactions: what one record is, and how it is bounded.
    let fits = match adjacency {
        Adjacency::Rating => return keep_data(rating::RULES, config),
        Adjacency::User | Adjacency::ReplaceUser => rule == SensitivityRule::UnitRow,
        // Changes of the matrix are bounded without looking at rows, so also of rows of numbers.
        _ => adjacency.is_of_matrix() && !config.data.has_private_mean(),
    };
    match fits {
        true => Ok(()),
        false => Err(DataTableError::NumbersAdjacency { adjacency, rule }.into()),
    }
}

/// Reads a rating file: who interacted with what above a threshold, or without one all ratings as numbers.
pub(super) fn load_ratings(
    path: &Path,
    format: Format,
    table: &TableOptions,
    threshold: Option<f64>,
) -> Result<Loaded, DataError> {
    match (format, threshold) {
        (Format::Table, _) => data::load_table(path, table, threshold),
        (_, Some(threshold)) => data::load(path, format, threshold),
        (_, None) => data::load_values(path, format),
    }
}

/// A matrix is not filtered: its rows and columns, with a summary.
pub(super) fn held(config: &Config, loaded: &Loaded) -> Held {
    let Loaded {
        interactions,
        counts,
        ..
    } = loaded;
    let empty = loaded.values.as_ref().map_or(0, |values| {
        let empty = (0..values.len()).filter(|&row| values.row(row).0.is_empty());
        empty.count()
    });
    let summary = DataSummary {
        users: interactions.users(),
        items: interactions.items(),
        items_kept: interactions.items(),
        ratings: counts.ratings,
        users_without_interactions: empty,
        degree_floor: 1,
        ..DataSummary::default()
    };
    let named = match config.data.is_bipartite() {
        true => loaded.sides(),
        false => interactions.clone(),
    };
    Held {
        interactions: Arc::new(named),
        summary,
        held_out: None,
        catalogue: None,
    }
}

/// The public ranges of numbers as read: none, one for all columns, or one each.
pub(crate) fn ends(config: &Config, base: &Path) -> Result<Vec<[f64; 2]>, ExperimentError> {
    Ok(match config.data.ranges() {
        None => Vec::new(),
        Some(RangesConfig::All(range)) => vec![*range],
        Some(RangesConfig::Each(list)) => list.clone(),
        Some(RangesConfig::File(path)) => pairs(&base.join(path))?,
    })
}

/// The numbers of what the filters left, prepared by public constants: of a matrix before centring, of ratings after it.
pub(crate) fn prepared(
    config: &Config,
    base: &Path,
    loaded: &Loaded,
    kept: &Interactions,
) -> Result<SparseRows, ExperimentError> {
    let limit = config.data.row_limit().copied();
    mapped_numbers(config, base, (loaded, kept), limit)
}

/// The same, of rows that are no longer than this.
fn mapped_numbers(
    config: &Config,
    base: &Path,
    (loaded, kept): (&Loaded, &Interactions),
    limit: Option<f64>,
) -> Result<SparseRows, ExperimentError> {
    let data = &config.data;
    let Some(values) = &loaded.values else {
        return Ok(SparseRows::new(kept.items()));
    };
    if data.is_graph() {
        return Ok(values.clone());
    }
    let scale = rating_scale(config, base)?;
    let rows = match data.is_of_ratings() {
        false => on_scale(&scale, values, limit)?,
        true => on_scale(
            &scale,
            &of_items(loaded, kept, |user| kept.row(user)),
            limit,
        )?,
    };
    if config.data.is_bipartite() {
        return Ok(OnBipartite::embedded(&rows));
    }
    Ok(match scale.centre {
        Centre::Constant(_) | Centre::Named(NamedCentre::User) => {
            less(&rows, |ratings| scale.centre_of(ratings))
        }
        Centre::Named(_) => rows,
    })
}

/// The rows with every number mapped.
pub(super) fn on_scale(
    scale: &RatingScale,
    rows: &SparseRows,
    row_limit: Option<f64>,
) -> Result<SparseRows, ExperimentError> {
    let preparation = scale.preparation(rows.dimension(), row_limit);
    let preparation = preparation.map_err(DataError::from);
    let preparation = preparation.map_err(DataTableError::from)?;
    let rows = preparation.rows(rows);
    Ok(rows.map_err(DataTableError::from)?)
}

/// The public numbers by which a configuration maps and centres.
pub(super) fn rating_scale(config: &Config, base: &Path) -> Result<RatingScale, ExperimentError> {
    let ranges = ends(config, base)?;
    let (stated, centre) = match &config.data {
        // Ratings stay on their own scale, numbers of a matrix become parts of their range.
        DataConfig::Ratings(data) => (data.scale(), data.centre()),
        _ => (None, Centre::NONE),
    };
    let scale = stated.or(match (&config.data, &ranges[..]) {
        (DataConfig::Ratings(_), [range]) => Some(*range),
        _ => None,
    });
    Ok(RatingScale {
        scale: scale.unwrap_or([0.0, 1.0]),
        ranges,
        centre,
    })
}

/// Every row less a number of its own.
fn less(rows: &SparseRows, number: impl Fn(&[f64]) -> f64) -> SparseRows {
    let mut out = SparseRows::new(rows.dimension());
    for i in 0..rows.len() {
        let (items, values) = rows.row(i);
        let taken = number(values);
        let entries = items.iter().zip(values);
        let entries = entries.map(|(&item, x)| (item, (x - taken).clamp(-f64::MAX, f64::MAX)));
        out.push_row(entries)
            .expect("finite numbers of a valid row");
    }
    out
}

/// The ratings that the file has of these items of every user, by the columns that the filters left. A rating is an entry whatever
/// its value.
pub(super) fn of_items<'a>(
    loaded: &Loaded,
    kept: &Interactions,
    items_of: impl Fn(usize) -> &'a [u32],
) -> SparseRows {
    let read = &loaded.interactions;
    let all = (0..read.items() as u32).map(|item| (read.item_name(item as usize), item));
    let numbers: std::collections::BTreeMap<&str, u32> = all.collect();
    let before: Vec<Option<u32>> = (0..kept.items())
        .map(|item| numbers.get(kept.item_name(item)).copied())
        .collect();
    let mut out = SparseRows::new(kept.items());
    let Some(values) = &loaded.values else {
        return out;
    };
    for user in 0..kept.users() {
        let (items, ratings) = values.row(user);
        let rating = |&item: &u32| {
            let at = items.binary_search(&before[item as usize]?).ok()?;
            Some((item, ratings[at]))
        };
        out.push_row(items_of(user).iter().filter_map(rating))
            .expect("items of a valid row and finite ratings");
    }
    out
}

/// Public ranges from a file, one line `low,high` per column.
fn pairs(path: &Path) -> Result<Vec<[f64; 2]>, ExperimentError> {
    let rows = constants(path)?;
    (0..rows.len())
        .map(|i| match rows.row(i).1 {
            [low, high] => Ok([*low, *high]),
            _ => Err(DataTableError::Key {
                key: "ranges",
                why: "names a file that has other lines than low,high: give one such line per column",
            }
            .into()),
        })
        .collect()
}

fn constants(path: &Path) -> Result<SparseRows, ExperimentError> {
    let loaded = data::load_matrix(path, MatrixFormat::MatrixCsv, &MatrixOptions::default());
    let values = loaded.map_err(DataTableError::from)?.values;
    Ok(values.unwrap_or_else(|| SparseRows::new(0)))
}

/// The public means, in the units of the file.
pub(super) fn public_means(
    data: &DataConfig,
    base: &Path,
) -> Result<Option<Vec<f64>>, ExperimentError> {
    Ok(match data.means() {
        None => None,
        Some(MeansConfig::List(list)) => Some(list.clone()),
        Some(MeansConfig::File(path)) => {
            let rows = constants(&base.join(path))?;
            let all = (0..rows.len()).flat_map(|i| rows.row(i).1.to_vec());
            Some(all.collect())
        }
    })
}

/// The rows that peers hold, of prepared numbers.
pub(crate) fn rows(
    config: &Config,
    base: &Path,
    samples: &SparseRows,
) -> Result<SparseRows, ExperimentError> {
    let data = &config.data;
    if config.data.is_bipartite() {
        return Ok(OnBipartite::all_rows(samples, samples.len()));
    }
    if data.has_private_mean()
        || data.is_graph()
        || config.algorithm.table().requirements().completes
    {
        // Centred or clipped in every release; of a graph neither.
        return Ok(samples.clone());
    }
    let rows = match public_means(data, base)? {
        Some(means) => data::centred(samples, &mapped(config, base, means, samples)?),
        None => samples.clone(),
    };
    let radius = data.row_clip().unwrap_or(1.0);
    let clipped = Dataset::Samples { rows, radius }.rows();
    clipped.map_err(|error| DataTableError::from(DataError::from(error)).into())
}

/// Public means in the units that numbers are prepared in.
fn mapped(
    config: &Config,
    base: &Path,
    means: Vec<f64>,
    samples: &SparseRows,
) -> Result<Vec<f64>, ExperimentError> {
    let columns = samples.dimension();
    let wrong = |error: PreparationError| DataTableError::from(DataError::from(error));
    if means.len() != columns {
        let found = means.len();
        return Err(wrong(PreparationError::Means { found, columns }).into());
    }
    if let Some(at) = means.iter().position(|mean| !mean.is_finite()) {
        let (column, found) = (at + 1, means[at]);
        return Err(wrong(PreparationError::Mean { column, found }).into());
    }
    let mut row = SparseRows::new(columns);
    row.push_row((0..).zip(means))
        .expect("finite numbers in ascending columns");
    let loaded = Loaded {
        interactions: Interactions::from_rows(columns, &[vec![]])
            .map_err(DataError::from)
            .map_err(DataTableError::from)?,
        counts: data::ReadCounts::default(),
        values: Some(row),
        layout: None,
        peers: None,
    };
    let mapped = mapped_numbers(config, base, (&loaded, &loaded.interactions), None)?;
    Ok(mapped.row(0).1.to_vec())
}

/// Whether this algorithm may follow a private mean.
fn may_follow_a_mean(algorithm: &AnyAlgorithmTable) -> bool {
    let sketch = algorithm.table().sketch();
    sketch.is_some_and(|program| program.check_each(Centred::supports).is_ok())
}

/// What a private mean of so many slots for rows over n columns takes, if the configuration asks for one, and whether its share is that of the public rule.
pub(super) fn prelude(
    config: &Config,
    (slots, n): (usize, usize),
    promise: &Promise,
    columns: usize,
) -> Result<Option<(Prelude, bool)>, ExperimentError> {
    let DataConfig::Matrix(data) = &config.data else {
        return Ok(None);
    };
    let MatrixCentre::Private { raw_clip, share } = data.centre() else {
        return Ok(None);
    };
    let (radius, unit_box) = (data.row_clip(), data.is_in_unit_range());
    let gaussian = promise.noise.distribution() == Distribution::Gaussian;
    let by_rule = || -> Result<f64, PrivacyTableError> {
        let iterations = config.algorithm.table().iterations();
        let calibrated = plan::multiplier(promise, iterations)?;
        let mu = f64::from(iterations).sqrt() / calibrated.z();
        let sum = match unit_box {
            true => Quantity::NonnegativeRowSum,
            false => Quantity::RowSum,
        };
        let bound = |quantity| -> Result<f64, PrivacyTableError> {
            let bound: Sensitivity = promise.bounds.of(quantity, columns)?;
            Ok(bound.bound(1.0))
        };
        let bounds = (bound(sum)?, bound(Quantity::IsometricTriangle)?);
        // Where the budget is out of all proportion either part may round to nothing.
        Ok(mean_share((n, slots), (raw_clip, radius), bounds, mu).clamp(1e-6, 1.0 - 1e-6))
    };
    let (share, is_rule) = match (share, gaussian) {
        (MeanShare::Share(share), true) => (share, by_rule().is_ok_and(|rule| rule == share)),
        (MeanShare::Share(share), false) => (share, false),
        (MeanShare::Auto(_), true) => (by_rule()?, true),
        (MeanShare::Auto(_), false) => {
            let why = "= \"auto\" is a rule for Gaussian noise: with noise.distribution = \"laplace\" or \"wishart\" give a number, for example 0.2";
            let key = "mean_share";
            return Err(DataTableError::Key { key, why }.into());
        }
    };
    let prelude = Prelude {
        slots,
        raw_clip,
        radius,
        unit_box,
        share,
    };
    Ok(Some((prelude, is_rule)))
}
