//! Checks a receipt: plans its noise again and compares every number that follows.

use serde::Serialize;

use super::document::{Receipt, Request, hash};
use super::error::ReceiptError;
use super::replan::Replanned;
use crate::algorithm::{AlgorithmKind, BlockSpec};
use crate::config::EngineKind;
use crate::privacy::{
    GroupLoss, LaplacePlan, PrivacyError, RingPlan, Scheme, Sensitivity, Sensitivity1, Statistic,
    View,
};
use crate::run::items::ItemList;
use crate::scenario::{Assumed, ItemSource};
use crate::vocabulary::Distribution;

/// One line of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What was compared.
    pub what: String,
    /// What the receipt says.
    pub stated: f64,
    /// What the check computes.
    pub computed: f64,
    /// Whether they agree.
    pub agrees: bool,
}

impl Receipt {
    /// Plans the noise again from the request and the graph, and compares the σ's, the sensitivities and the views
    /// to one part in a million; then holds the view that covers the coalition asked for against the ε asked for.
    ///
    /// Every number must be the one that follows, neither less nor more: a receipt that states more noise than was planned
    /// is not that of this plan either. A statistic must be one that n × p blocks with orthonormal columns can have. A
    /// receipt without noise does not hold, since nobody was protected, and neither does one whose calibration spends more
    /// than was asked for, however well its numbers agree.
    ///
    /// # Errors
    /// [`ReceiptError`] if the request or the graph is refused, or is larger than a check takes on.
    pub fn check(&self) -> Result<Vec<Finding>, ReceiptError> {
        let Replanned {
            graph,
            program,
            guarantee,
            divided,
            possible,
        } = self.replan()?;
        let request = &self.request;
        let (plan, groups) = (guarantee.noise(), guarantee.groups());
        let (releases, factors) = (&program.releases, guarantee.division().factors());
        let bounds = releases
            .iter()
            .map(|release| Bound::of(request, &release.blocks[0]))
            .collect::<Result<Vec<_>, _>>()?;
        let hash_agrees = hash(&graph) == self.noise_graph.hash;
        let listed = self.noise_graph.edges.iter().copied();
        let in_order = graph.edge_list().eq(listed);
        let mut findings = vec![
            flag("noise is added at all", request.scheme != Scheme::None),
            flag("hash of the noise graph", hash_agrees),
            flag("edges listed once, lower end first, ascending", in_order),
            flag("a number of iterations the algorithm can run", possible),
            flag(
                "iterations listed as requested",
                // A program ends after its last release, or before one that it may leave out.
                possible
                    && self.iterations.len() <= releases.len()
                    && releases
                        .get(self.iterations.len())
                        .is_none_or(|next| next.may_end_before),
            ),
            equal("own noise", self.sigma_own, plan.sigma_own()),
            equal("pairwise noise", self.sigma_pairwise, plan.sigma_pairwise()),
            equal("noise in the sum", self.sigma_sum, plan.sigma_sum()),
            flag(
                "integers of the sums",
                same_ring(self.ring.as_ref(), plan.ring()),
            ),
            flag(
                "Laplace noise and what is certified of it",
                same_laplace(self.laplace.as_ref(), plan.laplace_noise()),
            ),
        ];
        if !divided {
            findings.push(flag("one way to share the budget among releases", divided));
        }
        let planned = releases.iter().zip(&bounds);
        for ((number, scaled), (release, sensitivity)) in
            (1_usize..).zip(&self.iterations).zip(planned)
        {
            let statistic = sensitivity.statistic();
            let (least, most) = statistic.range(request.dimension, sensitivity.columns());
            let possible = match release.agreement {
                Some(number) => number.admits(scaled.statistic),
                None => (least * (1.0 - TOLERANCE)..=most * (1.0 + TOLERANCE))
                    .contains(&scaled.statistic),
            };
            let at = match release.ceiling {
                Some(ceiling) if scaled.statistic <= ceiling => ceiling,
                _ => scaled.statistic,
            };
            // Several blocks are published in units of their own bounds.
            let bound = match release.blocks.len() {
                1 => sensitivity.at(at),
                _ => 1.0,
            };
            findings.push(flag(
                &format!("statistic of iteration {number} is possible"),
                possible,
            ));
            findings.push(equal(
                &format!("sensitivity of iteration {number}"),
                scaled.sensitivity,
                bound,
            ));
            findings.push(equal(
                &format!("noise factor of iteration {number}"),
                scaled.noise_factor,
                factors.get(number - 1).copied().unwrap_or(1.0),
            ));
        }
        findings.extend(self.compare_views(plan.views()));
        findings.push(self.promise_kept(plan.views()));
        let stated = (request.scheme != Scheme::None).then(|| self.promised().sentence());
        findings.push(flag(
            "what one record is, and against whom",
            self.promise == stated,
        ));
        findings.extend(self.compare_groups(groups));
        findings.extend(self.persons_protected(groups));
        findings.extend(self.compare_assumptions());
        findings.extend(self.check_pilot()?);
        findings.extend(self.check_realised(&graph, (&program, &guarantee))?);
        Ok(findings)
    }

    /// Compares what the receipt says of P with the item list that the run wrote beside it; nothing to compare where there is no P.
    #[must_use]
    pub fn check_items(&self, items: &ItemList) -> Vec<Finding> {
        let Some(stated) = &self.request.preconditioning else {
            return Vec::new();
        };
        let follow = match (stated.weights(&items.degrees), &items.weights) {
            (Ok(made), Some(written)) => {
                let both = made.weights().iter().zip(written.weights());
                both.into_iter().all(|(a, b)| equal("", *b, *a).agrees)
            }
            _ => false,
        };
        vec![
            flag(
                "degrees of items.csv, of which P was made",
                stated.is_of(&items.degrees),
            ),
            flag("weights of items.csv follow from them", follow),
        ]
    }

    /// What the request and the item list call for.
    pub(super) fn assumed(&self) -> Assumed<'_> {
        let (request, list) = (&self.request, self.item_list.as_ref());
        Assumed {
            participants: request.participants().filter(|_| request.own_files),
            users: request.users,
            items: list.map_or(ItemSource::Data, |list| list.source),
            start: request.start.unwrap_or_default(),
            preconditioning: request.preconditioning.as_ref(),
            recommends: request.recommender,
            chosen: request.pilot_share.is_some() && request.algorithm != AlgorithmKind::Pilot,
        }
    }

    /// Exactly what is called for must be assumed. Older receipts state neither start nor users, and may assume more than these call for.
    fn compare_assumptions(&self) -> Vec<Finding> {
        let (request, list, assumed) = (&self.request, self.item_list.as_ref(), self.assumed());
        let called = assumed.sentences();
        let all = called.iter().all(|words| self.assumptions.contains(words));
        let no_more = self.assumptions.iter().all(|words| called.contains(words));
        let is_older = request.start.is_none() && request.users.is_none() && !request.recommender;
        let goes_together = match assumed.items {
            ItemSource::Data => true,
            ItemSource::File => !request.recommender,
            ItemSource::MostRatedOfFile => request.recommender,
        };
        vec![
            flag(
                "as many items listed as the dimension says",
                list.is_some_and(|list| list.items == request.dimension),
            ),
            flag(
                "the source of the items goes with the recommender",
                goes_together,
            ),
            flag("what is assumed public is stated", list.is_some() && all),
            flag(
                "nothing else is stated to be assumed public",
                is_older || no_more,
            ),
        ]
    }

    /// Groups must be stated as computed.
    fn compare_groups(&self, computed: &[GroupLoss]) -> Vec<Finding> {
        let sizes = |groups: &[GroupLoss]| groups.iter().map(|g| g.peers).collect::<Vec<_>>();
        let mut findings = vec![flag(
            "sizes of groups of changed peers",
            sizes(&self.groups) == sizes(computed),
        )];
        for (stated, group) in self.groups.iter().zip(computed) {
            let peers = group.peers;
            let mu = format!("mu of a group of {peers} changed peers");
            findings.push(equal(&mu, stated.mu, group.mu));
            let epsilon = format!("epsilon of a group of {peers} changed peers");
            findings.push(equal(&epsilon, stated.epsilon, group.epsilon));
        }
        findings
    }

    /// Whether the view promised stays within the ε asked for.
    ///
    /// That is the first view of at least as many colluders as asked for: what a larger coalition learns bounds what a
    /// smaller one does. Under a curator, whom everybody trusts, it is the only view there is. The ε is the one computed
    /// here, not the one stated. No such view promises nothing, which is within no ε.
    fn promise_kept(&self, computed: &[View]) -> Finding {
        let covers = |view: &&View| {
            self.engine == EngineKind::Central || view.colluders >= self.request.withstood()
        };
        let (who, spent) = match computed.iter().find(covers) {
            Some(view) => (view.view.as_str(), view.epsilon),
            None => ("anybody", f64::INFINITY),
        };
        Finding {
            what: format!(
                "epsilon asked for covers what {who} learns ({} calibration)",
                self.request.calibration
            ),
            stated: self.request.epsilon,
            computed: spent,
            agrees: spent <= self.request.epsilon * (1.0 + TOLERANCE),
        }
    }

    /// Whether persons at several participants lose no more than the ε asked for, where that was promised. The ε is the one computed here.
    fn persons_protected(&self, computed: &[GroupLoss]) -> Option<Finding> {
        let k = self.request.participants().filter(|k| *k != 1)?;
        let group = computed.iter().find(|group| group.peers == k);
        let spent = group.map_or(f64::INFINITY, |group| group.epsilon);
        Some(Finding {
            what: format!("epsilon asked for covers a person at {k} participants"),
            stated: self.request.epsilon,
            computed: spent,
            agrees: spent <= self.request.epsilon * (1.0 + TOLERANCE),
        })
    }

    fn compare_views(&self, computed: &[View]) -> Vec<Finding> {
        let same_views = self.views.len() == computed.len()
            && self.views.iter().zip(computed).all(|(a, b)| {
                (&a.view, a.colluders, a.certificate) == (&b.view, b.colluders, b.certificate)
            });
        let mut findings = vec![Finding {
            what: "number of views, with adversary and certificate of each".to_owned(),
            stated: self.views.len() as f64,
            computed: computed.len() as f64,
            agrees: same_views,
        }];
        for (stated, view) in self.views.iter().zip(computed) {
            findings.push(equal(
                &format!("mu against {}", view.view),
                stated.mu,
                view.mu,
            ));
            findings.push(equal(
                &format!("epsilon against {}", view.view),
                stated.epsilon,
                view.epsilon,
            ));
            let gap = format!("gap to central against {}", view.view);
            findings.push(equal(&gap, stated.gap_to_central, view.gap_to_central));
            let parts = (stated.gap_colluders, stated.gap_finite);
            let agree = equal("", parts.0, view.gap_colluders).agrees
                && equal("", parts.1, view.gap_finite).agrees;
            findings.push(flag(
                &format!("parts of the gap against {}", view.view),
                agree,
            ));
        }
        findings
    }
}

/// Numbers agree that differ by at most this share.
const TOLERANCE: f64 = 1e-6;

/// Whether two rings have the same integers, and shares that agree.
fn same_ring(stated: Option<&RingPlan>, computed: Option<&RingPlan>) -> bool {
    let (Some(a), Some(b)) = (stated, computed) else {
        return stated.is_none() && computed.is_none();
    };
    let integers = |ring: &RingPlan| {
        let sizes = (ring.clamp(), ring.coordinates(), ring.piece());
        (ring.grid(), ring.modulus(), ring.headroom(), sizes)
    };
    integers(a) == integers(b)
        && equal("", a.grid_overhead(), b.grid_overhead()).agrees
        && equal("", a.sampler_distance(), b.sampler_distance()).agrees
}

/// Whether two plans of Laplace noise agree.
fn same_laplace(stated: Option<&LaplacePlan>, computed: Option<&LaplacePlan>) -> bool {
    let (Some(a), Some(b)) = (stated, computed) else {
        return stated.is_none() && computed.is_none();
    };
    let numbers = |plan: &LaplacePlan| {
        let held = plan.holders().copied();
        let held = held.map(|held| [held.resistance, held.mu, held.epsilon, held.delta]);
        let own = [plan.scale(), plan.shape(), plan.epsilon()];
        own.into_iter().chain(held.into_iter().flatten()).collect()
    };
    let (stated, computed): (Vec<f64>, Vec<f64>) = (numbers(a), numbers(b));
    a.holders().map(|held| held.count) == b.holders().map(|held| held.count)
        && stated.len() == computed.len()
        && stated
            .iter()
            .zip(&computed)
            .all(|(a, b)| equal("", *a, *b).agrees)
}

/// The bound of a release, of the kind that its noise is scaled by.
enum Bound {
    Euclidean(Sensitivity),
    Absolute(Sensitivity1),
}

impl Bound {
    fn of(request: &Request, block: &BlockSpec) -> Result<Self, PrivacyError> {
        let (adjacency, rule) = (request.adjacency, request.sensitivity);
        let (floor, cap) = (request.degree_floor, request.degree_cap);
        let (quantity, columns) = (block.quantity, block.columns);
        Ok(match request.distribution {
            Distribution::Gaussian => {
                Self::Euclidean(request.sensitivity_spec().of(quantity, columns)?)
            }
            Distribution::Laplace => Self::Absolute(Sensitivity1::of_quantity(
                quantity,
                (adjacency, rule),
                floor,
                cap,
                (request.dimension, columns),
            )?),
        })
    }

    fn statistic(&self) -> Statistic {
        match self {
            Self::Euclidean(bound) => bound.statistic(),
            Self::Absolute(bound) => bound.statistic(),
        }
    }

    fn columns(&self) -> usize {
        match self {
            Self::Euclidean(bound) => bound.columns(),
            Self::Absolute(bound) => bound.columns(),
        }
    }

    fn at(&self, statistic: f64) -> f64 {
        match self {
            Self::Euclidean(bound) => bound.bound(statistic),
            Self::Absolute(bound) => bound.bound(statistic),
        }
    }
}

/// Something that holds (1) or does not (0).
pub(super) fn flag(what: &str, agrees: bool) -> Finding {
    Finding {
        what: what.to_owned(),
        stated: 1.0,
        computed: f64::from(u8::from(agrees)),
        agrees,
    }
}

pub(super) fn equal(what: &str, stated: f64, computed: f64) -> Finding {
    // Infinite numbers have no difference, and every number would be within a share of them.
    let near = (stated - computed).abs() <= TOLERANCE * computed.abs();
    let agrees = stated == computed || (computed.is_finite() && near);
    Finding {
        what: what.to_owned(),
        stated,
        computed,
        agrees,
    }
}
