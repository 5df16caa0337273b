//! Seeds and streams: every random number of a simulation is a pure function of its seed and of what it is for, so no
//! order of events can change it.
//!
//! A [`Seed`] never draws anything itself. It derives a [`StreamKey`] per label and subject (a peer, an
//! edge), and a key opens an independent stream per (iteration, chunk): ChaCha20 for what is public, ChaCha12 for noise, which is
//! drawn more often than anything else. Keys are derived with
//! BLAKE3 in its keyed mode under a version string, so two labels can never share a stream.
//!
//! What is public anyway (the starting block, graphs, who is dealt which users) follows from the seed alone. Noise does
//! not: a seed has no noise keys, only a [`NoiseRoot`] for one [`Binding`], which names everything that the run it is for
//! consists of. Two runs that differ in plan, settings or data have independent noise, even under one seed. Two that do not
//! are one run: whoever sees both learns that nothing changed, which no ε covers. So publish one run per seed, and take a seed that
//! nobody can guess: X⁰ alone is enough to try one out.
//!
//! # Why noise is bound
//! Let two runs of one seed publish y₁ = a + σ₁g and y₂ = a + σ₂g, with public σ₁ ≠ σ₂. If g is the same, whoever sees both
//! has a = (σ₁y₂ − σ₂y₁)/(σ₁ − σ₂) exactly, and with equal σ's and neighbouring data the difference of the data. With keys
//! of different bindings, g₁ and g₂ are independent to everybody who does not know the seed (BLAKE3 keyed is a
//! pseudorandom function, and its messages differ), so that both together cost what composition says. For every fixed data
//! set the noise has the law that was asked for, because the binding only chooses which outputs of that function are used.

use std::fmt;

use chacha20::{ChaCha12Rng, ChaCha20Rng};
use rand::SeedableRng;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::blocks::{self, Blocks};
use super::normals::{self, CHUNK};

/// Domain separation of seeds and of what follows from them alone; changing such a value must change this string.
const CONTEXT: &str = "undertone 2026-11 streams v1";

/// Domain separation of noise; changing any sampled noise must change this string. Version 1 derived noise keys from the
/// seed alone, version 2 drew by ChaCha20 and in order.
const NOISE_CONTEXT: &[u8] = b"undertone 2026-11 noise streams v3";

/// Domain separation of bindings.
const BINDING_CONTEXT: &str = "undertone 2026-11 noise binding v1";

/// What a stream that hides nothing is for. The discriminant enters the key derivation and must never be reused, nor be
/// one of `NoiseLabel`'s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Label {
    /// The public starting block X⁰.
    Start = 1,
    /// Random graphs.
    Topology = 5,
    /// Dealing users to peers.
    Partition = 6,
    /// Link latencies in the event engine.
    Latency = 7,
    /// Network identities of in-process nodes.
    Identity = 8,
    /// Probe vectors of iterative eigenvalue methods.
    Probe = 9,
    /// Seeds of repeated runs.
    Repetition = 10,
    /// A user's choice in tests and examples.
    Scenario = 11,
    /// Which of a user's interactions are held out of training: one coin per user and item, by their names.
    Holdout = 12,
    /// Bootstrap resamples and random splits of a sweep's results.
    Resampling = 13,
    /// Which of a user's interactions a degree cap keeps: one priority per user and item, by their names.
    DegreeCap = 31,
    /// Which neighbours meet in a round of pairwise exchanges, by the public seed of the averaging.
    Matching = 40,
    /// Probe vectors and patterns of loss by which an averaging program is tried out before it is run.
    Rehearsal = 41,
    /// Which messages the event engine loses.
    Loss = 42,
    /// The seed of a pilot.
    Pilot = 70,
    /// What the members of a session draw from their beacon: graphs and the starting block.
    Beacon = 80,
    /// What peers put into the random projections by which averaging is tested.
    Nonce = 90,
}

/// Which noise a stream is, of all that protects somebody. The discriminant enters the key derivation and must never be
/// reused, nor be one of [`Label`]'s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum NoiseLabel {
    /// A peer's own noise η_u.
    OwnNoise = 2,
    /// The noise Δ_uv shared by the two ends of an edge of the noise graph.
    PairwiseNoise = 3,
    /// The noise a peer adds to coordinates that it alone fills.
    CoordinateNoise = 14,
    /// The trusted curator's noise (engine `central`).
    CuratorNoise = 4,
    /// What a trusted curator's searches for a threshold compare with.
    ThresholdSearch = 61,
    /// The root of the keys of a simulated peer's sealed contributions.
    Seal = 92,
    /// What two simulated neighbours share for shares of such keys.
    SealPair = 93,
    /// Signatures of simulated peers.
    Signature = 94,
    /// The noise of the whole sum in the analytic engine.
    AnalyticSum = 21,
    /// The noise by which probe peers deviate from the sum in the analytic engine.
    AnalyticDeviation = 22,
}

/// The root of every random stream of a simulation.
///
/// `Debug` prints no content: whoever knows the seed knows the noise.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Seed([u8; 32]);

impl Seed {
    /// The seed written as a number in an experiment file or on the command line.
    #[must_use]
    pub fn from_u64(number: u64) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(&number.to_le_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    /// The seed of repetition `number` of an experiment: independent of every other repetition and of
    /// this seed's own streams.
    #[must_use]
    pub fn repetition(&self, number: u32) -> Self {
        Self(self.key(Label::Repetition, number, 0).0)
    }

    /// The seed of the pilot of an experiment: no stream of its is a stream of this seed, whatever either is bound to.
    ///
    /// Noise that a pilot and the run after it shared would cancel in the difference of what they release.
    #[must_use]
    pub fn pilot(&self) -> Self {
        Self(self.key(Label::Pilot, 0, 0).0)
    }

    /// A generator for `label`, for uses that need a handful of numbers in a fixed order.
    #[must_use]
    pub fn generator(&self, label: Label) -> ChaCha20Rng {
        self.key(label, 0, 0).stream(0, 0)
    }
}

// For the other crates of Undertone.
#[doc(hidden)]
impl Seed {
    /// The key for one purpose and subject: `a` is the peer or the lower end of an edge, `b` the upper
    /// end or 0.
    #[must_use]
    pub fn key(&self, label: Label, a: u32, b: u32) -> StreamKey {
        derived(&self.0, label as u32, (a, b))
    }

    /// What the noise of one run derives from: this seed and everything the run consists of.
    #[must_use]
    pub fn noise_root(&self, binding: Binding) -> NoiseRoot {
        // The messages of `key` are 12 bytes long, this one is longer: no key of theirs is a root.
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(NOISE_CONTEXT);
        hasher.update(&binding.0);
        NoiseRoot(*hasher.finalize().as_bytes())
    }

    /// The key for one purpose and a subject known by name, such as a user: see [`NamedKey::bits`].
    ///
    /// The name enters as a message of its own, keyed by the purpose, so that neither names of any length nor the
    /// numbers of [`Self::key`] can be taken for one another.
    #[must_use]
    pub fn named(&self, label: Label, subject: &str) -> NamedKey {
        // 13 bytes: no message of `key`, which has 12.
        let mut message = *b"names v1 \0\0\0\0";
        message[9..].copy_from_slice(&(label as u32).to_le_bytes());
        let purpose = blake3::keyed_hash(&self.0, &message);
        NamedKey(*blake3::keyed_hash(purpose.as_bytes(), subject.as_bytes()).as_bytes())
    }

    /// The seed that a public beacon gives, for what hides nothing.
    #[must_use]
    pub fn of_beacon(beacon: &[u8; 32], counter: u32) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 beacon seed v1");
        hasher.update(beacon);
        hasher.update(&counter.to_le_bytes());
        Self(*hasher.finalize().as_bytes())
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(redacted)")
    }
}

fn derived(root: &[u8; 32], label: u32, (a, b): (u32, u32)) -> StreamKey {
    let mut message = [0_u8; 12];
    message[..4].copy_from_slice(&label.to_le_bytes());
    message[4..8].copy_from_slice(&a.to_le_bytes());
    message[8..].copy_from_slice(&b.to_le_bytes());
    StreamKey(*blake3::keyed_hash(root, &message).as_bytes())
}

/// A digest of everything that a run's noise is bound to: its public plan and its private data.
///
/// It depends on private rows, so it is neither published nor printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Binding([u8; 32]);

impl Binding {
    /// The binding to these parts, in this order. Parts are told apart by position and length.
    #[must_use]
    pub fn to(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(BINDING_CONTEXT);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(*hasher.finalize().as_bytes())
    }
}

impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Binding(redacted)")
    }
}

/// The secret from which all noise of one run derives.
///
/// There is one per seed and [`Binding`]. `Debug` prints no content: whoever knows it knows the noise.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct NoiseRoot([u8; 32]);

impl NoiseRoot {
    /// The key of one noise term: `a` is the peer or the lower end of an edge, `b` the upper end or 0.
    #[must_use]
    pub fn key(&self, label: NoiseLabel, a: u32, b: u32) -> StreamKey {
        derived(&self.0, label as u32, (a, b))
    }
}

impl fmt::Debug for NoiseRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoiseRoot(redacted)")
    }
}

/// The key of one named subject: gives every named object 64 bits of its own.
///
/// No generator is opened and nothing has an order: the bits of (subject, object) are a function of the seed, the
/// label and the two names, whatever else there is.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct NamedKey([u8; 32]);

impl NamedKey {
    /// 64 uniform bits for this subject and `object`, independent of those of every other pair of names.
    #[must_use]
    pub fn bits(&self, object: &str) -> u64 {
        let hash = blake3::keyed_hash(&self.0, object.as_bytes());
        let mut bits = [0; 8];
        bits.copy_from_slice(&hash.as_bytes()[..8]);
        u64::from_le_bytes(bits)
    }

    /// A uniform number in [0, 1) for `object`: the first 53 of its bits.
    #[must_use]
    pub fn uniform(&self, object: &str) -> f64 {
        const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.bits(object) >> 11) as f64 * UNIT
    }
}

impl fmt::Debug for NamedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NamedKey(redacted)")
    }
}

/// The secret behind one subject's random numbers.
///
/// In a simulation it comes from a [`Seed`], or from a [`NoiseRoot`] for noise; a deployed peer takes it from the operating system's
/// entropy (own noise) or from a key agreement with the partner (pairwise noise). A key is for noise or for what is public, never for
/// both.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct StreamKey([u8; 32]);

impl StreamKey {
    /// The key that two deployed members agreed on, or that one drew from the operating system.
    #[must_use]
    pub fn from_secret(secret: &zeroize::Zeroizing<[u8; 32]>) -> Self {
        Self(**secret)
    }

    /// The generator of `(iteration, chunk)` for what is public: ChaCha20. Its key is derived from this key and the iteration;
    /// the chunk is its 64-bit stream number.
    #[must_use]
    pub fn stream(&self, iteration: u32, chunk: u64) -> ChaCha20Rng {
        let key = blake3::keyed_hash(&self.0, &iteration.to_le_bytes());
        let mut generator = ChaCha20Rng::from_seed(*key.as_bytes());
        generator.set_stream(chunk);
        generator
    }

    /// A uniform number in [0, 1) that belongs to these four numbers, whatever else is drawn: 53 bits of a keyed hash. No stream
    /// is opened, so nothing has an order.
    #[must_use]
    pub fn uniform(&self, place: [u32; 4]) -> f64 {
        const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
        // 16 bytes: the keys of streams hash 4.
        let mut message = [0_u8; 16];
        for (bytes, number) in message.chunks_exact_mut(4).zip(place) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        let hash = blake3::keyed_hash(&self.0, &message);
        let mut bits = [0; 8];
        bits.copy_from_slice(&hash.as_bytes()[..8]);
        (u64::from_le_bytes(bits) >> 11) as f64 * UNIT
    }

    /// The generator of `(release, chunk)` for noise that is no normals: ChaCha12 under this very key, with release and chunk as its
    /// nonce. It has 2³² blocks of 16 words.
    #[must_use]
    pub fn words(&self, release: u32, chunk: u64) -> ChaCha12Rng {
        blocks::generator(self.blocks(release, chunk))
    }

    /// Writes the standard normals of `(release, chunk)` to `out`, from the chunk's first on, by the words of [`Self::words`].
    ///
    /// # Shapes
    /// `out` is at most [`CHUNK`] consecutive coordinates starting at coordinate `chunk * CHUNK`.
    ///
    /// # Panics
    /// If `out` is longer than [`CHUNK`].
    pub fn normals(&self, release: u32, chunk: u64, out: &mut [f64]) {
        normals::fill(self.blocks(release, chunk), out);
    }

    /// Adds `scale` times the standard normals of `(release, chunk)` to `out`, in order.
    ///
    /// # Shapes and units
    /// `out` as of [`Self::normals`]; `scale` is a standard deviation, with a sign.
    ///
    /// # Panics
    /// If `out` is longer than [`CHUNK`].
    pub fn add_normals(&self, release: u32, chunk: u64, scale: f64, out: &mut [f64]) {
        let mut normals = [0.0; CHUNK];
        let normals = &mut normals[..out.len()];
        self.normals(release, chunk, normals);
        for (value, normal) in out.iter_mut().zip(normals) {
            *value += scale * *normal;
        }
    }

    /// Adds `scale` times a whole release's standard normals to `out`, chunk after chunk.
    pub fn add_all_normals(&self, release: u32, scale: f64, out: &mut [f64]) {
        for (chunk, values) in (0_u64..).zip(out.chunks_mut(CHUNK)) {
            self.add_normals(release, chunk, scale, values);
        }
    }

    fn blocks(&self, release: u32, chunk: u64) -> Blocks<'_> {
        Blocks {
            key: &self.0,
            release,
            chunk,
        }
    }
}

impl fmt::Debug for StreamKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StreamKey(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(key: &StreamKey, iteration: u32, chunk: u64) -> Vec<f64> {
        let mut out = vec![0.0; 8];
        key.add_normals(iteration, chunk, 1.0, &mut out);
        out
    }

    #[test]
    fn streams_differ_in_every_coordinate_of_their_address() {
        use NoiseLabel::{OwnNoise, PairwiseNoise};
        let parts: [&[u8]; 2] = [b"plan", b"rows"];
        let seed = Seed::from_u64(1);
        let root = seed.noise_root(Binding::to(&parts));
        let base = draw(&root.key(OwnNoise, 3, 0), 1, 0);
        assert_eq!(base, draw(&root.clone().key(OwnNoise, 3, 0), 1, 0));
        let with = |seed: &Seed, parts: &[&[u8]]| {
            let root = seed.noise_root(Binding::to(parts));
            draw(&root.key(OwnNoise, 3, 0), 1, 0)
        };
        assert_eq!(base, with(&seed, &parts));
        let others = [
            draw(&root.key(PairwiseNoise, 3, 0), 1, 0),
            draw(&root.key(OwnNoise, 4, 0), 1, 0),
            draw(&root.key(OwnNoise, 3, 1), 1, 0),
            draw(&root.key(OwnNoise, 3, 0), 2, 0),
            draw(&root.key(OwnNoise, 3, 0), 1, 1),
            draw(&seed.key(Label::Scenario, 3, 0), 1, 0),
            with(&Seed::from_u64(2), &parts),
            with(&seed.repetition(0), &parts),
            with(&seed.pilot(), &parts),
            with(&seed.repetition(0).pilot(), &parts),
            with(&seed, &[b"plan", b"other"]),
            with(&seed, &[b"other", b"rows"]),
            // The same bytes, divided elsewhere.
            with(&seed, &[b"planr", b"ows"]),
            with(&seed, &[b"planrows"]),
        ];
        for other in others {
            assert!(base.iter().zip(&other).all(|(a, b)| a != b));
        }
    }

    #[test]
    fn a_chunk_can_be_drawn_without_the_ones_before_it() {
        let key = Seed::from_u64(9).key(Label::Scenario, 0, 0);
        let mut whole = vec![0.0; 2 * CHUNK + 5];
        key.add_all_normals(4, 2.0, &mut whole);
        let mut tail = vec![0.0; 5];
        key.add_normals(4, 2, 2.0, &mut tail);
        assert_eq!(&whole[2 * CHUNK..], &tail[..]);
    }

    #[test]
    fn names_have_bits_of_their_own_and_are_never_run_together() {
        let seed = Seed::from_u64(1);
        let bits = |label, user: &str, item: &str| seed.named(label, user).bits(item);
        let all = [
            bits(Label::Holdout, "ab", "c"),
            bits(Label::Holdout, "a", "bc"),
            bits(Label::Holdout, "", "abc"),
            bits(Label::Holdout, "abc", ""),
            bits(Label::Holdout, "c", "ab"),
            bits(Label::DegreeCap, "ab", "c"),
            Seed::from_u64(2).named(Label::Holdout, "ab").bits("c"),
            seed.repetition(0).named(Label::Holdout, "ab").bits("c"),
        ];
        let distinct: std::collections::BTreeSet<u64> = all.iter().copied().collect();
        assert_eq!(distinct.len(), all.len());
        assert_eq!(all[0], bits(Label::Holdout, "ab", "c"));
        let key = seed.named(Label::Holdout, "u");
        assert_eq!(format!("{key:?}"), "NamedKey(redacted)");
        // 10,000 uniform numbers: their mean has standard deviation 0.0029; 6 of them by chance below 2e-9.
        let uniform: Vec<f64> = (0..10_000).map(|i| key.uniform(&i.to_string())).collect();
        assert!(uniform.iter().all(|&x| (0.0..1.0).contains(&x)));
        let mean = uniform.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 6.0 * 0.0029, "{mean}");
    }

    #[test]
    fn secrets_are_not_printed() {
        let seed = Seed::from_u64(77);
        assert_eq!(format!("{seed:?}"), "Seed(redacted)");
        assert_eq!(
            format!("{:?}", seed.key(Label::Start, 0, 0)),
            "StreamKey(redacted)"
        );
        let binding = Binding::to(&[b"private rows"]);
        assert_eq!(format!("{binding:?}"), "Binding(redacted)");
        let root = seed.noise_root(binding);
        assert_eq!(format!("{root:?}"), "NoiseRoot(redacted)");
    }
}
