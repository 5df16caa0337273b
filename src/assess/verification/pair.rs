//! Two sessions under one budget: everything that is checked of one, of both, and that they share no noise.

use super::checks::{self, Samples};
use super::table::{Check, Verification};
use super::{VerifyError, VerifyOptions, unsettled};
use crate::engine::{Observer, Session};
use crate::noise::Term;
use crate::scenario::Experiment;
use crate::vocabulary::{PeerIndex, ReleaseId};

/// Verifies a pilot and what was chosen by it, each on the engine that it names, and that their noise is independent: no stream of one is a
/// stream of the other, and the noise in their sums is not correlated. Without that, what two Gaussian mechanisms cost together is not the root
/// of the sum of their squares.
///
/// A correct pair fails with probability at most the significance asked for, over the whole table.
///
/// # Errors
/// As [`verify`](super::verify).
pub fn verify_pair(
    pilot: &Experiment,
    chosen: &Experiment,
    options: VerifyOptions,
    observer: &mut dyn Observer,
) -> Result<Verification, VerifyError> {
    verify_pair_of_sessions(pilot, chosen, options, &|_, session| session, observer)
}

/// The same with a chance to change the sessions of what was chosen, given the session of the pilot in the same run; test builds break them on
/// purpose.
pub(super) fn verify_pair_of_sessions(
    pilot: &Experiment,
    chosen: &Experiment,
    options: VerifyOptions,
    prepare: &dyn Fn(&Session, Session) -> Session,
    observer: &mut dyn Observer,
) -> Result<Verification, VerifyError> {
    let (mut table, first) = unsettled(pilot, options, &|session| session, observer)?;
    for check in &mut table.checks {
        check.name = format!("pilot: {}", check.name);
    }
    for skipped in &mut table.skipped {
        *skipped = format!("pilot: {skipped}");
    }
    // The run whose session is prepared next: sessions are prepared once each, in order.
    let run = std::cell::Cell::new(0);
    let before = |run: u32| pilot.session(&pilot.root_seed().repetition(run));
    let prepared = |session: Session| {
        let number = run.replace(run.get() + 1);
        prepare(&before(number), session)
    };
    let (later, second) = unsettled(chosen, options, &prepared, observer)?;
    table.checks.extend(later.checks);
    table.skipped.extend(later.skipped);
    let session = prepare(
        &before(0),
        chosen.session(&chosen.root_seed().repetition(0)),
    );
    table.checks.extend(independent(
        (&before(0), &session),
        (&first, &second),
        pilot.is_private(),
    ));
    checks::settle(&mut table, options.significance);
    Ok(table)
}

/// That the two share no stream and that their sums are not correlated.
fn independent(
    (before, after): (&Session, &Session),
    (first, second): (&Samples, &Samples),
    private: bool,
) -> Vec<Check> {
    if !private {
        return Vec::new();
    }
    let coinciding = coinciding(before, after) as f64;
    let streams = Check {
        kind: "pair",
        name: "streams of noise that the pilot and the run share".to_owned(),
        statistic: coinciding,
        p_value: None,
        threshold: 0.0,
        passed: coinciding == 0.0,
    };
    let name = "correlation of the noise of the pilot and of the run";
    let correlated = first.correlation_with(second);
    let correlated = correlated.map(|found| checks::test("pair", name, found));
    std::iter::once(streams).chain(correlated).collect()
}

/// How many of all peers' noise terms, a curator's among them, begin with the same normal in both sessions.
fn coinciding(before: &Session, after: &Session) -> usize {
    let peers = || (0..before.peers()).map(PeerIndex::from_index);
    let (a, b) = (before.planned_noise(), after.planned_noise());
    let graph = before.noise_graph();
    let own = peers().map(|u| (a.own(u), b.own(u)));
    let shared = peers().flat_map(|u| {
        let partners = match a.has_pairwise() && b.has_pairwise() {
            true => graph.neighbours(u.0 as usize),
            false => &[],
        };
        let lower = partners.iter().filter(move |partner| u.0 < **partner);
        lower.map(move |&partner| {
            let partner = PeerIndex(partner);
            (a.shared(u, partner), b.shared(u, partner))
        })
    });
    let curators = std::iter::once((before.curator_noise(), after.curator_noise()));
    let all = own.chain(shared).chain(curators);
    all.filter(|(one, other)| begins(one, other)).count()
}

/// Whether two terms begin with the same normal, whatever each is multiplied by.
fn begins(one: &Term, other: &Term) -> bool {
    let ratio = |term: &Term| {
        let mut values = [0.0; 2];
        term.add_to(ReleaseId(1), 1.0, &mut values);
        values[0] / values[1]
    };
    let (a, b) = (ratio(one), ratio(other));
    // Terms that are not there are 0/0 and equal to nothing.
    (a - b).abs() <= 1e-14 * a.abs()
}
