//! How processes end and begin again: crashes, failing disks, restarts, and what their neighbours notice of them.

use crate::engine::event::faults::outcome::Moment;
use crate::protocol::tolerant::{Input, TolerantPeer};
use crate::vocabulary::PeerIndex;

use super::{FaultyError, Happening, Network};

impl Network<'_> {
    /// Suspicions without a reason that are counted from a crash of this peer, or from the beginning.
    pub(super) fn suspect(&mut self, crashed: Option<usize>) {
        let crashed = crashed.map(|u| u as u32);
        let schedule = self.schedule;
        let all = schedule.suspicions.iter();
        for suspicion in all.filter(|one| one.after_crash_of == crashed) {
            let (by, of) = (suspicion.by as usize, suspicion.of as usize);
            self.push(suspicion.micros, Happening::Suspicion(by, of));
        }
    }

    pub(super) fn crash(&mut self, u: usize) {
        self.outcome.fired.crashes += 1;
        self.note(u, Moment::Crashed);
        self.suspect(Some(u));
        let process = &mut self.processes[u];
        process.is_up = false;
        process.peer = None;
        process.counted = 0;
        let crash = process.crashes.pop_front();
        let again = crash.and_then(|crash| crash.restart_micros);
        if let Some(after) = again.filter(|_| process.end.end.is_none()) {
            self.push(after, Happening::Restart(u));
        }
        // Nobody says good-bye: neighbours wait for it for as long as they are patient with links.
        self.leave(u, self.schedule.grace_micros);
    }

    /// Its disk takes nothing more: it stops, and closes its connections.
    pub(super) fn fail_disk(&mut self, u: usize) {
        self.outcome.fired.disk_failures += 1;
        self.outcome.fired.cases.disk_lost += 1;
        self.note(u, Moment::DiskFailed);
        let process = &mut self.processes[u];
        process.is_up = false;
        process.peer = None;
        self.leave(u, self.schedule.notice_micros);
    }

    /// Neighbours find that it is gone, unless it is back by then.
    pub(super) fn leave(&mut self, u: usize, wait: u64) {
        let life = self.processes[u].life;
        for v in self.neighbours(u) {
            let after = wait + self.carrier.delay();
            self.push(after, Happening::Gone(v, u, life));
        }
    }

    pub(super) fn restart(&mut self, u: usize) -> Result<(), FaultyError> {
        self.outcome.fired.restarts += 1;
        self.note(u, Moment::Restarted);
        let (setup, start) = (self.setups[u].clone(), self.start_state());
        let (secrets, views) = (self.secrets(u), self.shared_views());
        let process = &mut self.processes[u];
        process.life += 1;
        process.is_up = true;
        process.view = None;
        let peer = TolerantPeer::recovered(setup, secrets, views, start, &process.disk)?;
        process.peer = Some(peer.with_defect(self.views.defect));
        let me = PeerIndex::from_index(u);
        for v in self.neighbours(u) {
            let other = self.processes[v]
                .peer
                .as_ref()
                .filter(|_| self.processes[v].is_up);
            match other.map(|peer| peer.takes(me)) {
                Some(true) => self.tell(v, Input::Returned(me))?,
                Some(false) => self.push(self.schedule.notice_micros, Happening::Suspicion(u, v)),
                None => {
                    let (wait, life) = (self.schedule.grace_micros, self.processes[v].life);
                    self.push(wait, Happening::Gone(u, v, life));
                }
            }
        }
        self.tell(u, Input::Start)
    }
}
