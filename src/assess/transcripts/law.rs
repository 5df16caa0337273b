//! Messages of all peers against the joint law of own and pairwise noise along a graph.

use nalgebra::DMatrix;

use super::arrays::{blocks, enough, finite, positive};
use super::central::{self, SumNoise};
use super::error::TranscriptError;
use super::finding::Finding;
use super::power::{runs_against_reuse, runs_of, samples_for_variance};
use super::verdict::{Place, Tests};
use super::{FALSE_ALARM, OFF};
use crate::assess::verification::peers::marginals::Marginals;
use crate::assess::verification::peers::places::Places;
use crate::assess::verification::peers::whitened::Whitened;
use crate::assess::verification::statistics::{chi_squared, least_likely_place, normal_two_sided};
use crate::topology::Graph;
use crate::vocabulary::ReleaseId;

/// The tests of messages, at most: three that are made here, three of single peers and pairs, four of whitened noise, and those of sums.
const TESTS: usize = 10 + central::TESTS;

/// The most peers: the precision matrix is dense.
const MOST_PEERS: usize = 1024;

/// Asserts that every peer's message is its contribution and the published noise: own noise, and a term for each neighbour that the two share and that cancels in
/// the sum.
///
/// `messages` holds R runs of peers × values numbers, run after run and peer after peer; `contributions` holds peers × values numbers, what every peer sends without
/// noise, the same in all runs. Node u of `graph` is peer u. Contributions and both σ have the units of the messages.
///
/// Returns every test that was made. A right program fails with probability at most 10⁻³, whatever the number of runs, peers and values.
///
/// # The law
/// Message u is f_u + σ_own·η_u + σ_pairwise·Σ_v s_uv·ζ_uv over the neighbours v of u, with s_uv = −s_vu = ±1 and independent standard normals η_u, ζ_uv = ζ_vu in every
/// value and run. The noise X of one value is then N(0, Σ) over peers, with Σ = σ_own²·I + σ_pairwise²·L and the Laplacian L of the graph.
///
/// *Proof.* X is a linear map of independent normals. Its variance at u is σ_own² + σ_pairwise²·deg(u); two peers share a normal if and only if they are neighbours, with
/// opposite signs. ∎
///
/// # Tests
/// T counts values of all runs, s peers, b = e_u − e_v of an edge.
///
/// | test | statistic | law under the claim |
/// | --- | --- | --- |
/// | an edge's term | Σ(bᵀΣ⁻¹X)²/(bᵀΣ⁻¹b), the least likely edge | χ² with T degrees |
/// | a peer's own noise, given all other messages | Σ(Σ⁻¹X)_u²/(Σ⁻¹)_uu, the least likely peer | χ² with T degrees |
/// | mean of one value of one peer | Σ_r X_u/√(R·Σ_uu), the least likely | N(0, 1) |
/// | variance of one peer; covariance of one edge, and of two neighbours of one peer | as [`verify`](crate::assess::verification::verify()) has them | χ²; Student's t |
/// | whitened noise: variance, distribution, correlation of values and of runs | as `verify` has them | χ²; Kolmogorov's |
/// | the sum over peers, in which pairwise noise cancels | as [`assert_central_dp`](super::assert_central_dp) has them, with σ_own·√s | as there |
///
/// *Proof of the first two.* wᵀX is N(0, wᵀΣw); for w = Σ⁻¹b that variance is bᵀΣ⁻¹b. Values of all runs are independent, so that the sum of squares over the variance is χ²_T.
/// These w are where the variance moves most, to first order, if the term of an edge or the own noise of a peer changes. ∎
///
/// A test of the least likely of k places has k times its smallest p-value, and each of n tests has the level 10⁻³/n (Bonferroni, as in
/// [`assert_central_dp`](super::assert_central_dp)).
///
/// # Errors
/// [`TranscriptError::Failed`] if the messages are not what is claimed. The other variants if nothing can be said: arrays that do not fit, numbers that are none, σ ≤ 0,
/// more than 1,024 peers, and fewer runs than [`runs_for_published_law`]. A graph without edges may have σ_pairwise = 0.
///
/// # Cost
/// s³ multiplications for Σ⁻¹, then T·s².
pub fn assert_published_law(
    messages: &[f64],
    contributions: &[f64],
    graph: &Graph,
    sigma_own: f64,
    sigma_pairwise: f64,
) -> Result<Vec<Finding>, TranscriptError> {
    let law = Law::new(graph, sigma_own, sigma_pairwise)?;
    let peers = graph.nodes();
    let of = "as many for every node of the graph";
    let values = blocks("contributions", contributions.len(), peers, of)?;
    let of = "one for each of contributions and run";
    let runs = blocks("messages", messages.len(), contributions.len(), of)?;
    let counted = enough(runs, law.runs_needed(values))?;
    finite("contributions", contributions, &[values])?;
    finite("messages", messages, &[peers, values])?;
    let pairs = messages.iter().zip(contributions.iter().cycle());
    let noise: Vec<f64> = pairs.map(|(x, f)| (x - f) / sigma_own).collect();
    finite(
        "(messages - contributions)/sigma_own",
        &noise,
        &[peers, values],
    )?;
    law.test(&noise, runs, values).settle(counted)
}

/// Runs that [`assert_published_law`] needs for messages of so many values.
///
/// With this many runs it fails, but for probability 10⁻³, a program
/// - whose σ_own is at most 0.8 or at least 1.2 times what is claimed, at all peers,
/// - or whose σ_pairwise is, on all edges,
/// - or in which one peer leaves out the term of one of its neighbours, whichever,
/// - or that adds the noise of its first run to all runs.
///
/// The third alternative decides where neighbours are many or σ_pairwise is small: one term is then a small part of a message.
///
/// # Errors
/// Those of [`assert_published_law`] about graph and σ.
pub fn runs_for_published_law(
    graph: &Graph,
    sigma_own: f64,
    sigma_pairwise: f64,
    values: usize,
) -> Result<u64, TranscriptError> {
    Ok(Law::new(graph, sigma_own, sigma_pairwise)?.runs_needed(values.max(1)))
}

/// The joint law, in units of σ_own.
struct Law<'a> {
    graph: &'a Graph,
    edges: Vec<(u32, u32)>,
    /// (σ_pairwise/σ_own)².
    pairwise: f64,
    /// Σ⁻¹.
    precision: DMatrix<f64>,
}

impl<'a> Law<'a> {
    fn new(graph: &'a Graph, own: f64, pairwise: f64) -> Result<Self, TranscriptError> {
        positive(
            "sigma_own",
            own,
            "give the own noise of one peer that is claimed",
        )?;
        let edges: Vec<(u32, u32)> = graph.edge_list().collect();
        if !(edges.is_empty() && pairwise == 0.0) {
            let remedy = "for own noise alone give a graph without edges";
            positive("sigma_pairwise", pairwise, remedy)?;
        }
        let found = graph.nodes();
        if found > MOST_PEERS {
            let most = MOST_PEERS;
            return Err(TranscriptError::TooManyPeers { found, most });
        }
        let pairwise = (pairwise / own).powi(2);
        let mut covariance = DMatrix::identity(found, found);
        for &(u, v) in &edges {
            let (u, v) = (u as usize, v as usize);
            covariance[(u, u)] += pairwise;
            covariance[(v, v)] += pairwise;
            covariance[(u, v)] = -pairwise;
            covariance[(v, u)] = -pairwise;
        }
        let factor = covariance.cholesky().ok_or(TranscriptError::Covariance)?;
        let precision = factor.inverse();
        if !precision.iter().all(|x| x.is_finite()) {
            return Err(TranscriptError::Covariance);
        }
        Ok(Self {
            graph,
            edges,
            pairwise,
            precision,
        })
    }

    /// bᵀΣ⁻¹b and the two ends' (Σ⁻¹b)_u, −(Σ⁻¹b)_v, which add up to it.
    fn contrast(&self, (u, v): (u32, u32)) -> (f64, f64, f64) {
        let q = |a: u32, b: u32| self.precision[(a as usize, b as usize)];
        let (at_u, at_v) = (q(u, u) - q(u, v), q(v, v) - q(u, v));
        (at_u + at_v, at_u, at_v)
    }

    /// As [`runs_for_published_law`].
    ///
    /// If u leaves out the term of v, the noise is X − σ_pairwise·s_uv·ζ_uv·e_u, whose covariance is Σ + p·(e_v·e_vᵀ − b·bᵀ) with p = σ_pairwise². In direction w = Σ⁻¹b, with
    /// r = bᵀΣ⁻¹b, its variance is 1 − p·r + p·w_v²/r times that of the law; in the direction of the sum 1 + p/s in units of σ_own; at u alone 1 − p/Σ_uu. The best of the
    /// three tests is counted on.
    fn runs_needed(&self, values: usize) -> u64 {
        let peers = self.graph.nodes();
        let width = Places::new(peers, (values, 1)).all().len();
        let level = FALSE_ALARM / TESTS as f64;
        let p = self.pairwise;
        let own = OFF.map(|factor| samples_for_variance(factor * factor, level));
        let reuse = runs_against_reuse((peers * values) as f64, level);
        let runs = runs_of(own[0].max(own[1]), values).max(reuse);
        if self.edges.is_empty() {
            return runs;
        }
        let variance = |degree: usize| 1.0 + p * degree as f64;
        let widest = variance(self.graph.max_degree());
        let pairwise = OFF.map(|factor| {
            let ratio = 1.0 + (factor * factor - 1.0) * (widest - 1.0) / widest;
            samples_for_variance(ratio, level / peers as f64)
        });
        let in_sum = runs_of(samples_for_variance(1.0 + p / peers as f64, level), values);
        // One more test of a variance is better the further the ratio lies from 1.
        let edge_level = level / self.edges.len() as f64;
        let hardest = self.edges.iter().flat_map(|&edge| {
            let (r, at_u, at_v) = self.contrast(edge);
            let ends = [(edge.0, at_v), (edge.1, at_u)];
            ends.map(|(end, w)| {
                let moved = 1.0 - p * r + p * w * w / r;
                let alone = 1.0 - p / variance(self.graph.degree(end as usize));
                let by_edge = samples_for_variance(moved, edge_level);
                by_edge.min(samples_for_variance(alone, level / peers as f64))
            })
        });
        let term = runs_of(hardest.fold(0.0, f64::max), width).min(in_sum);
        runs.max(runs_of(pairwise[0].max(pairwise[1]), width))
            .max(term)
    }

    /// All tests of the noise of these runs, in units of σ_own.
    fn test(&self, noise: &[f64], runs: usize, values: usize) -> Tests {
        let peers = self.graph.nodes();
        let places = Places::new(peers, (values, 1));
        let width = places.all().len();
        let variances = (1.0, self.pairwise);
        let mut marginals = Marginals::new(self.graph, variances);
        let mut whitened = Whitened::new(self.graph, variances, (runs as u32, 1));
        let mut conditional = Conditional::new(self, width);
        let mut sums = vec![0.0; runs * values];
        let scale = 1.0 / (peers as f64).sqrt();
        let mut kept = vec![0.0; peers * width];
        for (run, sums) in noise
            .chunks_exact(peers * values)
            .zip(sums.chunks_exact_mut(values))
        {
            for (of_peer, kept) in run.chunks_exact(values).zip(kept.chunks_exact_mut(width)) {
                for (sum, x) in sums.iter_mut().zip(of_peer) {
                    *sum += x * scale;
                }
                for (kept, &place) in kept.iter_mut().zip(places.all()) {
                    *kept = of_peer[place];
                }
            }
            marginals.add(&kept, width);
            whitened.add(&kept, &places, ReleaseId(1));
            conditional.add(&kept);
        }
        let sums = SumNoise::new("sum over peers, ", sums, values);
        let mut tests = Tests::default();
        // Of equal p-values the first is named first: where runs are equal, everything else is unlikely too.
        sums.add_pair_tests(&mut tests);
        conditional.add_tests(&mut tests, places.all(), runs);
        for (name, at, test) in marginals.located_tests() {
            let (what, expected) = self.marginal(name, &at);
            let place = Place {
                peers: at,
                ..Place::default()
            };
            tests.add(what, place, expected, test);
        }
        for (name, test) in whitened.tests(&places) {
            let expected = if name.contains("mean square") {
                1.0
            } else {
                0.0
            };
            tests.add(
                format!("all messages, {name}"),
                Place::default(),
                expected,
                test,
            );
        }
        sums.add_tests(&mut tests);
        tests
    }

    /// A test of single peers in words, and what is expected.
    fn marginal(&self, name: &str, at: &[u32]) -> (String, f64) {
        match *at {
            [u, v] if self.graph.has_edge(u, v) => {
                let what = "correlation of their noise beyond the published one";
                (format!("{}: {what}", self.edge((u, v))), 0.0)
            }
            [u, v] => {
                let (u, v) = (self.peer(u), self.peer(v));
                (
                    format!("{u} and {v}, which share no edge: correlation of their noise"),
                    0.0,
                )
            }
            [u] => (
                format!(
                    "{}: variance of its noise over the published one",
                    self.peer(u)
                ),
                1.0,
            ),
            _ => (name.to_owned(), 1.0),
        }
    }

    fn peer(&self, u: u32) -> String {
        format!("peer {}", self.graph.name(u as usize))
    }

    fn edge(&self, (u, v): (u32, u32)) -> String {
        let name = |end: u32| self.graph.name(end as usize);
        format!("edge {} - {}", name(u), name(v))
    }
}

/// Sums over the noise of all runs, each peer's given all others.
struct Conditional<'a> {
    law: &'a Law<'a>,
    width: usize,
    samples: f64,
    /// Σ (Σ⁻¹X)_u² of every peer.
    peers: Vec<f64>,
    /// Σ (bᵀΣ⁻¹X)² of every edge.
    edges: Vec<f64>,
    /// Σ_r X, values of one peer together.
    means: Vec<f64>,
}

impl<'a> Conditional<'a> {
    fn new(law: &'a Law<'a>, width: usize) -> Self {
        let peers = law.graph.nodes();
        Self {
            law,
            width,
            samples: 0.0,
            peers: vec![0.0; peers],
            edges: vec![0.0; law.edges.len()],
            means: vec![0.0; peers * width],
        }
    }

    /// Takes in one run: `width` values of every peer.
    fn add(&mut self, noise: &[f64]) {
        // Column u holds the values of peer u; Σ⁻¹ is symmetric.
        let by_peer = DMatrix::from_column_slice(self.width, self.peers.len(), noise);
        let given = by_peer * &self.law.precision;
        let of = |u: usize| &given.as_slice()[u * self.width..][..self.width];
        for (u, sum) in self.peers.iter_mut().enumerate() {
            *sum += of(u).iter().map(|x| x * x).sum::<f64>();
        }
        for (sum, &(u, v)) in self.edges.iter_mut().zip(&self.law.edges) {
            let pairs = of(u as usize).iter().zip(of(v as usize));
            *sum += pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        }
        for (sum, x) in self.means.iter_mut().zip(noise) {
            *sum += x;
        }
        self.samples += self.width as f64;
    }

    fn add_tests(&self, tests: &mut Tests, places: &[usize], runs: usize) {
        let law = self.law;
        let edges = self
            .edges
            .iter()
            .zip(&law.edges)
            .map(|(sum, &edge)| (edge, chi_squared(sum / law.contrast(edge).0, self.samples)));
        if let Some(((u, v), test)) = least_likely_place(edges) {
            let what = format!(
                "{}: variance of its term over the published one",
                law.edge((u, v))
            );
            let place = Place {
                peers: vec![u, v],
                ..Place::default()
            };
            tests.add(what, place, 1.0, test);
        }
        let own = self.peers.iter().zip(0_u32..).map(|(sum, u)| {
            let variance = law.precision[(u as usize, u as usize)];
            (u, chi_squared(sum / variance, self.samples))
        });
        if let Some((u, test)) = least_likely_place(own) {
            let what =
                "variance of its own noise, given all other messages, over the published one";
            let place = Place {
                peers: vec![u],
                ..Place::default()
            };
            tests.add(format!("{}: {what}", law.peer(u)), place, 1.0, test);
        }
        let means = self.means.iter().enumerate().map(|(at, sum)| {
            let u = at / self.width;
            let deviation = (1.0 + law.pairwise * law.graph.degree(u) as f64).sqrt();
            let mean = sum / (runs as f64 * deviation);
            (
                (u, at % self.width),
                (mean, normal_two_sided(mean * (runs as f64).sqrt())),
            )
        });
        if let Some(((u, k), test)) = least_likely_place(means) {
            let value = places[k];
            let what = format!(
                "{}, value {value}: mean of its noise in standard deviations",
                law.peer(u as u32)
            );
            let place = Place {
                peers: vec![u as u32],
                values: vec![value],
                ..Place::default()
            };
            tests.add(what, place, 0.0, test);
        }
    }
}
