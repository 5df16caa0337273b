//! Ratings as they are read, and what becomes of them: interactions and counts.

use serde::Serialize;

use super::Interactions;
use super::error::{Problem, excerpt};
use super::names::Names;
use super::source::Limits;
use super::user_peers::{UserPeers, UserPeersReader};
use crate::linalg::SparseRows;

/// Counts of what was read and of what was dropped.
///
/// `ratings` = interactions + `at_or_below_threshold`; `lines` = lines with content + `skipped_lines`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReadCounts {
    /// Lines of text, headers included.
    pub lines: u64,
    /// Blank lines and comments among them.
    pub skipped_lines: u64,
    /// (user, item) pairs with a rating.
    pub ratings: u64,
    /// Ratings that are not above the threshold and so no interactions.
    pub at_or_below_threshold: u64,
    /// Ratings without a value (csv-triples of two fields, lists and patterns), taken as 1.0.
    pub without_value: u64,
    /// Users all of whose ratings are at or below the threshold; they stay, with an empty row.
    pub users_without_interactions: u64,
    /// Items all of whose ratings are at or below the threshold, or that nobody rated; they stay.
    pub items_without_interactions: u64,
    /// Rows and columns that a matrix-market size line declares and no entry names; they are neither
    /// users nor items.
    pub declared_but_absent: u64,
    /// Users that a list of users does not name: their ratings are counted above and left out.
    pub users_unlisted: u64,
    /// Users of a list that the file does not name: they take part with an empty row.
    pub users_unknown: u64,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The interactions: ratings strictly above the threshold.
    pub interactions: Interactions,
    /// What was read to find them.
    pub counts: ReadCounts,
    /// The numbers of a matrix, or the ratings where they are kept as numbers: one row per user, over the same items.
    pub values: Option<SparseRows>,
    /// What the file showed of its own layout, where its format leaves that open.
    pub layout: Option<String>,
    /// The peer of every user, where [`TableColumns::peer`](super::TableColumns::peer) says which column names it.
    pub peers: Option<UserPeers>,
}

impl Loaded {
    /// Ratings that were kept as numbers, as interactions: those strictly above `threshold`, a finite number. It is what reading the file with
    /// this threshold gives.
    #[must_use]
    pub fn above(&self, threshold: f64) -> Self {
        let read = &self.interactions;
        let Some(values) = &self.values else {
            return self.clone();
        };
        let mut is_kept = vec![false; read.items()];
        let mut rows: Vec<Vec<u32>> = Vec::with_capacity(values.len());
        for (items, ratings) in (0..values.len()).map(|user| values.row(user)) {
            let rated = items.iter().zip(ratings);
            let kept = rated.filter(|(_, rating)| **rating > threshold);
            rows.push(kept.map(|(item, _)| *item).collect());
            let row = rows.last().into_iter().flatten();
            row.for_each(|&item| is_kept[item as usize] = true);
        }
        let interactions = Interactions::from_valid_rows(
            rows.iter(),
            read.user_names().to_vec(),
            read.item_names().to_vec(),
        );
        let empty_rows = rows.iter().filter(|row| row.is_empty()).count();
        let empty_columns = is_kept.iter().filter(|kept| !**kept).count();
        let counts = ReadCounts {
            at_or_below_threshold: self.counts.ratings - interactions.len() as u64,
            users_without_interactions: empty_rows as u64,
            items_without_interactions: empty_columns as u64,
            ..self.counts
        };
        Self {
            interactions,
            counts,
            values: None,
            layout: self.layout.clone(),
            peers: self.peers.clone(),
        }
    }
}

/// One rating in the order read.
struct Rating {
    user: u32,
    /// Item index × 2 + whether the rating is an interaction.
    item_kept: u32,
    line: u32,
}

/// Item indices share 32 bits with one flag.
const MOST_ITEMS: usize = (u32::MAX >> 1) as usize;
const MOST_USERS: usize = u32::MAX as usize;

/// Collects the ratings of one file.
pub(super) struct Ratings {
    threshold: f64,
    most: usize,
    users: Names,
    items: Names,
    list: Vec<Rating>,
    line: u32,
    counts: ReadCounts,
    /// User, item and rating, where ratings are kept as numbers.
    values: Option<Vec<(u32, u32, f64)>>,
    /// The peers of users, once one is named.
    peers: Option<UserPeersReader>,
    /// Most peers, and bytes of their names.
    peer_limits: (usize, usize),
}

/// What is kept of ratings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kept {
    /// Who interacted with what: which ratings are above this.
    Above(f64),
    /// All of them, with their numbers.
    Values,
}

impl Ratings {
    pub(super) fn new(kept: Kept, limits: &Limits) -> Self {
        let (threshold, values) = match kept {
            Kept::Above(threshold) => (threshold, None),
            Kept::Values => (f64::NEG_INFINITY, Some(Vec::new())),
        };
        Self {
            values,
            peers: None,
            peer_limits: (limits.users.min(MOST_USERS), limits.name_bytes),
            threshold,
            most: limits.ratings,
            users: Names::new("user", limits.users.min(MOST_USERS), limits.name_bytes),
            items: Names::new("item", limits.items.min(MOST_ITEMS), limits.name_bytes),
            list: Vec::new(),
            line: 0,
            counts: ReadCounts::default(),
        }
    }

    /// Tells on which line the following ratings stand.
    pub(super) fn start_line(&mut self, line: u64) -> Result<(), Problem> {
        self.line = u32::try_from(line).map_err(|_| Problem::TooMany {
            what: "lines",
            limit: u64::from(u32::MAX),
        })?;
        Ok(())
    }

    /// The current line, from 1.
    pub(super) fn line(&self) -> u64 {
        u64::from(self.line)
    }

    /// The current line is blank or a comment.
    pub(super) fn skip_line(&mut self) {
        self.counts.skipped_lines += 1;
    }

    /// The user called `name`, new or known.
    pub(super) fn user(&mut self, name: &str) -> Result<u32, Problem> {
        self.users.index(name)
    }

    /// The item called `name`, new or known.
    pub(super) fn item(&mut self, name: &str) -> Result<u32, Problem> {
        self.items.index(name)
    }

    /// The user is at the peer called `name`: the same on every line.
    pub(super) fn place(&mut self, user: u32, name: &str) -> Result<(), Problem> {
        let (most, longest) = self.peer_limits;
        let peers = self
            .peers
            .get_or_insert_with(|| UserPeersReader::new(most, longest));
        peers.place((user, self.users.name(user)), name, u64::from(self.line))
    }

    /// Users so far.
    pub(super) fn user_count(&self) -> usize {
        self.users.len()
    }

    /// Items so far.
    pub(super) fn item_count(&self) -> usize {
        self.items.len()
    }

    /// Ratings so far.
    pub(super) fn rating_count(&self) -> u64 {
        self.counts.ratings
    }

    /// Rows and columns declared and never named.
    pub(super) fn set_declared_but_absent(&mut self, count: u64) {
        self.counts.declared_but_absent = count;
    }

    /// A rating; `None` where the format has no value, which counts as 1.0.
    pub(super) fn add(&mut self, user: u32, item: u32, rating: Option<f64>) -> Result<(), Problem> {
        if self.list.len() >= self.most {
            return Err(Problem::TooMany {
                what: "ratings",
                limit: self.most as u64,
            });
        }
        let kept = rating.unwrap_or(1.0) > self.threshold;
        if let Some(values) = &mut self.values {
            values.push((user, item, rating.unwrap_or(1.0)));
        }
        self.counts.ratings += 1;
        self.counts.without_value += u64::from(rating.is_none());
        self.counts.at_or_below_threshold += u64::from(!kept);
        self.list.push(Rating {
            user,
            item_kept: item << 1 | u32::from(kept),
            line: self.line,
        });
        Ok(())
    }

    /// Sorts what was read into rows; the error comes with the line of the second of two ratings.
    ///
    /// # Cost
    /// O(ratings · log row length) time; 8 bytes per rating besides the ratings themselves.
    pub(super) fn finish(mut self, lines: u64) -> Result<Loaded, (u64, Problem)> {
        self.counts.lines = lines;
        let mut ends = vec![0_usize; self.users.len() + 1];
        for rating in &self.list {
            ends[rating.user as usize + 1] += 1;
        }
        for user in 1..ends.len() {
            ends[user] += ends[user - 1];
        }
        // After this pass `ends[u]`, where row u started, is where it ends.
        let mut grouped = vec![(0_u32, 0_u32); self.list.len()];
        for rating in &self.list {
            let place = &mut ends[rating.user as usize];
            grouped[*place] = (rating.item_kept, rating.line);
            *place += 1;
        }
        self.list = Vec::new();
        self.sort_rows(&mut grouped, &ends)?;

        let mut item_seen = vec![false; self.items.len()];
        let mut start = 0;
        let mut kept = Vec::new();
        let mut offsets = vec![0];
        for &end in &ends[..self.users.len()] {
            for &(item_kept, _) in &grouped[start..end] {
                if item_kept & 1 == 1 {
                    kept.push(item_kept >> 1);
                    item_seen[(item_kept >> 1) as usize] = true;
                }
            }
            self.counts.users_without_interactions +=
                u64::from(offsets.last() == Some(&kept.len()));
            offsets.push(kept.len());
            start = end;
        }
        let values = self
            .values
            .take()
            .map(|values| rows_of(values, self.users.len(), self.items.len()));
        self.counts.items_without_interactions =
            item_seen.iter().filter(|seen| !**seen).count() as u64;
        Ok(Loaded {
            interactions: Interactions::from_parts(
                offsets,
                kept,
                self.users.into_list(),
                self.items.into_list(),
            ),
            counts: self.counts,
            values,
            layout: None,
            peers: self.peers.map(UserPeersReader::whole),
        })
    }

    /// Sorts every row by item and finds the repeated pair that a reader of the file meets first.
    fn sort_rows(&self, grouped: &mut [(u32, u32)], ends: &[usize]) -> Result<(), (u64, Problem)> {
        let mut repeated: Option<(u32, u32, u32, u32)> = None;
        let mut start = 0;
        for (user, &end) in ends[..self.users.len()].iter().enumerate() {
            let row = &mut grouped[start..end];
            row.sort_unstable_by_key(|&(item_kept, line)| (item_kept >> 1, line));
            for pair in row.windows(2) {
                let (item, first, second) = (pair[0].0 >> 1, pair[0].1, pair[1].1);
                if item == pair[1].0 >> 1 && repeated.is_none_or(|(line, ..)| second < line) {
                    repeated = Some((second, user as u32, item, first));
                }
            }
            start = end;
        }
        repeated.map_or(Ok(()), |(second, user, item, first)| {
            Err((
                u64::from(second),
                Problem::RepeatedPair {
                    user: excerpt(self.users.name(user)),
                    item: excerpt(self.items.name(item)),
                    first: u64::from(first),
                },
            ))
        })
    }
}

/// The numbers of every user over the items; no pair occurs twice.
fn rows_of(mut values: Vec<(u32, u32, f64)>, users: usize, items: usize) -> SparseRows {
    values.sort_unstable_by_key(|&(user, item, _)| (user, item));
    let mut rows = SparseRows::new(items);
    let mut rest = values.as_slice();
    for user in 0..users as u32 {
        let (own, others) = rest.split_at(rest.partition_point(|&(of, ..)| of <= user));
        rows.push_row(own.iter().map(|&(_, item, value)| (item, value)))
            .expect("distinct items in order, and readers take finite numbers only");
        rest = others;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(ratings: &[(&str, &str, f64)], limits: &Limits) -> Result<Loaded, (u64, Problem)> {
        let mut all = Ratings::new(Kept::Above(0.0), limits);
        for (line, &(user, item, rating)) in (1..).zip(ratings) {
            let add = |all: &mut Ratings| {
                all.start_line(line)?;
                let (user, item) = (all.user(user)?, all.item(item)?);
                all.add(user, item, Some(rating))
            };
            add(&mut all).map_err(|problem| (line, problem))?;
        }
        all.finish(ratings.len() as u64)
    }

    #[test]
    fn rows_are_sorted_and_what_is_dropped_is_counted() {
        let loaded = collect(
            &[
                ("b", "y", 1.0),
                ("a", "x", 2.0),
                ("b", "z", 0.0),
                ("c", "z", -1.0),
                ("a", "y", 3.0),
            ],
            &Limits::default(),
        )
        .expect("no pair twice");
        let data = &loaded.interactions;
        assert_eq!(data.user_names(), ["b", "a", "c"]);
        assert_eq!(data.item_names(), ["y", "x", "z"]);
        assert_eq!(data.rows().collect::<Vec<_>>(), [&[0][..], &[0, 1], &[]]);
        assert_eq!(
            loaded.counts,
            ReadCounts {
                lines: 5,
                ratings: 5,
                at_or_below_threshold: 2,
                users_without_interactions: 1,
                items_without_interactions: 1,
                ..ReadCounts::default()
            }
        );
    }

    #[test]
    fn the_first_repeated_pair_is_named_even_if_one_of_the_two_was_dropped() {
        let error = collect(
            &[
                ("a", "x", 1.0),
                ("b", "y", 1.0),
                ("a", "z", 1.0),
                ("b", "y", -1.0),
                ("a", "x", 1.0),
                ("b", "y", 1.0),
            ],
            &Limits::default(),
        )
        .expect_err("two pairs repeat");
        assert_eq!(
            error,
            (
                4,
                Problem::RepeatedPair {
                    user: "b".to_owned(),
                    item: "y".to_owned(),
                    first: 2
                }
            )
        );
    }

    #[test]
    fn a_threshold_may_be_applied_after_reading() {
        use crate::data::formats::SAMPLES;
        use crate::data::{read, read_values};

        for &(format, text, ..) in SAMPLES {
            let all = read_values(text.as_bytes(), "sample", format, Limits::default());
            let all = all.expect("good");
            for threshold in [-20.0, -1.0, 0.0, 1.0, 2.5, 1e300] {
                let at_once = read(
                    text.as_bytes(),
                    "sample",
                    format,
                    threshold,
                    Limits::default(),
                );
                assert_eq!(Ok(all.above(threshold)), at_once, "{format}, {threshold}");
            }
        }
    }

    #[test]
    fn ratings_are_limited() {
        let limits = Limits {
            ratings: 1,
            ..Limits::default()
        };
        let error = collect(&[("a", "x", 1.0), ("a", "y", 1.0)], &limits).expect_err("two");
        assert_eq!(
            error,
            (
                2,
                Problem::TooMany {
                    what: "ratings",
                    limit: 1
                }
            )
        );
    }
}
