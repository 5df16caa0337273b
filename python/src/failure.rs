//! What went wrong, in the words of the library, and which Python exception says so.

use std::error::Error;
use std::io::ErrorKind;

use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use undertone::assess::PeerCostError;
use undertone::assess::audit::AuditError;
use undertone::assess::verification::VerifyError;
use undertone::campaign::advise::AdviseError;
use undertone::campaign::auto::AutoError;
use undertone::campaign::study::StudyError;
use undertone::campaign::sweep::{MergeError, SweepError, SweepRunError};
use undertone::config::{ConfigError, OverrideError};
use undertone::data::DataError;
use undertone::privacy::PrivacyError;
use undertone::report::{FigureError, ReportError};
use undertone::run::RunError;
use undertone::run::faults::FaultsError;
use undertone::run::items::ItemListError;
use undertone::run::output::OutputError;
use undertone::run::receipt::ReceiptError;
use undertone::scenario::{DataTableError, ExperimentError, NetworkError};
use undertone::testing::TranscriptError;
use undertone::topology::{GraphError, TopologyError};

use crate::NoResult;

/// Why a call came to nothing.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was asked for makes no sense, or cannot be had: `ValueError`.
    Value(String),
    /// A file that cannot be read or written: `OSError` of that kind.
    File(ErrorKind, String),
    /// Something was run and could not go on: `RuntimeError`.
    Run(String),
    /// More memory than there is: `MemoryError`.
    Memory(String),
    /// So much went wrong, as planned, that nobody has a result: the words, and the summary of the faults as JSON.
    NoResult(String, String),
}

impl Failure {
    /// An error of input, with its causes.
    pub(crate) fn value(error: &dyn Error) -> Self {
        Self::Value(said(error))
    }

    fn run(error: &dyn Error) -> Self {
        Self::Run(said(error))
    }

    fn file(kind: ErrorKind, error: &dyn Error) -> Self {
        Self::File(kind, said(error))
    }

    /// The same of the file that was named.
    pub(crate) fn of_file(self, path: &str) -> Self {
        match self {
            Self::Value(text) if !text.starts_with(path) => {
                Self::Value(format!("{path} cannot be used: {text}"))
            }
            other => other,
        }
    }
}

/// The error and its causes, one line each; a cause that is already quoted is not repeated.
fn said(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut last = text.clone();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !last.contains(&words) {
            text.push_str("\nbecause: ");
            text.push_str(&words);
            last = words;
        }
        next = cause.source();
    }
    text
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Value(text) => PyValueError::new_err(text),
            Failure::File(kind, text) => std::io::Error::new(kind, text).into(),
            Failure::Run(text) => PyRuntimeError::new_err(text),
            Failure::Memory(text) => PyMemoryError::new_err(text),
            Failure::NoResult(text, summary) => NoResult::new_err((text, summary)),
        }
    }
}

/// The kind of an error that is about a file of data and not about what it holds.
fn kind_of_data(error: &DataError) -> Option<ErrorKind> {
    match error {
        DataError::Open { kind, .. }
        | DataError::Read { kind, .. }
        | DataError::ReadBytes { kind, .. } => Some(*kind),
        _ => None,
    }
}

fn kind_of_graph(error: &TopologyError) -> Option<ErrorKind> {
    match error {
        TopologyError::Unreadable { source, .. } => Some(source.kind()),
        _ => None,
    }
}

fn kind_of_config(error: &ConfigError) -> Option<ErrorKind> {
    match error {
        ConfigError::Read { source, .. } => Some(source.kind()),
        _ => None,
    }
}

fn kind_of(error: &ExperimentError) -> Option<ErrorKind> {
    match error {
        ExperimentError::Config(error) => kind_of_config(error),
        ExperimentError::Data(DataTableError::MissingData { .. }) => Some(ErrorKind::NotFound),
        ExperimentError::Data(DataTableError::Data(error)) => kind_of_data(error),
        ExperimentError::Data(DataTableError::Graph(error))
        | ExperimentError::Network(
            NetworkError::Topology(error) | NetworkError::NoiseTopology(error),
        ) => kind_of_graph(error),
        _ => None,
    }
}

impl From<ExperimentError> for Failure {
    fn from(error: ExperimentError) -> Self {
        match (kind_of(&error), &error) {
            (Some(kind), _) => Self::file(kind, &error),
            (None, ExperimentError::Memory { .. }) => Self::Memory(said(&error)),
            (None, _) => Self::value(&error),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        ExperimentError::from(error).into()
    }
}

impl From<OverrideError> for Failure {
    fn from(error: OverrideError) -> Self {
        Self::value(&error)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Faults(FaultsError::NoResult(none)) => {
                let summary = serde_json::to_string(&none.faulty.summary);
                Self::NoResult(none.to_string(), summary.unwrap_or_default())
            }
            RunError::Compared(error) => (*error).into(),
            #[cfg(not(feature = "node"))]
            error @ RunError::NoNode => Self::Value(format!(
                "{error}: pip install ./python --config-settings=build-args=\"--features node\""
            )),
            other => Self::run(&other),
        }
    }
}

impl From<AutoError> for Failure {
    fn from(error: AutoError) -> Self {
        match error {
            AutoError::Experiment(error) => (*error).into(),
            AutoError::Run(error) => error.into(),
            AutoError::Advise(error) => error.into(),
            other @ AutoError::Counts(_) => Self::run(&other),
        }
    }
}

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Self {
        let kind = match &error {
            SweepError::Experiment { source, .. } => kind_of(source),
            _ => None,
        };
        match kind {
            Some(kind) => Self::file(kind, &error),
            None => Self::value(&error),
        }
    }
}

impl From<SweepRunError> for Failure {
    fn from(error: SweepRunError) -> Self {
        match error {
            SweepRunError::Output(error) => error.into(),
            SweepRunError::Data { ref source, .. } => Self::file(source.kind(), &error),
            other => Self::run(&other),
        }
    }
}

impl From<MergeError> for Failure {
    fn from(error: MergeError) -> Self {
        match error {
            MergeError::Run(error) => error.into(),
            other => Self::value(&other),
        }
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        match error {
            StudyError::Experiment(error) => error.into(),
            StudyError::Config(error) => error.into(),
            StudyError::Run(error) => error.into(),
            StudyError::Dataset { ref source, .. } => match kind_of_data(source) {
                Some(kind) => Self::file(kind, &error),
                None => Self::value(&error),
            },
            other => Self::value(&other),
        }
    }
}

impl From<VerifyError> for Failure {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Run(error) => error.into(),
            VerifyError::Memory(_) => Self::Memory(said(&error)),
            other => Self::value(&other),
        }
    }
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Self {
        match error {
            AuditError::Engine(_) | AuditError::Covariance => Self::run(&error),
            AuditError::Memory(_) => Self::Memory(said(&error)),
            AuditError::Experiment(error) => (*error).into(),
            other => Self::value(&other),
        }
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        Self::file(error.source.kind(), &error)
    }
}

impl From<ReceiptError> for Failure {
    fn from(error: ReceiptError) -> Self {
        match &error {
            ReceiptError::Read { source, .. } => Self::file(source.kind(), &error),
            _ => Self::value(&error),
        }
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        Self::run(&error)
    }
}

macro_rules! of_input {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::value(&error)
            }
        })*
    };
}

of_input!(
    AdviseError,
    FigureError,
    GraphError,
    ItemListError,
    PeerCostError,
    PrivacyError,
    TopologyError,
    TranscriptError,
    serde_json::Error
);
