//! How surely each defect fails `verify --runs 12` on the quickstart, and the larger ones `--runs 4`: computed, not simulated.
//!
//! Every defect keeps what is published Gaussian, so that the statistic that is meant for it is Σ μ_k χ²_1 with known
//! weights. Laurent & Massart 2000, Lemma 1, bounds both its tails: with E = Σ μ_k, v = Σ μ_k² and m = max μ_k,
//! P(Q ≤ E − 2√(v x)) ≤ e^{−x} and P(Q ≥ E + 2√(v x) + 2 m x) ≤ e^{−x}. Under the plan all μ_k are 1, which with x = ln(2/α)
//! gives thresholds at level α that the true ones are inside of; under the defect it bounds the probability that Q does not
//! reach them. Nothing is asymptotic there. Single peers have exact χ² laws. The one edge's correlation alone uses
//! Fisher's normal approximation, of variance 1/(T − 3) at T = 28,800.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

use super::{ALARM, FEW_RUNS, Places, RUNS, experiment};
use crate::scenario::Experiment;
use nalgebra::DMatrix;

/// Partners of every peer of the quickstart.
const DEGREE: f64 = 10.0;

/// The plan of P1's own method on the quickstart's users in numbers.
struct Quickstart {
    experiment: Experiment,
    peers: f64,
    iterations: f64,
    /// Coordinates at which residuals are whitened, and how many a pattern has.
    whitened: (f64, f64),
    /// Runs, and samples of each variance and covariance in them.
    runs: f64,
    samples: f64,
    /// σ_η² tr(Σ⁻¹): between 1 and s, near 1 where pairwise noise dominates.
    own_share: f64,
}

impl Quickstart {
    fn new(runs: u32) -> Self {
        let experiment = experiment(&[]);
        let graph = experiment.noise_topology().graph();
        let (own, pairwise) = (
            experiment.noise().sigma_own().powi(2),
            experiment.noise().sigma_pairwise().powi(2),
        );
        let s = graph.nodes();
        let mut sigma = DMatrix::zeros(s, s);
        for u in 0..s {
            sigma[(u, u)] = own + pairwise * graph.degree(u) as f64;
            for &v in graph.neighbours(u) {
                sigma[(u, v as usize)] = -pairwise;
            }
        }
        let inverse = sigma.cholesky().expect("positive definite").inverse();
        let places = Places::new(s, (200, 4));
        Self {
            peers: s as f64,
            iterations: 3.0,
            whitened: (
                places.patterns().count() as f64,
                places.pattern_len() as f64,
            ),
            runs: f64::from(runs),
            samples: f64::from(runs) * 3.0 * places.all().len() as f64,
            own_share: own * inverse.trace(),
            experiment,
        }
    }

    /// At most the probability that Σ of `vectors` squared norms ‖W‖², where W has covariance
    /// (σ_η² I + f σ_Δ² L) relative to Σ in place of I, passes as χ².
    ///
    /// That covariance has eigenvalues μ = (σ_η² + f σ_Δ² λ)/(σ_η² + σ_Δ² λ) between 1 and f, so tr = f·s +
    /// (1 − f)·σ_η² tr Σ⁻¹ and tr of the square ≤ s·max(1, f²).
    fn miss(&self, f: f64, vectors: f64) -> f64 {
        let n = self.peers * vectors;
        let mean = vectors * (f * self.peers + (1.0 - f) * self.own_share);
        let largest = f64::max(1.0, f);
        let v = n * largest * largest;
        let x = (2.0 / ALARM).ln();
        if f < 1.0 {
            let gap = n - 2.0 * (n * x).sqrt() - mean;
            assert!(gap > 0.0, "out of reach: {f}");
            let root = ((v + 2.0 * largest * gap).sqrt() - v.sqrt()) / (2.0 * largest);
            (-root * root).exp()
        } else {
            let gap = mean - (n + 2.0 * (n * x).sqrt() + 2.0 * x);
            assert!(gap > 0.0, "out of reach: {f}");
            (-gap * gap / (4.0 * v)).exp()
        }
    }

    /// The probability that a peer whose variance is `ratio` times the planned passes, exactly.
    fn miss_of_one_peer(&self, ratio: f64) -> f64 {
        let law = ChiSquared::new(self.samples).expect("samples");
        let tail = ALARM / (2.0 * self.peers);
        let low = law.inverse_cdf(tail) / ratio;
        let high = law.inverse_cdf(1.0 - tail) / ratio;
        law.cdf(high) - law.cdf(low)
    }

    /// Vectors of residuals of all peers that are whitened.
    fn vectors(&self) -> f64 {
        self.runs * self.iterations * self.whitened.0
    }

    /// The probability that an edge with `factor` of its noise and this sign passes: both variances and the covariance lose
    /// (1 − f²) σ_Δ².
    fn miss_of_one_edge(&self, factor: f64, sign: f64) -> f64 {
        let noise = self.experiment.noise();
        let (own, pairwise) = (noise.sigma_own().powi(2), noise.sigma_pairwise().powi(2));
        let planned = own + DEGREE * pairwise;
        let variance = planned - (1.0 - factor * factor) * pairwise;
        let slope = -pairwise / planned;
        let covariance = -sign * factor * factor * pairwise;
        let cross = covariance - slope * variance;
        let across = variance - slope * (2.0 * covariance - slope * variance);
        let r = cross / (variance * across).sqrt();
        let normal = Normal::new(0.0, 1.0).expect("valid");
        let edges = self.experiment.noise_topology().graph().edges() as f64;
        let threshold = -normal.inverse_cdf(ALARM / (2.0 * edges));
        normal.cdf(threshold - r.atanh().abs() * (self.samples - 3.0).sqrt())
    }

    /// Each defect and at most the probability that it passes.
    fn misses(&self) -> Vec<(String, f64)> {
        let noise = self.experiment.noise();
        let (own, pairwise) = (noise.sigma_own().powi(2), noise.sigma_pairwise().powi(2));
        let graph = self.experiment.noise_topology().graph();
        let planned = own + DEGREE * pairwise;
        let (columns, length) = self.whitened;
        assert_eq!((columns, length), (40.0, 5.0));
        assert!(self.own_share < 1.1, "{}", self.own_share);
        let all = self.vectors();
        let mut misses: Vec<(String, f64)> = [0.0, 0.1, 0.5]
            .map(|size: f64| (format!("pairwise × {size}"), self.miss(size * size, all)))
            .to_vec();
        // Σ_l W_l/√3 with the same pairwise noise three times: its pairwise part has 3 times the variance.
        misses.push((
            "reused in every iteration".to_owned(),
            self.miss(self.iterations, self.runs * columns),
        ));
        // Two of a pattern's five coordinates share their pairwise normals: (3 + 2²)/5.
        misses.push((
            "chunk ignored".to_owned(),
            self.miss(7.0 / 5.0, all / length),
        ));
        // Two of all runs, of twelve: (10 + 2²)/12; own noise repeats as well, which only adds.
        misses.push((
            "two runs".to_owned(),
            self.miss((self.runs + 2.0) / self.runs, self.iterations * columns),
        ));
        let omitted = self.miss_of_one_peer(own / planned);
        misses.push(("missing at one peer".to_owned(), omitted));
        // k equal terms at the lower end of k edges have k² times the variance of one.
        let keyed = |above: &dyn Fn(u32, u32) -> bool| {
            let partners = |u: usize| graph.neighbours(u).iter();
            let most = (0..graph.nodes())
                .map(|u| partners(u).filter(|&&v| above(u as u32, v)).count())
                .max();
            let k = most.expect("peers") as f64;
            self.miss_of_one_peer((own + (k * k + DEGREE - k) * pairwise) / planned)
        };
        misses.push(("keyed by the lower end".to_owned(), keyed(&|u, v| u < v)));
        misses.push(("keyed by the upper end".to_owned(), keyed(&|u, v| u > v)));
        misses.push((HALF_AN_EDGE.to_owned(), self.miss_of_one_edge(0.5, 1.0)));
        misses.push(("one edge × 0".to_owned(), self.miss_of_one_edge(0.0, 1.0)));
        misses.push((
            "one edge's sign".to_owned(),
            self.miss_of_one_edge(1.0, -1.0),
        ));
        misses
    }
}

/// What one edge at half its size is called below.
const HALF_AN_EDGE: &str = "one edge × 0.5";

#[test]
fn every_defect_fails_in_at_least_999_of_1000_seeds() {
    let quick = Quickstart::new(RUNS);
    assert_eq!(quick.samples, 28_800.0);
    for (defect, miss) in &quick.misses() {
        assert!(*miss < 1e-3, "{defect} passes with probability {miss:.1e}");
    }
    // Halfway to the plan is still seen, a thousandth from it is not: the computation can fail.
    assert!(quick.miss(0.9, quick.vectors()) < 1e-3 && quick.miss_of_one_edge(0.99, 1.0) > 0.5);
}

/// All defects but one weaker edge need a third of the runs.
#[test]
fn a_defect_of_more_than_half_an_edge_fails_as_surely_in_four_runs() {
    for (defect, miss) in &Quickstart::new(FEW_RUNS).misses() {
        let sure = *miss < 1e-3;
        assert_eq!(sure, defect != HALF_AN_EDGE, "{defect}: {miss:.1e}");
    }
}
