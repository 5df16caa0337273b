//! One release of a plan: what bounds it, what its noise is scaled by, how many exchanges it takes.

use std::ops::Range;

use super::super::wire;
use super::bounds::Bounds;
use super::defect::WrongModulus;
use super::error::SessionPlanError;
use super::parameters::{RingParameters, SessionParameters};
use super::steps::Steps;
use crate::algorithm::{Algorithm, Form, Program, PublicState, ReleaseSpec};
use crate::privacy::{Sensitivity, Statistic};
use crate::vocabulary::{Quantity, ReleaseId, TAIL_DEGREES};

/// A release with everything that is known of it before the session starts.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRelease {
    spec: ReleaseSpec,
    bounds: Bounds,
    statistic: Statistic,
    factor: f64,
    /// The integers that its sum is made of.
    ring: Option<RingParameters>,
    /// What is wrong with how it is reduced, which only tests can build.
    pub(super) defect: Option<WrongModulus>,
}

/// How the noise of one release is scaled, once peers have agreed on what it depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The agreed statistic (0 where none is needed).
    pub statistic: f64,
    /// Δ, what one record can move the released coordinates by; 1 where they are in units of their own bounds.
    pub sensitivity: f64,
    /// What every noise term is multiplied by: Δ times the release's noise factor.
    pub scale: f64,
    /// Per block of a composite release where it ends and what its coordinates are divided by; empty for one block.
    units: Vec<(usize, f64)>,
    steps: Option<Steps>,
}

impl Terms {
    /// Divides coordinates that lie at `range` of the release by the units of their blocks, in which they are published.
    pub fn to_units(&self, range: Range<usize>, values: &mut [f64]) {
        self.each_block(range, values, |value, unit| value / unit);
    }

    /// Multiplies coordinates that lie at `range` of the release by the units of their blocks.
    pub fn from_units(&self, range: Range<usize>, values: &mut [f64]) {
        self.each_block(range, values, |value, unit| value * unit);
    }

    fn each_block(&self, range: Range<usize>, values: &mut [f64], by: impl Fn(f64, f64) -> f64) {
        let mut start = 0;
        for &(end, unit) in &self.units {
            let (low, high) = (start.max(range.start), end.min(range.end));
            if low < high {
                for value in &mut values[low - range.start..high - range.start] {
                    *value = by(*value, unit);
                }
            }
            start = end;
        }
    }

    /// The grid, where coordinates are integers; `None` for sums of reals.
    #[must_use]
    pub fn steps(&self) -> Option<&Steps> {
        self.steps.as_ref()
    }

    /// The same without a grid: for whoever adds noise of real numbers.
    #[must_use]
    pub fn without_steps(&self) -> Self {
        Self {
            steps: None,
            ..self.clone()
        }
    }

    /// Rounds every coordinate of a contribution to the nearest step of the grid and counts it in steps, within the clamp. Nothing
    /// happens to reals. What is no number stays none.
    pub fn to_steps(&self, values: &mut [f64]) {
        if let Some(steps) = &self.steps {
            steps.count(values);
        }
    }

    /// Whether coordinates are published in units of their blocks.
    #[must_use]
    pub fn has_units(&self) -> bool {
        !self.units.is_empty()
    }

    /// Standard deviation of every coordinate per block, where it is `sigma` of a coordinate as published.
    #[must_use]
    pub fn sigmas(&self, sigma: f64) -> Vec<f64> {
        if self.units.is_empty() {
            vec![sigma]
        } else {
            self.units.iter().map(|(_, unit)| sigma * unit).collect()
        }
    }
}

impl PlannedRelease {
    /// Refuses what no message holds: a function of sizes, before anything of such a size is made.
    ///
    /// # Errors
    /// [`SessionPlanError::TooWide`].
    pub fn check_width(
        spec: &ReleaseSpec,
        program: &Program,
        peers: u32,
    ) -> Result<(), SessionPlanError> {
        let peers = match spec.form {
            Form::Sum => 1,
            Form::OwnCoordinates => peers as usize,
        };
        let found = spec.values().saturating_mul(peers);
        if found > wire::MAX_VALUES {
            return Err(SessionPlanError::TooWide {
                algorithm: program.kind(),
                dimension: program.items,
                found,
                most: wire::MAX_VALUES,
            });
        }
        Ok(())
    }

    /// A release of `parameters` whose share of the budget asks for this noise factor.
    pub(super) fn new(
        parameters: &SessionParameters,
        id: ReleaseId,
        spec: ReleaseSpec,
        factor: f64,
    ) -> Result<Self, SessionPlanError> {
        let program = &*parameters.program;
        let columns = program.query_columns;
        let wrong = |problem| {
            Err(SessionPlanError::Release {
                algorithm: program.kind(),
                release: id,
                problem,
            })
        };
        if spec.blocks.is_empty() || spec.blocks.iter().any(|block| block.values() == 0) {
            return wrong("every release has at least one block, and no block is empty");
        }
        Self::check_width(&spec, program, parameters.peers)?;
        let weights: f64 = spec.blocks.iter().map(|block| block.weight).sum();
        let positive = spec.blocks.iter().all(|block| block.weight > 0.0);
        if !(positive && (weights - 1.0).abs() <= 1e-12) {
            return wrong("the weights of its blocks must be above 0 and add up to 1");
        }
        if spec.batch.is_some() && parameters.sensitivity.adjacency().is_of_matrix() {
            return wrong(
                "it is of one batch of rows, but one record of this adjacency is a change of a matrix, which may be spread over all \
                 batches: choose an adjacency of rows",
            );
        }
        let n = program.items;
        let triangle = n.saturating_mul(n.saturating_add(1)) / 2;
        for block in &spec.blocks {
            let shape = match block.quantity {
                Quantity::Product | Quantity::ClippedProduct => (n, columns),
                Quantity::PackedTriangle | Quantity::IsometricTriangle => (triangle, 1),
                Quantity::TriangleAndMargins => (triangle.saturating_add(n), 1),
                Quantity::RowSum | Quantity::NonnegativeRowSum | Quantity::ItemShares => (n, 1),
                Quantity::RayleighQuotient | Quantity::GraphQuotient | Quantity::ClipCount => {
                    (1, 1)
                }
                // A histogram has as many bins as it likes: its bound does not depend on them.
                Quantity::ClipHistogram => (block.shape.0, 1),
                Quantity::TailCounts => (TAIL_DEGREES.len(), 1),
                Quantity::GraphProduct | Quantity::BipartiteHalf => (1, columns),
                Quantity::Own(_) => block.shape,
            };
            let quotient = matches!(
                block.quantity,
                Quantity::RayleighQuotient | Quantity::GraphQuotient
            );
            let one_column = !quotient || columns == 1;
            // Row v of the product is vertex v's, and so is the noise on it: anything else has no proof.
            let of_vertices = spec.form == Form::OwnCoordinates && parameters.peers as usize == n;
            let is_vertex_s = matches!(
                block.quantity,
                Quantity::GraphProduct | Quantity::BipartiteHalf
            );
            if is_vertex_s && !of_vertices {
                return wrong(
                    "the product of a graph is of own coordinates: one row for every vertex, each of which is a peer",
                );
            }
            if block.shape != shape || block.columns != columns || !one_column {
                return wrong(
                    "a product has one row per item and one column per column of the query, a triangle n(n+1)/2 rows and one with margins n more, a sum of rows or of their shares n, a \
                     histogram one column, a count is one number, counts of users one for every public degree, a Rayleigh quotient one of a query of one column, and every block says how many columns the query has: bounds \
                     are looked up by that",
                );
            }
        }
        if !spec
            .ceiling
            .is_none_or(|ceiling| ceiling > 0.0 && ceiling <= 1.0)
        {
            return wrong(
                "its ceiling must be a statistic that a query can have, above 0 and at most 1",
            );
        }
        if spec.form == Form::OwnCoordinates && spec.blocks.len() > 1 {
            return wrong("own coordinates are released one block at a time");
        }
        if spec.form == Form::OwnCoordinates && parameters.distribution().is_pure() {
            return wrong(
                "own coordinates are hidden by Gaussian noise; set noise.distribution = \"gaussian\"",
            );
        }
        let kind = (&parameters.sensitivity, parameters.distribution());
        let bounds = Bounds::of(kind, n, &spec)?;
        let needed = bounds
            .statistics()
            .into_iter()
            .filter(|statistic| *statistic != Statistic::None);
        let mut needed: Vec<Statistic> = needed.collect();
        needed.dedup();
        if needed.len() > 1 {
            return wrong(
                "its blocks need bounds by different statistics; peers agree on one number",
            );
        }
        let statistic = needed.first().copied().unwrap_or(Statistic::None);
        if spec.agreement.is_some() && statistic != Statistic::None {
            return wrong(
                "it asks for an agreement of its own, and its sensitivity needs another; peers agree on one number",
            );
        }
        let spec_is_sum = spec.form == Form::Sum;
        Ok(Self {
            spec,
            bounds,
            statistic,
            factor,
            ring: parameters.ring.filter(|_| spec_is_sum),
            defect: None,
        })
    }

    /// What the algorithm declared.
    #[must_use]
    pub fn spec(&self) -> &ReleaseSpec {
        &self.spec
    }

    /// Whether noise is Wishart and this is the triangle of a matrix, not the mean before it.
    #[must_use]
    pub fn is_triangle(&self) -> bool {
        !self.bounds.nuclear().is_empty()
    }

    /// The bounds on the length of what one record moves, one per block; none where noise is Laplace or Wishart.
    #[must_use]
    pub fn bounds(&self) -> &[Sensitivity] {
        self.bounds.euclidean()
    }

    /// The bounds of the kind that the noise is scaled by.
    #[must_use]
    pub fn all_bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// f_l, 1 with an even budget.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// Rows and columns of what one peer contributes.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.spec.shape()
    }

    /// Coordinates of what one peer contributes.
    #[must_use]
    pub fn values(&self) -> usize {
        self.spec.values()
    }

    /// Whether every peer fills coordinates of its own.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.spec.form == Form::OwnCoordinates
    }

    /// The statistic of the query that the bounds need.
    #[must_use]
    pub fn statistic(&self) -> Statistic {
        self.statistic
    }

    /// Whether peers agree on a number before they contribute.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.statistic != Statistic::None || self.spec.agreement.is_some()
    }

    /// Whether what single peers hold must reach everybody: proposals for a number, or coordinates of their own.
    #[must_use]
    pub fn floods(&self) -> bool {
        self.agrees() || self.is_own()
    }

    /// This peer's proposal for the number that is agreed on: its largest over all peers.
    #[must_use]
    pub fn proposal(&self, algorithm: &dyn Algorithm, state: &PublicState) -> f64 {
        match self.statistic {
            Statistic::None if self.spec.agreement.is_some() => algorithm.statistic(state),
            statistic => statistic.of(&state.query),
        }
    }

    /// What one record can move every block by, given the agreed number: as noise is scaled, for the release's ceiling where it has one
    /// and the number is below. Of the kind that the plan's noise needs: lengths, or sums of absolute values.
    #[must_use]
    pub fn moved(&self, agreed: f64) -> Vec<f64> {
        // What is no number is no reason for less noise: the bounds take it for the worst case.
        let agreed = match self.spec.ceiling {
            Some(ceiling) if agreed <= ceiling => ceiling,
            _ => agreed,
        };
        self.bounds.at(agreed)
    }

    /// How the noise is scaled, given the agreed number: for the release's ceiling where it has one and the number is below.
    #[must_use]
    pub fn terms(&self, agreed: f64) -> Terms {
        let statistic = agreed;
        let moved = self.moved(agreed);
        if let [sensitivity] = *moved.as_slice() {
            return Terms {
                statistic,
                sensitivity,
                scale: sensitivity * self.factor,
                units: Vec::new(),
                steps: self.steps(sensitivity),
            };
        }
        // Block b with bound Δ_b and share w_b is published divided by Δ_b/√w_b. A record then moves it by √w_b at most, and all
        // blocks together by √Σw_b = 1, so that one standard deviation serves all. Under Laplace noise w_b takes the place of √w_b.
        let mut end = 0;
        let units = self.spec.blocks.iter().zip(moved);
        let units = units.map(|(block, moved)| {
            end += block.values();
            (end, moved / self.bounds.part(block.weight))
        });
        Terms {
            statistic,
            sensitivity: 1.0,
            units: units.collect(),
            scale: self.factor,
            steps: self.steps(1.0),
        }
    }

    fn steps(&self, sensitivity: f64) -> Option<Steps> {
        let steps = self.ring.map(|ring| Steps::new(ring, sensitivity));
        match self.defect {
            None => steps,
            Some(defect) => steps.map(|steps| steps.with_bits(defect.bits())),
        }
    }
}
