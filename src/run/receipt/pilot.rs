//! The pilot of a run, in its receipt: what it released, what its noise was, and that both sessions together cost what was promised.

use super::again::{Ground, Planned, StatedSession};
use super::document::{PilotReceipt, Receipt};
use super::error::ReceiptError;
use super::finding::Finding;
use crate::algorithm::Program;
use crate::plan::{BudgetShare, Promise};
use crate::privacy::{AdversaryView, View, gaussian};
use crate::vocabulary::Quantity;

/// By how much the parts of two sessions may miss the whole budget: they are rounded once each.
const ROUNDING: f64 = 1e-12;

impl PilotReceipt {
    /// What a pilot's own receipt says, with the counts and shares that were released; `None` of one that spends no part of a budget.
    #[must_use]
    pub fn of(receipt: Receipt, (counts, shares): (&[f64], &[f64]), bytes: u64) -> Option<Self> {
        Some(Self {
            part: receipt.promise.part?,
            program: receipt.program,
            guarantee: receipt.guarantee,
            releases: receipt.releases,
            counts: counts.to_vec(),
            shares: shares.to_vec(),
            bytes_max_peer: bytes,
        })
    }
}

impl Receipt {
    /// Checks the pilot as a session of its own, and what both sessions cost together: for the view promised √(f·μ_0² + (1 − f)·μ²) and its ε.
    ///
    /// # Errors
    /// As [`Receipt::check`].
    pub(super) fn check_pilot(
        &self,
        run: &Planned,
        promise: &Promise,
        ground: Ground<'_>,
    ) -> Result<Vec<Finding>, ReceiptError> {
        // A pilot alone spends its part and chooses nothing.
        if is_pilot(&run.program) {
            let alone = self.pilot.is_none() && self.choice.is_none();
            return Ok(vec![Finding::flag("a pilot has no pilot", alone)]);
        }
        let mut findings = vec![Finding::flag(
            "a pilot is listed where promise.part leaves one its share",
            self.pilot.is_some() == promise.part.is_some(),
        )];
        let (Some(pilot), Some(part)) = (&self.pilot, promise.part) else {
            return Ok(findings);
        };
        findings.push(Finding::flag(
            "what was chosen is stated",
            self.choice.is_some(),
        ));
        let whole = pilot.part.get() + part.get();
        findings.push(Finding {
            agrees: (whole - 1.0).abs() <= ROUNDING,
            ..Finding::equal(
                "pilot.part and promise.part are the whole budget",
                1.0,
                whole,
            )
        });
        let stated = StatedSession {
            at: "pilot.",
            program: &pilot.program,
            guarantee: &pilot.guarantee,
            releases: &pilot.releases,
        };
        let of_pilot = Promise {
            part: Some(pilot.part),
            ..promise.clone()
        };
        let planned = stated.plan(&of_pilot, ground)?;
        findings.extend(stated.compare(&planned));
        findings.push(Finding::flag(
            "pilot.program is a pilot over the items of the run",
            is_pilot(&planned.program) && planned.program.items == run.program.items,
        ));
        for (field, quantity, numbers) in [
            ("pilot.counts", Quantity::TailCounts, &pilot.counts),
            ("pilot.shares", Quantity::ItemShares, &pilot.shares),
        ] {
            let expected = values(&planned.program, quantity);
            let what = format!("{field}: as many finite numbers as were released");
            let finite = numbers.iter().all(|number| number.is_finite());
            findings.push(Finding::flag(&what, numbers.len() == expected && finite));
        }
        let views = (
            planned.guarantee.noise().views(),
            run.guarantee.noise().views(),
        );
        findings.extend(self.composed((pilot.part, part), views));
        Ok(findings)
    }

    /// What both sessions cost together, held against the ε asked for where the promise covers the view.
    fn composed(
        &self,
        (pilot, later): (BudgetShare, BudgetShare),
        (before, after): (&[View], &[View]),
    ) -> Option<Finding> {
        let delta = self.promise.delta?;
        let covers = |view: &View| {
            self.promise.seen == AdversaryView::CuratorOutput
                || view.colluders >= self.promise.withstood()
        };
        let (first, second) = before
            .iter()
            .zip(after)
            .find(|(before, after)| covers(before) && covers(after))?;
        // Each μ is given for the whole budget.
        let squared = pilot.get() * first.mu.powi(2) + later.get() * second.mu.powi(2);
        let who = &second.view;
        Some(self.within(
            format!("epsilon asked for covers what {who} learns from the pilot and the run"),
            gaussian::epsilon(squared.sqrt(), delta),
        ))
    }
}

/// Whether all that is released is what a pilot counts, and no basis is found.
fn is_pilot(program: &Program) -> bool {
    let counts = [Quantity::TailCounts, Quantity::ItemShares];
    let mut blocks = program.releases.iter().flat_map(|release| &release.blocks);
    program.rank == 0 && blocks.all(|block| counts.contains(&block.quantity))
}

/// How many numbers of this quantity are released.
fn values(program: &Program, quantity: Quantity) -> usize {
    let blocks = program.releases.iter().flat_map(|release| &release.blocks);
    let of_it = blocks.filter(|block| block.quantity == quantity);
    of_it.map(|block| block.values()).sum()
}
