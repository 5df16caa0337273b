//! From what was read to what each peer holds: every step between the file and the peers' rows.
//!
//! A sensitivity bounds what one record changes in the *peers' rows*, and a promise is about a record of the *data as
//! read*. The two are the same promise if every step in between maps neighbours to neighbours. For fixed public
//! inputs (the list of users, the list of items, the seed of the coins and all settings) they do, as follows; what does
//! not is refused by [`check`] or by the sensitivity, which has no proof for it.
//!
//! | step | what it does to a user's row r | interaction | user, replace-user | swap |
//! | --- | --- | --- | --- | --- |
//! | threshold | keeps the items whose own rating is above it | yes | yes | yes |
//! | item list | r ∩ L, L public | yes | yes | yes |
//! | `holdout`, `completion.test_share` | r ∩ T_u, T_u the items whose own coins keep them | yes | yes | yes |
//! | `test` file | nothing: it is matched by name and only measured against | yes | yes | yes |
//! | `recommender.items` | r ∩ L′, L′ public by assumption: it follows from item degrees | yes | yes | yes |
//! | degree cap | the m items of lowest priority, priorities fixed | **refused** | yes | yes |
//! | `users_file` | r if the user is of the list, and nothing else ([`UserNames::restrict`](crate::data::UserNames::restrict)) | yes | yes | yes |
//! | partition | nothing: users are dealt by their place in the public list, by a hash of their names ([`data::assign_by_name`]), or to the peer that a column names, which is public by assumption ([`data::assign_to`](crate::data)) | yes | yes | yes |
//! | degree floor | is part of what the sensitivity is proved for | | | |
//!
//! # Proof
//! Every step maps one user's row to that user's row by a function g_u of the row alone (users change no other user's
//! row), with g_u(∅) = ∅. So data that differ in one user's row, or in that row being there, still do or have become
//! equal: user and replace-user.
//!
//! *Interaction.* The first four steps are r ↦ r ∩ S with S fixed, and (r ∪ {i}) ∩ S is r ∩ S or (r ∩ S) ∪ {i}. A rating
//! whose value changes crosses the threshold or does not: one item more or less, or nothing. Under a cap an added item
//! can push out another, which is two entries of the row: refused.
//!
//! *Swap.* Neighbours are rows that differ by one exchange, one addition or one removal
//! ([`crate::privacy::Adjacency::Swap`]). (s ∪ {a}) ∩ S and (s ∪ {b}) ∩ S are s ∩ S with a or not and with b or not: an
//! exchange, an addition, a removal or equal. That an exchange can become an addition is why additions are
//! neighbours under swap, and its sensitivity is proved for them. The cap is treated at [`Interactions::cap`].
//!
//! *Matrix and unit-spectral.* The record is a change C of one peer's matrix A_u, so the data *is* the matrix of
//! interactions above the threshold. An item list keeps the rows and columns L of it, and C restricted to them has row
//! sums of absolute values and a spectral norm no larger than C's. Which interactions are held out, or kept under a cap, is
//! no function of the matrix: refused. ∎
//!
//! The list of users and its order are public by assumption where neither a file lists them nor a hash of their names deals them: they
//! are numbered as the data first name them, and one line of an event log can deal everybody's rows to other peers. Items and their
//! order are public by assumption where they are drawn from the data. A receipt says in words which of these holds.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::data_summary::DataSummary;
use super::error::{DataTableError, ExperimentError, NetworkError};
use super::held::Held;
use super::held_out::HeldOut;
use super::materials::Materials;
use super::{graph, numbers, placement, recommender};
use crate::algorithm::{LocalData, OnGraph};
use crate::config::{Config, EvaluationError};
use crate::data::{self, CapCounts, FilterCounts, Interactions, ItemNames, Partition};
use crate::engine::PeerRows;
use crate::linalg::SparseRows;
use crate::recommender::{SplitCounts, SplitError, TestSet, hold_out, match_test};
use crate::vocabulary::Seed;

mod hashed;
#[cfg(test)]
pub(crate) mod mutations;
#[cfg(test)]
mod tests;

/// A rule that holds interactions out.
type HoldOut =
    fn(&Interactions, f64, &Seed) -> Result<(Interactions, TestSet, SplitCounts), SplitError>;

/// A rule that caps rows.
type Cap = fn(&Interactions, usize, &Seed) -> (Interactions, CapCounts);

/// The steps that draw: what makes them functions of one row, item by item, is theirs to keep. Tests put others in their place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choices {
    /// Which interactions are held out.
    pub(crate) hold_out: HoldOut,
    /// Which interactions a cap keeps.
    pub(crate) cap: Cap,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            hold_out,
            cap: Interactions::cap,
        }
    }
}

/// What the steps leave of the interactions read.
pub(crate) struct Kept {
    /// What the peers hold.
    pub(crate) interactions: Interactions,
    /// What they do not, where the configuration holds something out.
    pub(crate) held_out: Option<(TestSet, SplitCounts)>,
    /// What the item list did.
    listed: FilterCounts,
    /// Interactions that the hold-out took.
    interactions_held_out: usize,
    /// Interactions that the cap dropped.
    capped: usize,
}

/// Applies the item list, the hold-out and the cap, in this order.
///
/// `test` holds the interactions of the test file, where there is one. Everything but `read` is public.
pub(crate) fn apply(
    config: &Config,
    list: &ItemNames,
    test: Option<&Interactions>,
    read: &Interactions,
    seed: &Seed,
    choices: Choices,
) -> Result<Kept, EvaluationError> {
    let (kept, listed) = list.restrict(read);
    let (kept, held_out) = match (config.held_share(), test) {
        (Some(fraction), _) => {
            let (train, test, counts) = (choices.hold_out)(&kept, fraction, seed)?;
            (train, Some((test, counts)))
        }
        (None, Some(test)) => {
            let matched = match_test(&kept, test);
            (kept, Some(matched))
        }
        (None, None) => (kept, None),
    };
    let trained = kept.len();
    let kept = match config.data.degree_cap().copied() {
        Some(cap) => (choices.cap)(&kept, cap as usize, seed).0,
        None => kept,
    };
    Ok(Kept {
        interactions_held_out: listed.interactions_kept - trained,
        capped: trained - kept.len(),
        interactions: kept,
        held_out,
        listed,
    })
}

/// Refuses settings under which a step maps neighbours to no neighbours, whatever the data. Caps are the sensitivity's to refuse.
pub(super) fn check(config: &Config) -> Result<(), ExperimentError> {
    hashed::check(config)?;
    placement::check(config)?;
    let adjacency = config.privacy.adjacency;
    if adjacency.is_of_matrix() && config.held_share().is_some() {
        return Err(EvaluationError::HoldoutOfMatrix { adjacency }.into());
    }
    Ok(())
}

/// Reads `data.items_file`, if there is one, and notes its hash in the configuration.
///
/// # Errors
/// [`DataTableError::Data`] if it cannot be read, [`DataTableError::ItemsHash`] if the configuration says another.
pub(super) fn item_list(
    config: &mut Config,
    materials: &Materials,
) -> Result<Option<Arc<ItemNames>>, ExperimentError> {
    let Some(path) = config.data.items_file() else {
        return Ok(None);
    };
    let path = materials.base().join(path);
    let list = materials.item_list(&path).map_err(DataTableError::from)?;
    let found = list.hash();
    match config.data.items_hash() {
        Some(stated) if *stated != found => Err(DataTableError::ItemsHash {
            path,
            stated: stated.clone(),
            found,
        }
        .into()),
        _ => {
            config.data.set_items_hash(found);
            Ok(Some(list))
        }
    }
}

/// Notes the hash of `data.users_file`, if there is one, in the configuration.
///
/// # Errors
/// [`DataTableError::Data`] if it cannot be read, [`DataTableError::UsersHash`] if the configuration says another.
pub(super) fn note_users(
    config: &mut Config,
    materials: &Materials,
) -> Result<(), ExperimentError> {
    let Some(path) = config.data.users_file() else {
        return Ok(());
    };
    let found = materials.user_list(path)?.hash();
    match config.data.users_hash() {
        Some(stated) if *stated != found => Err(DataTableError::UsersHash {
            path: materials.base().join(path),
            stated: stated.clone(),
            found,
        }
        .into()),
        _ => {
            config.data.set_users_hash(found);
            Ok(())
        }
    }
}

/// What the peers hold, what was dropped on the way, and what is held out.
///
/// `list` is the list of a file; without one it is drawn from the data.
pub(super) fn filtered(
    config: &Config,
    base: &Path,
    loaded: &data::Loaded,
    list: Option<&ItemNames>,
    seed: &Seed,
) -> Result<Held, ExperimentError> {
    let data::Loaded {
        interactions: read,
        counts,
        ..
    } = loaded;
    let drawn;
    let list = match list {
        Some(list) => list,
        None => {
            drawn = ItemNames::most_rated(read, config.data.items());
            &drawn
        }
    };
    let test = match (&config.evaluation.test, config.evaluation.holdout) {
        (Some(path), None) => {
            // A matrix has none: refused before.
            let format = config
                .data
                .format()
                .ratings()
                .unwrap_or(data::Format::CsvTriples);
            let mut table = config.data.table_options();
            // What nobody holds is at no peer.
            table.columns.peer = None;
            let threshold = Some(config.data.threshold());
            let path = base.join(path);
            let loaded = numbers::load_ratings(&path, format, &table, threshold);
            let test = loaded.map_err(|error| {
                let obtain = config.data.obtain().map(String::as_str);
                let missing = DataTableError::missing(&error, "evaluation.test", &path, obtain);
                let other = || EvaluationError::Test(error).into();
                missing.map_or_else(other, ExperimentError::from)
            })?;
            let test = test.interactions;
            // Without a list of users, whether one is known is private.
            if !config.hides_users() && !shares_a_user(read, &test) {
                return Err(EvaluationError::OtherUsers.into());
            }
            Some(test)
        }
        _ => None,
    };
    let kept = apply(config, list, test.as_ref(), read, seed, Choices::default())?;
    let held_out = kept.held_out.map(|(test, counts)| HeldOut {
        test: Arc::new(test),
        counts,
    });
    // That nothing came to be held out is nobody's business but the evaluation's, which then says so: a refusal here would
    // tell whoever sees the exit code about the users' rows.
    let (all, listed) = (kept.interactions, kept.listed);
    let (rows, catalogue) = match recommender::list(config, || list.restrict(read).0) {
        Some(some) => (some.restrict(&all).0, Some(Arc::new(all))),
        None => (all, None),
    };
    let summary = DataSummary {
        layout: loaded.layout.clone(),
        users: read.users(),
        users_dropped: counts.users_unlisted as usize,
        users_unknown: counts.users_unknown as usize,
        items: read.items(),
        ratings: counts.ratings,
        ratings_below_threshold: counts.at_or_below_threshold,
        interactions: listed.interactions_before,
        items_kept: listed.items_kept,
        items_dropped: listed.items_dropped,
        items_unknown: list.unknown_to(read),
        interactions_kept: rows.len(),
        interactions_held_out: kept.interactions_held_out,
        degree_floor: config.data.degree_floor(),
        interactions_capped: kept.capped,
        users_without_interactions: (0..rows.users())
            .filter(|&user| rows.row(user).is_empty())
            .count(),
    };
    Ok(Held {
        interactions: Arc::new(rows),
        summary,
        held_out,
        catalogue,
    })
}

/// Whether any user of one data set is named in the other.
fn shares_a_user(ours: &Interactions, theirs: &Interactions) -> bool {
    let names: BTreeSet<&str> = (0..ours.users()).map(|user| ours.user_name(user)).collect();
    (0..theirs.users()).any(|user| names.contains(theirs.user_name(user)))
}

/// The users of each peer, a function of the public list of users alone, or of every user's own name, or of what a column says of every user: its peer, if `placed`.
pub(crate) fn assignment(
    config: &Config,
    named: &Interactions,
    (peers, placed): (usize, Option<&[u32]>),
) -> Result<Vec<Vec<u32>>, ExperimentError> {
    if let Some(placed) = placed {
        return Ok(data::assign_to(named.names_of_users(), placed, peers));
    }
    let seed = Seed::from_u64(config.seed);
    let (users, partition) = (named.users(), config.peers.partition);
    let assigned = match &config.peers.sizes {
        Some(sizes) if partition == Partition::Contiguous => {
            data::assign_sizes(users, peers, sizes)
        }
        Some(_) => return Err(NetworkError::Peers(data::DataError::SizesPartition).into()),
        None if partition == Partition::Hashed => {
            data::assign_by_name(named.names_of_users(), peers, &seed)
        }
        None => data::assign(users, peers, partition, &seed),
    };
    assigned.map_err(|error| NetworkError::Peers(error.into()).into())
}

/// The rows of each peer, of which these are the users.
pub(crate) fn dealt(
    config: &Config,
    user_rows: &SparseRows,
    named: &Interactions,
    (peers, placed): (usize, Option<&[u32]>),
) -> Result<PeerRows, ExperimentError> {
    if graph::is_of_vertices(config) {
        return Ok(PeerRows::new(OnGraph::held(user_rows)));
    }
    let users = user_rows.len();
    let assignment = assignment(config, named, (peers, placed))?;
    let rows = data::peer_rows(user_rows, &assignment);
    let Some((arrival, batches)) = config.algorithm.table().requirements().arrival else {
        return Ok(PeerRows::new(rows));
    };
    let held = rows.into_iter().zip(&assignment).map(|(rows, own)| {
        let batch = |user: &u32| arrival.batch(*user as usize, users, batches);
        let numbers: Vec<u32> = own.iter().map(batch).collect();
        LocalData::in_batches(rows, &numbers)
            .expect("one row per user, and as many batches as iterations")
    });
    Ok(PeerRows::of_local(&held.collect::<Vec<_>>()))
}
