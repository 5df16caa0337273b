//! How much memory a run will take, part by part.

use crate::algorithm::{Program, RetainedState};
use crate::config::EngineKind;
use crate::engine::lockstep::tile_width;
use crate::engine::noise::NetworkNoise;
use crate::plan::Plan;
use crate::protocol::averaging::{Contacts, Form};
use crate::scenario::experiment::{Experiment, widest_shape};
use crate::vocabulary::CHUNK;

/// How far [`MemoryPlan::total`] may be from the peak that is measured, either way: allocators round up and
/// return late, readers keep more than their result for a while. A test holds child processes to it.
pub const FACTOR: f64 = 1.6;

/// Code, stacks and the allocator of a process that has done nothing yet, measured.
const PROCESS: u64 = 10 << 20;

/// Bytes of a column's name while a session is planned, and of a planned release; measured.
const COLUMN: u64 = 600;
const RELEASE: u64 = 2048;

/// The part that grows with the number of interactions, the only one that is private.
const INTERACTIONS: &str = "interactions and rows";

/// Predicted bytes of a run, part by part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    parts: Vec<(&'static str, u64)>,
    /// Bytes that grow in proportion to items and to rank.
    pub(super) growing: u64,
    /// Bytes of the parts that grow with the number of interactions.
    pub(super) private: u64,
}

impl MemoryPlan {
    /// What `experiment` will need.
    #[must_use]
    pub fn of(experiment: &Experiment) -> Self {
        let sizes = RunSizes::of(experiment);
        let mut plan = Self::of_process();
        plan.add_inputs(&sizes);
        // Sum, basis and two totals per iteration, of the run and of its two comparisons.
        let records = 12 * experiment.releases().len() as u64;
        plan.add_blocks("records", sizes.block.saturating_mul(records + 8));
        match experiment.config.engine.kind {
            EngineKind::Central | EngineKind::Federated => {}
            EngineKind::Analytic => plan.add_probes(&sizes),
            EngineKind::Lockstep => plan.add_lockstep(&sizes),
            // A peer's own block and the one before, its input and sum kept for the record, its last two
            // averages; what its neighbours sent is shared with them.
            EngineKind::Event => plan.add_blocks("blocks of all peers", sizes.peer_blocks(6, 1)),
            // In-process links and Noise hold frames of their own; measured, see the benchmark tables.
            EngineKind::Swarm => {
                plan.add_blocks("blocks and frames of all peers", sizes.peer_blocks(12, 2));
            }
        }
        plan
    }

    /// Adds the rows, the graphs and the averaging schedule, which every engine needs.
    fn add_inputs(&mut self, sizes: &RunSizes<'_>) {
        let (experiment, peers) = (sizes.experiment, sizes.peers);
        let edges = experiment.topology().graph().edges();
        let edges = (edges + experiment.noise_topology().graph().edges()) as u64;
        let entries = experiment.user_rows.entries() as u64;
        // An index; an index and a value in one matrix and again at the peers; names and offsets.
        let hidden = sizes.hidden_users.saturating_mul(80 + 8 * sizes.rank);
        self.private = entries * (4 + 12 + 12) + hidden;
        self.add(INTERACTIONS, self.private);
        self.add("users and peers", sizes.users * 80 + peers * 200);
        // A neighbour and its weight at both ends; a noise term and the engine's index; per-peer figures.
        let graphs = edges * (24 + 32 + 8) + peers * 120;
        self.add("graphs, weights and noise keys", graphs);
        // Once for all, and everybody's own part.
        self.add("the averaging schedule", 2 * experiment.schedule().bytes());
    }

    /// Adds what engine `analytic` holds of its probes.
    fn add_probes(&mut self, sizes: &RunSizes<'_>) {
        let probes = sizes.experiment.config.engine.probes as u64;
        let blocks = sizes.block.saturating_mul(4 * (probes + 1) + 4);
        self.add_blocks("the blocks of the probes", blocks);
        let projections = sizes.users.saturating_mul(8 * sizes.rank);
        self.add("projections of all rows", projections);
        // Rows of the averaging polynomial, two buffers each.
        let weights = sizes.peers.saturating_mul(24 * probes);
        self.add("how probes weigh peers", weights);
    }

    /// Adds what engine `lockstep` holds of all peers.
    fn add_lockstep(&mut self, sizes: &RunSizes<'_>) {
        let (experiment, peers) = (sizes.experiment, sizes.peers);
        let states = held(experiment).saturating_mul(1 + sizes.kept);
        self.add_blocks("the state of all peers", states.saturating_mul(sizes.block));
        let products = sizes.users.saturating_mul(8 * sizes.rank) + peers * 40;
        self.add("products of all peers", products);
        let tile = rayon::current_num_threads() as u64 * tile_width(peers as usize) as u64;
        self.add("chunks under way", sizes.chunks(tile));
        // What is given and what is heard on every edge, of each tile under way.
        let directed = 2 * experiment.topology().graph().edges() as u64;
        if running_totals(experiment) > 0 {
            self.add("running totals", 8 * tile * 2 * directed);
        }
    }

    /// What a process needs that has done nothing yet.
    fn of_process() -> Self {
        Self {
            parts: vec![("the process", PROCESS)],
            growing: 0,
            private: 0,
        }
    }

    /// What a session over so many columns needs before anything else of it is known.
    pub(super) fn of_columns(columns: usize) -> Self {
        let mut plan = Self::of_process();
        plan.add("names of columns", columns as u64 * COLUMN);
        plan
    }

    /// What one member of this planned session needs: a function of the session file.
    pub(super) fn of_member(session: &Plan) -> Self {
        let program = session.program();
        let mut plan = Self::of_columns(program.items);
        let network = session.network();
        let graph = network.topology.graph();
        let (peers, releases) = (graph.nodes() as u64, program.releases.len() as u64);
        let edges = (graph.edges() + network.noise_topology.graph().edges()) as u64;
        plan.add("graphs and keys", edges * 64 + peers * 1024);
        plan.add("the averaging schedule", 2 * session.schedule().bytes());
        plan.add("the plan of all releases", releases * RELEASE);
        let (height, width) = block_shape(session);
        let query = program.items as u64 * program.query_columns as u64;
        let block = 8 * query.max((height as u64).saturating_mul(width as u64));
        // What it holds of its own: contribution, sum, averages, queries and what it writes down. What each neighbour has sent, and what it has not read yet.
        let degree = (0..graph.nodes()).map(|peer| graph.degree(peer)).max();
        let blocks = 16 + kept(program) + 2 * degree.unwrap_or(0) as u64;
        plan.add_blocks("blocks of numbers", block.saturating_mul(blocks));
        plan
    }

    /// What auditing `experiment` will need: trials of the lockstep engine side by side, one per thread, each with
    /// everybody's queries and published inputs.
    #[must_use]
    pub fn of_audit(experiment: &Experiment) -> Self {
        let mut plan = Self::of(experiment);
        let (height, width) = widest_shape(experiment.program());
        let peers = experiment.topology().graph().nodes() as u64;
        let block = 8 * (height as u64).saturating_mul(width as u64);
        let threads = rayon::current_num_threads().max(1) as u64;
        // Inputs of everybody, and once what they contribute first; queries, sums and states of those who have their own.
        let inputs = peers.saturating_mul(threads + 1);
        let states = held(experiment)
            .saturating_mul(threads + (threads - 1) * (1 + kept(experiment.program())));
        plan.add_blocks(
            "trials and their transcripts",
            block.saturating_mul(inputs.saturating_add(states)),
        );
        plan
    }

    /// What verifying `experiment` will need: a run whose peers' queries and published inputs are kept, and what is
    /// collected of them.
    #[must_use]
    pub fn of_verify(experiment: &Experiment) -> Self {
        let mut plan = Self::of(experiment);
        let (height, width) = widest_shape(experiment.program());
        let peers = experiment.topology().graph().nodes() as u64;
        let block = 8 * (height as u64).saturating_mul(width as u64);
        let queries = match experiment.config.engine.kind {
            EngineKind::Lockstep => held(experiment),
            _ => peers,
        };
        let transcript = block.saturating_mul(peers + queries);
        plan.add_blocks("what all peers publish", transcript);
        plan.add("tests of what they publish", 96 << 20);
        plan
    }

    fn add(&mut self, part: &'static str, bytes: u64) {
        self.parts.push((part, bytes));
    }

    /// Adds a part in proportion to items and to rank.
    fn add_blocks(&mut self, part: &'static str, bytes: u64) {
        self.growing = self.growing.saturating_add(bytes);
        self.add(part, bytes);
    }

    /// All bytes but those that grow with the number of interactions: a function of the configuration and of the public
    /// lists of users and items alone.
    #[must_use]
    pub fn public(&self) -> u64 {
        self.total().saturating_sub(self.private)
    }

    /// The share of items, or of columns, that fits into `free` bytes.
    pub(super) fn share(&self, free: u64) -> f64 {
        let fixed = self.public().saturating_sub(self.growing);
        free.saturating_sub(fixed) as f64 / self.growing as f64
    }

    /// Bytes of each part.
    #[must_use]
    pub fn parts(&self) -> &[(&'static str, u64)] {
        &self.parts
    }

    /// All bytes, within [`FACTOR`].
    #[must_use]
    pub fn total(&self) -> u64 {
        self.parts
            .iter()
            .fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }

    /// The two largest parts that are public, in words.
    pub(super) fn largest(&self) -> String {
        let mut parts = self.parts.clone();
        parts.retain(|(part, _)| *part != INTERACTIONS);
        parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        let words = parts.iter().take(2);
        let words = words.map(|(part, bytes)| format!("{part} {} MiB", bytes >> 20));
        words.collect::<Vec<_>>().join(", ")
    }
}

/// The sizes of a run that its parts are multiples of.
struct RunSizes<'a> {
    experiment: &'a Experiment,
    peers: u64,
    /// Columns of a block.
    rank: u64,
    /// Numbers in the largest block of one release.
    values: u64,
    /// Bytes of that block.
    block: u64,
    /// Blocks that a peer keeps from one release to the next.
    kept: u64,
    /// The number of users where it is public, else 0.
    users: u64,
    /// The number of users where it is private, else 0: what they take is private, too.
    hidden_users: u64,
}

impl<'a> RunSizes<'a> {
    fn of(experiment: &'a Experiment) -> Self {
        let (height, rank) = block_shape(experiment.plan());
        let (height, rank) = (height as u64, rank as u64);
        let values = height.saturating_mul(rank);
        let all = experiment.user_rows.len() as u64;
        let (users, hidden_users) = match experiment.config.hides_users() {
            true => (0, all),
            false => (all, 0),
        };
        Self {
            experiment,
            peers: experiment.topology().graph().nodes() as u64,
            rank,
            values,
            block: values.saturating_mul(8),
            kept: kept(experiment.program()),
            users,
            hidden_users,
        }
    }

    /// Bytes of so many blocks of every peer, those it keeps, and so many copies of the running totals.
    fn peer_blocks(&self, blocks: u64, totals: u64) -> u64 {
        let own = self.peers.saturating_mul(blocks + self.kept);
        let totals = totals * running_totals(self.experiment);
        own.saturating_add(totals).saturating_mul(self.block)
    }

    /// Bytes of the chunks that engine `lockstep` averages side by side; `tile` are the values of all tiles under way.
    fn chunks(&self, tile: u64) -> u64 {
        let experiment = self.experiment;
        let width = self.values.min(CHUNK as u64);
        let threads = rayon::current_num_threads() as u64;
        let busy = self.values.div_ceil(CHUNK as u64).min(threads);
        // Inputs and sums of the chunks under way, and a second buffer of each tile under way. Where all peers end with
        // the same bits only a watched run averages in tiles.
        let buffers = match experiment.schedule().ends_equal() && !watches_rounds(experiment) {
            true => width * busy,
            false => 2 * width * busy + tile,
        };
        // Where less than a chunk per thread is left, threads share each one's normals.
        let batch = experiment.noise_topology().graph().edges();
        let normals = busy * 8 * width * batch.min(NetworkNoise::BATCH) as u64;
        self.peers
            .saturating_mul(8 * buffers)
            .saturating_add(normals)
    }
}

/// Rows and columns of the largest array that a peer holds of one release: what it contributes, or everybody's own coordinates.
fn block_shape(plan: &Plan) -> (usize, usize) {
    let (height, width) = widest_shape(plan.program());
    match plan.has_own_coordinates() {
        true => (height * plan.network().topology.graph().nodes(), width),
        false => (height, width),
    }
}

/// Averaging rounds are watched while peers · n · p · rounds · L stays below this: each of these values costs one pass,
/// together below a second.
pub(crate) const WATCHED_UP_TO: u64 = 500_000_000;

/// Whether a run watches how far the peers are apart after every averaging round.
pub(crate) fn watches_rounds(experiment: &Experiment) -> bool {
    let (height, width) = widest_shape(experiment.program());
    let factors = [
        experiment.topology().graph().nodes() as u64,
        height as u64,
        width as u64,
        u64::from(experiment.rounds()),
        experiment.releases().len() as u64,
    ];
    factors.into_iter().fold(1, u64::saturating_mul) <= WATCHED_UP_TO
}

/// How many sums and states the lockstep engine holds: one where all peers end with the same bits.
fn held(experiment: &Experiment) -> u64 {
    match experiment.schedule().ends_equal() || experiment.has_only_own_coordinates() {
        true => 1,
        false => experiment.topology().graph().nodes() as u64,
    }
}

/// Sums and queries that algorithms with memory keep at every peer while the next are made, in blocks.
fn kept(program: &Program) -> u64 {
    match program.state {
        RetainedState::Query => 0,
        RetainedState::Numbers(numbers) => {
            let (height, width) = widest_shape(program);
            (numbers as u64).div_ceil((height * width).max(1) as u64)
        }
        RetainedState::All => 2 * (program.releases.len() as u64).saturating_sub(1),
    }
}

/// Blocks that all peers keep beside their values where mass is passed: running totals, which messages and receivers share.
fn running_totals(experiment: &Experiment) -> u64 {
    let graph = experiment.topology().graph();
    match experiment.schedule().form() {
        // One total per peer, and the one before, which some neighbours still hold.
        Form::Passing(passing) if passing.contacts == Contacts::All => 2 * graph.nodes() as u64,
        // The same per directed edge.
        Form::Passing(_) => 4 * graph.edges() as u64,
        Form::Recurrence(_) | Form::Listed(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(set: &[&str]) -> Experiment {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/power.toml");
        let set: Vec<String> = set.iter().map(|&key| key.to_owned()).collect();
        Experiment::load(&path, &set).expect("valid")
    }

    #[test]
    fn what_algorithms_keep_and_audits_record_is_counted() {
        let part = |plan: &MemoryPlan, name: &str| {
            let found = plan.parts().iter().find(|(part, _)| part.contains(name));
            found.expect("a part").1
        };
        let tree = "averaging={scheme=\"tree\"}";
        let chebyshev = "averaging={scheme=\"chebyshev\"}";
        for (engine, averaging, name, blocks) in [
            ("event", tree, "blocks of all peers", 6),
            ("swarm", tree, "blocks and frames", 12),
            ("lockstep", chebyshev, "the state of all peers", 1),
            ("lockstep", tree, "the state of all peers", 1),
        ] {
            let engine = format!("engine.kind={engine}");
            let loaded = |set: &[&str]| loaded(&[set, &[averaging]].concat());
            let power = MemoryPlan::of(&loaded(&[&engine, "algorithm.iterations=4"]));
            let krylov = [&engine, "algorithm.iterations=4", "algorithm.kind=krylov"];
            let krylov = MemoryPlan::of(&loaded(&krylov));
            // Three sums and three queries more at every peer.
            assert_eq!(
                blocks * part(&krylov, name),
                (blocks + 6) * part(&power, name)
            );
        }
        let experiment = loaded(&[]);
        let run = MemoryPlan::of(&experiment).total();
        let audit = MemoryPlan::of_audit(&experiment).total();
        let state = part(&MemoryPlan::of(&experiment), "the state of all peers");
        assert!(audit >= run + 2 * state);
        // Peers that all end with the same bits hold one sum.
        let one = loaded(&[tree]);
        let state_of_one = part(&MemoryPlan::of(&one), "the state of all peers");
        assert_eq!(state, state_of_one * one.topology().graph().nodes() as u64);
        let run = MemoryPlan::of(&one).total();
        let audit = MemoryPlan::of_audit(&one).total();
        assert!(
            (run + state..run + 2 * state * (1 + rayon::current_num_threads() as u64))
                .contains(&audit)
        );
        let analytic = MemoryPlan::of(&loaded(&["engine.kind=analytic"]));
        let users = experiment.user_rows.len() as u64;
        let rank = experiment.config.algorithm.table().rank() as u64;
        assert_eq!(part(&analytic, "projections of all rows"), users * rank * 8);
    }
}
