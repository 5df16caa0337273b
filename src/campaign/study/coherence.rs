//! Statistics, coherences and sensitivities of datasets (P1 Table 2).

use std::io::ErrorKind;
use std::num::NonZeroU32;
use std::path::Path;

use super::error::StudyError;
use super::kind::Study;
use super::result::StudyResult;
use crate::config::{Coherence, Dataset};
use crate::data::{self, DataError, ItemNames};
use crate::engine::Observer;
use crate::linalg::{Block, NotFullRank, SparseRows, coherence, orthonormalise, start_block};
use crate::privacy::{Adjacency, Sensitivity, SensitivityRule};
use crate::run::convergence_bounds::prior_sensitivity;
use crate::scenario::{obtained, tidied};
use crate::vocabulary::Seed;
use crate::writing::{Table, Value};

const COLUMNS: [(&str, &str); 17] = [
    ("dataset", ""),
    ("data", ""),
    ("users", ""),
    ("items", ""),
    ("interactions", ""),
    ("items_used", ""),
    ("eigenvectors", "nonzero eigenvalue"),
    ("mu0", ""),
    ("mu0_highest", ""),
    ("mu1", ""),
    ("prior", ""),
    ("prior_over_root_p", ""),
    ("ours", ""),
    ("prior_at_x", ""),
    ("row_norm_at_x", ""),
    ("exact_at_x", ""),
    ("exact_at_x_floor", ""),
];

impl Study for Coherence {
    fn check(&self) -> Result<(), StudyError> {
        if self.rank == 0 {
            return Err(StudyError::key("rank", 0, "at least 1"));
        }
        if !(1..=1000).contains(&self.iterations) {
            return Err(StudyError::key("iterations", self.iterations, "1 to 1000"));
        }
        if self.degree_floor == 0 {
            return Err(StudyError::key("degree_floor", 0, "at least 1"));
        }
        if !(1..=10_000).contains(&self.dense_limit) {
            return Err(StudyError::key(
                "dense_limit",
                self.dense_limit,
                "1 to 10000",
            ));
        }
        if self.datasets.is_empty() {
            return Err(StudyError::key("datasets", "[]", "at least one"));
        }
        Ok(())
    }

    fn run(
        &self,
        seed: &Seed,
        base: &Path,
        observer: &mut dyn Observer,
    ) -> Result<StudyResult, StudyError> {
        let mut table = Table::new("coherence", &COLUMNS);
        let mut notes = vec![
            "A = sum of r_u^T r_u with rows divided by the root of their degree (degree floor 1). mu1 is the largest row \
             norm of the n x n orthogonal U: 1 by definition, whatever the data (P1 prints 0.99 to 1.00), and so is \
             P1's own bound 'ours' = mu1."
                .to_owned(),
            "mu0 is over eigenvectors of nonzero eigenvalue; with eigenvalue 0 repeated U is not unique, and other \
             choices reach mu0_highest. prior = mu0 sqrt(p ln n)."
                .to_owned(),
            format!(
                "_at_x: after {} power steps without noise, at the basis whose release noise would be scaled by: \
                 sqrt(p) max entry (earlier work), max row norm (P1, without its needless sqrt 2), and this crate's \
                 exact sensitivity of one interaction with degree floors 1 and {}.",
                self.iterations, self.degree_floor
            ),
        ];
        for (done, dataset) in self.datasets.iter().enumerate() {
            observer.progress(done as u64, self.datasets.len() as u64);
            table.push(self.row(seed, base, dataset, &mut notes)?);
        }
        observer.progress(1, 1);
        Ok(StudyResult {
            tables: vec![table],
            notes,
            ..StudyResult::default()
        })
    }
}

impl Coherence {
    fn row(
        &self,
        seed: &Seed,
        base: &Path,
        dataset: &Dataset,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Value>, StudyError> {
        let path = base.join(&dataset.path);
        let loaded = match data::load(&path, dataset.format, dataset.threshold) {
            Ok(loaded) => loaded,
            Err(DataError::Open {
                kind: ErrorKind::NotFound,
                ..
            }) => {
                notes.push(format!(
                    "{}: there is no file {}: put it there, or change its path{}",
                    dataset.name,
                    tidied(&path).display(),
                    obtained(dataset.obtain.as_deref())
                ));
                let mut row = vec![Value::from(dataset.name.as_str()), "missing".into()];
                row.resize(COLUMNS.len(), Value::Missing);
                return Ok(row);
            }
            Err(source) => {
                return Err(StudyError::Dataset {
                    name: dataset.name.clone(),
                    source,
                });
            }
        };
        let whole = &loaded.interactions;
        let (kept, _) = ItemNames::most_rated(whole, dataset.items).restrict(whole);
        let rows = kept.normalised_rows(NonZeroU32::MIN);
        let n = rows.dimension();
        if n < whole.items() {
            notes.push(format!(
                "{}: figures are of its {n} most rated items out of {}.",
                dataset.name,
                whole.items()
            ));
        }
        let found = coherence(&rows, self.dense_limit);
        if found.is_none() {
            notes.push(format!(
                "{}: no mu0, since all eigenvectors of a matrix of {} are needed and dense_limit = {}; lower items.",
                dataset.name,
                n.min(rows.len()),
                self.dense_limit
            ));
        }
        let at_x = self.final_basis(seed, &rows);
        if let Err(error) = &at_x {
            notes.push(format!(
                "{}: no X after the power steps: {error}",
                dataset.name
            ));
        }
        let at_x = at_x.ok();
        let root_p = (self.rank as f64).sqrt();
        let prior = found.map(|c| prior_sensitivity(c.mu0, self.rank, n));
        Ok(vec![
            dataset.name.as_str().into(),
            "read".into(),
            whole.users().into(),
            whole.items().into(),
            whole.len().into(),
            n.into(),
            found.map_or(Value::Missing, |c| c.rank.into()),
            found.map(|c| c.mu0).into(),
            found.map(|c| c.mu0_highest).into(),
            1.0.into(),
            prior.into(),
            prior.map(|prior| prior / root_p).into(),
            1.0.into(),
            at_x.as_ref().map(|x| root_p * x.max_entry()).into(),
            at_x.as_ref().map(Block::max_row_norm).into(),
            at_x.as_ref().and_then(|x| self.exact(1, x)).into(),
            at_x.as_ref()
                .and_then(|x| self.exact(self.degree_floor, x))
                .into(),
        ])
    }

    /// X^L of the power method without noise.
    fn final_basis(&self, seed: &Seed, rows: &SparseRows) -> Result<Block, NotFullRank> {
        let mut x = start_block(seed, rows.dimension(), self.rank)?;
        for _ in 0..self.iterations {
            x = orthonormalise(&rows.gram_product(&x))?;
        }
        Ok(x)
    }

    fn exact(&self, degree_floor: u32, x: &Block) -> Option<f64> {
        let sensitivity = Sensitivity::new(
            Adjacency::Interaction,
            SensitivityRule::Exact,
            degree_floor,
            None,
            self.rank,
        );
        let sensitivity = sensitivity.ok()?;
        Some(sensitivity.bound(sensitivity.statistic().of(x)))
    }
}
