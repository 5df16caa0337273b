//! The tight bound for a change of the matrix of spectral norm 1.

use super::super::rule::{Public, Rule, SensitivityRule};
use super::super::statistic::Statistic;
use super::Exact;
use crate::privacy::adjacency::{self, Adjacency};

/// Any C with ‖C‖₂ ≤ 1 (Hardt & Price 2014, Definition 4.4): Δ = √p, known in advance.
///
/// # Proof
/// ‖CX‖_F ≤ ‖C‖₂·‖X‖_F = ‖C‖₂·√p, since X has p columns of norm 1 (Hardt & Price 2014, proof of Lemma 4.5). ∎
///
/// C = I attains it, whatever X is.
impl Rule for Exact<adjacency::UnitSpectral> {
    const ADJACENCY: Adjacency = Adjacency::UnitSpectral;
    const RULE: SensitivityRule = SensitivityRule::Exact;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(public: &Public, _: f64) -> f64 {
        f64::from(public.rank).sqrt()
    }
}
