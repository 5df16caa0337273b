//! Errors of privacy parameters: what is refused, and what to change.

use super::adjacency::Adjacency;
use super::sensitivity_rule::SensitivityRule;
use crate::linalg::IllConditioned;
use crate::vocabulary::Quantity;

/// A privacy configuration that cannot be honoured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PrivacyError {
    /// ε is not a positive number.
    #[error("epsilon is {found}; it must be a finite number above 0 (typically 0.1 to 10)")]
    Epsilon {
        /// What was given.
        found: f64,
    },
    /// δ is not a probability strictly between 0 and 1.
    #[error(
        "delta is {found}; it must lie strictly between 0 and 1, well below 1/peers (for example 1e-6)"
    )]
    Delta {
        /// What was given.
        found: f64,
    },
    /// No iterations.
    #[error("a budget cannot be spread over 0 iterations; set algorithm.iterations to at least 1")]
    Iterations,
    /// Weights that are not one per iteration.
    #[error(
        "privacy.budget has {found} weights for {iterations} iterations; give one weight per iteration, or \"even\""
    )]
    Weights {
        /// How many.
        found: usize,
        /// L.
        iterations: u32,
    },
    /// The multiplier is not representable.
    #[error(
        "epsilon = {epsilon:e} with delta = {delta:e} gives a noise multiplier of {multiplier:e}; choose a budget \
         nearer to 1"
    )]
    BudgetOutOfRange {
        /// ε.
        epsilon: f64,
        /// δ.
        delta: f64,
        /// The multiplier computed.
        multiplier: f64,
    },
    /// An adjacency and a rule for which no bound is proved.
    #[error(
        "no sensitivity bound on {release} is proved for adjacency = \"{adjacency}\" with sensitivity = \"{rule}\"; choose one of \
         {proved}"
    )]
    Unproved {
        /// What is released.
        release: Quantity,
        /// The adjacency asked for.
        adjacency: Adjacency,
        /// The rule asked for.
        rule: SensitivityRule,
        /// The combinations that exist.
        proved: String,
    },
    /// An adjacency and a rule for which no bound in the sum of absolute values is proved.
    #[error(
        "noise.distribution = \"laplace\": no bound in absolute values on {release} is proved for adjacency = \"{adjacency}\" with \
         sensitivity = \"{rule}\"; choose one of {proved}, or noise.distribution = \"gaussian\""
    )]
    Unproved1 {
        /// What is released.
        release: Quantity,
        /// The adjacency asked for.
        adjacency: Adjacency,
        /// The rule asked for.
        rule: SensitivityRule,
        /// The combinations that exist.
        proved: String,
    },
    /// An adjacency and a rule for which no bound in the nuclear norm is proved.
    #[error(
        "noise.distribution = \"wishart\": no bound in the nuclear norm on {release} is proved for adjacency = \"{adjacency}\" with \
         sensitivity = \"{rule}\"; release one triangle of the matrix (algorithm.kind = \"covariance\" or \"isometric-covariance\") under one of \
         {proved}, or set noise.distribution = \"laplace\" or \"gaussian\""
    )]
    UnprovedNuclear {
        /// What is released.
        release: Quantity,
        /// The adjacency asked for.
        adjacency: Adjacency,
        /// The rule asked for.
        rule: SensitivityRule,
        /// The combinations that exist.
        proved: String,
    },
    /// Wishart noise that is asked for where it is not to be had.
    #[error("noise.distribution = \"wishart\": {problem}")]
    Wishart {
        /// What is wrong, and what to change.
        problem: &'static str,
    },
    /// A δ above 0 for Wishart noise, which has none.
    #[error(
        "noise.distribution = \"wishart\" promises (epsilon, 0): set privacy.delta = 0, found {found}"
    )]
    DeltaOfWishart {
        /// δ as given.
        found: f64,
    },
    /// Laplace noise that is asked for where it is not to be had.
    #[error("noise.distribution = \"laplace\": {problem}")]
    Laplace {
        /// What is wrong, and what to change.
        problem: &'static str,
    },
    /// Holders of noise that nobody holds.
    #[error(
        "noise.holders is a key of noise.distribution = \"laplace\" with noise.scheme = \"pairwise\"; leave it out, or set both"
    )]
    HoldersOfNothing,
    /// A δ above 0 for noise that has none.
    #[error(
        "noise.distribution = \"laplace\" without shared Gaussian noise promises (epsilon, 0): set privacy.delta = 0, found {found}"
    )]
    DeltaOfLaplace {
        /// δ as given.
        found: f64,
    },
    /// Holders of Laplace noise that some coalition could be all of.
    #[error(
        "noise.holders = {found}: {colluders} colluders could be all of them; set noise.holders to at least {needed} and at most the number of \
         peers, {peers}"
    )]
    Holders {
        /// How many.
        found: usize,
        /// t.
        colluders: usize,
        /// t + 1.
        needed: usize,
        /// Number of peers.
        peers: usize,
    },
    /// A graph that a coalition can split, so that some peer has no holder in its piece.
    #[error(
        "noise.distribution = \"laplace\" with noise.holders hides a peer behind an honest holder that shared noise connects it to, and \
         {colluders} colluders can split the noise graph: use one that stays connected without any {colluders} peers, for example \
         random-regular of a degree above {colluders}, or lower privacy.colluders"
    )]
    HoldersCutOff {
        /// t.
        colluders: usize,
    },
    /// More coalitions than are enumerated.
    #[error(
        "noise.distribution = \"laplace\" with noise.holders looks at every coalition of {colluders} of {peers} peers, which takes too long; lower \
         privacy.colluders, use fewer peers, engine federated, or noise.scheme = \"local\""
    )]
    HoldersOutOfReach {
        /// t.
        colluders: usize,
        /// s.
        peers: usize,
    },
    /// A cap on a user's interactions where adding one may push another out.
    #[error(
        "degree_cap = {cap} with adjacency = \"{adjacency}\": under a cap one interaction can push out another, which \
         is more than one record of this adjacency; remove the cap or use adjacency = \"user\", \"replace-user\" or \"swap\""
    )]
    CapNotProved {
        /// The cap.
        cap: u32,
        /// The adjacency asked for.
        adjacency: Adjacency,
    },
    /// A count that must be at least one.
    #[error("{name} is 0; it must be at least 1")]
    Zero {
        /// The key.
        name: &'static str,
    },
    /// A bound that is 0, no number, or so near to either that its square is.
    #[error(
        "one record moves {release} by at most {found}, which noise cannot be scaled by: choose units in which that lies between 1e-150 and \
         1e150, of ratings by data.row_clip and data.scale"
    )]
    Bound {
        /// What is released.
        release: Quantity,
        /// The bound.
        found: f64,
    },
    /// Protection of persons at several participants where it has no meaning or no proof.
    #[error("privacy.participants_per_person = {found}: {problem}")]
    Participants {
        /// k.
        found: usize,
        /// Why, and what to do.
        problem: &'static str,
    },
    /// Protection of persons at more participants than there are.
    #[error(
        "privacy.participants_per_person = {found}, but there are {peers} peers: set it to {peers} at most"
    )]
    ParticipantsOfPeers {
        /// k.
        found: usize,
        /// s.
        peers: usize,
    },
    /// A number that is not a usable noise parameter.
    #[error("{name} is {found}; expected {expected}")]
    Parameter {
        /// What the number is.
        name: &'static str,
        /// What was given.
        found: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// A coalition with the index of a peer that does not exist, or of one peer twice. Names are checked before they
    /// become indices: [`PeerNameError`](crate::topology::PeerNameError).
    #[error("the coalition has peer index {peer}, {problem}; the noise graph has the indices 0 to {}", peers.saturating_sub(1))]
    Coalition {
        /// The index of the peer.
        peer: u32,
        /// What is wrong with it.
        problem: &'static str,
        /// Number of peers.
        peers: usize,
    },
    /// A view of the network whose matrices do not fit each other.
    #[error("found {found} {what}, expected {expected}, one per column of the view")]
    ViewShape {
        /// What was counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// Number of peers.
        expected: usize,
    },
    /// An own variance that means nothing, or that leaves the covariance singular.
    #[error("the own noise of peer index {peer} has variance {found}; expected {expected}")]
    PeerNoise {
        /// The index of the peer.
        peer: u32,
        /// What was given.
        found: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// A noise graph over other peers than the own variances.
    #[error(
        "own noise is given for {peers} peers, but a noise graph has {found}; both must be over the same peers, at \
         least one"
    )]
    PeerCount {
        /// Own variances given.
        peers: usize,
        /// Nodes of the graph.
        found: usize,
    },
    /// A noise edge between what are not two peers.
    #[error("a noise edge joins peers {u} and {v}; name two different peers from 0 to {}", peers.saturating_sub(1))]
    Edge {
        /// One end.
        u: u32,
        /// The other.
        v: u32,
        /// Number of peers.
        peers: usize,
    },
    /// No honest peer left.
    #[error("colluders = {colluders}, but there are only {peers} peers; at least one must be honest, so at most {} may collude", peers.saturating_sub(1))]
    NobodyHonest {
        /// t.
        colluders: usize,
        /// s.
        peers: usize,
    },
    /// Independent shares without secure aggregation.
    #[error(
        "independent shares protect only under secure aggregation: use noise.scheme = \"pairwise\" or \"local\", or \
         engine federated"
    )]
    IndependentInTheOpen,
    /// The noise graph is in pieces before anybody colludes.
    #[error(
        "the noise graph is not connected: {count} components, {}; pairwise noise hides a peer only among its \
         component. Add edges between them, or set on_disconnect = \"smallest-component\" to pay for the smallest",
        pieces.join("; ")
    )]
    Disconnected {
        /// Number of components.
        count: usize,
        /// The first few components, by size and names.
        pieces: Vec<String>,
    },
    /// A calibration of Gaussian releases for a run that also searches.
    #[error(
        "privacy.calibration = \"{calibration}\" is about Gaussian releases alone, and algorithm.clip = \"sparse-vector\" also searches for \
         thresholds: set it to \"analytic\" or \"zcdp\""
    )]
    SearchCalibration {
        /// The calibration asked for.
        calibration: String,
    },
    /// One curious peer is enough to cut others off.
    #[error(
        "peer {vertex} is a cut vertex of the noise graph: if it is curious, its noise no longer ties {} to the other \
         {remaining} peers. Give them another noise partner, set colluders = 0, or set on_disconnect = \
         \"smallest-component\" to pay for the smallest component",
        isolated.join(", ")
    )]
    CutVertex {
        /// Name of the peer, as printed.
        vertex: String,
        /// Names of the peers in the smallest component it isolates, as printed (the first few).
        isolated: Vec<String>,
        /// Honest peers outside that component.
        remaining: usize,
    },
    /// More colluders than any certificate withstands within the overhead.
    #[error(
        "colluders = {colluders}: no certified bound keeps the noise on this graph within privacy.overhead = {overhead} \
         (an algebraic connectivity of at least {connectivity:.4} is proved, peer {weakest} has {partners} noise partners{}); {needed}, \
         {largest}, add noise partners, or use a random-regular graph of degree {degree} or more",
        if *exact_out_of_reach { ", and the graph is too large or too dense to enumerate every single peer" } else { "" },
        needed = needed_text(*needed),
        largest = largest_text(*largest)
    )]
    TooManyColluders {
        /// t.
        colluders: usize,
        /// The proved lower bound on λ₂; 0 if there is none.
        connectivity: f64,
        /// Whether enumeration was tried for t ≤ 1 and given up.
        exact_out_of_reach: bool,
        /// The overhead asked for.
        overhead: f64,
        /// An overhead that would do on this graph, if any.
        needed: Option<f64>,
        /// Name of the peer with the weakest certificate, as printed.
        weakest: String,
        /// Number of its noise partners.
        partners: usize,
        /// The largest t this graph supports, if any.
        largest: Option<usize>,
        /// A degree at which a random regular graph would do.
        degree: usize,
    },
    /// A dense solve failed its own check.
    #[error(
        "the covariance of the noise graph is too ill-conditioned to certify (residual {residual:e}); use a better \
         connected noise graph"
    )]
    IllConditioned {
        /// Frobenius norm of I − M·M⁻¹, or infinity if the factorisation broke down.
        residual: f64,
    },
    /// [`Scheme::Ring`](super::Scheme::Ring) without a word about the releases.
    #[error(
        "noise.scheme = \"ring\" is planned for releases of known size and range; say how many coordinates a release has and how \
         large a contribution can be"
    )]
    RingOfNothing,
    /// No grid is fine enough.
    #[error(
        "noise.scheme = \"ring\": no grid of at most 2^44 steps per unit of sensitivity keeps the cost of rounding {coordinates} \
         coordinates of {peers} peers within privacy.overhead = {overhead}; raise it, or release fewer coordinates"
    )]
    NoGrid {
        /// Coordinates of the largest release.
        coordinates: usize,
        /// Peers of the smallest honest piece.
        peers: usize,
        /// β.
        overhead: f64,
    },
    /// A number of bits for noise that has none.
    #[error(
        "noise.bits is a key of noise.scheme = \"ring\" alone; leave it out, or set that scheme"
    )]
    BitsOfNothing,
    /// Neither 32 nor 64.
    #[error("noise.bits is {found}; it must be 32 or 64, or be left out")]
    Bits {
        /// The number given.
        found: u32,
    },
    /// A sum of integers that could wrap.
    #[error(
        "noise.scheme = \"ring\": a sum over {peers} peers can reach 2^{needed:.1} steps of the grid, and {bits} bits hold less than \
         2^{} without wrapping; {advice}", bits - 1
    )]
    Wraps {
        /// Number of peers.
        peers: usize,
        /// log₂ of the largest sum.
        needed: f64,
        /// k.
        bits: u32,
        /// What to change.
        advice: &'static str,
    },
    /// A contribution whose range nobody knows.
    #[error(
        "noise.scheme = \"ring\" needs a public bound on the coordinates of {release}, and none is declared: declare \
         Rule::largest_per_row with the bound of its sensitivity, or use noise.scheme = \"pairwise\""
    )]
    Unbounded {
        /// What is released.
        release: Quantity,
    },
    /// A sampler that spends all of δ.
    #[error(
        "the own noise that is drawn is within a total-variation distance of {distance:e} of its law, which costs more than \
         a sixteenth of delta = {delta:e} at every epsilon: raise privacy.delta, or draw fewer numbers, with fewer peers, iterations or columns"
    )]
    SamplerDistance {
        /// The distance of all draws together.
        distance: f64,
        /// δ.
        delta: f64,
    },
}

impl From<IllConditioned> for PrivacyError {
    fn from(IllConditioned { residual }: IllConditioned) -> Self {
        Self::IllConditioned { residual }
    }
}

fn needed_text(needed: Option<f64>) -> String {
    needed.map_or_else(
        || "it can be left with its own noise alone, so that no privacy.overhead helps".to_owned(),
        |overhead| format!("set privacy.overhead to {overhead:.4} or more"),
    )
}

fn largest_text(largest: Option<usize>) -> String {
    match largest {
        None => "no number of colluders is known to be safe on this graph".to_owned(),
        Some(0) => "set colluders to 0".to_owned(),
        Some(t) => format!("set colluders to {t} or fewer"),
    }
}
