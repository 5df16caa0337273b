//! Ranks the items of a user, and measures how many held-out ones are among the best (Recall, NDCG).

use rayon::prelude::*;
use serde::Serialize;

use super::{Scorer, TestSet};
use crate::data::Interactions;

/// Users scored at once. Fixed, so that results do not depend on the number of threads.
const TILE: usize = 32;

/// An item and its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// The item's index.
    pub item: u32,
    /// Its score.
    pub score: f64,
}

/// How good rankings are, averaged over the users who have held-out items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RankingQuality {
    /// Recall@k: held-out items among the k best over all held-out items of the user.
    pub recall: f64,
    /// NDCG@k: Σ over hits at rank i of 1/log₂(i+1), over the same sum if the first ranks were all hits.
    pub ndcg: f64,
}

/// [`RankingQuality`] with the number of users and the length of the lists it is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RankingTotals {
    /// k.
    pub top: usize,
    /// Users with at least one held-out item.
    pub users_evaluated: usize,
    /// The means over them; zeros if there are none.
    #[serde(flatten)]
    pub quality: RankingQuality,
}

/// The `top` items of highest score that `seen` (ascending) does not name, best first; of equal scores the
/// item of lower index comes first. Fewer if there are not that many.
///
/// # Cost
/// O(n + changes of the list · top).
#[must_use]
pub fn top_items(scores: &[f64], seen: &[u32], top: usize) -> Vec<Ranked> {
    let mut best: Vec<Ranked> = Vec::with_capacity(top.min(scores.len()) + 1);
    let mut seen = seen.iter().copied().peekable();
    for (item, &score) in (0_u32..).zip(scores) {
        if seen.next_if_eq(&item).is_some() {
            continue;
        }
        // Items come in ascending order: one that only equals the last of a full list has lost the tie.
        let full = best.len() >= top;
        if full && best.last().is_none_or(|last| last.score >= score) {
            continue;
        }
        let place = best.partition_point(|other| other.score >= score);
        best.insert(place, Ranked { item, score });
        best.truncate(top);
    }
    best
}

/// Ranks for every user with held-out items what is not in the user's training row, and compares the `top`
/// best with the held-out items.
///
/// A held-out item that the training data does not know cannot be recommended and still counts in the
/// denominators. The sum over users runs in their order, whatever the number of threads.
///
/// # Source
/// The measures of the LightGCN and BSPM code (defined in [`crate::guide::recommendation`]). Their masked items get a score of −1024; here
/// they are left out, which differs only for a user with fewer than `top` other items.
///
/// # Panics
/// If scorer, training data and test set are of different numbers of items or users.
#[must_use]
pub fn evaluate(
    scorer: &dyn Scorer,
    train: &Interactions,
    test: &TestSet,
    top: usize,
) -> RankingTotals {
    assert_eq!(scorer.items(), train.items(), "a score per item");
    assert_eq!(test.users(), train.users(), "a test row per user");
    let users: Vec<usize> = (0..train.users())
        .filter(|&user| test.size(user) > 0)
        .collect();
    let qualities: Vec<RankingQuality> = users
        .par_chunks(TILE)
        .flat_map_iter(|tile| {
            let rows: Vec<&[u32]> = tile.iter().map(|&user| train.row(user)).collect();
            let scores = scorer.scores(&rows);
            let quality = |position: usize| {
                let ranked = top_items(scores.column(position).as_slice(), rows[position], top);
                quality(
                    &ranked,
                    test.row(tile[position]),
                    test.size(tile[position]),
                    top,
                )
            };
            (0..tile.len()).map(quality).collect::<Vec<_>>()
        })
        .collect();
    let count = qualities.len().max(1) as f64;
    RankingTotals {
        top,
        users_evaluated: qualities.len(),
        quality: RankingQuality {
            recall: qualities.iter().map(|q| q.recall).sum::<f64>() / count,
            ndcg: qualities.iter().map(|q| q.ndcg).sum::<f64>() / count,
        },
    }
}

/// One user's figures: `wanted` are the held-out items that can be recommended, `size` counts all.
fn quality(ranked: &[Ranked], wanted: &[u32], size: usize, top: usize) -> RankingQuality {
    // Rank i, from 1, gains 1/log2(i + 1).
    let gain = |rank: usize| libm::log2((rank + 1) as f64).recip();
    let hits = (1..)
        .zip(ranked)
        .filter(|(_, ranked)| wanted.binary_search(&ranked.item).is_ok())
        .map(|(rank, _)| rank);
    let (mut found, mut gained) = (0_usize, 0.0);
    for rank in hits {
        found += 1;
        gained += gain(rank);
    }
    let best: f64 = (1..=top.min(size)).map(gain).sum();
    RankingQuality {
        recall: found as f64 / size as f64,
        ndcg: if best > 0.0 { gained / best } else { 0.0 },
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;
    use crate::recommender::Popularity;

    fn items(ranked: &[Ranked]) -> Vec<u32> {
        ranked.iter().map(|r| r.item).collect()
    }

    #[test]
    fn the_best_come_first_ties_by_index_and_the_seen_are_left_out() {
        let scores = [1.0, 3.0, 2.0, 3.0, 0.0, -0.0, 3.0];
        assert_eq!(items(&top_items(&scores, &[], 3)), [1, 3, 6]);
        assert_eq!(items(&top_items(&scores, &[], 2)), [1, 3]);
        assert_eq!(items(&top_items(&scores, &[1, 6], 4)), [3, 2, 0, 4]);
        assert_eq!(items(&top_items(&scores, &[], 9)), [1, 3, 6, 2, 0, 4, 5]);
        assert!(top_items(&scores, &[0, 1, 2, 3, 4, 5, 6], 3).is_empty());
        assert!(top_items(&scores, &[], 0).is_empty());
        let mut all: Vec<u32> = (0..200).collect();
        let many: Vec<f64> = all.iter().map(|i| f64::from(i * 37 % 11)).collect();
        all.sort_by(|&a, &b| {
            many[b as usize]
                .total_cmp(&many[a as usize])
                .then(a.cmp(&b))
        });
        assert_eq!(
            items(&top_items(&many, &[], 200)),
            all,
            "a full sort agrees"
        );
        assert_eq!(items(&top_items(&many, &[], 17)), all[..17]);
    }

    /// Hits at ranks 1 and 3 of three held-out items, one of which no training row knows: recall 2/3,
    /// DCG = 1 + 1/2, ideal DCG = 1 + 1/log₂3 + 1/2.
    #[test]
    fn recall_and_ndcg_by_hand() {
        let ranked: Vec<Ranked> = [5, 2, 7, 1]
            .map(|item| Ranked { item, score: 0.0 })
            .to_vec();
        let q = quality(&ranked, &[5, 7], 3, 4);
        assert!((q.recall - 2.0 / 3.0).abs() < 1e-15);
        let ideal = 1.5 + 1.0 / 3.0_f64.log2();
        assert!((q.ndcg - 1.5 / ideal).abs() < 1e-15, "{}", q.ndcg);
        // More held out than the list is long: the ideal list is full of hits and no longer.
        let q = quality(&ranked[..2], &[2, 5], 10, 2);
        assert!((q.recall - 0.2).abs() < 1e-15 && (q.ndcg - 1.0).abs() < 1e-15);
    }

    #[test]
    fn training_items_are_masked_and_users_without_held_out_items_left_out() {
        // Degrees 3, 2, 1, 0: popularity recommends the first unseen.
        let train =
            Interactions::from_rows(4, &[vec![0, 1, 2], vec![0, 1], vec![0]]).expect("rows");
        let test = TestSet::from_rows(&[(vec![3], 0), (vec![], 0), (vec![1], 1)]);
        let scorer = Popularity::new(&train.item_degrees());
        let totals = evaluate(&scorer, &train, &test, 1);
        assert_eq!((totals.top, totals.users_evaluated), (1, 2));
        // User 0: 3 is all that is left; user 2: 1 is next, one of two held out.
        assert!((totals.quality.recall - 0.75).abs() < 1e-15, "{totals:?}");
        assert!((totals.quality.ndcg - 1.0).abs() < 1e-15, "{totals:?}");
        let nobody = TestSet::from_rows(&[(vec![], 0), (vec![], 0), (vec![], 0)]);
        assert_eq!(evaluate(&scorer, &train, &nobody, 1).users_evaluated, 0);
    }

    /// Scores that differ from user to user.
    struct Mixed(usize);

    impl Scorer for Mixed {
        fn items(&self) -> usize {
            self.0
        }

        fn scores(&self, rows: &[&[u32]]) -> DMatrix<f64> {
            DMatrix::from_fn(self.0, rows.len(), |item, user| {
                ((item * 31 + rows[user].len() * 17) % 23) as f64 / 7.0
            })
        }
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let rows: Vec<Vec<u32>> = (0..300)
            .map(|u| (0..50).filter(|i| (u * 3 + i * i) % 9 < 2).collect())
            .collect();
        let train = Interactions::from_rows(50, &rows).expect("rows");
        let held: Vec<(Vec<u32>, usize)> = (0..300)
            .map(|u| {
                (
                    (0..50).filter(|i| (u * 5 + i * i) % 11 == 3).collect(),
                    u as usize % 3,
                )
            })
            .collect();
        let test = TestSet::from_rows(&held);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a pool");
            pool.install(|| evaluate(&Mixed(50), &train, &test, 5))
        };
        assert!(on(1).quality.recall > 0.0);
        assert_eq!(on(1), on(4));
    }
}
