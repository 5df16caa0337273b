//! Runs a session that tolerates losses, under the faults of its file, and says what came of it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::engine::RunError;
use crate::config::{FaultsConfig, Publish};
use crate::engine::event::faults::{
    self, FaultSchedule, FaultyError, FaultyOutcome, Fired, Moment, PeerEnd,
};
use crate::engine::{Observer, Outcome, Session, SessionViews};
use crate::privacy::accountant::Connectivity;
use crate::privacy::realised::{Counted, Realised, RealisedError};
use crate::protocol::regroup::{End, Members, Tolerance};
use crate::scenario::Experiment;
use crate::vocabulary::{Named, PeerIndex, ReleaseId, printed};

/// Most releases whose progress is drawn.
const MOST_CURVES: u32 = 6;

/// Up to this many peers the exact loss is found against every single curious one.
const EXACT_UP_TO: usize = 64;

/// An outcome, and what else there is to say of it.
#[derive(Clone, Debug)]
pub struct Conducted {
    /// The outcome.
    pub outcome: Outcome,
    /// What went wrong, where the session tolerates losses.
    pub faults: Option<Faulty>,
}

impl From<Outcome> for Conducted {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            faults: None,
        }
    }
}

/// What went wrong in a run, and the same run where nothing does.
#[derive(Clone, Debug)]
pub struct Faulty {
    /// What happened, in numbers.
    pub summary: FaultsSummary,
    /// Everything that went wrong, listed, with peers by name.
    pub schedule: FaultsConfig,
    /// What happened to whom: microseconds, the peer's name and what it was, in order.
    pub moments: Vec<(u64, String, String)>,
    /// How many peers live, and how many have the sum of each release, over time.
    pub curves: Vec<Curve>,
    /// The outcome where nothing goes wrong; `None` where nothing did.
    pub fault_free: Option<Outcome>,
    /// Every attempt in which anybody published; `None` without noise.
    pub realised: Option<Realised>,
}

/// A number of peers over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Who is counted.
    pub name: String,
    /// Milliseconds and how many, at every change before and after it.
    pub points: Vec<(f64, f64)>,
}

/// `faults` of `summary.json`: a run that tolerates losses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FaultsSummary {
    /// How many peers could be lost.
    pub tolerate: usize,
    /// How often a release could be tried again, and how often one was.
    pub retries: u32,
    /// How often one was.
    pub retries_spent: u32,
    /// Whether contributions could be read before everybody held them.
    pub publish: Publish,
    /// Who has the result.
    pub finished: usize,
    /// How all ended: how many, by name of the end.
    pub ends: BTreeMap<&'static str, usize>,
    /// The name of the peer whose sums the rest of the document is about; null where nobody has all.
    pub reporter: Option<String>,
    /// What went wrong, and what was done about it.
    pub fired: Fired,
    /// Every release that the reporter has, with who takes part in its sum.
    pub releases: Vec<RealisedRelease>,
    /// What was promised, planned and realised; null without noise.
    pub epsilon: Option<RealisedEpsilon>,
    /// Virtual milliseconds until the last peer ended.
    pub milliseconds: f64,
    /// The same where nothing goes wrong.
    pub milliseconds_fault_free: f64,
    /// Bytes that all peers sent where nothing went wrong.
    pub bytes_fault_free: u64,
}

/// Who takes part in the sum of a release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RealisedRelease {
    /// Its place in the program, from 1.
    pub release: u32,
    /// How many attempts were made at it.
    pub attempts: usize,
    /// How many take part in its sum.
    pub participants: usize,
    /// Who does not, by name.
    pub missing: Vec<String>,
    /// Whose contribution an heir brought in, by name.
    pub inherited: Vec<String>,
    /// Retries that had been spent when the attempt began.
    pub retries: u32,
    /// Standard deviation of the noise on the sum, per unit sensitivity, over that of a sum of everybody.
    pub noise: f64,
}

/// ε at three levels of knowledge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RealisedEpsilon {
    /// What noise was planned for: whoever is lost, and all retries spent.
    pub promised: f64,
    /// What the ledger charges for the tries that there were, whoever was lost.
    pub planned: f64,
    /// What the execution that took place cost the worst-placed peer against any coalition asked for. A diagnostic: who crashes may depend on what was
    /// released, so nothing is promised of it.
    pub realised: f64,
    /// Whether that is exact; else an upper bound over all coalitions.
    pub is_exact: bool,
}

/// That nobody has a result, and what came of the run all the same.
#[derive(Clone, Debug)]
pub struct NoResult {
    /// What happened.
    pub faulty: Box<Faulty>,
}

impl std::fmt::Display for NoResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ends = &self.faulty.summary.ends;
        let ends: Vec<String> = ends
            .iter()
            .map(|(end, count)| format!("{count} {end}"))
            .collect();
        write!(
            f,
            "nobody has a result: of {} peers {}; raise [dropouts] tolerate or retries, or let less go wrong",
            self.faulty.summary.ends.values().sum::<usize>(),
            ends.join(", ")
        )
    }
}

impl std::error::Error for NoResult {}

/// A peer's error in the words of the experiment's graph.
fn failed(experiment: &Experiment, error: FaultyError) -> RunError {
    RunError::Faults(Named::new(error, experiment.topology().graph().names()))
}

/// What a run needs: the sessions of its views, the run where nothing goes wrong, and everything that does, listed.
struct Prepared {
    views: Arc<SessionViews>,
    tolerance: Arc<Tolerance>,
    control: FaultyOutcome,
    schedule: FaultSchedule,
    /// Whether anything goes wrong.
    happens: bool,
}

impl Prepared {
    fn new(
        experiment: &Experiment,
        session: &Session,
        tolerance: Tolerance,
    ) -> Result<Self, RunError> {
        let tolerance = Arc::new(tolerance);
        let views = experiment.views(session.clone());
        let asked = experiment.faults();
        let quiet = FaultSchedule {
            latency: asked.latency,
            resend_micros: asked.resend_micros,
            notice_micros: asked.notice_micros,
            grace_micros: asked.grace_micros,
            patience_micros: asked.patience_micros,
            ..FaultSchedule::none(asked.seed)
        };
        let failed = |error: FaultyError| failed(experiment, error);
        let control = faults::run(&views, &tolerance, &quiet).map_err(failed)?;
        let links: Vec<(u32, u32)> = session.graph().edge_list().collect();
        let schedule = asked
            .explicit(session.peers(), &links, control.extent)
            .map_err(|error| failed(error.into()))?;
        Ok(Self {
            happens: schedule != quiet,
            views,
            tolerance,
            control,
            schedule,
        })
    }
}

/// Runs a session whose peers tolerate losses, under the faults of the experiment's file.
///
/// # Errors
/// [`RunError::Faults`] if a peer cannot go on, [`RunError::NoResult`] if nobody has all sums in the end.
///
/// # Cost
/// That of two runs where anything goes wrong: faults that are drawn are drawn within what a run does where nothing goes wrong.
pub(super) fn conduct(
    experiment: &Experiment,
    (session, tolerance): (&Session, Tolerance),
    observer: &mut dyn Observer,
) -> Result<Conducted, RunError> {
    let prepared = Prepared::new(experiment, session, tolerance)?;
    let Prepared {
        views,
        tolerance,
        control,
        schedule,
        happens,
    } = &prepared;
    let failed = |error: FaultyError| failed(experiment, error);
    let run = match happens {
        true => Some(faults::run(views, tolerance, schedule).map_err(failed)?),
        false => None,
    };
    let outcome = |run: &FaultyOutcome| run.outcome(views).map_err(|error| failed(error.into()));
    let happened = run.as_ref().unwrap_or(control);
    let story = Story {
        experiment,
        views,
        tolerance,
        run: happened,
    };
    let realised = story.realised();
    let faulty = Faulty {
        summary: story.summary(realised.as_ref(), control),
        schedule: experiment.named_faults(schedule),
        moments: story.moments(),
        curves: story.curves(),
        fault_free: match happens {
            true => outcome(control)?,
            false => None,
        },
        realised,
    };
    match outcome(happened)? {
        Some(outcome) => {
            outcome
                .records
                .iter()
                .for_each(|record| observer.released(record));
            Ok(Conducted {
                outcome,
                faults: Some(faulty),
            })
        }
        None => Err(RunError::NoResult(NoResult {
            faulty: Box::new(faulty),
        })),
    }
}

/// How an end is called in documents.
fn words(end: End) -> &'static str {
    match end {
        End::Finished => "finished",
        End::Floor => "too few left",
        End::Excluded => "cut off",
        End::Lost => "out of retries",
        End::Restarts => "restarted too often",
        End::Missed => "too late",
    }
}

fn name_of(peer: &PeerEnd) -> &'static str {
    match peer.end {
        Some(end) => words(end),
        None if peer.is_up => "waiting",
        None => "crashed",
    }
}

/// What is told of a run.
struct Story<'a> {
    experiment: &'a Experiment,
    views: &'a SessionViews,
    tolerance: &'a Tolerance,
    run: &'a FaultyOutcome,
}

impl Story<'_> {
    fn name(&self, peer: PeerIndex) -> String {
        self.experiment.topology().graph().name(peer.index())
    }

    fn realised(&self) -> Option<Realised> {
        let is_private = self.experiment.is_private();
        is_private
            .then(|| self.run.realised(self.views).ok())
            .flatten()
    }

    fn summary(&self, realised: Option<&Realised>, control: &FaultyOutcome) -> FaultsSummary {
        let config = self.experiment.config();
        let dropouts = config.dropouts;
        let mut ends = BTreeMap::new();
        for peer in &self.run.peers {
            *ends.entry(name_of(peer)).or_default() += 1;
        }
        let reporter = self.run.reporter();
        let total = |run: &FaultyOutcome| run.sent.iter().map(|sent| sent.total()).sum();
        FaultsSummary {
            tolerate: dropouts.map_or(0, |one| one.tolerate),
            retries: self.tolerance.retries,
            retries_spent: self.run.retries(),
            publish: dropouts.map_or(Publish::Open, |one| one.publish),
            finished: ends.get("finished").copied().unwrap_or(0),
            ends,
            reporter: reporter.map(|peer| self.name(peer)),
            fired: self.run.fired,
            releases: reporter.map_or_else(Vec::new, |peer| self.releases(peer)),
            epsilon: realised
                .and_then(|realised| self.epsilon(realised).ok())
                .flatten(),
            milliseconds: self.run.ended_micros as f64 / 1e3,
            milliseconds_fault_free: control.ended_micros as f64 / 1e3,
            bytes_fault_free: total(control),
        }
    }

    fn releases(&self, reporter: PeerIndex) -> Vec<RealisedRelease> {
        let peers = self.run.peers.len();
        let taken = &self.run.peers[reporter.index()].taken;
        let of = |(release, taken): (&ReleaseId, &faults::Taken)| {
            let (then, retries) = &self.run.parts[&taken.attempt];
            let heirs = self.run.heirs.get(&(taken.view.number, taken.attempt));
            let inherited = heirs.into_iter().flatten().map(|heir| self.name(heir.lost));
            let all = Members::all(peers);
            let missing = all.iter().filter(|peer| !then.members.contains(*peer));
            let attempts = self.run.parts.keys();
            let participants = then.members.len();
            RealisedRelease {
                release: release.0,
                attempts: attempts
                    .filter(|attempt| attempt.release == *release)
                    .count(),
                participants,
                missing: missing.map(|peer| self.name(peer)).collect(),
                inherited: inherited.collect(),
                retries: *retries,
                noise: (participants as f64 / peers as f64).sqrt(),
            }
        };
        taken.iter().map(of).collect()
    }

    /// ε of what was promised, planned and realised; `None` without a δ.
    fn epsilon(&self, realised: &Realised) -> Result<Option<RealisedEpsilon>, RealisedError> {
        let experiment = self.experiment;
        let noise = experiment.noise();
        let (Some(delta), Some(promised)) = (experiment.delta(), noise.epsilon()) else {
            return Ok(None);
        };
        let colluders = experiment.config().privacy.colluders;
        let lost = self.run.peers.len() - self.tolerance.floor;
        let spectrum = experiment.noise_topology().spectrum();
        let connectivity = spectrum.algebraic_connectivity.into();
        let found = squares(realised, connectivity, (colluders, lost))?;
        let epsilon = |square: f64| noise.epsilon_of(square.sqrt(), delta);
        Ok(Some(RealisedEpsilon {
            promised,
            planned: epsilon(found.planned),
            realised: epsilon(found.realised),
            is_exact: found.is_exact,
        }))
    }

    fn curves(&self) -> Vec<Curve> {
        let end = self.run.ended_micros;
        let curve = |name: String, start: f64, change: &dyn Fn(PeerIndex, Moment) -> f64| {
            let (mut count, mut points) = (start, vec![(0.0, start)]);
            let moments = self
                .run
                .moments
                .iter()
                .filter(|(micros, ..)| *micros <= end);
            for &(micros, peer, moment) in moments {
                let by = change(peer, moment);
                if by != 0.0 {
                    let milliseconds = micros as f64 / 1e3;
                    points.push((milliseconds, count));
                    count += by;
                    points.push((milliseconds, count));
                }
            }
            points.push((end as f64 / 1e3, count));
            Curve { name, points }
        };
        let living = curve(
            "alive".to_owned(),
            self.run.peers.len() as f64,
            &|_, moment| match moment {
                Moment::Crashed | Moment::DiskFailed => -1.0,
                Moment::Restarted => 1.0,
                _ => 0.0,
            },
        );
        let releases = self.views.session().plan().releases().len() as u32;
        let released = (1..=releases.min(MOST_CURVES)).map(|release| {
            // Whoever takes a sum again has it once.
            let seen = RefCell::new(BTreeSet::new());
            let name = format!("has the sum of release {release}");
            curve(name, 0.0, &|peer, moment| {
                let is_new = moment == Moment::Released(ReleaseId(release))
                    && seen.borrow_mut().insert(peer);
                f64::from(u8::from(is_new))
            })
        });
        std::iter::once(living).chain(released).collect()
    }

    fn moments(&self) -> Vec<(u64, String, String)> {
        let what = |moment: Moment| match moment {
            Moment::Crashed => "crashed".to_owned(),
            Moment::DiskFailed => "stopped: its disk failed".to_owned(),
            Moment::Restarted => "started again".to_owned(),
            Moment::GaveUp(other) => format!("gave up its link to {}", printed(&self.name(other))),
            Moment::WentOn(view) => format!("goes on in view {}", view.0),
            Moment::Released(release) => format!("has the sum of release {}", release.0),
            Moment::Ended(end) => format!("ended: {}", words(end)),
        };
        let all = self.run.moments.iter();
        all.map(|&(micros, peer, moment)| (micros, self.name(peer), what(moment)))
            .collect()
    }
}

/// What a schedule is shrunk to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept<'a> {
    /// That nobody has a result, or that the run cannot go on.
    NoResult,
    /// That this case occurs, by its name in [`Cases::all`](faults::Cases::all).
    Case(&'a str),
}

/// Why a schedule cannot be shrunk.
#[derive(Debug, thiserror::Error)]
pub enum ShrinkError {
    /// An experiment whose peers tolerate nothing.
    #[error("the file has no [dropouts]: there is nothing to shrink")]
    NoDropouts,
    /// A case that there is none of.
    #[error("there is no case \"{name}\"; choose one of {known}")]
    Case {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A schedule that does not do what is to be kept.
    #[error("{0}")]
    Holds(&'static str),
    /// The run where nothing goes wrong fails.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// The least of the experiment's faults that keeps this, with peers by name, and how many runs it took to find.
///
/// # Errors
/// [`ShrinkError`].
pub fn shrink(
    experiment: &Experiment,
    kept: Kept<'_>,
) -> Result<(FaultsConfig, usize), ShrinkError> {
    let tolerance = experiment.tolerance().ok_or(ShrinkError::NoDropouts)?;
    let none = Fired::default().cases.all();
    if let Kept::Case(name) = kept
        && !none.iter().any(|(known, _)| *known == name)
    {
        let known: Vec<&str> = none.iter().map(|(known, _)| *known).collect();
        return Err(ShrinkError::Case {
            name: name.to_owned(),
            known: known.join(", "),
        });
    }
    let session = experiment.session(&experiment.root_seed());
    let prepared = Prepared::new(experiment, &session, tolerance)?;
    let keeps = |tried: &FaultSchedule| match (
        faults::run(&prepared.views, &prepared.tolerance, tried),
        kept,
    ) {
        (Err(_), Kept::NoResult) => true,
        (Ok(run), Kept::NoResult) => run.reporter().is_none(),
        (Ok(run), Kept::Case(name)) => {
            let mut cases = run.fired.cases.all().into_iter();
            cases.any(|(known, count)| known == name && count > 0)
        }
        (Err(_), Kept::Case(_)) => false,
    };
    if !keeps(&prepared.schedule) {
        return Err(ShrinkError::Holds(match kept {
            Kept::NoResult => {
                "the run has a result, so there is no failure to keep: name a case of it with --keep"
            }
            Kept::Case(_) => "that case does not occur in the run",
        }));
    }
    let (least, runs) = faults::shrink(&prepared.schedule, keeps);
    Ok((experiment.named_faults(&least), runs))
}

/// μ² of the worst-placed peer in an execution, against any coalition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Squares {
    /// As planned for the tries that there were, whoever of those tolerated was lost.
    pub(super) planned: f64,
    /// Of what happened.
    pub(super) realised: f64,
    /// Whether the latter is exact; else an upper bound.
    pub(super) is_exact: bool,
}

/// What an execution cost, with so many colluders promised against and losses tolerated.
pub(super) fn squares(
    realised: &Realised,
    connectivity: Connectivity,
    (colluders, lost): (usize, usize),
) -> Result<Squares, RealisedError> {
    let largest = |squares: Vec<f64>| squares.into_iter().fold(0.0, f64::max);
    let planned = largest(realised.planned(connectivity, colluders, lost)?);
    let peers = realised.peers();
    let coalitions: Vec<Vec<u32>> = match colluders {
        0 => vec![Vec::new()],
        1 if peers <= EXACT_UP_TO => (0..peers as u32).map(|peer| vec![peer]).collect(),
        _ => Vec::new(),
    };
    let is_exact = !coalitions.is_empty();
    let mut worst = 0.0_f64;
    for coalition in &coalitions {
        let losses = realised.losses(coalition, Counted::Read)?;
        let losses = losses.into_iter().flatten().map(|loss| loss.high);
        worst = losses.fold(worst, f64::max);
    }
    let realised = match is_exact {
        true => worst,
        false => largest(realised.certified(colluders)?),
    };
    Ok(Squares {
        planned,
        realised,
        is_exact,
    })
}

impl FaultsSummary {
    /// Whether anything went wrong at all.
    #[must_use]
    pub fn is_faulty(&self) -> bool {
        self.fired != Fired::default()
    }
}
