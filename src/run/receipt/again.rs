//! Plans a program under a promise again and compares all that follows. A run and its pilot are checked by this one function.

use std::sync::Arc;

use serde_json::Value;

use super::document::{Scaled, json};
use super::error::{ReceiptError, range};
use super::finding::{Finding, TOLERANCE, compare};
use super::limits::MOST_RELEASES;
use crate::algorithm::Program;
use crate::plan::{Division, Guarantee, Promise};
use crate::privacy::OwnRules;
use crate::protocol::PlannedRelease;
use crate::topology::Topology;

/// One session of a receipt: that of the run, or its pilot.
#[derive(Clone, Copy)]
pub(super) struct StatedSession<'a> {
    /// What the paths of its findings begin with.
    pub(super) at: &'a str,
    pub(super) program: &'a Value,
    pub(super) guarantee: &'a Value,
    pub(super) releases: &'a [Scaled],
}

/// What noise is planned on.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) topology: &'a Topology,
    pub(super) most_rows: usize,
    pub(super) own: &'a OwnRules,
}

/// A session that was planned again.
pub(super) struct Planned {
    pub(super) program: Arc<Program>,
    pub(super) guarantee: Guarantee,
    releases: Vec<PlannedRelease>,
    /// Whether the budget is divided in one way, by weights or by the releases' own shares.
    is_divided_once: bool,
}

impl StatedSession<'_> {
    /// Reads the program and plans it again.
    pub(super) fn plan(
        &self,
        promise: &Promise,
        ground: Ground<'_>,
    ) -> Result<Planned, ReceiptError> {
        let at = self.at;
        range(
            "the number of releases",
            self.releases.len(),
            1,
            MOST_RELEASES,
        )?;
        let program = Program::read(self.program, &ground.own.quantities()).map_err(|source| {
            ReceiptError::Program {
                at: format!("{at}program"),
                source,
            }
        })?;
        let program = Arc::new(program);
        let guarantee = Guarantee::of(&program, promise, ground.topology, ground.most_rows)?;
        let peers = ground.topology.graph().nodes() as u32;
        let releases = guarantee.releases(&program, promise, peers)?;
        let is_divided_once = promise.split.is_even() || Division::takes_weights(&program);
        Ok(Planned {
            program,
            guarantee,
            releases,
            is_divided_once,
        })
    }

    /// Compares the guarantee, then what each release was scaled by.
    pub(super) fn compare(&self, planned: &Planned) -> Vec<Finding> {
        let (at, mut findings) = (self.at, Vec::new());
        let guarantee = format!("{at}guarantee");
        compare(
            &guarantee,
            self.guarantee,
            &json(&planned.guarantee),
            &mut findings,
        );
        if let Some(search) = &planned.program.search {
            let computed = planned.guarantee.calibrated().search_epsilon();
            let what = format!("{at}program.search.epsilon");
            findings.push(Finding::equal(
                &what,
                search.epsilon,
                computed.unwrap_or(0.0),
            ));
        }
        let what = format!("{at}promise.split: one way to share the budget among releases");
        findings.push(Finding::flag(&what, planned.is_divided_once));
        // A program ends after its last release, or before one that it may leave out.
        let next = planned.releases.get(self.releases.len());
        let are_all = self.releases.len() <= planned.releases.len()
            && next.is_none_or(|next| next.spec().may_end_before);
        let what = format!("{at}releases: as many as the program makes");
        findings.push(Finding::flag(&what, are_all));
        let factors = planned.guarantee.division().factors();
        let both = self.releases.iter().zip(&planned.releases).enumerate();
        for (place, (scaled, release)) in both {
            let at = format!("{at}releases[{place}]");
            findings.push(statistic(&at, scaled.statistic, release, &planned.program));
            let computed = Scaled {
                statistic: scaled.statistic,
                sensitivity: release.terms(scaled.statistic).sensitivity,
                noise_factor: factors.get(place).copied().unwrap_or(1.0),
            };
            let sensitivity = format!("{at}.sensitivity");
            findings.push(Finding::equal(
                &sensitivity,
                scaled.sensitivity,
                computed.sensitivity,
            ));
            let factor = format!("{at}.noise_factor");
            findings.push(Finding::equal(
                &factor,
                scaled.noise_factor,
                computed.noise_factor,
            ));
        }
        findings
    }
}

/// Whether blocks with orthonormal columns can have this statistic, or the number that peers agree on can be this.
fn statistic(at: &str, stated: f64, release: &PlannedRelease, program: &Program) -> Finding {
    let (agrees, expected) = match release.spec().agreement {
        Some(number) => (number.admits(stated), format!("{number:?}").to_lowercase()),
        None => {
            let columns = program.query_columns;
            let (least, most) = release.statistic().range(program.items, columns);
            let possible = least * (1.0 - TOLERANCE)..=most * (1.0 + TOLERANCE);
            (possible.contains(&stated), format!("{least} to {most}"))
        }
    };
    Finding {
        what: format!("{at}.statistic"),
        stated: stated.into(),
        computed: expected.into(),
        agrees,
    }
}
