//! Checks a receipt: plans its noise again and compares every number that follows.

use super::again::{Ground, StatedSession};
use super::document::{Partners, Receipt, hash, json};
use super::error::{ReceiptError, range};
use super::finding::{Finding, TOLERANCE, compare, near};
use super::limits::MOST_PEERS;
use crate::algorithm::{Preconditioned, Program};
use crate::config::EngineKind;
use crate::plan::Promise;
use crate::privacy::{AdversaryView, GroupLoss, OwnRules, View};
use crate::run::items::ItemList;
use crate::scenario::{Assumed, ItemSource, MOST_RETRIES};
use crate::topology::{Graph, Provenance, Topology};

impl Receipt {
    /// Plans the noise again from the program, the promise and the graph, and compares the guarantee and what every release was scaled by
    /// to one part in a million; then holds the view that covers the coalition asked for against the ε asked for.
    ///
    /// Every number must be the one that follows, neither less nor more: a receipt that states more noise than was planned
    /// is not that of this plan either. A statistic must be one that n × p blocks with orthonormal columns can have. A
    /// receipt without noise does not hold, since nobody was protected, and neither does one whose calibration spends more
    /// than was asked for, however well its numbers agree.
    ///
    /// # Errors
    /// [`ReceiptError`] if the program, the promise or the graph is refused, or is larger than a check takes on, and for a quantity of an algorithm of
    /// one's own: [`Self::check_with`] takes its bound.
    pub fn check(&self) -> Result<Vec<Finding>, ReceiptError> {
        self.check_with(&OwnRules::none())
    }

    /// Like [`Self::check`], with bounds of your own for the quantities that only an algorithm of your own releases.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn check_with(&self, own: &OwnRules) -> Result<Vec<Finding>, ReceiptError> {
        let graph = self.partners.graph()?;
        let promise = self.promise_with(own)?;
        let topology = Topology::from_graph(graph.clone(), Provenance::edges("receipt"));
        let ground = Ground {
            topology: &topology,
            most_rows: self.partners.most_rows.unwrap_or(0),
            own,
        };
        let stated = StatedSession {
            at: "",
            program: &self.program,
            guarantee: &self.guarantee,
            releases: &self.releases,
        };
        let planned = stated.plan(&promise, ground)?;
        let (program, guarantee) = (&*planned.program, &planned.guarantee);
        // A curator adds no integers, whatever the noise is called.
        if self.partners.most_rows.is_some() != guarantee.noise().ring().is_some() {
            return Err(ReceiptError::Ring);
        }
        let mut findings = vec![
            Finding::flag("noise is added at all", !promise.noise.is_none()),
            self.runner_shows(),
        ];
        findings.extend(self.partners.compare(&graph));
        findings.extend(stated.compare(&planned));
        let covered = self.promise_kept(guarantee.noise().views());
        findings.push(covered);
        findings.extend(self.persons_protected(guarantee.groups()));
        let statement = (!promise.noise.is_none()).then(|| promise.statement().sentence());
        let told = json(&self.statement);
        compare("statement", &told, &json(&statement), &mut findings);
        findings.extend(self.compare_items(program)?);
        findings.extend(self.compare_assumptions());
        findings.extend(self.check_pilot(&planned, &promise, ground)?);
        findings.extend(self.check_realised(&graph, (program, guarantee))?);
        Ok(findings)
    }

    /// The promise with bounds of one's own, after its sizes were looked at.
    fn promise_with(&self, own: &OwnRules) -> Result<Promise, ReceiptError> {
        let retries = self.promise.losses.map_or(0, |one| one.retries);
        if retries > MOST_RETRIES {
            let (found, most) = (retries, MOST_RETRIES);
            return Err(ReceiptError::Retries { found, most });
        }
        // The distance of the sampler is not split in two.
        if self.promise.part.is_some() && self.partners.most_rows.is_some() {
            return Err(ReceiptError::Part);
        }
        let bounds = self.promise.bounds.clone().with_rules(own.clone());
        Ok(Promise {
            bounds,
            ..self.promise.clone()
        })
    }

    /// Whether what ran shows no more than the promise covers. What this build does not know may show everything.
    fn runner_shows(&self) -> Finding {
        let known: Result<EngineKind, _> = serde_json::from_value(self.runner.clone().into());
        let shows = known.map_or(AdversaryView::Everything, EngineKind::seen);
        Finding {
            what: "runner shows no more than promise.seen".to_owned(),
            stated: self.runner.clone().into(),
            computed: json(&self.promise.seen),
            agrees: shows <= self.promise.seen,
        }
    }

    /// Compares what the receipt says of P with the item list that the run wrote beside it; nothing to compare where there is no P.
    #[must_use]
    pub fn check_items(&self, items: &ItemList) -> Vec<Finding> {
        let Some(stated) = &self.preconditioning else {
            return Vec::new();
        };
        let follow = match (stated.weights(&items.degrees), &items.weights) {
            (Ok(made), Some(written)) => {
                let both = made.weights().iter().zip(written.weights());
                both.into_iter().all(|(a, b)| near(*b, *a))
            }
            _ => false,
        };
        vec![
            Finding::flag(
                "degrees of items.csv, of which P was made",
                stated.is_of(&items.degrees),
            ),
            Finding::flag("weights of items.csv follow from them", follow),
        ]
    }

    /// The list of items is that of the program, and so is P.
    fn compare_items(&self, program: &Program) -> Result<Vec<Finding>, ReceiptError> {
        let stated = self.preconditioning.as_ref();
        if stated.is_some_and(|stated| !stated.is_possible()) {
            return Err(ReceiptError::Preconditioning);
        }
        // Whoever puts a P before an algorithm by hand says where it is from.
        let has_weights = Preconditioned::is_of(program);
        let by_hand = self.item_list.is_none() && self.preconditioning.is_none();
        let mut findings = vec![Finding::flag(
            "preconditioning is stated where the program has a P",
            by_hand || has_weights == self.preconditioning.is_some(),
        )];
        if let Some(list) = &self.item_list {
            findings.push(Finding {
                what: "item_list.items".to_owned(),
                stated: list.items.into(),
                computed: program.items.into(),
                agrees: list.items == program.items,
            });
        }
        Ok(findings)
    }

    /// What the receipt calls for to be assumed.
    fn assumed(&self) -> Assumed<'_> {
        let facts = &self.assumed;
        Assumed {
            participants: self.promise.participants.filter(|_| facts.own_files),
            users: facts.users,
            items: self.item_list.as_ref().map(|list| list.source),
            start: facts.start,
            preconditioning: self.preconditioning.as_ref(),
            recommends: facts.recommender,
            chosen: self.choice.is_some(),
        }
    }

    /// Exactly what is called for must be assumed.
    fn compare_assumptions(&self) -> Vec<Finding> {
        let assumed = self.assumed();
        let goes_together = match assumed.items {
            None | Some(ItemSource::Data) => true,
            Some(ItemSource::File) => !assumed.recommends,
            Some(ItemSource::MostRatedOfFile) => assumed.recommends,
        };
        let own_files = !self.assumed.own_files || self.promise.participants.is_some();
        let mut findings = vec![
            Finding::flag(
                "item_list.source goes with assumed.recommender",
                goes_together,
            ),
            Finding::flag(
                "promise.participants is stated where every peer has a file of its own",
                own_files,
            ),
        ];
        let (stated, called) = (json(&self.assumptions), json(&assumed.sentences()));
        compare("assumptions", &stated, &called, &mut findings);
        findings
    }

    /// Whether the view promised stays within the ε asked for.
    ///
    /// That is the first view of at least as many colluders as asked for: what a larger coalition learns bounds what a
    /// smaller one does. Under a curator, whom everybody trusts, it is the only view there is. The ε is the one computed
    /// here, not the one stated. No such view promises nothing, which is within no ε.
    fn promise_kept(&self, computed: &[View]) -> Finding {
        let promise = &self.promise;
        let covers = |view: &&View| {
            promise.seen == AdversaryView::CuratorOutput || view.colluders >= promise.withstood()
        };
        let (who, spent) = match computed.iter().find(covers) {
            Some(view) => (view.view.as_str(), view.epsilon),
            None => ("anybody", f64::INFINITY),
        };
        let calibration = promise.calibration;
        self.within(
            format!("epsilon asked for covers what {who} learns ({calibration} calibration)"),
            spent,
        )
    }

    /// Whether persons at several participants lose no more than the ε asked for, where that was promised. The ε is the one computed here.
    fn persons_protected(&self, computed: &[GroupLoss]) -> Option<Finding> {
        let k = self.promise.participants.filter(|k| *k != 1)?;
        let group = computed.iter().find(|group| group.peers == k);
        let spent = group.map_or(f64::INFINITY, |group| group.epsilon);
        Some(self.within(
            format!("epsilon asked for covers a person at {k} participants"),
            spent,
        ))
    }

    /// Whether an ε that is spent is within the one asked for.
    pub(super) fn within(&self, what: String, spent: f64) -> Finding {
        let asked = self.promise.epsilon.get();
        Finding {
            what,
            stated: asked.into(),
            computed: spent.into(),
            agrees: spent <= asked * (1.0 + TOLERANCE),
        }
    }
}

impl Partners {
    /// The graph, whose size is looked at before anything of it is made.
    fn graph(&self) -> Result<Graph, ReceiptError> {
        let (nodes, edges) = (self.nodes, self.edges.len());
        range("partners.nodes", nodes, 1, MOST_PEERS)?;
        // The edges are here already; the number of nodes is only announced.
        if nodes > edges + 1 {
            return Err(ReceiptError::Nodes { nodes, edges });
        }
        let graph = Graph::from_edges(nodes, &self.edges)?;
        match &self.names {
            Some(names) => Ok(graph.with_names(names.clone())?),
            None => Ok(graph),
        }
    }

    /// The hash, and the order of the edges.
    fn compare(&self, graph: &Graph) -> Vec<Finding> {
        let computed = hash(graph);
        let in_order = graph.edge_list().eq(self.edges.iter().copied());
        vec![
            Finding {
                agrees: computed == self.hash,
                what: "partners.hash".to_owned(),
                stated: self.hash.clone().into(),
                computed: computed.into(),
            },
            Finding::flag(
                "partners.edges: listed once, lower end first, ascending",
                in_order,
            ),
        ]
    }
}
