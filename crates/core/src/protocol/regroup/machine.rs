//! A member's part in the agreement, as a state machine: records, suspicions and time in; records, and what to do next, out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::attempt::Attempt;
use super::certificate::{Certificate, SIGNATURE_LEN};
use super::defect::Defect;
use super::history::Histories;
use super::interface::{End, Input, Output, RegroupSetup};
use super::paths::Paths;
use super::record::{Disruptions, Durable, MOST_RESTARTS, Onward, Record, Statement};
use super::resume::{Resume, View, resume};
use super::sets::LinkIndex;
use super::signed::Signed;
use crate::vocabulary::{PeerIndex, ReleaseId, Span, Time};

/// One part in so many of its patience is how long a member waits, before it states what has gone wrong, for what else has.
const SETTLING: u64 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Waiting,
    Running,
    Frozen,
    Ended(End),
}

/// One member.
#[derive(Clone, Debug)]
pub struct Regroup {
    pub(super) setup: RegroupSetup,
    pub(super) known: Disruptions,
    /// The view of what was known when it was last asked for.
    upcoming: Option<View>,
    pub(super) stage: Stage,
    pub(super) views: Vec<View>,
    serial: u64,
    /// The newest statement of each member.
    pub(super) stated: BTreeMap<PeerIndex, Signed>,
    /// Who is proved to deviate: what it states is not heard any more.
    pub(super) proven: BTreeSet<PeerIndex>,
    pub(super) done: ReleaseId,
    pub(super) retries: u32,
    sent: Option<Attempt>,
    pub(super) certified: BTreeMap<Attempt, Certificate>,
    /// Who says that it holds what was published in an attempt, with its signature, for attempts at the last two releases.
    pub(super) held: BTreeMap<Attempt, BTreeMap<PeerIndex, [u8; SIGNATURE_LEN]>>,
    pub(super) current: Option<Attempt>,
    /// Digests of what was released up to each of the last releases.
    pub(super) released: Histories,
    /// Cuts and restarts as they were signed, for whoever comes back without them.
    pub(super) heard: Vec<Signed>,
    /// Whom this member passes words on to in the present view.
    pub(super) paths: Option<Paths>,
    /// Words that all neighbours were told.
    pub(super) told: BTreeSet<(Attempt, PeerIndex)>,
    /// The timer after which this member states what it knows by then to have gone wrong.
    settles: Option<u64>,
    /// The timer after which it waits no longer for its neighbours' statements.
    waits: Option<u64>,
    /// Timers that it has asked for.
    timers: u64,
    /// Who says that it has finished, with its signature.
    pub(super) over: BTreeMap<PeerIndex, Signed>,
    /// Neighbours that were shown, after the end, that all are done.
    pub(super) shown: BTreeSet<PeerIndex>,
    pub(in crate::protocol) defect: Option<Defect>,
}

impl Regroup {
    /// A member of a session that begins.
    #[must_use]
    pub fn new(setup: RegroupSetup) -> Self {
        let (peers, links) = (setup.links.peers(), setup.links.len());
        let known = Disruptions::none(peers, links);
        let view = View::of(known.clone(), &setup.links, &setup.tolerance);
        Self {
            known,
            upcoming: None,
            stage: Stage::Waiting,
            views: vec![view],
            serial: 0,
            stated: BTreeMap::new(),
            proven: BTreeSet::new(),
            done: ReleaseId(0),
            retries: 0,
            sent: None,
            certified: BTreeMap::new(),
            held: BTreeMap::new(),
            current: None,
            released: Histories::default(),
            heard: Vec::new(),
            paths: None,
            told: BTreeSet::new(),
            settles: None,
            waits: None,
            timers: 0,
            over: BTreeMap::new(),
            shown: BTreeSet::new(),
            defect: None,
            setup,
        }
    }

    /// A member that starts again with what it had on its disk, in the order in which it was written.
    #[must_use]
    pub fn recovered(setup: RegroupSetup, durable: impl IntoIterator<Item = Durable>) -> Self {
        let mut member = Self::new(setup);
        // It states where it stands anew; the restart is what makes everybody else do so.
        let me = member.setup.me;
        member.known.restarts[me.index()] = 1;
        for record in durable {
            member.done = record.done(member.done);
            match record {
                Durable::Stated { serial, statement } => {
                    member.serial = serial;
                    member.retries = statement.retries;
                    let restarts = statement.disruptions.restarts()[me.index()];
                    member.known = statement.disruptions;
                    member.known.restarts[me.index()] = restarts.saturating_add(1);
                }
                Durable::Decided {
                    disruptions,
                    history,
                    onward,
                    retries,
                } => {
                    member.retries = retries;
                    let (links, tolerance) = (&member.setup.links, &member.setup.tolerance);
                    let view = View::of(disruptions, links, tolerance);
                    member.views.push(view.after(history));
                    if let Some(onward) = onward {
                        member.void(onward);
                    }
                }
                Durable::Held(attempt) => {
                    let origin = me;
                    let word = member.signed(Record::Held { origin, attempt });
                    member.note_held(attempt, me, word.signature);
                }
                Durable::Sent(attempt) => member.sent = Some(attempt),
                Durable::Certified(certificate) => {
                    let attempt = certificate.attempt();
                    let held = member.held.entry(attempt).or_default();
                    held.extend(certificate.signatures());
                    member.certified.insert(attempt, certificate);
                }
                Durable::Done(release) => member.note_released(release),
            }
        }
        member.forget();
        member
    }

    /// The view that was decided last.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.views[self.views.len() - 1]
    }

    /// A view that was decided, by its number.
    #[cfg(any(test, feature = "testing"))]
    pub(in crate::protocol) fn view_with(&self, number: super::ViewNumber) -> Option<&View> {
        self.views.iter().rfind(|view| view.number == number)
    }

    /// What is known to have gone wrong.
    #[must_use]
    pub fn known(&self) -> &Disruptions {
        &self.known
    }

    /// How it has ended, if it has.
    #[must_use]
    pub fn end(&self) -> Option<End> {
        match self.stage {
            Stage::Ended(end) => Some(end),
            _ => None,
        }
    }

    /// Whether members are agreeing on what has gone wrong.
    #[must_use]
    pub fn is_frozen(&self) -> bool {
        self.stage == Stage::Frozen
    }

    /// The whole interface: one input, all outputs in `out`.
    pub fn handle(&mut self, input: Input, now: Time, out: &mut Vec<Output>) {
        if let Stage::Ended(end) = self.stage {
            return self.after_the_end(end, input, now, out);
        }
        match input {
            Input::Start => self.start(now, out),
            Input::Heard { from, record } => self.hear(from, record, now, out),
            Input::Suspect(neighbour) => self.suspect(neighbour, now, out),
            Input::Returned(neighbour) if self.is_cut(neighbour) => {}
            Input::Returned(neighbour) => self.inform(neighbour, out),
            Input::Sending(attempt) if self.is_current(attempt) && self.may_publish(attempt) => {
                self.sent = Some(attempt);
                out.push(Output::Persist(Durable::Sent(attempt)));
            }
            Input::Holding(_)
                if self
                    .defect
                    .is_some_and(|defect| defect.cuts_a_link(&self.known)) =>
            {
                let open = self.connected().pop();
                open.into_iter().for_each(|one| self.suspect(one, now, out));
            }
            Input::Holding(attempt) if self.is_current(attempt) => self.hold(attempt, out),
            Input::Averaged(release) if self.is_due(release) => self.averaged(release, out),
            Input::Timer(number) if self.settles == Some(number) => self.state(now, out),
            Input::Timer(number) if self.waits == Some(number) => self.lose_patience(now, out),
            Input::Timer(_) => {}
            // What the driver was about to do has been overtaken.
            Input::Sending(_) | Input::Holding(_) | Input::Averaged(_) => {}
        }
    }

    pub(super) fn is_current(&self, attempt: Attempt) -> bool {
        self.stage == Stage::Running && self.current == Some(attempt)
    }

    fn is_due(&self, release: ReleaseId) -> bool {
        let current = self.current.filter(|at| self.certified.contains_key(at));
        self.stage == Stage::Running && current.is_some_and(|at| at.release == release)
    }

    fn start(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.stage != Stage::Waiting {
            return;
        }
        let me = self.setup.me;
        let count = self.known.restarts[me.index()];
        if count == 0 {
            self.stage = Stage::Running;
            let retries = self.retries;
            let attempt = Attempt {
                release: ReleaseId(1),
                retry: retries,
                view: self.view().number,
            };
            return self.go_on(Resume::Begin { attempt, retries }, out);
        }
        if count > MOST_RESTARTS {
            return self.finish(End::Restarts, out);
        }
        let restart = self.signed(Record::Restart { origin: me, count });
        self.freeze(now, Some(restart), out);
    }

    fn hear(&mut self, from: PeerIndex, signed: Signed, now: Time, out: &mut Vec<Output>) {
        let origin = signed.record.origin();
        if origin.index() >= self.setup.links.peers() || self.is_cut(from) {
            return;
        }
        // Signatures are looked at last: most of what comes was here before.
        match signed.record {
            Record::Cut { link, .. } => {
                let ends = self.setup.links.ends(link);
                let is_end = ends.is_some_and(|(u, v)| u == origin || v == origin);
                if is_end && !self.known.cuts.contains(link) && self.is_signed(&signed) {
                    self.known.cuts.insert(link);
                    self.flood(signed, Some(from), out);
                    self.close(link, out);
                    self.freeze(now, None, out);
                }
            }
            Record::Restart { count, .. } => {
                let known = self.known.restarts[origin.index()];
                if known < count && count <= MOST_RESTARTS && self.is_signed(&signed) {
                    self.known.restarts[origin.index()] = count;
                    self.flood(signed, Some(from), out);
                    self.freeze(now, None, out);
                }
            }
            Record::Statement { serial, .. } => {
                self.heard_statement((from, serial), signed, now, out)
            }
            Record::Held { attempt, .. } => {
                // Frozen members collect them too: somebody else's certificate is checked by them.
                let held = self.held.get(&attempt);
                let known = held.and_then(|held| held.get(&origin)).copied();
                let may_say = self.may_come(attempt) && self.view().members.contains(origin);
                match known {
                    _ if !may_say => {}
                    // Not all neighbours have a word that came before this member froze.
                    Some(signature) if self.stage == Stage::Frozen => {
                        let record = signed.record;
                        self.pass_on(Signed { record, signature }, Some(from), out);
                    }
                    Some(_) => {}
                    None if self.is_signed(&signed) => {
                        self.note_held(attempt, origin, signed.signature);
                        self.pass_on(signed, Some(from), out);
                        self.certify(out);
                        self.end_if_all_are_done(out);
                        self.decide(out);
                    }
                    None => {}
                }
            }
            Record::Finished { .. } => self.heard_finished(from, signed, now, out),
        }
    }

    /// Which neighbour has started again, and for the how manieth time, if this record says so and that is not known yet: its driver drops what is
    /// under way to the life before.
    #[must_use]
    pub fn news_of_restart(&self, signed: &Signed) -> Option<(PeerIndex, u8)> {
        let Record::Restart { origin, count } = signed.record else {
            return None;
        };
        let known = *self.known().restarts().get(origin.index())?;
        let is_news = known < count && count <= MOST_RESTARTS && !self.is_cut(origin);
        (is_news && self.is_signed(signed)).then_some((origin, count))
    }

    /// Asks to be called at this time.
    fn wake(&mut self, at: Time, out: &mut Vec<Output>) -> Option<u64> {
        self.timers += 1;
        out.push(Output::Wake(self.timers, at));
        Some(self.timers)
    }

    /// Sends a record to all neighbours but `except`, from whom it came. Before anything is done about it: whoever hears of what follows
    /// from it has then heard of it.
    pub(super) fn flood(
        &mut self,
        record: Signed,
        except: Option<PeerIndex>,
        out: &mut Vec<Output>,
    ) {
        if matches!(record.record, Record::Cut { .. } | Record::Restart { .. }) {
            self.heard.push(record.clone());
        }
        let mut to = self.connected();
        to.retain(|neighbour| Some(*neighbour) != except);
        out.push(Output::Send { to, record });
    }

    /// Neighbours over links that are not cut, members or not.
    fn connected(&self) -> Vec<PeerIndex> {
        let list = self.setup.links.neighbours(self.setup.me).iter();
        let open = list.filter(|(_, link)| !self.known.cuts.contains(*link));
        open.map(|(neighbour, _)| *neighbour).collect()
    }

    /// Whether the link to a neighbour is cut, or there is none: nothing is taken from it any more.
    #[must_use]
    pub fn is_cut(&self, neighbour: PeerIndex) -> bool {
        let link = self.setup.links.between(self.setup.me, neighbour);
        link.is_none_or(|link| self.known.cuts.contains(link))
    }

    pub(super) fn suspect(&mut self, neighbour: PeerIndex, now: Time, out: &mut Vec<Output>) {
        let Some(link) = self.setup.links.between(self.setup.me, neighbour) else {
            return;
        };
        if !self.known.cuts.contains(link) {
            self.give_up(&[link], now, out);
        }
    }

    /// Cuts links of this member's own.
    fn give_up(&mut self, links: &[LinkIndex], now: Time, out: &mut Vec<Output>) {
        let origin = self.setup.me;
        for &link in links {
            self.known.cuts.insert(link);
            self.flood(self.signed(Record::Cut { link, origin }), None, out);
            self.close(link, out);
        }
        self.freeze(now, None, out);
    }

    fn close(&self, link: LinkIndex, out: &mut Vec<Output>) {
        let Some((u, v)) = self.setup.links.ends(link) else {
            return;
        };
        if u == self.setup.me {
            out.push(Output::Cut(v));
        } else if v == self.setup.me {
            out.push(Output::Cut(u));
        }
    }

    /// Something new has gone wrong: stops, and says a little later where it stands. What goes wrong seldom comes alone (all neighbours of a process that is gone give up
    /// their links to it), and whatever else is known by then is stated with it.
    fn freeze(&mut self, now: Time, first: Option<Signed>, out: &mut Vec<Output>) {
        let view = self.next_view();
        if view.members.len() < self.setup.tolerance.floor {
            return self.finish(End::Floor, out);
        }
        if !view.members.contains(self.setup.me) {
            return self.finish(End::Excluded, out);
        }
        self.stage = Stage::Frozen;
        out.push(Output::Freeze);
        if let Some(first) = first {
            self.flood(first, None, out);
        }
        self.waits = None;
        if self.settles.is_none() {
            let patience = self.setup.patience.0 / SETTLING;
            self.settles = self.wake(now + Span(patience), out);
        }
        self.end_if_all_are_done(out);
    }

    /// States where it stands.
    fn state(&mut self, now: Time, out: &mut Vec<Output>) {
        self.settles = None;
        if self.stage != Stage::Frozen {
            return;
        }
        // Before a claim whatever shows it.
        let newest = self.certified.last_key_value();
        let shown = newest.map(|(attempt, certificate)| (*attempt, certificate.clone()));
        if let Some((attempt, certificate)) = shown {
            for (origin, signature) in certificate.signatures() {
                let record = Record::Held { origin, attempt };
                self.pass_on(Signed { record, signature }, None, out);
            }
        }
        self.serial += 1;
        let (serial, origin) = (self.serial, self.setup.me);
        let statement = Statement {
            disruptions: self.known.clone(),
            done: self.done,
            certified: self.certified.keys().copied().collect(),
            sent: self.sent,
            retries: self.retries,
        };
        let statement = match self.defect {
            None => statement,
            Some(defect) => defect.statement(statement),
        };
        out.push(Output::Persist(Durable::Stated {
            serial,
            statement: statement.clone(),
        }));
        let statement = self.signed(Record::Statement {
            origin,
            serial,
            statement,
        });
        self.stated.insert(origin, statement.clone());
        self.flood(statement, None, out);
        self.waits = self.wake(now + self.setup.patience, out);
        self.decide(out);
    }

    /// Whether a member says just what is known here, and nothing of it without the records that show it.
    fn agrees(&self, member: PeerIndex) -> bool {
        self.statement_of(member).is_some_and(|(_, statement)| {
            // No release before one that was certified is taken again: everybody had done it.
            let newest = self.certified.last_key_value();
            let oldest = newest.map_or(self.done, |(at, _)| self.done.max(at.release));
            let is_past = |at: &Attempt| at.release < oldest;
            let shown = |at: &Attempt| {
                is_past(at) || self.certified.contains_key(at) || self.is_certificate(*at)
            };
            statement.disruptions == self.known && statement.certified.iter().all(shown)
        })
    }

    /// How many tries have been charged anew in the session.
    #[must_use]
    pub fn retries(&self) -> u32 {
        self.retries
    }

    /// Goes on, if all who are left say the same.
    pub(super) fn decide(&mut self, out: &mut Vec<Output>) {
        if self.stage != Stage::Frozen {
            return;
        }
        let view = self.next_view();
        let agreeing = view.members.iter().filter(|member| self.agrees(*member));
        let agreeing: Vec<PeerIndex> = agreeing.collect();
        let count = agreeing.len();
        let is_decided = match self.defect {
            Some(defect) if defect.decides(count, &self.setup.links) => true,
            _ => count == view.members.len(),
        };
        if !is_decided {
            return;
        }
        let statements: Vec<&Statement> = agreeing
            .iter()
            .filter_map(|member| Some(self.statement_of(*member)?.1))
            .collect();
        let rule = (&*self.setup.links, &*self.setup.tolerance, self.setup.last);
        let Some(resume) = resume(rule, (&view, &self.views), &statements) else {
            // Whoever is part of an attempt has decided its view: this member's disk has lost something.
            return self.finish(End::Missed, out);
        };
        let Some(history) = self.history_before(&resume) else {
            return self.finish(End::Missed, out);
        };
        // Certificates that others have are certificates.
        let shown = statements.iter().flat_map(|one| one.certified.clone());
        for attempt in shown.collect::<Vec<_>>() {
            if !self.certified.contains_key(&attempt) {
                self.note_certified(attempt, out);
            }
        }
        out.push(Output::Persist(Durable::Decided {
            disruptions: self.known.clone(),
            history,
            onward: resume.onward(),
            retries: match &resume {
                Resume::Begin { retries, .. } | Resume::Average { retries, .. } => *retries,
                Resume::Finished | Resume::Lost { .. } => self.retries,
            },
        }));
        self.views.push(view.after(history));
        self.stage = Stage::Running;
        self.go_on(resume, out);
    }

    /// The view of all that is known to have gone wrong: the one that members agree on next.
    fn next_view(&mut self) -> View {
        let same = self.upcoming.take();
        let same = same.filter(|view| view.disruptions == self.known);
        let view = same.unwrap_or_else(|| {
            View::of(self.known.clone(), &self.setup.links, &self.setup.tolerance)
        });
        self.upcoming.insert(view).clone()
    }

    fn go_on(&mut self, resume: Resume, out: &mut Vec<Output>) {
        let (attempt, retries) = match resume {
            Resume::Begin { attempt, retries }
            | Resume::Average {
                attempt, retries, ..
            } => (attempt, retries),
            Resume::Finished => return self.finish(End::Finished, out),
            Resume::Lost { .. } => return self.finish(End::Lost, out),
        };
        let is_begun = matches!(resume, Resume::Begin { .. });
        if is_begun && !self.may_publish(attempt) {
            return self.finish(End::Published, out);
        }
        if let Some(onward) = resume.onward() {
            self.take_back(onward);
        }
        self.current = Some(attempt);
        self.retries = retries;
        let view = Arc::new(self.view().clone());
        out.push(Output::Resume { view, resume });
    }

    /// Whether this member may contribute to an attempt. In the open it never publishes two attempts of one try, whatever others state.
    fn may_publish(&self, attempt: Attempt) -> bool {
        if self.defect.is_some_and(Defect::publishes_again) {
            return true;
        }
        !self.setup.tolerance.is_open() || self.sent.is_none_or(|last| attempt.may_follow(last))
    }

    fn averaged(&mut self, release: ReleaseId, out: &mut Vec<Output>) {
        self.done = release;
        self.note_released(release);
        out.push(Output::Persist(Durable::Done(release)));
        let attempt = Attempt {
            release: release.next(),
            retry: self.retries,
            view: self.view().number,
        };
        self.current = Some(attempt);
        self.forget();
        if release == self.setup.last {
            // Nobody leaves before all have all sums: others may need this member to average again.
            return self.hold(attempt, out);
        }
        let retries = self.retries;
        self.go_on(Resume::Begin { attempt, retries }, out);
    }

    /// What all go on with takes back sums and certificates, if they were here.
    fn take_back(&mut self, onward: Onward) {
        self.void(onward);
        if self.defect.is_some_and(Defect::keeps_old_sums) {
            return;
        }
        self.done = onward.keeps(self.done);
    }

    /// What was certified at a release that is tried anew, or after it, is void: its contributions are lost.
    fn void(&mut self, onward: Onward) {
        if let Onward::Anew(release) = onward {
            self.certified.retain(|at, _| at.release < release);
        }
    }

    /// Forgets what no statement can be about any more.
    pub(super) fn forget(&mut self) {
        let oldest = self.done.0.saturating_sub(1);
        self.certified.retain(|at, _| at.release.0 > oldest);
        self.held.retain(|at, _| at.release.0 > oldest);
        self.told.retain(|(at, _)| at.release.0 > oldest);
        self.released.forget_before(ReleaseId(oldest));
    }

    /// Gives up the neighbours that have not said the same in time; where none of them is a neighbour, waits on.
    fn lose_patience(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.stage != Stage::Frozen {
            return;
        }
        let view = self.next_view();
        let late = |peer: &PeerIndex| view.members.contains(*peer) && !self.agrees(*peer);
        let list = self.setup.links.neighbours(self.setup.me).iter();
        let cut: Vec<LinkIndex> = list
            .filter(|(peer, link)| late(peer) && !self.known.cuts.contains(*link))
            .map(|(_, link)| *link)
            .collect();
        match cut.is_empty() {
            true => self.waits = self.wake(now + self.setup.patience, out),
            false => self.give_up(&cut, now, out),
        }
    }
}
