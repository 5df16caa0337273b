//! A session as its participants plan it: noise, averaging and graphs, then the starting block.

use std::sync::Arc;

use super::tables::SessionTables;
use crate::algorithm::{Algorithm, DataFacts, Prelude, Start};
use crate::config::Config;
use crate::data::ItemNames;
use crate::engine::PublicSession;
use crate::linalg::SparseRows;
use crate::plan::Plan;
use crate::privacy::GroupLoss;
use crate::protocol::SessionPlanError;
use crate::protocol::regroup::Tolerance;
use crate::scenario::arranged::Arranged;
use crate::scenario::clock::Clock;
use crate::scenario::error::{ExperimentError, NetworkError, PrivacyTableError};
use crate::scenario::materials::Materials;
use crate::scenario::resolve::completed_tables;
use crate::scenario::{algorithm_keys, dropouts, memory, network, numbers, planning, promise};
use crate::vocabulary::Seed;

/// Rows of a member up to which a plan's floating-point arithmetic is proved to be fine enough.
const PROVED_ROWS: usize = 65_536;

/// What a session is planned from besides its tables: public sizes, and what other sessions have in common with it.
pub(super) struct Parts<'a> {
    /// Names of the columns.
    pub(super) items: ItemNames,
    /// Rows that each participant states.
    pub(super) rows: &'a [usize],
    /// Rows that sums of integers are planned for.
    pub(super) most_rows: usize,
    /// Graphs and noise that were made before.
    pub(super) materials: &'a Materials,
    /// Bytes that a member's part may take.
    pub(super) memory_limit: Option<u64>,
}

/// A planned session but for its starting block.
#[derive(Clone, Debug)]
pub struct SessionDraft {
    config: Config,
    items: ItemNames,
    plan: Arc<Plan>,
    algorithm: Arc<dyn Algorithm>,
    mean: Option<Prelude>,
    /// The public seed of the starting block.
    start: u64,
}

impl SessionDraft {
    /// Plans these tables.
    pub(super) fn of(
        config: Config,
        parts: Parts<'_>,
        start: u64,
    ) -> Result<Self, ExperimentError> {
        let (materials, members) = (parts.materials, parts.rows.len());
        let mut clock = Clock::default();
        let topology = materials
            .topology(&config.topology, members)
            .map_err(NetworkError::Topology)?;
        let mut config = completed_tables(config)?;
        let floor = config.data.floor();
        let graphs = network::matched(&config, members, topology, materials, &mut clock)?;
        dropouts::settle(&mut config, &graphs.topology)?;
        let items = parts.items.len();
        check_constants(&config, materials, items)?;
        algorithm_keys::check(&config, items)?;
        let mut promise = promise::of(&config, true).map_err(PrivacyTableError::from)?;
        promise::check(&config).map_err(PrivacyTableError::from)?;
        promise
            .check_participants(members, false)
            .map_err(PrivacyTableError::from)?;
        let facts = DataFacts::of_items(items, floor.get());
        let algorithm = config.algorithm.table().algorithm(&facts);
        let arranged = Arranged::new(algorithm.map_err(SessionPlanError::from)?);
        let slots = parts
            .rows
            .iter()
            .fold(0_usize, |sum, rows| sum.saturating_add(*rows));
        let bounded = planning::bounded(&config, arranged, &mut promise, (slots, items))?;
        let plan = planning::plan(
            &config,
            (bounded.arranged.program(), &promise),
            graphs,
            parts.most_rows,
            (materials.noise(), &mut clock),
        )?;
        planning::check_widths(&plan)?;
        if let Some(limit) = parts.memory_limit {
            memory::check_member(&plan, limit)?;
        }
        dropouts::check_program(&config, &plan)?;
        Ok(Self {
            config,
            items: parts.items,
            plan: Arc::new(plan),
            algorithm: bounded.arranged.into_algorithm(),
            mean: bounded.mean.map(|(prelude, _)| prelude),
            start,
        })
    }

    /// The session with its starting block drawn.
    pub(crate) fn completed(self) -> Result<PlannedSession, ExperimentError> {
        let program = self.plan.program();
        let shape = (program.items, program.query_columns);
        let start = Start::Random.block(&Seed::from_u64(self.start), shape, &[]);
        let made = start
            .map_err(Into::into)
            .and_then(|start| PublicSession::planned(&self.plan, &self.algorithm, start));
        let public = made.map_err(|error| planning::no_session(&self.config, &self.plan, error))?;
        let rows = match self.plan.guarantee().noise().ring() {
            Some(_) => self.plan.network().most_rows.max(PROVED_ROWS),
            None => PROVED_ROWS,
        };
        public.check_rounding(rows)?;
        Ok(PlannedSession {
            draft: self,
            public,
        })
    }

    /// Noise, averaging and graphs.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The session's tables, with what the beacon drew and defaults filled in.
    #[must_use]
    pub fn tables(&self) -> SessionTables {
        SessionTables::of_shared(&self.config)
    }

    /// BLAKE3 of those, in hexadecimal.
    pub(crate) fn hash(&self) -> String {
        let text = self.tables().text();
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }

    /// Name of the engine that simulates such a session, by which receipts say what an adversary observes.
    pub(crate) fn runner(&self) -> &'static str {
        self.config.engine.kind.name()
    }

    /// Names of the columns.
    pub(in crate::scenario) fn items(&self) -> &ItemNames {
        &self.items
    }

    /// The mean that is released under noise before everything else, where `data.centre = "private"`.
    #[must_use]
    pub fn mean(&self) -> Option<&Prelude> {
        self.mean.as_ref()
    }

    /// What changes at several members cost.
    #[must_use]
    pub fn groups(&self) -> &[GroupLoss] {
        self.plan.guarantee().groups()
    }

    /// Whether all that is released is A X or a triangle of A over rows of interactions that no cap has shortened
    /// ([`Adjacency::square_factor`](crate::privacy::Adjacency::square_factor)).
    #[must_use]
    pub fn is_plain(&self) -> bool {
        use crate::vocabulary::Quantity::{IsometricTriangle, PackedTriangle, Product};
        let data = &self.config.data;
        let blocks = self
            .plan
            .program()
            .releases
            .iter()
            .flat_map(|one| &one.blocks);
        let mut quantities = blocks.map(|block| block.quantity);
        let of_a = |one| matches!(one, Product | PackedTriangle | IsometricTriangle);
        data.degree_cap().is_none() && !data.is_of_numbers() && quantities.all(of_a)
    }
}

/// A session as its participants plan it alike: public, without anybody's rows, seed or noise.
#[derive(Clone, Debug)]
pub struct PlannedSession {
    draft: SessionDraft,
    public: PublicSession,
}

impl PlannedSession {
    /// Noise, averaging and graphs.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.draft.plan
    }

    /// The session but for its starting block.
    #[must_use]
    pub fn draft(&self) -> &SessionDraft {
        &self.draft
    }

    /// What peers agree on and hash, with both graphs, the averaging and the starting block.
    #[must_use]
    pub fn public(&self) -> &PublicSession {
        &self.public
    }

    /// What the session tolerates; `None` where the loss of a member ends it.
    #[must_use]
    pub fn tolerance(&self) -> Option<Tolerance> {
        dropouts::tolerance(&self.draft.config, self.public.topology())
    }
}

/// Refuses public constants of rows that do not fit so many columns: by the steps that a member's rows take, of no rows.
fn check_constants(
    config: &Config,
    materials: &Materials,
    columns: usize,
) -> Result<(), ExperimentError> {
    if !config.data.is_of_numbers() {
        return Ok(());
    }
    let base = materials.base();
    let scale = numbers::rating_scale(config, base)?;
    let none = numbers::on_scale(&scale, &SparseRows::new(columns), None)?;
    numbers::rows(config, base, &none).map(drop)
}
