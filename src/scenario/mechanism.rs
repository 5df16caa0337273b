//! Which releases a program makes and what each of them spends: worked out here alone, from a configuration and from a receipt alike.

use std::sync::Arc;

use super::centring::Centring;
use super::part::Part;
use super::ring;
use crate::algorithm::{
    Algorithm, Form, LARGEST_ENTRY, NotOnGraph, NotPreconditioned, OnBipartite, OnGraph,
    Preconditioned, Program, ReleaseSpec, charged, share_factors,
};
use crate::linalg::ItemWeights;
use crate::privacy::ring::Modulus;
use crate::privacy::{BudgetSplit, PrivacyError, RingRequest, SensitivitySpec};
use crate::vocabulary::Distribution;

/// What the rows of peers are to one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataShape {
    /// Rows over the same items, whose sum over the peers is released.
    Rows,
    /// A graph, each of whose vertices is a peer.
    Graph,
    /// A matrix whose rows, so many, and whose columns are the peers.
    Bipartite {
        /// Rows.
        rows: usize,
        /// Whether entries are mapped to 0 to 1.
        in_unit_range: bool,
    },
}

/// An algorithm on data of some shape, before anything is decided about its budget.
#[derive(Clone, Debug)]
pub(crate) struct Arranged {
    algorithm: Arc<dyn Algorithm>,
    program: Program,
}

impl Arranged {
    /// The algorithm with its program.
    pub(crate) fn new(algorithm: Arc<dyn Algorithm>) -> Self {
        Self {
            program: algorithm.program(),
            algorithm,
        }
    }

    /// The same on data of this shape.
    ///
    /// # Errors
    /// [`NotOnGraph`] if it does not run there.
    pub(crate) fn on(self, shape: DataShape) -> Result<Self, NotOnGraph> {
        let algorithm: Arc<dyn Algorithm> = match shape {
            DataShape::Rows => return Ok(self),
            DataShape::Graph => Arc::new(OnGraph::new(self.algorithm)?),
            DataShape::Bipartite {
                rows,
                in_unit_range,
            } => {
                let largest = if in_unit_range { 1.0 } else { LARGEST_ENTRY };
                Arc::new(OnBipartite::new(self.algorithm, rows)?.within(largest))
            }
        };
        Ok(Self::new(algorithm))
    }

    /// The same for the eigenvectors of P A P, with these weights as the diagonal of P; its releases stay what they are.
    ///
    /// # Errors
    /// [`NotPreconditioned`] if it does not go with a P, or not with this one.
    pub(crate) fn preconditioned(
        self,
        weights: Arc<ItemWeights>,
    ) -> Result<Self, NotPreconditioned> {
        let around = Preconditioned::new(self.algorithm, weights)?;
        Ok(Self::new(Arc::new(around)))
    }

    /// Refuses an algorithm that does not go with any P.
    ///
    /// # Errors
    /// [`NotPreconditioned`] for such a one.
    pub(crate) fn check_precondition(&self) -> Result<(), NotPreconditioned> {
        Preconditioned::products(&self.program).map(drop)
    }

    /// The first release, whose bound is that of the whole program but for a private mean.
    pub(crate) fn first(&self) -> &ReleaseSpec {
        &self.program.releases[0]
    }

    /// Whether weights may divide its budget: not where releases have shares of their own or meet different records.
    pub(crate) fn takes_weights(&self) -> bool {
        let releases = &self.program.releases;
        let batches = releases.iter().any(|release| release.batch.is_some());
        !batches && share_factors(releases).is_empty()
    }

    /// The whole program: a mean first where it is private, and the budget divided.
    ///
    /// # Errors
    /// [`PrivacyError`] for weights that are not one per release.
    pub(crate) fn mechanism(
        self,
        centring: Option<&Centring>,
        split: &BudgetSplit,
        law: Distribution,
    ) -> Result<Mechanism, PrivacyError> {
        // A whole number of releases. A mean that is released first takes its share of what they cost.
        let releases = &self.program.releases;
        let charge = charged(releases, |_| 1.0) as u32;
        let shares = share_factors(releases);
        let weights = split.noise_factors(releases.len() as u32)?;
        let (arranged, weights) = match centring {
            Some(centring) => {
                let factors = centring.factors(&weights, releases.len());
                (Self::new(centring.around(self.algorithm)), factors)
            }
            None => (self, weights),
        };
        let factors = if shares.is_empty() { &weights } else { &shares };
        let factors = factors.iter().map(|factor| law.factor(*factor)).collect();
        Ok(Mechanism {
            algorithm: arranged.algorithm,
            program: Arc::new(arranged.program),
            charge,
            weights,
            factors,
            law,
            retries: 0,
        })
    }
}

/// A program of releases with the part of the budget that each spends.
#[derive(Clone, Debug)]
pub(crate) struct Mechanism {
    /// The algorithm, on its items.
    pub(crate) algorithm: Arc<dyn Algorithm>,
    /// What it releases.
    pub(crate) program: Arc<Program>,
    /// For how many releases of noise factor 1 one record is charged, with all retries.
    pub(crate) charge: u32,
    /// What the noise of every release is multiplied by; empty for an even budget.
    pub(crate) factors: Vec<f64>,
    /// The factors that were asked for, as of Gaussian noise and without those of the releases' own shares.
    weights: Vec<f64>,
    law: Distribution,
    /// How often a release may be tried again.
    retries: u32,
}

impl Mechanism {
    /// The same program with noise for the part of the budget that it has, where a pilot and what follows it share one.
    pub(crate) fn of_part(mut self, part: Option<Part>) -> Self {
        if let Some(part) = part {
            self.factors = part.factors(&self.factors, self.program.releases.len());
            self.weights = part.factors(&self.weights, self.program.releases.len());
        }
        self
    }

    /// The same program where releases may be tried again so often: each time, at worst, it is the dearest of them.
    pub(crate) fn with_retries(mut self, retries: u32) -> Self {
        let more = f64::from(retries) * self.dearest(|factor| self.law.cost(factor));
        // Exact for an even budget, where each costs 1; upwards otherwise.
        self.charge = self.charge.saturating_add(more.ceil() as u32);
        self.retries = retries;
        self
    }

    /// The most that this is of any release.
    fn dearest(&self, cost: impl Fn(f64) -> f64) -> f64 {
        let even = if self.factors.is_empty() { 1.0 } else { 0.0 };
        self.factors
            .iter()
            .map(|factor| cost(*factor))
            .fold(even, f64::max)
    }

    fn summed(&self, cost: impl Fn(f64) -> f64) -> f64 {
        let again = f64::from(self.retries) * self.dearest(&cost);
        self.once(cost) + again
    }

    fn once(&self, cost: impl Fn(f64) -> f64) -> f64 {
        let cost = |index: usize| self.factors.get(index).map_or(1.0, |factor| cost(*factor));
        charged(&self.program.releases, cost)
    }

    /// What all releases and retries cost one record, in releases of factor 1.
    pub(crate) fn cost(&self) -> f64 {
        self.summed(|factor| self.law.cost(factor))
    }

    /// The same where no release is tried again.
    pub(crate) fn cost_at_best(&self) -> f64 {
        self.once(|factor| self.law.cost(factor))
    }

    /// Σ 1/f_l² over the releases that one record meets.
    pub(crate) fn inverse_squares(&self) -> f64 {
        self.summed(|factor| factor.powi(-2))
    }

    /// Whether peers fill coordinates of their own in some release.
    pub(crate) fn has_own_coordinates(&self) -> bool {
        let own = |one: &ReleaseSpec| one.form == Form::OwnCoordinates;
        self.program.releases.iter().any(own)
    }

    /// What the releases ask of sums of integers, over so many peers of which one holds at most so many rows.
    ///
    /// # Errors
    /// As [`ring::request`].
    pub(crate) fn ring(
        &self,
        sensitivity: &SensitivitySpec,
        (peers, rows): (usize, usize),
        modulus: Option<Modulus>,
    ) -> Result<RingRequest, PrivacyError> {
        let dimension = self.program.items;
        let range = ring::Range {
            dimension,
            peers,
            rows,
        };
        ring::request(
            &self.program.releases,
            sensitivity,
            range,
            &self.weights,
            modulus,
        )
    }
}
