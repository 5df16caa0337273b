//! Large entries of a matrix whose rows and columns are the peers: beside them a change by 1 must not be lost in rounding.

use std::path::Path;

use undertone::algorithm::LARGEST_ENTRY;
use undertone::engine::{Silent, lockstep};
use undertone::scenario::Experiment;
use undertone::vocabulary::Seed;

const EXPERIMENT: &str = r#"
name = "absorbed"
seed = 3
data = { path = "m.csv", format = "matrix-csv" }
peers = { count = "vertices" }
topology = { generator = "complete" }
algorithm = { kind = "power", rank = 1, iterations = 2 }
privacy = { epsilon = 2.0, delta = 1e-6, adjacency = "entry-bipartite" }
averaging = { scheme = "tree" }
"#;

/// The experiment on a 3 × 3 matrix with these first two entries.
fn of_entries(folder: &Path, [large, other]: [f64; 2], set: &[&str]) -> Experiment {
    let matrix = format!("{large:?},{other:?},0\n0,1,0\n0,0,1\n");
    std::fs::write(folder.join("m.csv"), matrix).expect("writable");
    let file = folder.join("absorbed.toml");
    std::fs::write(&file, EXPERIMENT).expect("writable");
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    Experiment::load(&file, &set).unwrap_or_else(|error| panic!("{error}"))
}

/// What row 0 contributes to the first release, and what one record is said to move it by.
fn contributed(experiment: &Experiment) -> (f64, f64) {
    let session = experiment.session(&Seed::from_u64(3));
    let outcome = lockstep::run(&session, &mut Silent).expect("runs");
    let record = &outcome.records[0];
    (record.totals.local.values()[0], record.sensitivity)
}

/// Where an entry may be of any size, one of 10¹⁷ rounds the sum of its row to multiples of 16, and one step of another entry crosses the boundary
/// between two of them: the release moves by 16 where the stated sensitivity is below 1.
#[test]
fn one_record_moves_a_release_by_its_sensitivity_whatever_the_other_entries_are() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let start = {
        let experiment = of_entries(folder.path(), [1.0, 1.0], &[]);
        experiment.session(&Seed::from_u64(3)).start().clone()
    };
    let (first, second) = (start.row(3)[0], start.row(4)[0]);
    for large in [1e15, 1e16, 1e17, 1e18, 1e20, 1e25] {
        let rounded = |other: f64| large * first + other * second;
        let mut steps = (0.0, (4.0 * large * f64::EPSILON / second.abs()).ceil());
        while steps.1 - steps.0 > 1.0 {
            let middle = (0.5 * (steps.0 + steps.1)).floor();
            match rounded(middle) == rounded(0.0) {
                true => steps.0 = middle,
                false => steps.1 = middle,
            }
            // Whole numbers end at 2⁵³.
            if steps.0 + 1.0 == steps.0 {
                break;
            }
        }
        let at = |other: f64| contributed(&of_entries(folder.path(), [large, other], &[]));
        let ((before, sensitivity), (after, _)) = (at(steps.0), at(steps.0 + 1.0));
        let moved = (after - before).abs();
        assert!(
            moved <= sensitivity * (1.0 + 1.0 / 30.0),
            "{large:e}: {moved} where {sensitivity} is stated"
        );
    }
}

#[test]
fn what_entries_count_as_is_said_or_follows_from_their_public_range() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let warned = |experiment: &Experiment| {
        let mut all = experiment.warnings().iter();
        all.any(|one| one.to_string().contains("data.ranges is absent"))
    };
    let open = of_entries(folder.path(), [1e17, 2.0], &[]);
    assert!(warned(&open));
    // The row as if the entry were as large as it counts.
    let (clamped, _) = contributed(&open);
    let (largest, _) = contributed(&of_entries(folder.path(), [LARGEST_ENTRY, 2.0], &[]));
    assert_eq!(clamped, largest);
    let ranged = of_entries(folder.path(), [1e17, 2.0], &["data.ranges=[0, 4]"]);
    assert!(!warned(&ranged));
    let (mapped, _) = contributed(&ranged);
    assert!(mapped.abs() <= 2.0, "entries of 1 and 0.5: {mapped}");
}
