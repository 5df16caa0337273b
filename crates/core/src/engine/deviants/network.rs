//! The messages of a run with deviants, and the judgement after every release.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rand::Rng;

use super::{Deviant, DeviantError, DeviantOutcome, Deviation};
use crate::engine::Session;
use crate::linalg::Block;
use crate::protocol::probe::{Account, Exhibit, Nonce, Place, Probe, Rules, Verdict, Witness};
use crate::protocol::{Body, CollectingOutbox, Event, Input, Message, Peer, PeerSetup, Summand};
use crate::protocol::{PeerError, SessionPlan, Targets};
use crate::vocabulary::{Label, PeerIndex, ReleaseId, Time};

/// Bytes of a reading on a link: two projections and a magnitude.
const READING_BYTES: u64 = 24;

/// What a release left behind.
struct Averaging {
    rules: Rules,
    witnesses: Vec<Witness>,
    /// What everybody sent to everybody, as their signatures show.
    sent: BTreeMap<(Place, PeerIndex), Arc<Vec<f64>>>,
    sums: BTreeMap<PeerIndex, Arc<Block>>,
}

impl Averaging {
    fn of(session: &Session, release: ReleaseId) -> Result<Self, DeviantError> {
        let plan = session.plan();
        let sum = plan.sums_before(release);
        let rules = Rules::of(
            session.schedule(),
            &**session.topology(),
            plan.values(),
            sum,
        )?;
        let all = (0..session.peers()).map(PeerIndex::from_index);
        Ok(Self {
            rules,
            witnesses: all.map(Witness::new).collect(),
            sent: BTreeMap::new(),
            sums: BTreeMap::new(),
        })
    }

    /// What the lowest of those who hear a place was sent there.
    fn sent_at(&self, place: Place) -> Option<&Arc<Vec<f64>>> {
        let receivers = (place, PeerIndex(0))..=(place, PeerIndex(u32::MAX));
        self.sent.range(receivers).next().map(|(_, block)| block)
    }

    /// Where a deviant deviates.
    fn place(&self, deviant: &Deviant) -> Option<Place> {
        let places = self.rules.places(deviant.peer);
        let last = places.len().checked_sub(1)?;
        places.get(deviant.turn.min(last)).copied()
    }

    /// What a peer says it held.
    fn account(
        &self,
        probe: &Probe,
        peer: PeerIndex,
        deviant: Option<&Deviant>,
    ) -> Option<Account> {
        let mut account = self.witnesses[peer.index()].account(&self.rules, probe)?;
        let Some(deviant) = deviant else {
            return Some(account);
        };
        let at = self
            .place(deviant)
            .and_then(|place| self.rules.step_of(place));
        let Some(reading) = account.readings.get_mut(at?) else {
            return Some(account);
        };
        match deviant.deviation {
            Deviation::NoAccount => return None,
            Deviation::FalseAccount => reading.projections[0] += deviant.error,
            Deviation::Stale | Deviation::WrongStep => {
                let place = self.place(deviant)?;
                if let Some(block) = self.sent_at(place) {
                    *reading = probe.read(block);
                }
            }
            Deviation::Equivocate | Deviation::Forgery | Deviation::Silence => {}
        }
        Some(account)
    }

    /// What a peer shows of others.
    fn exhibits(
        &self,
        probe: &Probe,
        peer: PeerIndex,
        accounts: &[Option<Account>],
        deviant: Option<&Deviant>,
    ) -> Vec<Exhibit> {
        if deviant.is_some_and(|one| one.deviation == Deviation::Silence) {
            return Vec::new();
        }
        let witness = &self.witnesses[peer.index()];
        let mut exhibits = witness.exhibits(&self.rules, probe, accounts);
        let lie = deviant.filter(|one| one.deviation == Deviation::Forgery);
        if let (Some(deviant), Some(place)) = (lie, self.rules.heard(peer).first().copied())
            && let Some(block) = self.sent.get(&(place, peer))
        {
            let mut block = block.to_vec();
            block[0] += deviant.error;
            let (by, block) = (peer, Arc::new(block));
            exhibits.push(Exhibit { by, place, block });
        }
        exhibits
    }

    fn judge(&self, probe: &Probe, deviants: &[&Deviant]) -> Vec<Verdict> {
        let of = |peer: PeerIndex| deviants.iter().find(|one| one.peer == peer).copied();
        let all = (0..self.rules.peers()).map(PeerIndex::from_index);
        let accounts = all.clone().map(|peer| self.account(probe, peer, of(peer)));
        let accounts: Vec<_> = accounts.collect();
        let exhibits = all.flat_map(|peer| self.exhibits(probe, peer, &accounts, of(peer)));
        let exhibits: Vec<_> = exhibits.collect();
        let is_signed = |exhibit: &Exhibit| {
            let sent = self.sent.get(&(exhibit.place, exhibit.by));
            sent.is_some_and(|sent| *sent == exhibit.block)
        };
        self.rules.judge(probe, &accounts, &exhibits, is_signed)
    }
}

pub(super) struct Network<'a> {
    session: &'a Session,
    deviants: &'a [Deviant],
    peers: Vec<Peer>,
    neighbours: Vec<Vec<PeerIndex>>,
    queue: VecDeque<(PeerIndex, PeerIndex, Message)>,
    averagings: BTreeMap<ReleaseId, Averaging>,
    stopped: BTreeMap<PeerIndex, PeerError>,
}

impl<'a> Network<'a> {
    pub(super) fn new(session: &'a Session, deviants: &'a [Deviant]) -> Result<Self, DeviantError> {
        session.admit()?;
        let setups = (0..session.peers()).map(|peer| {
            let peer = PeerIndex::from_index(peer);
            session.peer_setup(peer, None)
        });
        let setups: Vec<PeerSetup> = setups.collect();
        let releases = session.plan().releases().iter().enumerate();
        let releases = releases.filter(|(_, planned)| !planned.is_own());
        let averagings = releases.map(|(at, _)| {
            let release = ReleaseId(at as u32 + 1);
            Ok((release, Averaging::of(session, release)?))
        });
        Ok(Self {
            session,
            deviants,
            neighbours: setups.iter().map(|one| one.neighbours.to_vec()).collect(),
            averagings: averagings.collect::<Result<_, DeviantError>>()?,
            peers: setups
                .into_iter()
                .map(Peer::new)
                .collect::<Result<_, _>>()?,
            queue: VecDeque::new(),
            stopped: BTreeMap::new(),
        })
    }

    pub(super) fn run(mut self) -> Result<DeviantOutcome, DeviantError> {
        for peer in 0..self.peers.len() {
            self.tell(PeerIndex::from_index(peer), Input::Start);
        }
        while let Some((from, to, message)) = self.queue.pop_front() {
            if let Some(averaging) = self.averagings.get_mut(&message.release) {
                averaging.witnesses[to.index()].hear(from, &message);
            }
            self.tell(to, Input::Message { from, message });
        }
        let mut outcome = DeviantOutcome {
            verdicts: Vec::new(),
            sums: Vec::new(),
            account_bytes: 0,
            stopped: self.stopped.clone(),
        };
        let mut generator = self.session.seed().generator(Label::Nonce);
        for (&release, averaging) in &self.averagings {
            let probe = self.probe(release, || {
                let mut nonce = [0; 32];
                generator.fill_bytes(&mut nonce);
                Nonce(nonce)
            });
            let here = self.deviants.iter().filter(|one| one.release == release);
            let verdicts = averaging.judge(&probe, &here.collect::<Vec<_>>());
            let verdicts = verdicts.into_iter().map(|verdict| (release, verdict));
            outcome.verdicts.extend(verdicts);
            outcome
                .sums
                .push(averaging.sums.values().cloned().collect());
            let all = (0..self.peers.len()).map(PeerIndex::from_index);
            let readings = all.map(|peer| averaging.rules.steps(peer) as u64 + 1);
            outcome.account_bytes += READING_BYTES * readings.sum::<u64>();
            if averaging.sums.len() < self.peers.len() {
                // Nobody is to blame for what comes after a release that some have not.
                break;
            }
        }
        Ok(outcome)
    }

    fn probe(&self, release: ReleaseId, mut nonce: impl FnMut() -> Nonce) -> Probe {
        let plan: &SessionPlan = self.session.plan();
        let nonces: Vec<Nonce> = self.peers.iter().map(|_| nonce()).collect();
        let values = plan.release(release).map_or(0, |planned| planned.values());
        Probe::of(&nonces, plan.session(), release, values)
    }

    /// Whoever cannot go on with what it was sent says nothing more.
    fn tell(&mut self, peer: PeerIndex, input: Input) {
        if self.stopped.contains_key(&peer) {
            return;
        }
        let mut out = CollectingOutbox::default();
        let told = self.peers[peer.index()].handle(input, Time(0), &mut out);
        if let Err(error) = told {
            self.stopped.insert(peer, error);
        }
        for event in out.events {
            match event {
                Event::Published {
                    release,
                    input: Summand::Reals(values),
                } => {
                    if let Some(averaging) = self.averagings.get_mut(&release) {
                        averaging.witnesses[peer.index()].publish(values);
                    }
                }
                Event::Released { release, sum, .. } => {
                    if let Some(averaging) = self.averagings.get_mut(&release) {
                        averaging.sums.insert(peer, sum);
                    }
                }
                Event::Published { .. } | Event::Advanced { .. } | Event::Finished => {}
            }
        }
        for (targets, message) in out.messages {
            self.send(peer, &targets, &message);
        }
    }

    fn send(&mut self, from: PeerIndex, targets: &Targets, message: &Message) {
        let neighbours = &self.neighbours[from.index()];
        let receivers: Vec<PeerIndex> = match targets {
            Targets::All => neighbours.clone(),
            Targets::Positions(positions) => {
                let of = |position: &u32| neighbours[*position as usize];
                positions.iter().map(of).collect()
            }
        };
        for (nth, to) in receivers.into_iter().enumerate() {
            let mut message = message.clone();
            self.deviate(from, nth, &mut message);
            let averaging = self.averagings.get_mut(&message.release);
            if let (Some(averaging), Body::Average(values)) = (averaging, &message.body) {
                let (peer, round) = (from, message.round.0);
                let place = Place { peer, round };
                averaging.sent.insert((place, to), Arc::clone(values));
            }
            self.queue.push_back((from, to, message));
        }
    }

    /// Changes what a deviant says to the `nth` of those it sends to, where this is where it deviates.
    fn deviate(&self, from: PeerIndex, nth: usize, message: &mut Message) {
        let is_here = |one: &&Deviant| one.peer == from && one.release == message.release;
        let deviant = self.deviants.iter().find(is_here);
        let averaging = self.averagings.get(&message.release);
        let (Some(deviant), Some(averaging)) = (deviant, averaging) else {
            return;
        };
        let Body::Average(values) = &message.body else {
            return;
        };
        let (peer, round) = (from, message.round.0);
        if averaging.place(deviant) != Some(Place { peer, round }) {
            return;
        }
        let mut changed = values.to_vec();
        match deviant.deviation {
            Deviation::Equivocate if nth == 0 => changed[0] += deviant.error,
            Deviation::WrongStep => changed[0] += deviant.error,
            Deviation::Stale => {
                let places = averaging.rules.places(from);
                let before = places.iter().rfind(|place| place.round < round);
                match before.and_then(|place| averaging.sent_at(*place)) {
                    Some(block) => changed.copy_from_slice(block),
                    None => changed.fill(0.0),
                }
            }
            Deviation::Equivocate
            | Deviation::FalseAccount
            | Deviation::NoAccount
            | Deviation::Forgery
            | Deviation::Silence => {}
        }
        self.session.plan().values().round(&mut changed);
        message.body = Body::Average(Arc::new(changed));
    }
}
