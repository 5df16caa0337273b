//! A session that is played by processes of its own: started, killed, stopped, waited for; and what is known of those that do not end.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

/// A session that is played: processes by the number of their peer.
pub(super) struct Play {
    pub(super) lossy: Lossy,
    pub(super) group: Group,
    pub(super) running: Vec<Option<Child>>,
    lives: AtomicU64,
}

impl Play {
    /// Starts everybody; `more` are variables for one of them.
    pub(super) fn begin(lossy: Lossy, more: &[(usize, &str, &str)]) -> Self {
        // Two dozen processes on few cores may hear nothing of one another for a while.
        let grace = if lossy.members > 8 { 20 } else { GRACE };
        Self::waiting(lossy, more, grace)
    }

    /// The same where a member is given up that has been away for so many seconds.
    pub(super) fn waiting(lossy: Lossy, more: &[(usize, &str, &str)], grace: u64) -> Self {
        let plan = toml::Table::from_iter([
            ("averaging".to_owned(), "tree".into()),
            ("dropouts".to_owned(), toml::Table::new().into()),
        ]);
        let limit = if more.iter().any(|(_, name, _)| *name == HANGS) {
            STEP
        } else {
            60
        };
        let group = Group::planned(lossy.members, plan, (grace, limit));
        let mut play = Self {
            lossy,
            group,
            running: Vec::new(),
            lives: AtomicU64::new(0),
        };
        for peer in 0..usize::from(lossy.members) {
            let of = more.iter().filter(|(of, ..)| *of == peer);
            let child = play.start(peer, of.map(|(_, name, value)| (*name, *value)));
            play.running.push(Some(child));
        }
        play
    }

    /// A play in which one member is killed as soon as member 1 has charged this release.
    pub(super) fn losing(
        lossy: Lossy,
        more: &[(usize, &str, &str)],
        (victim, release): (usize, u32),
    ) -> Self {
        let mut play = Self::begin(lossy, more);
        play.until(1, &format!("charged {release};"));
        play.kill(victim);
        play
    }

    /// A play in which member 2 dies of itself at this point, and has.
    pub(super) fn dying(lossy: Lossy, at: &str) -> Self {
        let mut play = Self::begin(lossy, &[(2, DIES, at)]);
        let mut child = play.running[2].take().expect("it runs");
        assert!(!child.wait().expect("a child").success());
        play
    }

    fn start<'a>(&self, peer: usize, more: impl Iterator<Item = (&'a str, &'a str)>) -> Child {
        let state = &self.group.states[peer];
        let life = self.lives.fetch_add(1, Ordering::Relaxed);
        let log = self.group.path().join(format!("{state}.log{life}"));
        Command::new(std::env::current_exe().expect("this binary"))
            .args(["--exact", "node::member::tests::losses::one_lossy_member"])
            .args(["--ignored", "--nocapture"])
            .env(FOLDER, self.group.path())
            .env(STATE, state)
            .env(LOSSY, self.lossy.said())
            .env(SIDES, self.group.path().join("sides"))
            .envs(more)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(log).expect("a file"))
            .spawn()
            .expect("this binary")
    }

    /// Starts a member again that was killed.
    pub(super) fn again(&mut self, peer: usize) {
        let child = self.start(peer, std::iter::empty());
        self.running[peer] = Some(child);
    }

    /// Ends a process as a power failure would.
    pub(super) fn kill(&mut self, peer: usize) {
        let mut child = self.running[peer].take().expect("it runs");
        child.kill().expect("a child of ours");
        child.wait().expect("a child of ours");
    }

    /// Stops everybody but one, or has them go on: as a machine does that has too much to do, or is suspended.
    pub(super) fn signal_all(&self, but: usize, signal: &str) {
        for (peer, child) in self.running.iter().enumerate() {
            if let Some(child) = child.as_ref().filter(|_| peer != but) {
                let id = child.id().to_string();
                let told = Command::new("kill").args([signal, &id]).status();
                assert!(told.expect("kill").success());
            }
        }
    }

    pub(super) fn progress(&self, peer: usize) -> String {
        let state = &self.group.states[peer];
        fs::read_to_string(self.group.path().join(format!("{state}.progress"))).unwrap_or_default()
    }

    /// How long the file is that a member starts again with.
    pub(super) fn kept(&self, peer: usize) -> u64 {
        let state = self.group.path().join(&self.group.states[peer]);
        let mut sessions = fs::read_dir(state.join("sessions"))
            .expect("a folder")
            .flatten();
        let session = sessions.next().expect("it has begun").path();
        let kept = fs::metadata(session.join("recovery.bin"));
        kept.expect("it has not ended").len()
    }

    /// Waits until a member has said this.
    pub(super) fn until(&self, peer: usize, text: &str) {
        let mut clock = Clock::default();
        while !self.progress(peer).contains(text) {
            assert!(
                self.has_time(&mut clock, SAID),
                "{peer} has not said {text} within {clock}: {}",
                self.why()
            );
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether something may still come that takes so long at most. Time in which a process waited for a processor does not count: beside enough other work every thread of a play waits nine
    /// tenths of the time, and goes on.
    fn has_time(&self, clock: &mut Clock, limit: Duration) -> bool {
        let running = self.running.iter().flatten();
        clock.look(running.flat_map(|child| threads(child.id())));
        clock.counted < limit && clock.began.elapsed() < MOST * limit
    }

    /// What every process that runs is at, and all that everybody has said, for a test that fails.
    pub(super) fn why(&self) -> String {
        let mut text = String::new();
        for (peer, child) in self.running.iter().enumerate() {
            if let Some(child) = child {
                let _ = writeln!(text, "---- process of {peer}");
                for thread in threads(child.id()) {
                    let _ = writeln!(text, "{thread}");
                }
            }
        }
        for entry in fs::read_dir(self.group.path()).expect("a folder").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.contains(".log") || name.ends_with(".progress") || name.ends_with(".end") {
                let said = fs::read_to_string(entry.path()).unwrap_or_default();
                let _ = writeln!(text, "---- {name}\n{said}");
            }
        }
        text
    }

    /// Whether the process of a member runs.
    pub(super) fn runs(&mut self, peer: usize) -> bool {
        let child = self.running[peer].as_mut();
        child.is_some_and(|child| child.try_wait().expect("a child").is_none())
    }

    /// How everybody that runs ends, by peer; nothing of those that were killed.
    pub(super) fn ends(&mut self, limit: Duration) -> Vec<Option<String>> {
        let mut clock = Clock::default();
        for peer in 0..self.running.len() {
            while self.runs(peer) {
                assert!(
                    self.has_time(&mut clock, limit),
                    "{peer} has no end within {clock}: {}",
                    self.why()
                );
                std::thread::sleep(Duration::from_millis(5));
            }
            self.running[peer] = None;
        }
        let states = self.group.states.iter();
        let read = |state: &String| {
            fs::read_to_string(self.group.path().join(format!("{state}.end"))).ok()
        };
        states.map(read).collect()
    }

    /// Which tries a member has charged, by release and retry, and how its session ended.
    pub(super) fn charged(&self, peer: usize) -> (Vec<(u32, u32)>, Option<store::SessionEnd>) {
        let view = StateView::open(&self.group.path().join(&self.group.states[peer]));
        let ledger = view.expect("a peer").ledger().expect("it verifies");
        let Some((_, account)) = ledger.sessions().next() else {
            return (Vec::new(), None);
        };
        let price = self.lossy.price();
        for (which, charge) in &account.charged {
            assert!((charge.get() - price).abs() < 1e-15, "{which:?}");
        }
        let reserved = account.reservation.mu_squared.0.get();
        assert!(account.charged().get() <= reserved * (1.0 + 1e-9));
        let tries = account.charged.keys();
        (
            tries.map(|(release, retry)| (release.0, *retry)).collect(),
            account.ended,
        )
    }
}

impl Drop for Play {
    fn drop(&mut self) {
        for child in self.running.iter_mut().flatten() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// How long a member may take to say something, by the clock of a play.
const SAID: Duration = Duration::from_secs(90);

/// How often threads are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// However much the processes wait for a processor, they have an end within so many times what counts.
const MOST: u32 = 8;

/// Time less what the thread that waited most for a processor has waited since the last look.
struct Clock {
    began: Instant,
    counted: Duration,
    at: Instant,
    /// What every thread had waited then.
    waited: BTreeMap<PathBuf, Duration>,
}

impl Default for Clock {
    fn default() -> Self {
        let now = Instant::now();
        Self {
            began: now,
            counted: Duration::ZERO,
            at: now,
            waited: BTreeMap::new(),
        }
    }
}

impl Clock {
    fn look(&mut self, threads: impl Iterator<Item = Thread>) {
        let passed = self.at.elapsed();
        if passed < LOOK {
            return;
        }
        self.at += passed;
        let mut most = Duration::ZERO;
        for thread in threads {
            let before = self.waited.insert(thread.path, thread.waited);
            most = most.max(
                thread
                    .waited
                    .saturating_sub(before.unwrap_or(thread.waited)),
            );
        }
        self.counted += passed.saturating_sub(most);
    }
}

impl std::fmt::Display for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let whole = self.began.elapsed();
        write!(f, "{whole:?}, of which {:?} count", self.counted)
    }
}

/// A thread as the system sees it.
struct Thread {
    path: PathBuf,
    ran: Duration,
    /// For how long it could have run and did not.
    waited: Duration,
}

/// The threads of a process, where there is a Linux to ask; none elsewhere.
fn threads(process: u32) -> Vec<Thread> {
    let tasks = fs::read_dir(format!("/proc/{process}/task"));
    let thread = |path: PathBuf| {
        let times = fs::read_to_string(path.join("schedstat")).ok()?;
        let mut times = times.split(' ').map(|time| time.parse().ok());
        let mut next = || times.next().flatten().map(Duration::from_nanos);
        let (ran, waited) = (next()?, next()?);
        Some(Thread { path, ran, waited })
    };
    let tasks = tasks.into_iter().flatten().flatten();
    tasks.filter_map(|task| thread(task.path())).collect()
}

impl std::fmt::Display for Thread {
    /// What it is at, how long it has run, and how long it has waited: one that stands still does neither, one that is starved has waited.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let read = |name: &str| fs::read_to_string(self.path.join(name)).unwrap_or_default();
        let stat = read("stat");
        let state = stat.rsplit(") ").next().unwrap_or_default();
        write!(
            f,
            "{} {} in {}, call {}: ran {:?}, waited {:?}",
            read("comm").trim(),
            state.chars().next().unwrap_or('?'),
            read("wchan"),
            read("syscall").split(' ').next().unwrap_or_default().trim(),
            self.ran,
            self.waited
        )
    }
}
