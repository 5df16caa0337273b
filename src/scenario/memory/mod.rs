//! What a run will need, before it is killed for it.

mod plan;
mod refusal;

pub use plan::{FACTOR, MemoryPlan};

pub(crate) use plan::watches_rounds;
pub(crate) use refusal::{check, check_audit, check_verify, free_bytes};
pub(super) use refusal::{check_columns, check_member};
