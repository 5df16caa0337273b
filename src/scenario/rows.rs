//! From what was read to the rows that peers hold, and what is kept from them.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::data_summary::DataSummary;
use super::divisor::Divisor;
use super::error::{DataTableError, ExperimentError};
use super::held::Held;
use super::held_out::HeldOut;
use super::materials::Materials;
use super::rating_test::RatingTest;
use super::{completion, filters, numbers};
use crate::config::Config;
use crate::data::{self, Interactions, ItemNames};
use crate::engine::PeerRows;
use crate::linalg::SparseRows;
use crate::privacy::Scheme;
use crate::vocabulary::Seed;

/// What the peers of an experiment hold, and what it is measured against.
pub(super) struct Rows {
    /// The interactions left after all filters.
    pub(super) interactions: Arc<Interactions>,
    /// What was read and dropped.
    pub(super) data: DataSummary,
    /// What `[evaluation]` keeps from the peers.
    pub(super) held_out: Option<HeldOut>,
    /// Where a matrix is released of some items only: the same with all.
    pub(super) catalogue: Option<Arc<Interactions>>,
    /// Every user's numbers, where data are numbers.
    pub(super) samples: Option<Arc<SparseRows>>,
    /// The ratings that no peer holds, where ratings are to be predicted.
    pub(super) rating_test: Option<Arc<RatingTest>>,
    /// Every user's normalised row.
    pub(super) user_rows: Arc<SparseRows>,
    /// The rows each peer holds.
    pub(super) peer_rows: Arc<PeerRows>,
}

impl Rows {
    /// Filters what was read, divides every row by its length or this floor, and deals the rows to so many peers, those of a user to the one where it is `placed`.
    pub(super) fn of(
        config: &Config,
        loaded: &data::Loaded,
        list: Option<&ItemNames>,
        (floor, peers): (NonZeroU32, usize),
        placed: Option<&Arc<[u32]>>,
        materials: &Materials,
    ) -> Result<Self, ExperimentError> {
        let base = materials.base();
        let seed = Seed::from_u64(config.seed);
        let held = materials.held(config, || match !config.data.is_of_ratings() {
            true => Ok(numbers::held(config, loaded)),
            false => filters::filtered(config, base, loaded, list, &seed),
        })?;
        let Held {
            interactions,
            summary: data,
            held_out,
            catalogue,
        } = Held::clone(&held);
        // Under noise no data at all is data like any other: a refusal would tell it apart from its neighbours.
        let of_numbers = config.data.is_of_numbers();
        if !of_numbers && interactions.is_empty() && config.noise.scheme == Scheme::None {
            return Err(DataTableError::NoInteractions {
                ratings: data.ratings,
                threshold: config.data.threshold(),
            }
            .into());
        }
        let data = DataSummary {
            degree_floor: config.data.degree_floor(),
            ..data
        };
        let samples = of_numbers
            .then(|| {
                let make = || numbers::prepared(config, base, loaded, &interactions);
                materials.samples(config, make)
            })
            .transpose()?;
        let rating_test = completion::is_meant(config)
            .then(|| {
                let of = (&*interactions, held_out.as_ref());
                let make = || completion::rating_test(config, base, loaded, of);
                materials.rating_test(config, make)
            })
            .transpose()?;
        let divisor = Divisor::new(config, floor);
        let user_rows = materials.user_rows(config, divisor, || match &samples {
            Some(samples) => numbers::rows(config, base, samples),
            None => Ok(divisor.rows(&interactions)),
        })?;
        let deal = || {
            filters::dealt(
                config,
                &user_rows,
                &interactions,
                (peers, placed.map(|of| &**of)),
            )
        };
        let peer_rows = materials.peer_rows(config, divisor, placed.cloned(), deal)?;
        Ok(Self {
            interactions,
            data,
            held_out,
            catalogue,
            samples,
            rating_test,
            user_rows,
            peer_rows,
        })
    }
}
