//! r(k, n): how much larger the earlier sensitivity √k·max|Q_ij| is than P1's max‖Q_i:‖ at a random start (P1
//! Appendix C, Fig. 3).

use std::path::Path;

use rand::distr::Distribution;

use super::error::StudyError;
use super::kind::Study;
use super::laws;
use super::result::{StudyFigure, StudyResult, StudySeries};
use crate::config::StartRatio;
use crate::engine::Observer;
use crate::linalg::TallMatrix;
use crate::vocabulary::{Label, Seed, StandardNormal};
use crate::writing::{Table, Value};

/// The largest n·k: one matrix of 1 GiB.
const MOST_VALUES: usize = 1 << 27;

/// What one run says about one k.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    largest_entry: f64,
    largest_square: f64,
    /// Σ_i (‖Q_i:‖² − k/n)².
    deviation: f64,
}

impl Study for StartRatio {
    fn check(&self) -> Result<(), StudyError> {
        let ranks = self.ranks;
        if ranks.from == 0 || ranks.step == 0 || ranks.to < ranks.from {
            return Err(StudyError::key(
                "ranks",
                format!("{ranks:?}"),
                "1 <= from <= to and step >= 1",
            ));
        }
        if self.items.is_empty() {
            return Err(StudyError::key("items", "[]", "at least one n"));
        }
        for &n in &self.items {
            // P1's variance has n − 4 in the denominator.
            if n < ranks.to.max(5) || n.saturating_mul(ranks.to) > MOST_VALUES {
                let expected = format!(
                    "at least 5 and ranks.to = {}, and items x ranks.to at most {MOST_VALUES}",
                    ranks.to
                );
                return Err(StudyError::key("items", n, expected));
            }
        }
        if !(1..=1000).contains(&self.runs) {
            return Err(StudyError::key("runs", self.runs, "1 to 1000"));
        }
        Ok(())
    }

    fn run(
        &self,
        seed: &Seed,
        _: &Path,
        observer: &mut dyn Observer,
    ) -> Result<StudyResult, StudyError> {
        let ranks = self.ranks.values();
        let widest = ranks.last().copied().unwrap_or(1);
        // A factorisation is n units of work.
        let total = self.items.iter().map(|n| *n as u64).sum::<u64>() * u64::from(self.runs);
        let mut done = 0;
        let mut table = Table::new(
            "start_ratio",
            &[
                ("n", "items"),
                ("k", "columns"),
                ("runs", ""),
                ("prior", ""),
                ("row_norm", ""),
                ("ratio", ""),
                ("ratio_lowest", ""),
                ("ratio_highest", ""),
                ("ratio_paper", ""),
                ("ratio_paper_corrected_variance", ""),
                ("ratio_corrected", ""),
                ("row_variance", ""),
                ("row_variance_paper", ""),
                ("row_variance_corrected", ""),
            ],
        );
        let mut agreement = Table::new(
            "start_ratio_agreement",
            &[
                ("n", "items"),
                ("prediction", ""),
                ("lowest", "of measured"),
                ("mean", "of measured"),
                ("highest", "of measured"),
            ],
        );
        let mut figures = Vec::new();
        for &n in &self.items {
            let mut samples: Vec<Vec<Sample>> = Vec::new();
            for run in 0..self.runs {
                let mut q = gaussian(&seed.repetition(run), n, widest);
                q.orthonormalise(&mut |part, whole| {
                    let share = n as f64 * part as f64 / whole as f64;
                    observer.progress(done + share as u64, total);
                })?;
                done += n as u64;
                observer.progress(done, total);
                samples.push(measure(&q, &ranks));
            }
            let rows: Vec<Row> = ranks
                .iter()
                .enumerate()
                .map(|(i, &k)| Row::of(n, k, &samples, i))
                .collect();
            rows.iter().for_each(|row| table.push(row.cells(self.runs)));
            push_agreement(&mut agreement, n, &rows);
            figures.push(figure(n, &rows));
        }
        Ok(StudyResult {
            tables: vec![table, agreement],
            notes: vec![
                format!(
                    "All k of one run share one Gaussian matrix: the Q of its first k columns is the first k columns of \
                     its Q. So points along k are correlated; the {} runs are independent.",
                    self.runs
                ),
                "ratio: mean of sqrt(k) max|Q_ij| over mean of max row norm. ratio_paper: P1's Approximation C.1. \
                 ratio_paper_corrected_variance: the same with the variances of the Beta laws. ratio_corrected: the \
                 expected maxima under the Beta laws themselves."
                    .to_owned(),
            ],
            figures,
            ..StudyResult::default()
        })
    }
}

/// A Gaussian matrix with one stream per row, so that the first k columns do not depend on how many there are.
fn gaussian(seed: &Seed, rows: usize, columns: usize) -> TallMatrix {
    let key = seed.key(Label::Start, rows as u32, 0);
    TallMatrix::from_rows(rows, columns, |i, row| {
        let mut generator = key.stream(0, i as u64);
        row.fill_with(|| StandardNormal.sample(&mut generator));
    })
}

/// Largest entry and row norms of the first k columns, for every k of `ranks` (ascending).
fn measure(q: &TallMatrix, ranks: &[usize]) -> Vec<Sample> {
    let mut samples = vec![Sample::default(); ranks.len()];
    for row in q.iter_rows() {
        let (mut from, mut square, mut entry) = (0, 0.0_f64, 0.0_f64);
        for (sample, &k) in samples.iter_mut().zip(ranks) {
            for value in &row[from..k] {
                square += value * value;
                entry = entry.max(value.abs());
            }
            from = k;
            sample.largest_entry = sample.largest_entry.max(entry);
            sample.largest_square = sample.largest_square.max(square);
            sample.deviation += (square - k as f64 / q.rows() as f64).powi(2);
        }
    }
    samples
}

/// One (n, k).
#[derive(Clone, Copy, Debug)]
struct Row {
    n: usize,
    k: usize,
    prior: f64,
    row_norm: f64,
    lowest: f64,
    highest: f64,
    variance: f64,
    paper: f64,
    paper_corrected: f64,
    corrected: f64,
}

impl Row {
    fn of(n: usize, k: usize, samples: &[Vec<Sample>], at: usize) -> Self {
        let (size, width) = (n as f64, k as f64);
        let of_runs =
            |what: &dyn Fn(Sample) -> f64| samples.iter().map(|run| what(run[at])).collect();
        let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let priors: Vec<f64> = of_runs(&|sample| width.sqrt() * sample.largest_entry);
        let norms: Vec<f64> = of_runs(&|sample| sample.largest_square.sqrt());
        let ratios = || priors.iter().zip(&norms).map(|(prior, norm)| prior / norm);
        Self {
            n,
            k,
            prior: mean(&priors),
            row_norm: mean(&norms),
            lowest: ratios().fold(f64::INFINITY, f64::min),
            highest: ratios().fold(0.0, f64::max),
            variance: mean(&of_runs(&|sample| sample.deviation / size)),
            paper: laws::papers(size, width).ratio(),
            paper_corrected: laws::papers_corrected(size, width).ratio(),
            corrected: laws::corrected(size, width).ratio(),
        }
    }

    fn ratio(&self) -> f64 {
        self.prior / self.row_norm
    }

    fn cells(&self, runs: u32) -> Vec<Value> {
        let (n, k) = (self.n as f64, self.k as f64);
        vec![
            self.n.into(),
            self.k.into(),
            runs.into(),
            self.prior.into(),
            self.row_norm.into(),
            self.ratio().into(),
            self.lowest.into(),
            self.highest.into(),
            self.paper.into(),
            self.paper_corrected.into(),
            self.corrected.into(),
            self.variance.into(),
            laws::papers_row_variance(n, k).into(),
            laws::row_variance(n, k).into(),
        ]
    }
}

fn push_agreement(table: &mut Table, n: usize, rows: &[Row]) {
    type Predicted = fn(&Row) -> f64;
    let predictions: [(&str, Predicted); 3] = [
        ("paper", |row| row.paper),
        ("paper, corrected variance", |row| row.paper_corrected),
        ("corrected laws", |row| row.corrected),
    ];
    for (name, predicted) in predictions {
        let shares = || rows.iter().map(|row| predicted(row) / row.ratio());
        table.push(vec![
            n.into(),
            name.into(),
            shares().fold(f64::INFINITY, f64::min).into(),
            (shares().sum::<f64>() / rows.len() as f64).into(),
            shares().fold(0.0, f64::max).into(),
        ]);
    }
}

fn figure(n: usize, rows: &[Row]) -> StudyFigure {
    let series = |name: &str, y: &dyn Fn(&Row) -> f64| StudySeries {
        name: name.to_owned(),
        points: rows.iter().map(|row| (row.k as f64, y(row))).collect(),
    };
    StudyFigure {
        name: format!("r(k, n) at n = {n}"),
        x: "k, columns of the start block".to_owned(),
        y: "earlier sensitivity / P1's".to_owned(),
        series: vec![
            series("measured", &Row::ratio),
            series("P1's prediction", &|row| row.paper),
            series("P1's, corrected variance", &|row| row.paper_corrected),
            series("corrected laws", &|row| row.corrected),
        ],
    }
}
