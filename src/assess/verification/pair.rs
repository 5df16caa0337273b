//! Whether two sessions under one budget share noise.

use super::checks::{self, Samples};
use super::table::Check;
use crate::engine::Session;
use crate::noise::Term;
use crate::vocabulary::{PeerIndex, ReleaseId};

/// That the two share no stream and that their sums are not correlated.
pub(super) fn independent(
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
