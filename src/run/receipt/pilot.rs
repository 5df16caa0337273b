//! The pilot of a run, in its receipt: what it released, what its noise was, and that both sessions together cost what was promised.

use super::check::{Finding, equal, flag};
use super::document::{PilotReceipt, Receipt};
use super::error::ReceiptError;
use crate::algorithm::AlgorithmKind;
use crate::config::EngineKind;
use crate::privacy::{Budget, Scheme, View, gaussian};
use crate::vocabulary::TAIL_DEGREES;

impl PilotReceipt {
    /// What a pilot's own receipt says, with what was released.
    #[must_use]
    pub fn of(
        receipt: Receipt,
        (thresholds, counts, shares): (&[u32], &[f64], &[f64]),
        bytes: u64,
    ) -> Self {
        Self {
            thresholds: thresholds.to_vec(),
            counts: counts.to_vec(),
            shares: shares.to_vec(),
            sigma_own: receipt.sigma_own,
            sigma_pairwise: receipt.sigma_pairwise,
            sigma_sum: receipt.sigma_sum,
            iterations: receipt.iterations,
            views: receipt.views,
            bytes_max_peer: bytes,
        }
    }
}

impl Receipt {
    /// The receipt that the pilot of this run would have had alone.
    fn of_pilot(&self, pilot: &PilotReceipt) -> Self {
        let mut own = self.clone();
        own.request.algorithm = AlgorithmKind::Pilot;
        own.request.rank = 1;
        own.request.block = None;
        own.request.iterations = 1;
        own.sigma_own = pilot.sigma_own;
        own.sigma_pairwise = pilot.sigma_pairwise;
        own.sigma_sum = pilot.sigma_sum;
        own.iterations.clone_from(&pilot.iterations);
        own.views.clone_from(&pilot.views);
        own.pilot = None;
        own.choice = None;
        own.assumptions = own.assumed().sentences();
        own
    }

    /// Checks the pilot as a receipt of its own, and what both sessions cost together: for every view √(f·μ_0² + (1 − f)·μ²) and its ε.
    ///
    /// # Errors
    /// As [`Receipt::check`].
    pub(super) fn check_pilot(&self) -> Result<Vec<Finding>, ReceiptError> {
        let request = &self.request;
        let Some(share) = request.pilot_share else {
            let none = self.pilot.is_none() && self.choice.is_none();
            return Ok(match none {
                true => Vec::new(),
                false => vec![flag("a pilot or a choice that the request has", false)],
            });
        };
        if request.algorithm == AlgorithmKind::Pilot {
            return Ok(Vec::new());
        }
        let mut findings = vec![
            flag("what was chosen is stated", self.choice.is_some()),
            flag(
                "a pilot is listed where one has a share",
                self.pilot.is_some() == (share > 0.0),
            ),
        ];
        let Some(pilot) = &self.pilot else {
            return Ok(findings);
        };
        let counted = pilot.thresholds == TAIL_DEGREES
            && pilot.counts.len() == TAIL_DEGREES.len()
            && pilot.counts.iter().all(|count| count.is_finite());
        findings.push(flag("pilot: counts at the public thresholds", counted));
        let of_items = pilot.shares.len() == request.dimension
            && pilot.shares.iter().all(|share| share.is_finite());
        findings.push(flag("pilot: a share for every item", of_items));
        let own = self.of_pilot(pilot).check()?;
        findings.extend(own.into_iter().map(|finding| Finding {
            what: format!("pilot: {}", finding.what),
            ..finding
        }));
        findings.extend(self.composed(pilot, share)?);
        Ok(findings)
    }

    /// What both sessions cost together, view by view, held against the ε asked for where the promise covers the view.
    fn composed(&self, pilot: &PilotReceipt, share: f64) -> Result<Vec<Finding>, ReceiptError> {
        if self.request.scheme == Scheme::None {
            return Ok(Vec::new());
        }
        let budget = Budget::new(self.request.epsilon, self.request.delta)?;
        let same = self.views.len() == pilot.views.len()
            && self
                .views
                .iter()
                .zip(&pilot.views)
                .all(|(a, b)| (&a.view, a.colluders) == (&b.view, b.colluders));
        let mut findings = vec![flag(
            "the views of the pilot and of the run are the same",
            same,
        )];
        let pairs = || self.views.iter().zip(&pilot.views);
        let covers = |view: &View| {
            self.engine == EngineKind::Central || view.colluders >= self.request.colluders
        };
        if let Some((view, before)) = pairs().find(|(view, _)| covers(view)) {
            let mu = together(share, before.mu, view.mu);
            let spent = gaussian::epsilon(mu, budget.delta);
            let asked = self.request.epsilon;
            findings.push(Finding {
                what: format!(
                    "epsilon asked for covers what {} learns from the pilot and the run",
                    view.view
                ),
                stated: asked,
                computed: spent,
                agrees: spent <= asked || equal("", asked, spent).agrees,
            });
        }
        Ok(findings)
    }
}

/// μ of a pilot that spends this share and of what follows it, each given for the whole budget.
fn together(share: f64, pilot: f64, later: f64) -> f64 {
    (share * pilot * pilot + (1.0 - share) * later * later).sqrt()
}
