//! What is stored of a plan: the only place that asks an experiment or a session for it.

use std::sync::Arc;

use undertone::engine::{PublicSession, PublicViews, SessionViews, Simulation};
use undertone::privacy::{GroupLoss, NoisePlan};
use undertone::protocol::regroup::{
    Attempt, Disruptions, History, Members, Tolerance, View, ViewNumber,
};
use undertone::protocol::{PlannedRelease, SessionPlan};
use undertone::scenario::{Experiment, PlannedSession};
use undertone::vocabulary::{PeerIndex, ReleaseId};

/// Bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All that is stored of an experiment.
pub(super) fn of_experiment(experiment: &Experiment) -> Vec<String> {
    let session = experiment.session(&experiment.root_seed());
    let mut lines = of_session(session.plan(), session.sigma_central());
    let calibrated = experiment.calibrated();
    let mut add = |key: &str, value: String| lines.push(format!("{key} = {value}"));
    add("cost", format!("{:?}", experiment.even_iterations()));
    add(
        "cost without retries",
        format!("{:?}", experiment.even_iterations_at_best()),
    );
    add(
        "cost with a pilot",
        format!("{:?}", experiment.promised_iterations()),
    );
    if experiment.is_private() {
        add("z", format!("{:?}", calibrated.z()));
        add("mu", format!("{:?}", calibrated.mu_total()));
        add(
            "mu of one release",
            format!("{:?}", calibrated.mu_per_iteration()),
        );
        add("epsilon spent", format!("{:?}", calibrated.spent()));
    }
    if let Some(search) = calibrated.search_epsilon() {
        add("epsilon of a search", format!("{search:?}"));
    }
    if let Some(sigma) = experiment.sigma_of_counts() {
        add("sigma of counts", format!("{sigma:?}"));
    }
    add(
        "delta",
        format!("{:?}", experiment.delta().map(|delta| delta.get())),
    );
    add("participants", format!("{:?}", experiment.participants()));
    add(
        "part",
        format!("{:?}", experiment.part().map(|part| part.get())),
    );
    lines.extend(of_noise(experiment.noise()));
    lines.extend(experiment.groups().iter().map(of_group));
    if let Some(tolerance) = experiment.tolerance() {
        lines.push(of_tolerance(&tolerance));
        let averaging = experiment.plan().network().averaging.clone();
        let views = SessionViews::new(session.clone(), averaging);
        let found = |view: &View| {
            let made = views.of(view).expect("a view");
            let session = made.session();
            (Arc::clone(session.plan()), session.sigma_central())
        };
        lines.extend(after_losses(session.public(), &tolerance, found));
    }
    let setting = experiment.setting_lines();
    lines.extend(setting.into_iter().map(|line| format!("setting {line}")));
    lines
}

/// All that is stored of a session that its members plan.
pub(super) fn of_planned(session: &PlannedSession) -> Vec<String> {
    let (planned, public) = (session.plan(), session.public());
    let (guarantee, promise) = (planned.guarantee(), planned.promise());
    let mut lines = of_session(public.plan(), planned.sigma_central());
    let (division, calibrated) = (guarantee.division(), guarantee.calibrated());
    let mut add = |key: &str, value: String| lines.push(format!("{key} = {value}"));
    add("cost", format!("{:?}", division.cost()));
    let at_best = division.cost_at_best();
    add("cost without retries", format!("{at_best:?}"));
    add("cost with a pilot", format!("{:?}", division.cost()));
    add("z", format!("{:?}", calibrated.z()));
    add("mu", format!("{:?}", calibrated.mu_total()));
    let one = calibrated.mu_per_iteration();
    add("mu of one release", format!("{one:?}"));
    add("epsilon spent", format!("{:?}", calibrated.spent()));
    let delta = promise.delta.map(|delta| delta.get());
    add("delta", format!("{delta:?}"));
    add("participants", format!("{:?}", promise.participants));
    let part = promise.part.map(|part| part.get());
    add("part", format!("{part:?}"));
    lines.extend(of_noise(guarantee.noise()));
    lines.extend(guarantee.groups().iter().map(of_group));
    if let Some(tolerance) = session.tolerance() {
        lines.push(of_tolerance(&tolerance));
        let averaging = planned.network().averaging.clone();
        let views = PublicViews::new(public.clone(), averaging);
        let found = |view: &View| {
            let made = views.of(view).expect("a view");
            let plan = Arc::clone(made.session().plan());
            let sigma_central = planned.sigma_central().min(plan.sigma_of_sum(1.0));
            (plan, sigma_central)
        };
        lines.extend(after_losses(public, &tolerance, found));
    }
    lines
}

fn of_group(group: &GroupLoss) -> String {
    let (peers, mu, epsilon) = (group.peers, group.mu, group.epsilon);
    format!("group of {peers} = mu {mu:?}, epsilon {epsilon:?}")
}

fn of_tolerance(tolerance: &Tolerance) -> String {
    let publish = match tolerance.is_open() {
        true => "open",
        false => "sealed",
    };
    let (floor, needs, retries) = (tolerance.floor, &tolerance.needs, tolerance.retries);
    format!("tolerance = floor {floor}, needs {needs:?}, retries {retries}, {publish}")
}

/// All that is stored of a session of rows in memory.
pub(super) fn of_simulated(simulated: &Simulation) -> Vec<String> {
    let session = simulated.own_session();
    let mut lines = of_session(session.plan(), session.sigma_central());
    lines.extend(simulated.noise().into_iter().flat_map(of_noise));
    lines
}

/// The agreed plan of a session.
fn of_session(plan: &SessionPlan, sigma_central: f64) -> Vec<String> {
    let parameters = plan.parameters();
    let mut lines = Vec::new();
    let mut add = |key: &str, value: String| lines.push(format!("{key} = {value}"));
    add("digest", hex(plan.digest()));
    add("peers", parameters.peers.to_string());
    add("items", plan.program().items.to_string());
    add("sigma_own", format!("{:?}", parameters.sigma_own));
    add("sigma_pairwise", format!("{:?}", parameters.sigma_pairwise));
    add(
        "sigma_coordinate",
        format!("{:?}", parameters.sigma_coordinate),
    );
    add("sigma_central", format!("{sigma_central:?}"));
    add("charge", format!("{:?}", plan.charge()));
    add("noise factors", format!("{:?}", parameters.noise_factors));
    add(
        "rounds",
        format!(
            "{} of averaging, {} of agreement",
            plan.averaging_rounds(),
            plan.scale_rounds()
        ),
    );
    add("values", parameters.values.name().to_owned());
    if let Some(ring) = parameters.ring {
        let (step, bits) = (ring.grid.exponent(), ring.modulus.bits());
        add(
            "ring",
            format!("steps of 2^-{step}, mod 2^{bits}, clamp {}", ring.clamp),
        );
    }
    if let Some(laplace) = parameters.laplace {
        let (shape, drawing) = (laplace.shape, laplace.drawing());
        let who = if laplace.holders.is_some() {
            "holders"
        } else {
            "all"
        };
        add(
            "laplace",
            format!("shape {shape:?}, drawn by {drawing} ({who})"),
        );
    }
    if let Some(wishart) = parameters.wishart {
        let mean = wishart
            .mean
            .map(|shape| format!(", a mean of shape {shape:?}"));
        add(
            "wishart",
            format!(
                "{} terms on {} columns, isometric {}{}",
                wishart.terms,
                wishart.dimension,
                wishart.isometric,
                mean.unwrap_or_default()
            ),
        );
    }
    lines.extend(of_releases(plan.releases()));
    lines
}

/// Noise on the sum, and what each adversary learns.
fn of_noise(noise: &NoisePlan) -> Vec<String> {
    let mut lines = vec![
        format!("sigma_sum = {:?}", noise.sigma_sum()),
        format!("epsilon = {:?}", noise.epsilon()),
    ];
    lines.extend(noise.views().iter().map(|view| {
        let certificate = serde_json::to_string(&view.certificate).expect("a word");
        format!(
            "adversary with {} colluders = mu {:?}, epsilon {:?}, gap {:?} = {:?} * {:?}, {certificate}",
            view.colluders,
            view.mu,
            view.epsilon,
            view.gap_to_central,
            view.gap_colluders,
            view.gap_finite
        )
    }));
    if let Some(ring) = noise.ring() {
        lines.push(format!(
            "ring of the plan = headroom {}, coordinates {}, piece {}, overhead {:?}, distance {:?}",
            ring.headroom(),
            ring.coordinates(),
            ring.piece(),
            ring.grid_overhead(),
            ring.sampler_distance()
        ));
    }
    if let Some(wishart) = noise.wishart_noise() {
        lines.push(format!(
            "wishart of the plan = scale {:?}, {} terms, {} at most of one, epsilon {:?}, mean {:?}",
            wishart.scale(),
            wishart.terms(),
            wishart.terms_of_one(),
            wishart.epsilon(),
            wishart.mean_shape()
        ));
    }
    if let Some(laplace) = noise.laplace_noise() {
        let holders = laplace.holders().map(|one| {
            let (count, mu) = (one.count, one.mu);
            format!(
                "{count} holders with mu {mu:?}, epsilon {:?}, delta {:?}",
                one.epsilon, one.delta
            )
        });
        lines.push(format!(
            "laplace of the plan = scale {:?}, shape {:?}, epsilon {:?}, {}",
            laplace.scale(),
            laplace.shape(),
            laplace.epsilon(),
            holders.unwrap_or_else(|| "no holders".to_owned())
        ));
    }
    lines
}

/// Releases with their bounds, those that differ in their iteration alone as one line.
fn of_releases(releases: &[PlannedRelease]) -> Vec<String> {
    let mut runs: Vec<(usize, usize, String)> = Vec::new();
    for (place, release) in (1..).zip(releases) {
        let text = release_text(release);
        match runs.last_mut() {
            Some((_, last, before)) if *before == text => *last = place,
            _ => runs.push((place, place, text)),
        }
    }
    let line = |(first, last, text)| format!("release {first} to {last} = {text}");
    runs.into_iter().map(line).collect()
}

fn release_text(release: &PlannedRelease) -> String {
    let spec = release.spec();
    let mut text = if release.is_own() { "own" } else { "sum" }.to_owned();
    if spec.agreement.is_some() {
        text += ", agreed";
    }
    if spec.may_end_before {
        text += ", may end before";
    }
    if let Some(ceiling) = spec.ceiling {
        text += &format!(", ceiling {ceiling:?}");
    }
    if spec.batch.is_some() {
        text += ", of a batch";
    }
    text += &format!(", share {:?}, factor {:?}", spec.share, release.factor());
    let bounds = release.all_bounds();
    let (lengths, sums) = (bounds.euclidean(), bounds.absolute());
    let lengths = lengths
        .iter()
        .map(|one| (one.fingerprint(), one.bound(1.0)));
    let sums = sums.iter().map(|one| (one.fingerprint(), one.bound(1.0)));
    let bounds: Vec<_> = lengths.chain(sums).collect();
    for (place, block) in spec.blocks.iter().enumerate() {
        let (rows, columns) = block.shape;
        text += &format!("; {} {rows}x{columns}", block.quantity);
        if block.weight != 1.0 {
            text += &format!(", weight {:?}", block.weight);
        }
        if let Some((fingerprint, bound)) = bounds.get(place) {
            text += &format!(", bound {bound:?} at 1 ({fingerprint})");
        }
    }
    text
}

/// Sessions of those who are left after the first losses, before and after a release.
fn after_losses(
    session: &PublicSession,
    tolerance: &Tolerance,
    plan_of: impl Fn(&View) -> (Arc<SessionPlan>, f64),
) -> Vec<String> {
    let peers = session.peers();
    let links = session.graph().edge_list().count();
    let first = Attempt {
        release: ReleaseId(1),
        retry: 0,
        view: ViewNumber(0),
    };
    let after_one = History::default().and(first, &[7; 32]);
    let most = peers - tolerance.floor;
    let mut lines = Vec::new();
    for (number, lost, history) in [
        (1, 0, History::default()),
        (2, 1, History::default()),
        (3, 1, after_one),
        (4, most, History::default()),
    ] {
        let mut members = Members::all(peers);
        (0..lost).for_each(|peer| members.remove(PeerIndex::from_index(peer + 2)));
        let view = View {
            number: ViewNumber(number),
            disruptions: Disruptions::none(peers, links),
            members,
            history,
        };
        let (plan, sigma_central) = plan_of(&view);
        let parameters = plan.parameters();
        lines.push(format!(
            "view {number} without {lost} = digest {}, view {}, sigmas {:?} {:?} {:?}, central {:?}, rounds {} and {}",
            hex(plan.digest()),
            hex(&view.digest()),
            parameters.sigma_own,
            parameters.sigma_pairwise,
            parameters.sigma_coordinate,
            sigma_central,
            plan.averaging_rounds(),
            plan.scale_rounds()
        ));
    }
    lines
}
