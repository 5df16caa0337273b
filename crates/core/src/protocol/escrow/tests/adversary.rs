//! An adversary that decides views, delays, restarts and lost writes, and has every key of the curious peers.

use std::collections::{BTreeMap, BTreeSet};

use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};

use super::*;

/// What is wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mutant {
    Without(Rule),
    /// As many shares as colluders open.
    ThresholdOfColluders,
    /// One signature counts for all.
    OneSignature,
    /// Records of this kind do not survive a restart.
    Lost(Kind),
}

/// A kind of record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Sealed,
    /// That of every seal but those of the first view.
    Held,
    Opened,
    Released,
}

impl Kind {
    fn is_of(self, record: &Record) -> bool {
        match record {
            Record::Sealed(_) => self == Self::Sealed,
            Record::Held { attempt, .. } => self == Self::Held && attempt.view.0 > 0,
            Record::Opened(_) => self == Self::Opened,
            Record::Released { .. } => self == Self::Released,
            _ => false,
        }
    }
}

/// A view as it was decided, whoever decided it.
struct Decided {
    number: u64,
    members: Vec<PeerIndex>,
    cut: BTreeSet<(u32, u32)>,
    digest: [u8; 32],
}

impl Decided {
    fn live(&self, peer: PeerIndex) -> Vec<PeerIndex> {
        let others = self.members.iter().copied().filter(|o| *o != peer);
        let is_cut = |o: PeerIndex| self.cut.contains(&(peer.min(o).0, peer.max(o).0));
        others.filter(|o| !is_cut(*o)).collect()
    }
}

/// What happened in a schedule.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) by_key: u32,
    pub(super) by_shares: u32,
    pub(super) refused: [u32; 7],
    pub(super) restarts: u32,
    pub(super) failed_writes: u32,
    pub(super) several_sealed: u32,
}

/// What peers may do next.
#[derive(Clone, Copy)]
enum Stage {
    Enter(usize),
    Seal(u32),
    Hold,
    Attest(u32),
    Certify,
    Open,
    Release,
    Restart,
}

pub(super) struct Schedule<R> {
    rng: R,
    mutant: Option<Mutant>,
    size: u32,
    /// Whom the adversary is after.
    victim: usize,
    curious: BTreeSet<PeerIndex>,
    threshold: Threshold,
    views: Vec<Decided>,
    peers: Vec<Escrow>,
    disks: Vec<Vec<Record>>,
    entered: Vec<Option<usize>>,
    seals: BTreeMap<(PeerIndex, Attempt), Seal>,
    contents: BTreeMap<(PeerIndex, Attempt), Vec<u8>>,
    sealed_twice: bool,
    /// What curious peers seal, for the sake of appearance.
    made_up: BTreeMap<(PeerIndex, Attempt, [u8; 32]), Option<Seal>>,
    words: BTreeMap<(Attempt, [u8; 32]), BTreeMap<PeerIndex, [u8; SIGNATURE_LEN]>>,
    keys: BTreeMap<(PeerIndex, Attempt), SealKey>,
    shares: BTreeMap<(PeerIndex, Attempt), BTreeMap<u8, Share>>,
    count: Count,
}

impl<R: Rng> Schedule<R> {
    pub(super) fn new(mut rng: R, mutant: Option<Mutant>) -> Self {
        let (colluders, dropouts) = *[(1, 0), (2, 0), (1, 1), (3, 0)]
            .choose(&mut rng)
            .expect("some");
        // Everybody is everybody's neighbour, with up to two to spare.
        let neighbours = 3 * dropouts + colluders + 1 + rng.random_range(0..3);
        let size = neighbours as u32 + 1;
        let threshold = match mutant {
            Some(Mutant::ThresholdOfColluders) => Threshold::forged(colluders as u8),
            _ => Threshold::new(neighbours, colluders, dropouts).expect("enough neighbours"),
        };
        // Those who drop out may turn curious, so they are from the beginning.
        let all = peers(0..size);
        let curious: BTreeSet<PeerIndex> = all
            .sample(&mut rng, colluders + dropouts)
            .copied()
            .collect();
        let honest = (0..all.len()).find(|at| !curious.contains(&all[*at]));
        let mut schedule = Self {
            mutant,
            size,
            victim: honest.expect("somebody"),
            curious,
            threshold,
            views: Vec::new(),
            peers: Vec::new(),
            disks: vec![Vec::new(); size as usize],
            entered: vec![None; size as usize],
            seals: BTreeMap::new(),
            contents: BTreeMap::new(),
            sealed_twice: false,
            made_up: BTreeMap::new(),
            words: BTreeMap::new(),
            keys: BTreeMap::new(),
            shares: BTreeMap::new(),
            count: Count::default(),
            rng,
        };
        let many = schedule.rng.random_range(2..5);
        schedule.views = (0..many).map(|at| schedule.decided(at)).collect();
        schedule.peers = all.iter().map(|peer| schedule.restarted(*peer)).collect();
        schedule
    }

    /// A view by the adversary's whim: peers come back, and sometimes two views have one number.
    fn decided(&mut self, at: u64) -> Decided {
        let number = if self.rng.random_bool(0.1) {
            at / 2
        } else {
            at
        };
        let mut members = peers(0..self.size);
        let size = members.len();
        // One peer comes and goes more often than others.
        let victim = self.victim;
        let gone: &[usize] = match (self.rng.random_range(0..10), at % 2) {
            (0..3, _) | (3..6, 1) => &[victim],
            (3..9, _) => &[],
            _ => &[
                self.rng.random_range(0..size),
                self.rng.random_range(0..size - 1),
            ],
        };
        for &at in gone {
            members.remove(at);
        }
        let pairs = (0..self.size).flat_map(|u| (u + 1..self.size).map(move |v| (u, v)));
        let cut = pairs.filter(|_| self.rng.random_bool(0.005)).collect();
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{number} {members:?} {cut:?}").as_bytes());
        Decided {
            number,
            members,
            cut,
            digest: *hasher.finalize().as_bytes(),
        }
    }

    /// A peer as its disk has it.
    fn restarted(&self, peer: PeerIndex) -> Escrow {
        let disk = self.disks[peer.index()].iter().cloned();
        let kept = disk.filter(|record| match self.mutant {
            Some(Mutant::Lost(kind)) => !kind.is_of(record),
            _ => true,
        });
        let mut escrow = Escrow::replay(peer, SESSION, self.threshold, 2, kept);
        if let Some(Mutant::Without(rule)) = self.mutant {
            escrow.defect = Some(Defect(rule));
        }
        escrow
    }

    fn view_of(&self, peer: PeerIndex) -> Option<&Decided> {
        self.entered[peer.index()].map(|at| &self.views[at])
    }

    /// Takes a step if the rules let it, and gives what may be sent.
    fn take<A>(
        &mut self,
        peer: PeerIndex,
        step: impl FnOnce(&mut Escrow) -> Result<Durable<'_, A>, Refused>,
    ) -> Option<A> {
        let fails = self.rng.random_bool(0.01);
        let disk = &mut self.disks[peer.index()];
        let action = match step(&mut self.peers[peer.index()]) {
            Ok(step) => step.persist(|record| match fails {
                true => Err(()),
                false => {
                    disk.push(record.clone());
                    Ok(())
                }
            }),
            Err(Refused::Rule { rule, .. }) => {
                self.count.refused[rule as usize] += 1;
                return None;
            }
            Err(_) => return None,
        };
        if action.is_err() {
            // Whoever cannot write stops, and starts again with what is there.
            self.count.failed_writes += 1;
            self.restart(peer);
        }
        action.ok()
    }

    fn restart(&mut self, peer: PeerIndex) {
        let again = self.restarted(peer);
        if self.mutant.is_none() {
            assert_eq!(again, self.peers[peer.index()], "a restart changes nothing");
        }
        self.peers[peer.index()] = again;
        self.count.restarts += 1;
    }

    fn enter(&mut self, peer: PeerIndex, at: usize) {
        let view = &self.views[at];
        if !view.members.contains(&peer) {
            return;
        }
        let view = Membership::new(
            ViewNumber(view.number),
            view.digest,
            view.members.clone(),
            view.live(peer),
        );
        let view = view.expect("in order");
        if self.take(peer, |escrow| escrow.enter(view)).is_some() {
            self.entered[peer.index()] = Some(at);
        }
    }

    fn seal(&mut self, peer: PeerIndex, retry: u32) {
        let values = self.rng.random::<[u8; 3]>().to_vec();
        let Some(view) = self.view_of(peer) else {
            return;
        };
        let order = Order {
            attempt: attempt(retry, view.number),
            dealer: peer,
            threshold: self.threshold,
            holders: view.live(peer),
            values,
            scale: 1.0,
        };
        let root = root(peer.0);
        let seal = self.take(peer, |escrow| {
            order.with(|sealing| escrow.seal(&root, sealing))
        });
        let Some(seal) = seal else { return };
        // The adversary reads what its peers are sent.
        for &holder in self
            .curious
            .intersection(&order.holders.iter().copied().collect())
        {
            let share = seal
                .share_of(holder, &escrow_key(peer, holder))
                .expect("a holder");
            let known = self.shares.entry((peer, order.attempt)).or_default();
            known.insert(share.point(), share);
        }
        // Two contributions under the noise of one attempt are as bad as two that are read.
        let before = self.seals.insert((peer, order.attempt), seal);
        self.sealed_twice |= before.is_some();
        self.contents.insert((peer, order.attempt), order.values);
    }

    /// A curious peer seals whatever is expected of it.
    fn hold(&mut self, peer: PeerIndex, likely: f64) {
        let Some(view) = self.view_of(peer) else {
            return;
        };
        let number = view.number;
        for dealer in view.live(peer) {
            for retry in 0..2 {
                let attempt = attempt(retry, number);
                let view = self.view_of(peer).expect("the same");
                let holders = view.live(dealer);
                let seal = match self.curious.contains(&dealer) {
                    true => {
                        let key = (dealer, attempt, view.digest);
                        if !self.made_up.contains_key(&key) {
                            let seal = self.sealed_by_curious(dealer, attempt, &holders);
                            self.made_up.insert(key, seal);
                        }
                        self.made_up[&key].clone()
                    }
                    false => self.seals.get(&(dealer, attempt)).cloned(),
                };
                let Some(seal) = seal.filter(|_| self.rng.random_bool(likely)) else {
                    continue;
                };
                let share = seal.hidden_for(peer).copied();
                let mine = [(peer, share.unwrap_or([0; HIDDEN_SHARE_LEN]))];
                let expected = Expected {
                    attempt,
                    dealer,
                    threshold: self.threshold,
                    holders: &holders,
                    bytes: 3,
                };
                let Ok(seal) = Seal::read(seal.frame().clone(), &mine, &expected) else {
                    continue;
                };
                let key = escrow_key(dealer, peer);
                self.take(peer, |escrow| escrow.hold(&seal, &key));
            }
        }
    }

    fn sealed_by_curious(
        &self,
        dealer: PeerIndex,
        attempt: Attempt,
        holders: &[PeerIndex],
    ) -> Option<Seal> {
        let order = Order {
            attempt,
            dealer,
            threshold: self.threshold,
            holders: holders.to_vec(),
            values: vec![0; 3],
            scale: 1.0,
        };
        order.with(|sealing| Seal::new(&root(dealer.0), sealing).ok())
    }

    fn attest(&mut self, peer: PeerIndex, retry: u32) {
        let Some(view) = self.view_of(peer) else {
            return;
        };
        let (attempt, digest) = (attempt(retry, view.number), view.digest);
        if let Some(statement) = self.take(peer, |escrow| escrow.attest(attempt)) {
            let word = sign(peer, &statement);
            self.words
                .entry((attempt, digest))
                .or_default()
                .insert(peer, word);
        }
    }

    /// Everything that can pass for a certificate goes to this peer.
    fn certify(&mut self, peer: PeerIndex) {
        let one_is_enough = self.mutant == Some(Mutant::OneSignature);
        for at in 0..self.views.len() {
            let view = &self.views[at];
            let (digest, members) = (view.digest, view.members.clone());
            for attempt in [attempt(0, view.number), attempt(1, view.number)] {
                let mut words = self
                    .words
                    .get(&(attempt, digest))
                    .cloned()
                    .unwrap_or_default();
                let statement = held_statement(SESSION, attempt, &digest);
                for by in members.iter().copied() {
                    if self.curious.contains(&by) {
                        words.insert(by, sign(by, &statement));
                    }
                }
                if one_is_enough && !words.is_empty() {
                    members.iter().for_each(|by| {
                        words.entry(*by).or_insert([0; SIGNATURE_LEN]);
                    });
                }
                if words.len() < members.len() && self.rng.random_bool(0.9) {
                    continue;
                }
                let certificate = Certificate::new(attempt, words);
                let check = |by, bytes: &[u8], signature: &[u8; SIGNATURE_LEN]| {
                    one_is_enough || verify(by, bytes, signature)
                };
                self.take(peer, |escrow| escrow.certify(&certificate, check));
            }
        }
    }

    fn open(&mut self, peer: PeerIndex, likely: f64) {
        let root = root(peer.0);
        for attempt in self.attempts_of(peer) {
            if self.rng.random_bool(likely)
                && let Some(key) = self.take(peer, |escrow| escrow.open(attempt, &root))
            {
                self.keys.insert((peer, attempt), key);
            }
        }
    }

    fn attempts_of(&self, dealer: PeerIndex) -> Vec<Attempt> {
        let known = self.seals.keys().filter(|(of, _)| *of == dealer);
        known.map(|(_, attempt)| *attempt).collect()
    }

    fn release(&mut self, peer: PeerIndex, likely: f64) {
        for dealer in peers(0..self.size) {
            for attempt in self.attempts_of(dealer) {
                if self.rng.random_bool(likely)
                    && let Some(share) = self.take(peer, |escrow| escrow.release(dealer, attempt))
                {
                    let known = self.shares.entry((dealer, attempt)).or_default();
                    known.insert(share.point(), share);
                }
            }
        }
    }

    /// One thing that honest peers do, each with this probability.
    fn round(&mut self, what: Stage, likely: f64) {
        for peer in peers(0..self.size) {
            if self.curious.contains(&peer) || !self.rng.random_bool(likely) {
                continue;
            }
            match what {
                Stage::Enter(at) => self.enter(peer, at),
                Stage::Seal(retry) => self.seal(peer, retry),
                Stage::Hold => self.hold(peer, likely),
                Stage::Attest(retry) => self.attest(peer, retry),
                Stage::Certify => self.certify(peer),
                Stage::Open => self.open(peer, likely),
                Stage::Release => self.release(peer, likely),
                Stage::Restart => self.restart(peer),
            }
        }
    }

    /// A few things out of order.
    fn confusion(&mut self) {
        for _ in 0..self.rng.random_range(0..4) {
            let what = [
                Stage::Certify,
                Stage::Open,
                Stage::Release,
                Stage::Restart,
                Stage::Seal(0),
                Stage::Hold,
                Stage::Attest(0),
            ];
            let what = *what.choose(&mut self.rng).expect("some");
            let likely = [0.2, 0.6, 1.0][self.rng.random_range(0..3)];
            self.round(what, likely);
        }
    }

    /// An attempt after another, each as far as it gets.
    fn go(&mut self) {
        for at in 0..self.views.len() {
            let retry = u32::from(self.rng.random_bool(0.1));
            if self.rng.random_bool(0.5) {
                self.round(Stage::Restart, 1.0);
            }
            let stages = [
                Stage::Enter(at),
                Stage::Seal(retry),
                Stage::Hold,
                Stage::Attest(retry),
                Stage::Certify,
                Stage::Open,
                Stage::Release,
            ];
            for what in stages {
                // Most get through, so that there is something to confuse.
                let likely = match what {
                    Stage::Certify | Stage::Release => {
                        [0.0, 0.7, 1.0, 1.0][self.rng.random_range(0..4)]
                    }
                    Stage::Open => [0.0, 0.0, 0.4, 1.0][self.rng.random_range(0..4)],
                    _ if self.rng.random_bool(0.9) => 1.0,
                    _ => 0.8,
                };
                self.round(what, likely);
                if self.rng.random_bool(0.1) {
                    self.confusion();
                }
            }
        }
        self.confusion();
    }

    /// The most attempts of one try of an honest peer that can be read.
    pub(super) fn run(mut self) -> (usize, Count) {
        self.go();
        let mut worst = if self.sealed_twice { 2 } else { 0 };
        for dealer in peers(0..self.size) {
            let mut tries: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
            for attempt in self.attempts_of(dealer) {
                let seal = &self.seals[&(dealer, attempt)];
                let key = self.keys.get(&(dealer, attempt));
                let by_key = key.map(|key| seal.open(key).expect("its key"));
                let shares = self.shares.get(&(dealer, attempt));
                let shares: Vec<Share> = shares
                    .into_iter()
                    .flat_map(|s| s.values().cloned())
                    .collect();
                let by_shares = seal.recover(&shares).ok().map(|(_, values)| values);
                self.count.by_key += u32::from(by_key.is_some());
                self.count.by_shares += u32::from(by_shares.is_some() && by_key.is_none());
                let (sealed, read) = tries.entry(attempt.retry).or_default();
                *sealed += 1;
                for values in [by_key.as_ref(), by_shares.as_ref()].into_iter().flatten() {
                    assert_eq!(*values, self.contents[&(dealer, attempt)]);
                }
                *read += usize::from(by_key.is_some() || by_shares.is_some());
            }
            for (sealed, read) in tries.into_values() {
                self.count.several_sealed += u32::from(sealed > 1);
                worst = worst.max(read);
            }
        }
        (worst, self.count)
    }
}
