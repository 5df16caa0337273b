//! What a run with faults is held against.

use std::collections::BTreeMap;

use super::FaultyOutcome;
use crate::engine::SessionViews;
use crate::engine::lockstep::{Averaged, Exchange, Gossip, Rounds, Walk};
use crate::protocol::Summand;
use crate::protocol::averaging::Form;
use crate::protocol::regroup::{Attempt, View};
use crate::vocabulary::PeerIndex;

/// What everybody who takes part contributed, averaged by those who took the sum, of the attempts, contributions and heirs that this outcome
/// lists: by the engine that drives no peers.
pub fn averaged(
    views: &SessionViews,
    outcome: &FaultyOutcome,
    (attempt, view): (Attempt, &View),
) -> Result<BTreeMap<PeerIndex, Vec<f64>>, String> {
    let (then, _) = &outcome.parts[&attempt];
    let now = views.of(view).map_err(|error| error.to_string())?;
    let session = now.session();
    let none = Vec::new();
    let heirs = outcome.heirs.get(&(view.number, attempt)).unwrap_or(&none);
    let lost = then
        .members
        .iter()
        .filter(|peer| !view.members.contains(*peer));
    let inherited: Vec<PeerIndex> = heirs.iter().map(|heir| heir.lost).collect();
    if inherited != lost.collect::<Vec<_>>() {
        return Err("HEIRS: somebody lost has no heir".to_owned());
    }
    let published = |peer: PeerIndex| {
        let input = outcome.published.get(&(attempt, peer));
        let input = input.and_then(Summand::reals).cloned();
        input.ok_or("HELD: somebody takes part who has published nothing".to_owned())
    };
    let mut inputs = Vec::new();
    for &member in now.members().iter() {
        let mut own = published(member)?.to_vec();
        for heir in heirs.iter().filter(|heir| heir.heir == member) {
            let more = published(heir.lost)?;
            own.iter_mut().zip(more.iter()).for_each(|(a, b)| *a += b);
        }
        inputs.push(own);
    }
    let width = inputs[0].len();
    let flat: Vec<f64> = inputs.into_iter().flatten().collect();
    let schedule = session
        .schedule()
        .turn(session.plan().sums_before(attempt.release));
    let walk;
    let exchange = match schedule.form() {
        Form::Recurrence(coefficients) => Exchange::Recurrence(coefficients),
        Form::Listed(steps) => {
            walk = Walk::new(session.graph(), schedule.rounds(), steps);
            Exchange::Listed(&walk)
        }
        Form::Passing(_) => panic!("not tolerated"),
    };
    let rounds = Rounds {
        exchange,
        values: session.plan().values(),
        factor: schedule.factor(),
        watch: false,
    };
    let mut averaged = Averaged::default();
    Gossip::new(session.graph(), session.mixing()).average(rounds, (width, &flat), &mut averaged);
    let mut sums = vec![vec![0.0; width]; now.members().len()];
    averaged.copy_peers(0, sums.iter_mut().map(Vec::as_mut_slice));
    Ok(now.members().iter().copied().zip(sums).collect())
}
