//! Undertone for Python: this crate turns Python objects into experiments and results into arrays and text. All that is computed is
//! computed by the crate `undertone`; what people touch is written in Python (`python/undertone`).

mod accountant;
mod assessments;
mod campaigns;
mod failure;
mod graphs;
mod memory;
mod rows;
mod runs;
mod source;
mod supervised;
mod tables;
mod transcripts;

use pyo3::create_exception;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

create_exception!(
    undertone,
    NoResult,
    PyRuntimeError,
    "So much went wrong, as planned, that nobody has a result; `args[1]` is the summary of the faults as JSON."
);

/// The compiled half of the package `undertone`.
#[pymodule]
mod _undertone {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::NoResult;
    #[pymodule_export]
    use crate::accountant::{account, plan, worst};
    #[pymodule_export]
    use crate::assessments::{audit, check_receipt, privacy, verify};
    #[pymodule_export]
    use crate::campaigns::{advise, cells, merge, study, sweep};
    #[pymodule_export]
    use crate::graphs::read_graph;
    #[pymodule_export]
    use crate::rows::verify_rows;
    #[pymodule_export]
    use crate::runs::{Run, run};
    #[pymodule_export]
    use crate::transcripts::{
        runs_for_central_dp, runs_for_epsilon, runs_for_published_law, test_central_dp,
        test_epsilon, test_published_law,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("with_node", cfg!(feature = "node"))
    }
}
