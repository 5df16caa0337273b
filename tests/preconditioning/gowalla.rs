//! The filter of P A P on Gowalla, against an independent computation in NumPy and SciPy.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::num::NonZeroU32;

use flate2::read::GzDecoder;
use undertone::data::{self, Format, Interactions, Limits};
use undertone::linalg::{ItemWeights, top_eigenvectors};
use undertone::recommender::{LowPassScorer, RankingTotals, evaluate, match_test};

use crate::support::{repository, skipped};

/// A LightGCN file, its users below `users` and, where a least number is given, [`distinct`] items; `None` where it is not there.
fn part(file: &str, users: u32, least: Option<usize>) -> Option<Interactions> {
    let packed = std::fs::read(repository("../shared/data/ratings").join(file)).ok()?;
    let mut text = String::new();
    GzDecoder::new(&packed[..])
        .read_to_string(&mut text)
        .expect("gzip");
    let keep = |line: &&str| {
        let user = line.split(' ').next().unwrap_or_default();
        user.parse::<u32>().is_ok_and(|user| user < users)
    };
    let mut text = text.lines().filter(keep).collect::<Vec<_>>().join("\n");
    if let Some(least) = least {
        text = distinct(&text, least);
    }
    let limits = Limits::default();
    let loaded = data::read(text.as_bytes(), file, Format::Lightgcn, 0.0, limits);
    Some(loaded.expect("good").interactions)
}

/// The lines with those items alone that at least so many users took and that are the first, by number, of those taken by the same users: items of equal
/// columns would have equal scores, and rounding would rank them. Users whom that leaves without items are left out.
fn distinct(text: &str, least: usize) -> String {
    let mut takers = BTreeMap::<u32, Vec<&str>>::new();
    for line in text.lines() {
        let user = line.split(' ').next().unwrap_or_default();
        for item in line.split(' ').skip(1).filter_map(|item| item.parse().ok()) {
            takers.entry(item).or_default().push(user);
        }
    }
    let mut seen = BTreeSet::new();
    takers.retain(|_, users| seen.insert(users.clone()) && users.len() >= least);
    let kept = |line: &str| {
        let mut fields = line.split(' ');
        let user = fields.next().unwrap_or_default().to_owned();
        let items = fields.filter(|item| {
            item.parse()
                .is_ok_and(|item: u32| takers.contains_key(&item))
        });
        std::iter::once(user.as_str())
            .chain(items)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let lines = text.lines().map(kept).filter(|line| line.contains(' '));
    lines.collect::<Vec<_>>().join("\n")
}

/// Recall@20 and NDCG@20 of the exact eigenvectors of P A P, users' rows divided by the root of their length; and of the same eigenvectors scored
/// without P.
fn quality(
    (users, least): (u32, Option<usize>),
    rank: usize,
    (exponent, shrinkage): (f64, f64),
) -> Option<[RankingTotals; 2]> {
    let train = part("gowalla.train.txt.gz", users, least)?;
    let test = part("gowalla.test.txt.gz", users, None)?;
    let (test, _) = match_test(&train, &test);
    let weights = ItemWeights::of_degrees(&train.item_degrees(), exponent, shrinkage);
    let weights = weights.expect("in range");
    let rows = weights.scale_columns(&train.normalised_rows(NonZeroU32::MIN));
    let top = top_eigenvectors(&rows, rank).expect("converges");
    let flat = ItemWeights::new(vec![1.0; train.items()]).expect("positive");
    Some([weights, flat].map(|weights| {
        let scorer = LowPassScorer::weighted(&top.vectors, &weights).expect("fits");
        evaluate(&scorer, &train, &test, 20)
    }))
}

const MISSING: &str = "Gowalla is not in ../shared/data/ratings";

/// Gowalla's first 1,000 users and the 7,731 distinct items that three of them took, rank 16, by `numpy.linalg.eigh` of the dense users × users Gram
/// matrix, mapped to items: exponent, shrinkage, Recall@20, NDCG@20.
const FIRST: [((f64, f64), f64, f64); 2] = [
    (
        (0.5, 0.0),
        0.072_895_335_001_229_62,
        0.095_008_383_502_309_52,
    ),
    (
        (0.25, 0.2),
        0.077_120_853_101_918_63,
        0.098_771_727_465_799_63,
    ),
];

#[test]
fn scores_agree_with_numpy_on_the_first_users() {
    for (numbers, recall, ndcg) in FIRST {
        let Some([found, flat]) = quality((1000, Some(3)), 16, numbers) else {
            skipped(MISSING);
            return;
        };
        assert_eq!(found.users_evaluated, 989);
        assert!((found.quality.recall - recall).abs() < 1e-6, "{found:?}");
        assert!((found.quality.ndcg - ndcg).abs() < 1e-6, "{found:?}");
        // The comparison can fail: scores without P are others.
        assert!((flat.quality.recall - recall).abs() > 1e-4, "{flat:?}");
    }
}

/// All 29,858 users and 40,981 items by `scipy.sparse.linalg.svds` at tolerance 1e-9, rank 64, no shrinkage: exponent, Recall@20, NDCG@20.
const WHOLE: [(f64, f64, f64); 3] = [
    (0.5, 0.131_195_055_405_786_6, 0.116_783_827_212_246_3),
    (0.25, 0.134_635_481_471_161_8, 0.118_204_707_695_720_9),
    (0.0, 0.092_415_922_979_190_09, 0.076_710_362_912_350_03),
];

#[test]
#[ignore = "minutes: cargo test --release --test main -- --ignored the_whole_of_gowalla_agrees_with_numpy"]
fn the_whole_of_gowalla_agrees_with_numpy() {
    for (exponent, recall, ndcg) in WHOLE {
        let Some([found, flat]) = quality((u32::MAX, None), 64, (exponent, 0.0)) else {
            skipped(MISSING);
            return;
        };
        eprintln!("exponent {exponent}: {found:?}");
        assert_eq!(found.users_evaluated, 29_858);
        assert_eq!(flat == found, exponent == 0.0);
        assert!(
            (found.quality.recall - recall).abs() < 5e-5,
            "{exponent}: {found:?}"
        );
        assert!(
            (found.quality.ndcg - ndcg).abs() < 5e-5,
            "{exponent}: {found:?}"
        );
    }
    // GF-CF's own normalisation.
    assert!(WHOLE[0].1 >= 0.130);
}
