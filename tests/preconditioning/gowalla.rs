//! The filter of P A P on Gowalla, against an independent computation in NumPy and SciPy.

use std::io::Read;
use std::num::NonZeroU32;

use flate2::read::GzDecoder;
use undertone::data::{self, Format, Interactions, Limits};
use undertone::linalg::{ItemWeights, top_eigenvectors};
use undertone::recommender::{LowPassScorer, RankingTotals, evaluate, match_test};

use crate::support::{repository, skipped};

/// A LightGCN file, its users below `users`; `None` where it is not there.
fn part(file: &str, users: u32) -> Option<Interactions> {
    let packed = std::fs::read(repository("../shared/data/ratings").join(file)).ok()?;
    let mut text = String::new();
    GzDecoder::new(&packed[..])
        .read_to_string(&mut text)
        .expect("gzip");
    let keep = |line: &&str| {
        let user = line.split(' ').next().unwrap_or_default();
        user.parse::<u32>().is_ok_and(|user| user < users)
    };
    let text = text.lines().filter(keep).collect::<Vec<_>>().join("\n");
    let limits = Limits::default();
    let loaded = data::read(text.as_bytes(), file, Format::Lightgcn, 0.0, limits);
    Some(loaded.expect("good").interactions)
}

/// Recall@20 and NDCG@20 of the exact eigenvectors of P A P, users' rows divided by the root of their length; and of the same eigenvectors scored
/// without P.
fn quality(
    users: u32,
    rank: usize,
    (exponent, shrinkage): (f64, f64),
) -> Option<[RankingTotals; 2]> {
    let train = part("gowalla.train.txt.gz", users)?;
    let test = part("gowalla.test.txt.gz", users)?;
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

/// Where many items were taken by one user alone, as here, exponents near ½ make ties that rounding breaks; these do not.
///
/// By `numpy.linalg.eigh` of the dense users × users Gram matrix, mapped to items, on Gowalla's first users: users, rank, exponent,
/// shrinkage, Recall@20, NDCG@20.
const PARTS: [(u32, usize, (f64, f64), f64, f64); 2] = [
    (
        1000,
        16,
        (0.25, 0.2),
        0.076_518_747_089_692_53,
        0.097_797_262_025_846_72,
    ),
    (
        2000,
        32,
        (0.25, 0.2),
        0.093_059_405_949_635_52,
        0.106_590_340_454_009_4,
    ),
];

#[test]
fn scores_agree_with_numpy_on_the_first_users() {
    for (users, rank, numbers, recall, ndcg) in PARTS {
        let Some([found, flat]) = quality(users, rank, numbers) else {
            skipped(MISSING);
            return;
        };
        assert_eq!(found.users_evaluated, users as usize);
        assert!((found.quality.recall - recall).abs() < 1e-6, "{found:?}");
        assert!((found.quality.ndcg - ndcg).abs() < 1e-6, "{found:?}");
        // The comparison can fail: scores without P are others.
        assert!((flat.quality.recall - recall).abs() > 1e-4, "{flat:?}");
    }
}

/// All 29,858 users and 40,981 items by `scipy.sparse.linalg.svds` at tolerance 1e-9, rank 64, no shrinkage: exponent, Recall@20, NDCG@20.
const WHOLE: [(f64, f64, f64); 3] = [(0.5, 0.0, 0.0), (0.25, 0.0, 0.0), (0.0, 0.0, 0.0)];

#[test]
#[ignore = "minutes: cargo test --release --test main -- --ignored the_whole_of_gowalla_agrees_with_numpy"]
fn the_whole_of_gowalla_agrees_with_numpy() {
    for (exponent, recall, ndcg) in WHOLE {
        let Some([found, flat]) = quality(u32::MAX, 64, (exponent, 0.0)) else {
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
