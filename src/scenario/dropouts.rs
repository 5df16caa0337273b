//! What a session tolerates, and what goes wrong in it: the tables `[dropouts]` and `[faults]`.
//!
//! # How many may be lost
//! Of s peers f may be lost for good, if 2f < s and the communication graph stays connected without any f of them.
//!
//! *Why.* Whoever goes on are the peers of one connected part, s − f at least. Two parts of more than half the peers have a common peer, so only one
//! side of a broken network goes on. And whoever f peers are lost, the others stay in one part, which nobody has to leave: then everybody has f + 1
//! neighbours at least, so that of the neighbours of a lost peer, who hold what it published, one is left to bring it into the sum. Where
//! fewer are lost than that, others may still be cut off by links that break; the session ends if fewer than s − f are left.
//!
//! # What it costs
//! Noise is planned for t + f colluders and for as many releases more as there are retries
//! ([theorem 4](crate::privacy::realised#theorem-4-the-plan-covers-it)): a try that came to nothing was published in the open, and its release, the
//! dearest at worst, is charged once more. Where contributions are sealed that happens only to a try whose contributions are lost after they were opened.
//!
//! # Sealed contributions
//! need 3f + t + 1 neighbours of every peer ([`Threshold`](crate::protocol::regroup::Threshold)).

use super::error::DropoutsTableError;
use super::experiment::Experiment;
use super::rules::{Rule, keep};
use crate::algorithm::{Form as ReleaseForm, Program, ReleaseSpec, Unsupported};
use crate::config::{Config, DropoutsConfig, EngineKind, FaultsConfig, PeerName, Publish};
use crate::engine::event::faults::FaultSchedule;
use crate::plan::Plan;
use crate::privacy::{PrivacyError, Scheme};
use crate::protocol::averaging::Form;
use crate::protocol::regroup::{Links, Publication, Thresholds, ThresholdsError, Tolerance};
use crate::topology::{Topology, vertex_connectivity};
use crate::vocabulary::{Distribution, PeerIndex};

/// The most retries of a session.
pub(crate) const MOST_RETRIES: u32 = 1_000;

/// What losses have not been shown to go with.
const WITH: &[Rule] = &[
    (
        "noise.scheme = \"ring\"",
        |config| config.noise.scheme == Scheme::Ring,
        "set noise.scheme = \"pairwise\"",
    ),
    (
        "noise.distribution = \"laplace\"",
        |config| config.noise.distribution == Distribution::Laplace,
        "what lost peers cost is known of Gaussian noise; set noise.distribution = \"gaussian\"",
    ),
    (
        "noise.distribution = \"wishart\"",
        |config| config.noise.distribution == Distribution::Wishart,
        "a peer that leaves takes its terms along, and nothing is proved of the rest; set noise.distribution = \"gaussian\"",
    ),
    (
        "a pilot",
        |config| {
            let sketch = config.algorithm.table().sketch();
            let finds_no_basis = sketch.is_some_and(|program| program.rank == 0);
            config.algorithm.is_auto() || finds_no_basis || config.pilot.is_some()
        },
        "name the algorithm and leave [pilot] out; `undertone advise` says which",
    ),
    (
        "[compare]",
        |config| config.compare.is_some(),
        "run the other method from a file of its own",
    ),
];

/// Refuses what can be told from the file alone.
pub(super) fn check(config: &Config) -> Result<(), DropoutsTableError> {
    let kind = config.engine.kind;
    if let Some(faults) = &config.faults {
        if kind != EngineKind::Event {
            let kind = kind.name();
            return Err(DropoutsTableError::FaultsEngine { kind });
        }
        if config.dropouts.is_none() {
            return Err(DropoutsTableError::Alone);
        }
        faults.check()?;
    }
    let Some(dropouts) = config.dropouts else {
        return Ok(());
    };
    if !matches!(kind, EngineKind::Event | EngineKind::Lockstep) {
        let kind = kind.name();
        return Err(DropoutsTableError::Engine { kind });
    }
    if dropouts.retries > MOST_RETRIES {
        let (found, most) = (dropouts.retries, MOST_RETRIES);
        return Err(DropoutsTableError::Retries { found, most });
    }
    keep(WITH, config, |key, change| DropoutsTableError::With {
        key,
        change,
    })
}

/// Refuses more losses than this graph can bear, and seals contributions, unless the file says otherwise, where everybody has enough neighbours for it.
pub(super) fn settle(config: &mut Config, topology: &Topology) -> Result<(), DropoutsTableError> {
    let colluders = config.privacy.colluders;
    let Some(DropoutsConfig {
        tolerate, publish, ..
    }) = &mut config.dropouts
    else {
        return Ok(());
    };
    let tolerate = *tolerate;
    let (found, peers) = (tolerate, topology.graph().nodes());
    let most = peers.saturating_sub(1) / 2;
    if found > most {
        return Err(DropoutsTableError::Half { found, peers, most });
    }
    // One peer stays connected with itself.
    let connectivity = vertex_connectivity(topology.graph(), found + 1);
    if connectivity <= found && peers > 1 {
        return Err(DropoutsTableError::Connectivity {
            found,
            connectivity,
            most: connectivity.saturating_sub(1),
        });
    }
    if *publish != Some(Publish::Open) {
        match (
            Thresholds::new(&links_of(topology), colluders, tolerate),
            &publish,
        ) {
            (Ok(_), _) => *publish = Some(Publish::Sealed),
            (Err(_), None) => *publish = Some(Publish::Open),
            (Err(refused), Some(_)) => return Err(refused.into()),
        }
    }
    Ok(())
}

/// The links of the communication graph, as those who agree on losses number them.
fn links_of(topology: &Topology) -> Links {
    let edges = topology.graph().edge_list();
    let pairs = edges.map(|(u, v)| (PeerIndex(u), PeerIndex(v))).collect();
    Links::new(topology.graph().nodes(), pairs).expect("edges of a graph ascend")
}

/// Why noise that hides everybody from so many cannot be had, in terms of the file's keys.
pub(super) fn refused(config: &Config, source: PrivacyError) -> Option<DropoutsTableError> {
    let tolerate = config.dropouts?.tolerate;
    (tolerate > 0).then_some(DropoutsTableError::Noise {
        tolerate,
        colluders: config.privacy.colluders,
        source: Box::new(source),
    })
}

/// Refuses plans that tolerant peers cannot run.
pub(super) fn check_program(config: &Config, plan: &Plan) -> Result<(), DropoutsTableError> {
    if config.dropouts.is_none() {
        return Ok(());
    }
    let with = |key, change| Err(DropoutsTableError::With { key, change });
    if matches!(plan.schedule().form(), Form::Passing(_)) {
        return with(
            "an averaging that passes mass on",
            "what a lost peer held would be lost; set averaging.scheme = \"chebyshev\", \"linear\" or \"tree\"",
        );
    }
    Ok(plan.program().check_each(supports)?)
}

/// What a session of these tables tolerates among the peers of this graph; `None` where the loss of a peer ends it.
pub(super) fn tolerance(config: &Config, topology: &Topology) -> Option<Tolerance> {
    let dropouts = config.dropouts?;
    let peers = topology.graph().nodes();
    let (tolerate, retries) = (dropouts.tolerate, dropouts.retries);
    match dropouts.publish.unwrap_or(Publish::Open) {
        Publish::Open => Some(Tolerance {
            colluders: config.privacy.colluders,
            floor: peers - tolerate,
            needs: vec![1; peers],
            retries,
            publication: Publication::Open,
        }),
        Publish::Sealed => {
            let planned = (config.privacy.colluders, tolerate);
            let sealed = Tolerance::sealed(&links_of(topology), planned, retries);
            Some(sealed.expect("degrees were checked when the tables were settled"))
        }
    }
}

/// Whether tolerant peers can run this release of a program.
///
/// # Errors
/// [`Unsupported`] for a release that may be left out, and for one that is no sum.
fn supports(_: &Program, release: &ReleaseSpec) -> Result<(), Unsupported> {
    let refuse = |what: &'static str, change| {
        Err(Unsupported {
            who: "[dropouts]".into(),
            what: what.into(),
            change,
        })
    };
    if release.ceiling.is_some() {
        return refuse(
            "an algorithm that may stop before its last release",
            "choose one that makes all of them",
        );
    }
    if release.form == ReleaseForm::OwnCoordinates {
        return refuse(
            "an algorithm whose peers fill coordinates of their own",
            "choose one whose releases are sums",
        );
    }
    Ok(())
}

/// Peers by number, as the file calls them.
pub(super) fn numbered(
    faults: &FaultsConfig,
    topology: &Topology,
) -> Result<FaultSchedule, DropoutsTableError> {
    let schedule = faults.renamed(|name| topology.find(&name.0))?;
    let links: Vec<(u32, u32)> = topology.graph().edge_list().collect();
    schedule.check_for(topology.graph().nodes(), &links)?;
    Ok(schedule)
}

impl Experiment {
    /// What the session tolerates; `None` where the loss of a peer ends it.
    #[must_use]
    pub fn tolerance(&self) -> Option<Tolerance> {
        tolerance(&self.config, self.topology())
    }

    /// Why contributions can be read before everybody holds them, where they are not sealed for want of neighbours.
    #[must_use]
    pub fn why_open(&self) -> Option<ThresholdsError> {
        let dropouts = self.config.dropouts?;
        if dropouts.publish == Some(Publish::Sealed) {
            return None;
        }
        let planned = (self.config.privacy.colluders, dropouts.tolerate);
        Thresholds::new(&links_of(self.topology()), planned.0, planned.1).err()
    }

    /// What goes wrong, with peers by number and the latency of `[engine]` where it has none of its own; nothing where the file does not say.
    ///
    /// # Panics
    /// Never: the schedule was read when the experiment was resolved.
    #[must_use]
    pub fn faults(&self) -> FaultSchedule {
        let schedule = match &self.config.faults {
            Some(faults) => numbered(faults, self.topology()),
            None => Ok(FaultSchedule::none(0)),
        };
        let schedule = schedule.expect("resolving refused schedules that cannot be run");
        FaultSchedule {
            latency: schedule.latency.or(Some(self.config.engine.latency)),
            ..schedule
        }
    }

    /// A schedule as files of faults have it, with peers by name.
    #[must_use]
    pub fn named_faults(&self, schedule: &FaultSchedule) -> FaultsConfig {
        let name = |peer: &u32| Ok(PeerName(self.topology().graph().name(*peer as usize)));
        let named: Result<_, std::convert::Infallible> = schedule.renamed(name);
        named.unwrap_or_else(|never| match never {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::accountant::{PublicGraph, certified_variance_factors};
    use crate::scenario::testing::sim;

    const TOLERANT: [&str; 6] = [
        "peers.count=24",
        "topology.degree=12",
        "data.items=40",
        "algorithm.rank=2",
        "dropouts.tolerate=3",
        "dropouts.retries=2",
    ];

    /// ε of the worst-placed peer with so many gone, for so many releases of factor 1.
    fn epsilon(experiment: &Experiment, gone: usize, releases: f64) -> f64 {
        let noise = experiment.noise();
        let spectrum = experiment.noise_topology().spectrum();
        let connectivity = spectrum.algebraic_connectivity.into();
        let public = PublicGraph::new(experiment.noise_topology().graph(), connectivity);
        let (own, pairwise) = (noise.sigma_own().powi(2), noise.sigma_pairwise().powi(2));
        let factors = certified_variance_factors(&public, own, pairwise, gone).expect("certified");
        let worst = factors.iter().map(|one| one.factor).fold(0.0, f64::max);
        let delta = experiment.delta().expect("a delta");
        noise.epsilon_of((releases * worst).sqrt(), delta)
    }

    /// The budget is spent with all retries and three lost besides one curious peer, and not before.
    #[test]
    fn noise_is_planned_for_whoever_is_lost_and_every_retry() {
        let experiment = sim("../tests/power.toml", &TOLERANT).expect("resolves");
        let at_worst = epsilon(&experiment, 4, 5.0);
        assert!((1.99..=2.0 + 1e-9).contains(&at_worst), "{at_worst}");
        assert!(epsilon(&experiment, 5, 5.0) > 2.0);
        assert!(epsilon(&experiment, 4, 6.0) > 2.0);
        assert!((experiment.even_iterations() - 5.0).abs() < 1e-12);
        assert!((experiment.even_iterations_at_best() - 3.0).abs() < 1e-12);
        let plain = sim("../tests/power.toml", &TOLERANT[..4]).expect("resolves");
        assert!(experiment.noise().sigma_own() > 1.2 * plain.noise().sigma_own());
        // Tolerating nothing is planned as without the table.
        let nothing = ["dropouts.tolerate=0", "dropouts.retries=0"];
        let nothing = sim("../tests/power.toml", &[&TOLERANT[..4], &nothing].concat());
        let nothing = nothing.expect("resolves");
        assert_eq!(
            nothing.noise().sigma_own().to_bits(),
            plain.noise().sigma_own().to_bits()
        );
    }

    /// Where nothing is said contributions are sealed if every peer has 3f + t + 1 neighbours, and open with a warning that says what it would take if not.
    #[test]
    fn contributions_are_sealed_where_degrees_allow_it() {
        let publish = |set: &[&str]| {
            let experiment = sim("../tests/power.toml", &[&TOLERANT[..], set].concat());
            let experiment = experiment.expect("resolves");
            let is_warned =
                |warning: &crate::scenario::Warning| warning.to_string().contains("publish");
            let warned = experiment.warnings().iter().any(is_warned);
            assert_eq!(warned, experiment.why_open().is_some());
            let publish = experiment.config().dropouts.expect("a table").publish;
            let tolerance = experiment.tolerance().expect("tolerant");
            let is_open = tolerance.publication == Publication::Open;
            assert_eq!(is_open, publish == Some(Publish::Open));
            (publish.expect("settled"), warned)
        };
        // t = 1 and f = 3: eleven neighbours.
        assert_eq!(publish(&[]), (Publish::Sealed, false));
        assert_eq!(
            publish(&["dropouts.publish=sealed"]),
            (Publish::Sealed, false)
        );
        assert_eq!(publish(&["dropouts.publish=open"]), (Publish::Open, false));
        assert_eq!(publish(&["topology.degree=11"]), (Publish::Sealed, false));
        assert_eq!(publish(&["topology.degree=10"]), (Publish::Open, true));
    }

    /// Weights that divide the budget: a retry costs what the dearest release does.
    #[test]
    fn a_retry_of_the_dearest_release_is_within_the_budget() {
        let weights = ["privacy.budget=[1,4,1]"];
        let experiment = sim("../tests/power.toml", &[&TOLERANT[..], &weights].concat());
        let experiment = experiment.expect("resolves");
        // Weights 1, 4, 1 of 6: the second of three releases costs 4/6·3 = 2, and twice that more; planned for 3 + 4.
        assert!((experiment.even_iterations() - 7.0).abs() < 1e-9);
        assert!((experiment.even_iterations_at_best() - 3.0).abs() < 1e-9);
        assert!(epsilon(&experiment, 4, 7.0) <= 2.0 + 1e-9);
        assert!(epsilon(&experiment, 4, 7.5) > 2.0);
    }
}
