//! Sessions that tolerate losses, over real processes: killed, killed and started again, cut off from one another, out of disk, with clocks that jump.
//!
//! Noise is that of a seed, in every view, so that what comes out must be, to the bit, what the engine without peers makes of the contributions of those who took
//! part.

mod campaign;
mod disks;
mod noise;
mod partitions;
mod play;

use std::fmt::Write as _;
use std::io::Write as _;

use self::play::Play;
use super::defects::{CLAIMS, COMPACT, DIES, HANGS, JUMPS, ROOM, SIDES};
use super::*;
use crate::algorithm::PublicState;
use crate::engine::event::faults::{FaultyOutcome, testing::averaged};
use crate::engine::{PublicViews, SessionViews};
use crate::linalg::orthonormalise;
use crate::node::member::setup::Tolerant;
use crate::protocol::regroup::{
    Attempt, Durable, Heir, Publication, RegroupSetup, Tolerance, View, ViewNumber,
};
use crate::protocol::tolerant::{DiskRecord, Format};
use crate::protocol::{CollectingOutbox, Event, Input, Peer};
use crate::vocabulary::{ReleaseId, Span, Time};

/// Retries of every session.
const RETRIES: u32 = 6;
/// Seconds that a lost connection may take to come back.
const GRACE: u64 = 4;
/// Seconds that a member that is connected may keep others waiting, where one does.
const STEP: u64 = 6;
/// Says what session a process is in.
const LOSSY: &str = "UNDERTONE_TEST_LOSSY";

/// A session that tolerates losses.
#[derive(Clone, Copy, Debug)]
struct Lossy {
    members: u16,
    lost: usize,
    is_sealed: bool,
    iterations: u32,
}

impl Lossy {
    const fn of(members: u16, lost: usize, iterations: u32) -> Self {
        Self {
            members,
            lost,
            is_sealed: false,
            iterations,
        }
    }

    const fn sealed(self) -> Self {
        Self {
            is_sealed: true,
            ..self
        }
    }

    fn said(self) -> String {
        let Self {
            members,
            lost,
            is_sealed,
            iterations,
        } = self;
        format!("{members} {lost} {} {iterations}", u8::from(is_sealed))
    }

    fn read(said: &str) -> Self {
        let numbers: Vec<u32> = said
            .split(' ')
            .map(|number| number.parse().expect("a number"))
            .collect();
        let [members, lost, sealed, iterations] = numbers[..] else {
            panic!("{said}");
        };
        Self {
            members: members as u16,
            lost: lost as usize,
            is_sealed: sealed == 1,
            iterations,
        }
    }

    /// Everybody is a neighbour of the four next ones on either side, which is everybody among up to nine.
    fn session(self) -> Session {
        session_on(
            u32::from(self.members),
            4,
            self.iterations,
            AveragingKind::Tree,
        )
    }

    fn views(self) -> SessionViews {
        SessionViews::new(self.session(), AveragingKind::Tree.into())
    }

    fn tolerance(self, session: &Session) -> Tolerance {
        let links = session.public().links().expect("a graph");
        match self.is_sealed {
            true => Tolerance::sealed(&links, (1, self.lost), RETRIES).expect("enough neighbours"),
            false => Tolerance {
                colluders: 1,
                floor: usize::from(self.members) - self.lost,
                needs: vec![1; usize::from(self.members)],
                retries: RETRIES,
                publication: Publication::Open,
            },
        }
    }

    /// How views are written down between processes.
    fn format(self, views: &SessionViews) -> (Format, RegroupSetup) {
        let setup = RegroupSetup {
            me: PeerIndex(0),
            session: views.session().plan().session(),
            signatures: views.signatures(PeerIndex(0)),
            links: Arc::new(views.session().public().links().expect("a graph")),
            tolerance: Arc::new(self.tolerance(views.session())),
            last: ReleaseId(self.iterations),
            patience: Span(1),
        };
        (Format::new(&setup, views.session().plan()), setup)
    }

    /// μ² of one release.
    fn price(self) -> f64 {
        WHOLE / f64::from(self.iterations + RETRIES)
    }
}

/// Plans the same session whatever was agreed on.
struct Plans(Lossy);

impl Planner for Plans {
    fn offer(&self) -> Result<Offer, String> {
        Fixed(self.0.session(), Scene::Seeded).offer()
    }

    fn plan(&self, assembled: &Assembled) -> Result<Planned, String> {
        let session = self.0.session();
        let part = Square::new(self.0.price()).expect("a square");
        let planned = Fixed(session.clone(), Scene::Seeded).plan(assembled)?;
        Ok(Planned {
            charges: vec![part; self.0.iterations as usize],
            tolerant: Some(Tolerant {
                tolerance: Arc::new(self.0.tolerance(&session)),
                views: Arc::new(PublicViews::new(
                    planned.session.clone(),
                    AveragingKind::Tree.into(),
                )),
            }),
            ..planned
        })
    }

    fn result(&self) -> Result<ResultRule, String> {
        Ok(ResultRule::of(self.0.session().public(), 1))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("digits");
    (0..text.len()).step_by(2).map(byte).collect()
}

/// What a member says of its course: the views it went on in, and of which attempt every sum is.
fn course(lossy: Lossy, result: &MemberResult) -> String {
    let views = lossy.views();
    let (format, _) = lossy.format(&views);
    let bytes = |view: &View| {
        let disruptions = view.disruptions.clone();
        let decided = Durable::Decided {
            disruptions,
            history: view.history,
            onward: None,
            retries: 0,
        };
        hex(&format.record_bytes(&DiskRecord::Regroup(decided)))
    };
    let mut text = String::new();
    for view in &result.views {
        let _ = writeln!(text, "view {}", bytes(view));
    }
    for (release, taken) in &result.taken {
        let statistic = result.releases.iter().find(|one| one.release == *release);
        let statistic = statistic.expect("released").statistic;
        let heirs = taken.heirs.iter();
        let heirs: Vec<String> = heirs
            .map(|heir| format!("{}>{}", heir.lost.0, heir.heir.0))
            .collect();
        let _ = writeln!(
            text,
            "taken {} {} {} {} {:x} {}",
            release.0,
            taken.attempt.retry,
            taken.attempt.view.0,
            bytes(&taken.view),
            statistic.to_bits(),
            heirs.join(",")
        );
    }
    text
}

/// One member, in a process of its own.
#[test]
#[ignore = "started by other tests, with a folder to work in"]
fn one_lossy_member() {
    let variable = |name| std::env::var(name).ok();
    let (Some(folder), Some(state), Some(lossy)) =
        (variable(FOLDER), variable(STATE), variable(LOSSY))
    else {
        return;
    };
    // For a play that fails: what hosts and links had to say.
    let _ = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(std::io::stderr)
        .try_init();
    tracing::debug!("begun");
    let lossy = Lossy::read(&lossy);
    defects::begin();
    let defect = defects::of_process(Scene::Seeded, lossy.views());
    let folder = PathBuf::from(folder);
    let file = fs::read(folder.join("session.toml")).expect("there");
    let invitation = Invitation::read(&file).expect("a session");
    let dir = StateDir::open(&folder.join(&state)).expect("a peer");
    let own = dir.identity().expect("a key").id();
    let mut members = invitation.members.iter();
    let index = members.position(|member| member.id == own);
    let index = index.expect("invited");
    let listen = invitation.members[index].addresses.clone();
    let setup = MemberSetup {
        policy: dir.view().policy().expect("a policy"),
        state: dir,
        listen,
        scope: "default".parse().expect("a scope"),
        rows: MemberRows::made(
            lossy
                .session()
                .peer_setup(PeerIndex::from_index(index), None)
                .rows,
        ),
        planner: Arc::new(Plans(lossy)),
        closes_in: LIMIT,
        invitation,
    };
    let path = folder.join(format!("{state}.progress"));
    let mut log = File::options()
        .append(true)
        .create(true)
        .open(path)
        .expect("a file");
    let ended = take_part(setup, defect, &mut |progress| {
        let line = match &progress {
            Progress::Charged { release, .. } => {
                format!("charged {};", release.0)
            }
            other => format!("{other:?}"),
        };
        writeln!(log, "{line}").expect("written");
    });
    let text = match ended {
        Ok(MemberEnd::Done(result)) => {
            assert_eq!(result.releases.len(), lossy.iterations as usize);
            let text = course(lossy, &result);
            fs::write(folder.join(format!("{state}.course")), text).expect("written");
            format!("0 {}", told(&result))
        }
        Ok(MemberEnd::Before) => "before".to_owned(),
        Err(error) => format!("{} {error}", error.exit_code()),
    };
    let path = folder.join(format!("{state}.writes"));
    fs::write(path, store::Defect::writes().to_string()).expect("written");
    fs::write(folder.join(format!("{state}.end")), text).expect("written");
}

/// What the engine without peers makes of a course.
struct Course {
    lossy: Lossy,
    views: SessionViews,
    known: BTreeMap<ViewNumber, Arc<View>>,
    /// By release: of which attempt its sum is, and where it was averaged.
    taken: BTreeMap<u32, (Attempt, Arc<View>, Vec<Heir>, f64)>,
}

impl Course {
    /// Reads what members say, who must say the same.
    fn of(play: &Play, ends: &[Option<String>]) -> Self {
        let lossy = play.lossy;
        let views = lossy.views();
        let (format, setup) = lossy.format(&views);
        let view = |text: &str| {
            let record = format.record(&unhex(text)).expect("a record");
            let DiskRecord::Regroup(Durable::Decided {
                disruptions,
                history,
                ..
            }) = record
            else {
                panic!("{text}");
            };
            let view = View::of(disruptions, &setup.links, &setup.tolerance);
            Arc::new(view.after(history))
        };
        let mut course = Self {
            lossy,
            views,
            known: BTreeMap::new(),
            taken: BTreeMap::new(),
        };
        for (peer, end) in ends.iter().enumerate() {
            if !end.as_ref().is_some_and(|end| end.starts_with("0 ")) {
                continue;
            }
            let state = &play.group.states[peer];
            let path = play.group.path().join(format!("{state}.course"));
            let text = fs::read_to_string(path).expect("a course");
            for line in text.lines() {
                let words: Vec<&str> = line.split(' ').collect();
                match words[..] {
                    ["view", bytes] => {
                        let view = view(bytes);
                        course.known.insert(view.number, view);
                    }
                    ["taken", release, retry, at, now, statistic, heirs] => {
                        let number = |text: &str| text.parse::<u32>().expect("a number");
                        let attempt = Attempt {
                            release: ReleaseId(number(release)),
                            retry: number(retry),
                            view: ViewNumber(at.parse().expect("a number")),
                        };
                        let heirs = heirs.split(',').filter(|heir| !heir.is_empty());
                        let heirs = heirs.map(|heir| {
                            let (lost, heir) = heir.split_once('>').expect("two");
                            Heir {
                                lost: PeerIndex(number(lost)),
                                heir: PeerIndex(number(heir)),
                            }
                        });
                        let bits = u64::from_str_radix(statistic, 16).expect("bits");
                        let taken = (attempt, view(now), heirs.collect(), f64::from_bits(bits));
                        let first = course.taken.entry(number(release)).or_insert(taken);
                        assert_eq!(first.0, attempt, "two members took different sums");
                    }
                    _ => panic!("{line}"),
                }
            }
        }
        course
    }

    /// The basis after the last release, in bits.
    fn bits(&self) -> Vec<u64> {
        let session = self.views.session();
        let mut state = PublicState::new(Arc::clone(session.start()));
        for release in 1..=self.lossy.iterations {
            let (attempt, now, heirs, statistic) = &self.taken[&release];
            let then = &self.known[&attempt.view];
            let mut outcome = FaultyOutcome::default();
            outcome
                .parts
                .insert(*attempt, (Arc::clone(then), attempt.retry));
            outcome.heirs.insert((now.number, *attempt), heirs.clone());
            let made = self.views.of(then).expect("a session");
            for (place, member) in made.members().iter().enumerate() {
                let setup = made
                    .session()
                    .peer_setup(PeerIndex::from_index(place), None);
                let planned = setup.plan.release(attempt.release).expect("planned");
                let agreed = planned.agrees().then_some(*statistic);
                let before = PublicState {
                    agreed,
                    ..state.clone()
                };
                let mut peer = Peer::new(setup).expect("fits").after(before).expect("fits");
                let mut said = CollectingOutbox::default();
                peer.handle(Input::Start, Time(0), &mut said)
                    .expect("starts");
                let input = said.events.into_iter().find_map(|event| match event {
                    Event::Published { input, .. } => Some(input),
                    _ => None,
                });
                let input = input.expect("it contributes at once");
                outcome.published.insert((*attempt, *member), input);
            }
            let sums = averaged(&self.views, &outcome, (*attempt, now)).expect("averaged");
            let sum = sums.into_values().next().expect("somebody");
            let (rows, columns) = session.plan().release(attempt.release).expect("it").shape();
            let basis = orthonormalise(&Block::from_values(rows, columns, sum));
            state = PublicState {
                query: Arc::new(basis.expect("full rank")),
                released: release,
                ..state
            };
        }
        state.query.values().iter().map(|x| x.to_bits()).collect()
    }
}

/// What must hold of every play: whoever finishes has the bits of the engine without peers, and every ledger has what may have left, at its price. Who finished.
fn check(play: &Play, ends: &[Option<String>]) -> Vec<usize> {
    let finished: Vec<usize> = (0..ends.len())
        .filter(|peer| {
            ends[*peer]
                .as_ref()
                .is_some_and(|end| end.starts_with("0 "))
        })
        .collect();
    for peer in 0..ends.len() {
        let (tries, _) = play.charged(peer);
        assert!(tries.iter().all(|(_, retry)| *retry <= RETRIES));
        if finished.contains(&peer) {
            let all = (1..=play.lossy.iterations).all(|l| tries.iter().any(|(of, _)| *of == l));
            assert!(all, "{peer} finished and has not paid: {tries:?}");
        }
    }
    if finished.is_empty() {
        return finished;
    }
    let course = Course::of(play, ends);
    let bits = course.bits();
    // Whoever takes part in a sum has paid for it, whether it has finished or not.
    for peer in 0..ends.len() {
        let (tries, _) = play.charged(peer);
        for (attempt, ..) in course.taken.values() {
            let then = &course.known[&attempt.view];
            let is_paid = tries.contains(&(attempt.release.0, attempt.retry));
            let is_in = then.members.contains(PeerIndex::from_index(peer));
            assert!(
                is_paid || !is_in,
                "{peer} is in {attempt} and has not paid: {tries:?}"
            );
        }
    }
    for peer in &finished {
        let (own, _) = words(ends[*peer].as_ref().expect("finished"));
        assert!(
            own == bits,
            "{peer} has not the bits of the engine without peers: {}",
            play.why()
        );
    }
    finished
}

/// Whether a member ended with this exit code, and said this.
fn ended(ends: &[Option<String>], peer: usize, code: u8, said: &str) -> bool {
    let end = ends[peer].as_ref();
    end.is_some_and(|end| end.starts_with(&format!("{code} ")) && end.contains(said))
}
