//! How reports show items: `data.titles` and `data.image`, which decide nothing that is computed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::{DataTableError, ExperimentError};
use super::materials::Materials;
use crate::config::DataConfig;

/// Cells of the largest picture of a direction.
const MOST_CELLS: usize = 1 << 14;

/// Titles by ids, once the image is known to be as large as a row of `columns` numbers.
pub(super) fn of(
    data: &DataConfig,
    columns: usize,
    materials: &Materials,
) -> Result<Arc<BTreeMap<String, String>>, ExperimentError> {
    if let Some(shape) = data.image().copied() {
        let cells = shape[0].checked_mul(shape[1]);
        if cells != Some(columns) || columns > MOST_CELLS {
            let most = MOST_CELLS;
            return Err(DataTableError::Image {
                shape,
                columns,
                most,
            }
            .into());
        }
    }
    match data.titles() {
        Some(path) => materials.titles(path),
        None => Ok(Arc::default()),
    }
}
