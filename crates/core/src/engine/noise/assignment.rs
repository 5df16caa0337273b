//! Who draws what in a simulation: every peer's terms, derived from the run's noise root.

use std::sync::Arc;

use super::Defect;
use crate::noise::{PeerNoise, RingLaws, SigmaError, Sigmas, Term};
use crate::topology::Graph;
use crate::vocabulary::{NoiseLabel, NoiseRoot, PeerIndex};

/// The noise of a whole simulated network: own and pairwise scales over a noise graph, with streams
/// derived from one run's noise root.
///
/// A session makes its own, from its plan. A deployed peer takes its own key from the operating system and its
/// pairwise keys from key agreements, and hands the peer a [`PeerNoise`] directly.
#[derive(Clone, Debug)]
pub struct Assignment {
    root: NoiseRoot,
    sigmas: Sigmas,
    /// The laws of own noise where sums are integers mod 2^k.
    ring: Option<Arc<RingLaws>>,
    /// What is wrong with it, which only tests can build.
    defect: Option<Defect>,
}

impl Assignment {
    /// Noise with these standard deviations per unit sensitivity.
    ///
    /// # Errors
    /// [`SigmaError`] for a standard deviation that is negative, NaN or infinite.
    pub fn new(root: NoiseRoot, sigmas: Sigmas) -> Result<Self, SigmaError> {
        Ok(Self {
            root,
            sigmas: sigmas.check()?,
            ring: None,
            defect: None,
        })
    }

    /// The same under these laws of integers: own noise is rounded, and whatever is shared are masks.
    #[must_use]
    pub fn in_ring(self, ring: Option<Arc<RingLaws>>) -> Self {
        Self { ring, ..self }
    }

    /// Whether own noise is drawn by these laws and all that is shared are masks; without laws, whether everything is real.
    #[must_use]
    pub fn is_in_ring(&self, laws: Option<&RingLaws>) -> bool {
        self.ring.as_deref() == laws
    }

    /// What all keys of this noise derive from.
    #[cfg(any(test, feature = "testing"))]
    pub fn root(&self) -> &NoiseRoot {
        &self.root
    }

    /// Whether this is noise with exactly these standard deviations per unit sensitivity.
    #[must_use]
    pub fn is_planned(&self, sigmas: Sigmas) -> bool {
        self.sigmas == sigmas
    }

    /// The same assignment with a defect.
    #[must_use]
    pub fn with_defect(self, defect: Defect) -> Self {
        Self {
            defect: Some(defect),
            ..self
        }
    }

    /// What is wrong with it.
    pub(in crate::engine) fn defect(&self) -> Option<Defect> {
        self.defect
    }

    /// Whose own noise this peer draws: its own, but for a defect.
    fn owner(&self, peer: PeerIndex) -> PeerIndex {
        match self.defect {
            None => peer,
            Some(defect) => defect.owner(peer),
        }
    }

    /// Whether peers share pairwise noise at all.
    #[must_use]
    pub fn has_pairwise(&self) -> bool {
        self.sigmas.pairwise > 0.0
    }

    /// The own term of `peer`.
    #[must_use]
    pub fn own(&self, peer: PeerIndex) -> Term {
        let peer = self.owner(peer);
        let (key, scale) = (
            self.root.key(NoiseLabel::OwnNoise, peer.0, 0),
            self.sigmas.own_of(peer),
        );
        let (laplace, wishart) = (self.sigmas.laplace, self.sigmas.wishart);
        let term = match (&self.ring, laplace, wishart) {
            (Some(laws), ..) => Term::rounded(key, scale, Arc::clone(laws)),
            (None, Some(shares), _) => Term::laplace(key, scale, shares.shape),
            (None, None, Some(shares)) => Term::wishart(key, scale, shares.of_peer(peer)),
            (None, None, None) => Term::new(key, scale),
        };
        match self.defect {
            None => term,
            Some(defect) => defect.own(peer, term),
        }
    }

    /// The term of `peer` on coordinates that it alone fills.
    #[must_use]
    pub fn coordinate(&self, peer: PeerIndex) -> Term {
        let peer = self.owner(peer);
        let key = self.root.key(NoiseLabel::CoordinateNoise, peer.0, 0);
        let term = Term::new(key, self.sigmas.coordinate);
        match self.defect {
            None => term,
            Some(defect) => defect.own(peer, term),
        }
    }

    /// The terms at both ends of the edge `lower < upper`: one stream, opposite signs.
    #[must_use]
    pub fn pair(&self, lower: PeerIndex, upper: PeerIndex) -> (Term, Term) {
        let ends = (lower.0, upper.0);
        let (a, b) = match self.defect {
            None => ends,
            Some(defect) => defect.ends(ends),
        };
        let key = self.root.key(NoiseLabel::PairwiseNoise, a, b);
        let make = |key, scale| match &self.ring {
            Some(laws) => Term::mask(key, scale, Arc::clone(laws)),
            None => Term::new(key, scale),
        };
        let plus = make(key.clone(), self.sigmas.pairwise);
        let minus = make(key, -self.sigmas.pairwise);
        match self.defect {
            None => (plus, minus),
            Some(defect) => defect.pair((lower, upper), (plus, minus)),
        }
    }

    /// The term that `peer` adds of the noise it shares with `partner`.
    #[must_use]
    pub fn shared(&self, peer: PeerIndex, partner: PeerIndex) -> Term {
        if peer < partner {
            self.pair(peer, partner).0
        } else {
            self.pair(partner, peer).1
        }
    }

    /// All terms of `peer`, whose partners are its neighbours in the noise graph.
    #[must_use]
    pub fn peer(&self, peer: PeerIndex, noise_graph: &Graph) -> PeerNoise {
        let partners = if self.has_pairwise() {
            noise_graph.neighbours(peer.index())
        } else {
            &[]
        };
        let pairs = partners
            .iter()
            .map(|&partner| self.shared(peer, PeerIndex(partner)));
        PeerNoise::new(self.own(peer), pairs.collect(), self.coordinate(peer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::noise::NetworkNoise;
    use crate::noise::NoiseChunk;
    use crate::vocabulary::{Binding, CHUNK, ReleaseId, Seed};

    fn sigmas((own, pairwise): (f64, f64)) -> Sigmas {
        Sigmas::of_sums(own, pairwise)
    }

    fn assignment(seed: u64, own: f64, pairwise: f64) -> Assignment {
        let root = Seed::from_u64(seed).noise_root(Binding::to(&[]));
        Assignment::new(root, sigmas((own, pairwise))).expect("finite")
    }

    fn ring(n: u32) -> Graph {
        let edges: Vec<_> = (0..n)
            .map(|u| (u.min((u + 1) % n), u.max((u + 1) % n)))
            .collect();
        Graph::from_edges(n as usize, &edges).expect("a ring")
    }

    #[test]
    fn pairwise_terms_cancel_and_own_noise_remains() {
        let graph = ring(7);
        let assignment = assignment(3, 0.5, 40.0);
        let length = CHUNK + 30;
        let mut published = vec![0.0; length];
        let mut own = vec![0.0; length];
        for u in 0..7 {
            let mut values = vec![0.0; length];
            assignment
                .peer(PeerIndex(u), &graph)
                .add_to(ReleaseId(2), 1.5, &mut values);
            assert!(
                values.iter().any(|v| v.abs() > 20.0),
                "pairwise noise is present"
            );
            for (sum, value) in published.iter_mut().zip(&values) {
                *sum += value;
            }
            assignment
                .own(PeerIndex(u))
                .add_to(ReleaseId(2), 1.5, &mut own);
        }
        for (a, b) in published.iter().zip(&own) {
            assert!((a - b).abs() < 1e-11, "{a} {b}");
        }
    }

    /// Two terms with one key would cancel in a difference of what a peer publishes.
    #[test]
    fn every_term_of_every_peer_has_a_key_of_its_own() {
        let assignment = assignment(3, 0.5, 40.0);
        let mut keys = Vec::new();
        for u in (0..3).map(PeerIndex) {
            keys.extend([assignment.own(u), assignment.coordinate(u)]);
            let above = (u.0 + 1..3).map(PeerIndex);
            keys.extend(above.map(|v| assignment.pair(u, v).0));
        }
        for (place, term) in keys.iter().enumerate() {
            assert!(keys[..place].iter().all(|other| other.key() != term.key()));
        }
    }

    #[test]
    fn bad_standard_deviations_are_refused_and_others_are_not_the_plan_s() {
        for bad in [f64::NAN, -0.5, f64::INFINITY] {
            let root = || Seed::from_u64(1).noise_root(Binding::to(&[]));
            assert!(Assignment::new(root(), sigmas((bad, 1.0))).is_err());
            assert!(Assignment::new(root(), sigmas((1.0, bad))).is_err());
        }
        let (graph, planned) = (ring(5), sigmas((0.5, 40.0)));
        let good = assignment(3, 0.5, 40.0);
        assert!(good.is_planned(planned));
        assert!(NetworkNoise::of(&good, &graph).is_planned(&graph, planned));
        for (own, pairwise) in [(0.4, 40.0), (0.5, 39.0), (0.5, 0.0), (0.0, 40.0)] {
            let bad = assignment(3, own, pairwise);
            assert!(!bad.is_planned(planned));
            assert!(!NetworkNoise::of(&bad, &graph).is_planned(&graph, planned));
        }
        // The right scales on another graph.
        let path = Graph::from_edges(5, &[(0, 1), (1, 2), (2, 3), (3, 4)]).expect("a path");
        assert!(!NetworkNoise::of(&good, &path).is_planned(&graph, planned));
        assert!(!NetworkNoise::of(&good, &ring(6)).is_planned(&graph, planned));
    }

    #[test]
    fn drawing_an_edge_once_for_both_ends_gives_the_bits_of_drawing_it_twice() {
        let assignment = assignment(4, 0.0, 2.5);
        let (plus, minus) = assignment.pair(PeerIndex(1), PeerIndex(4));
        let mut twice = (vec![0.25; 100], vec![-0.5; 100]);
        let at = NoiseChunk {
            release: ReleaseId(1),
            chunk: 3,
            unit: 0.7,
        };
        plus.add_chunk(at, &mut twice.0);
        minus.add_chunk(at, &mut twice.1);
        let mut once = (vec![0.25; 100], vec![-0.5; 100]);
        plus.add_chunk_to_both(at, &mut once.0, (&mut once.1, minus.scale));
        assert_eq!(twice, once);
    }

    #[test]
    fn a_network_s_noise_is_its_peers_noise_however_threads_share_it() {
        let graph = ring(9);
        let assignment = assignment(6, 0.5, 2.0);
        let network = NetworkNoise::of(&assignment, &graph);
        for (chunk, width) in [(0, CHUNK), (1, 77)] {
            let start = chunk as usize * CHUNK;
            let at = NoiseChunk {
                release: ReleaseId(2),
                chunk,
                unit: 1.5,
            };
            let mut serial = vec![0.125; 9 * width];
            for (u, out) in serial.chunks_exact_mut(width).enumerate() {
                network.add_own(at, u, out);
            }
            let mut parallel = serial.clone();
            network.add_pairs(at, width, &mut serial);
            network.add_pairs_in_parallel(at, width, &mut parallel);
            assert_eq!(serial, parallel);
            for (u, found) in serial.chunks_exact(width).enumerate() {
                let mut values = vec![0.125; CHUNK + 77];
                assignment.peer(PeerIndex::from_index(u), &graph).add_to(
                    ReleaseId(2),
                    1.5,
                    &mut values,
                );
                assert_eq!(found, &values[start..start + width], "peer {u}");
            }
        }
    }
}
