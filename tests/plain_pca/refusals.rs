//! Keys that do not go together are refused, each with what to change.

use undertone::scenario::Experiment;

use super::{config, sims};
use crate::support::told;

fn refused(name: &str, set: &[&str]) -> String {
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    told(&Experiment::load(&sims().join(name), &set).expect_err("refused"))
}

#[test]
fn keys_of_numbers_that_do_not_fit_are_named() {
    let digits: &[(&[&str], &str)] = &[
        (&["data.centre=private"], "raw_clip belongs to centre"),
        (&["data.raw_clip=2"], "raw_clip belongs to centre"),
        (&["data.centre=public"], "means belongs to centre"),
        (&["data.centre=user"], "is for ratings"),
        (&["data.centre=2.5"], "is for ratings"),
        (&["data.mean_share=0.1"], "mean_share belongs to centre"),
        (
            &[
                "data.centre=private",
                "data.raw_clip=2",
                "data.mean_share=1.5",
            ],
            "strictly between 0 and 1",
        ),
        (&["data.row_clip=0"], "data.row_clip is 0"),
        (&["data.row_clip=nan"], "data.row_clip is NaN"),
        (
            &["data.row_limit=10"],
            "row 1 is longer than data.row_limit = 10",
        ),
        (&["data.ranges=[16, 0]"], "data.ranges of column 1"),
        (
            &["data.ranges=[[0, 1], [0, 2]]"],
            "lists 2 ranges for 64 columns",
        ),
        (
            &["data.centre=public", "data.means=[1, 2]"],
            "lists 2 numbers for 64 columns",
        ),
        (&["data.drop=[66]"], "names column 66, there are 65"),
        (&["data.items=10"], "items is about rating files"),
        (
            &["data.degree_floor=3"],
            "degree_floor is about interactions",
        ),
        (&["data.threshold=1"], "threshold is about interactions"),
        (&["evaluation.holdout=0.2"], "nothing is held out"),
        (&["algorithm.start=popularity"], "have no degrees"),
        (
            &["privacy.adjacency=interaction"],
            "one record is a whole row",
        ),
        (&["privacy.sensitivity=exact"], "sensitivity = \"unit-row\""),
        (
            &[
                "data.centre=private",
                "data.raw_clip=2",
                "privacy.adjacency=matrix",
                "privacy.sensitivity=exact",
            ],
            "know no private mean",
        ),
        (
            &["data.header=true", "data.format=npy"],
            "header is a key of format",
        ),
        (&["data.format=npy"], "no NumPy array file"),
        (&["data.format=generated"], "generate belongs to format"),
        (
            &[
                "data.centre=private",
                "data.raw_clip=2",
                "engine.kind=analytic",
                "algorithm.kind=power",
            ],
            "the sum of rows without negative entries",
        ),
        (&["algorithm.iterations=2"], "set algorithm.iterations = 1"),
        (
            &[
                "data.centre=private",
                "data.raw_clip=2",
                "algorithm.kind=deflation",
            ],
            "[data] centre = \"private\" is for algorithm.kind = \"power\"",
        ),
        (
            &[
                "data.centre=private",
                "data.raw_clip=2",
                "algorithm.kind=ppi",
                "algorithm.rank=1",
            ],
            "[data] centre = \"private\" is for algorithm.kind = \"power\"",
        ),
        (
            &[
                "data.centre=private",
                "data.raw_clip=2",
                "algorithm.kind=streaming",
            ],
            "[data] centre = \"private\" is for algorithm.kind = \"power\"",
        ),
        (
            &["algorithm.kind=power", "algorithm.output=low-rank"],
            "leave algorithm.output and evaluation.diagnostics out",
        ),
        (
            &["evaluation.diagnostics=true"],
            "leave algorithm.output and evaluation.diagnostics out",
        ),
    ];
    for (set, words) in digits {
        let message = refused("pca-digits.toml", set);
        assert!(message.contains(words), "{set:?}: {message}");
    }
    for (set, words) in [
        (
            "data.row_clip=2",
            "this file is read as who interacted with what",
        ),
        ("data.drop=[1]", "drop is a key of formats"),
        ("data.path=", "path is the file to read"),
    ] {
        let message = refused("quickstart.toml", &[set]);
        assert!(message.contains(words), "{set}: {message}");
    }
}

/// Ratings that are kept as numbers: mapped, centred by each user's own mean, shortened; and the numbers are those of the file.
#[test]
fn ratings_are_kept_as_numbers_where_they_are_asked_for() {
    let set = [
        "data.values=ratings",
        "data.degree_floor=1",
        "data.items=50",
        "data.row_clip=4",
        "privacy.adjacency=user",
        "privacy.sensitivity=unit-row",
        "privacy.epsilon=5",
    ];
    let of = |more: &[&str]| {
        let config = config("quickstart.toml", &[&set[..], more].concat());
        Experiment::resolve(config, &sims()).unwrap_or_else(|error| panic!("{error}"))
    };
    let plain = of(&[]);
    let samples = plain.samples().expect("numbers");
    assert_eq!((samples.len(), samples.dimension()), (610, 50));
    let all = |rows: &undertone::linalg::SparseRows| -> Vec<f64> {
        (0..rows.len())
            .flat_map(|i| rows.row(i).1.to_vec())
            .collect()
    };
    assert_eq!(samples.entries(), plain.interactions().len());
    assert!(
        all(samples)
            .iter()
            .all(|x| (0.5..=5.0).contains(x) && (2.0 * x).fract() == 0.0)
    );
    let scaled = of(&["data.ranges=[0, 5]", "data.scale=[-1, 1]"]);
    for (a, b) in all(samples)
        .iter()
        .zip(all(scaled.samples().expect("numbers")))
    {
        assert!((a / 2.5 - 1.0 - b).abs() < 1e-14);
    }
    let centred = of(&["data.centre=user"]);
    let rows = centred.samples().expect("numbers");
    for i in 0..rows.len() {
        let sum: f64 = rows.row(i).1.iter().sum();
        assert!(sum.abs() < 1e-10, "user {i}: {sum}");
    }
    let constant = of(&["data.centre=3.5"]);
    for (a, b) in all(samples)
        .iter()
        .zip(all(constant.samples().expect("numbers")))
    {
        assert!((a - 3.5 - b).abs() < 1e-15);
    }
    // What peers hold: the user's items and clip(x, R)/R.
    for (i, held) in (0..610).map(|i| (i, centred.user_rows().row(i))) {
        let (items, values) = rows.row(i);
        let norm = values.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert_eq!(held.0, items);
        for (held, x) in held.1.iter().zip(values) {
            assert!((held - x / norm.max(4.0)).abs() < 1e-11);
        }
    }
    for (more, words) in [
        (
            &["data.centre=private", "data.raw_clip=1"][..],
            "a mean of every column",
        ),
        (&["data.scale=[0, 1]"], "give that too, as ranges"),
    ] {
        let message = refused("quickstart.toml", &[&set[..], more].concat());
        assert!(message.contains(words), "{message}");
    }
}
