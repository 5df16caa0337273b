//! One member's file as the session has its rows.

use super::{Deployment, DeploymentError, tables};
use crate::algorithm::LocalData;
use crate::data::{FileFormat, OwnFile};
use crate::linalg::SparseRows;
use crate::scenario::materials::Materials;
use crate::scenario::rows::Rows;

/// What one member holds, and what became of its file. `Debug` prints no row.
#[derive(Debug)]
pub struct OwnRows {
    /// The rows as peers hold them.
    pub rows: LocalData,
    /// Users in the file.
    pub users: usize,
    /// Interactions, or numbers, that were kept.
    pub kept: usize,
    /// Interactions with items that the session does not have.
    pub unknown: usize,
}

impl Deployment {
    /// Refuses a file of another kind or with other columns than the session has. It compares names of columns and looks at no row.
    ///
    /// # Errors
    /// [`DeploymentError::Kind`], [`DeploymentError::Columns`] and [`DeploymentError::Drop`].
    pub fn check_columns(&self, file: &OwnFile) -> Result<(), DeploymentError> {
        let config = self.shared(1, &[0; 32], 0)?;
        let format = file.format();
        let is_matrix = !config.data.is_of_ratings();
        if is_matrix != matches!(format, FileFormat::Matrix(_)) {
            let wanted = match is_matrix {
                true => "rows of numbers",
                false => "ratings",
            };
            return Err(DeploymentError::Kind { format, wanted });
        }
        if !is_matrix {
            return Ok(());
        }
        let drop = config.data.drop().map(Vec::as_slice).unwrap_or_default();
        let theirs = file.loaded().columns_without(drop)?;
        let differs = (0..theirs.len().max(self.columns.len()))
            .find(|&at| self.columns.get(at) != theirs.get(at));
        let name = |list: &[String], at: usize| match list.get(at) {
            Some(name) => name.clone(),
            None => "missing".to_owned(),
        };
        match differs {
            None => Ok(()),
            Some(at) => Err(DeploymentError::Columns {
                found: theirs.len(),
                place: at + 1,
                theirs: name(&theirs, at),
                columns: self.columns.len(),
                ours: name(&self.columns, at),
            }),
        }
    }

    /// One member's rows, as the plan has peers hold them: all of them, whatever they are.
    ///
    /// # Errors
    /// Those of [`Self::check_columns`], and what [`Self::plan`] refuses whatever the rows are: no error depends on a row.
    pub fn own_rows(&self, file: &OwnFile) -> Result<OwnRows, DeploymentError> {
        self.check_columns(file)?;
        let mut config = self.shared(1, &[0; 32], 0)?;
        // Which items a cap keeps is drawn alike by all members.
        config.seed = tables::start_seed(&[0; 32]);
        let materials = Materials::new(&self.base);
        let drop = config.data.drop().map(Vec::as_slice).unwrap_or_default();
        let (loaded, list) = match !config.data.is_of_ratings() {
            true => (file.loaded().without_columns(drop)?, None),
            false => (
                file.loaded().above(config.data.threshold()),
                Some(self.items()?),
            ),
        };
        let floor = config.data.floor();
        let rows = Rows::of(
            &config,
            &loaded,
            list.as_ref(),
            (floor, 1),
            None,
            &materials,
        )?;
        let none = || SparseRows::new(self.columns.len());
        let own = rows.peer_rows.first().cloned().unwrap_or_else(none);
        let kept = own.entries();
        let read = loaded
            .values
            .as_ref()
            .map_or(loaded.interactions.len(), |_| kept);
        Ok(OwnRows {
            users: loaded.interactions.users(),
            kept,
            unknown: read.saturating_sub(kept),
            rows: LocalData::from(own),
        })
    }
}
