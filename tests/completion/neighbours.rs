//! Neighbours as files: what one user more, less or another changes in what the peers hold and in what is kept aside.

use undertone::scenario::Experiment;
use undertone::vocabulary::Seed;

use super::config;

const USERS: u32 = 12;
const FOURTH: u32 = 3;

/// Twelve users, nine items; `fourth` are the ratings of the fourth. A first user rates every item once, so that the lists of users
/// and items, which are public, are the same in all files.
fn file(fourth: &[(u32, f64)]) -> String {
    let mut text = String::from("user,item,rating\n");
    for user in 0..USERS {
        let rated: Vec<(u32, f64)> = match user {
            FOURTH => fourth.to_vec(),
            0 => (0..9).map(|item| (item, 3.0)).collect(),
            _ => (0..9)
                .filter(|item| (user * 5 + item * item + user * item) % 3 != 0)
                .map(|item| (item, f64::from((user * 7 + item) % 10) / 2.0 + 0.5))
                .collect(),
        };
        for (item, rating) in rated {
            text.push_str(&format!("u{user},i{item},{rating}\n"));
        }
    }
    text
}

fn of_file(text: &str, set: &[&str]) -> Experiment {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("r.csv"), text).expect("writable");
    let common = [
        "data.path=r.csv",
        "data.format=csv-triples",
        "data.items=0",
        "data.degree_cap=4",
        "completion.test_share=0.3",
        "peers.count=6",
        "topology.degree=3",
        "algorithm.rank=2",
    ];
    let config = config("completion-small.toml", &[&common, set].concat());
    Experiment::resolve(config, folder.path()).unwrap_or_else(|error| panic!("{error}"))
}

/// What everybody but one user holds, and what is kept aside of theirs.
type World = Vec<(Vec<u32>, Vec<u64>, Vec<u32>, u64)>;

fn world(experiment: &Experiment) -> World {
    let (rows, test) = (
        experiment.user_rows(),
        experiment.rating_test().expect("kept aside"),
    );
    let one = |user: usize| {
        let (items, values) = rows.row(user);
        let bits = values.iter().map(|x| x.to_bits()).collect();
        let aside = test.ratings().row(user).0.to_vec();
        (items.to_vec(), bits, aside, test.centre(user).to_bits())
    };
    (0..rows.len()).map(one).collect()
}

/// Every way in which rows are centred and dealt: two files that differ in all ratings of one user give peers whose rows differ in that
/// place alone, and keep aside the same of everybody else; and the plan, which is public, is the same.
#[test]
fn files_that_differ_in_one_user_become_peers_that_differ_in_one_row() {
    let lists: [&[(u32, f64)]; 4] = [
        // One rating is the least that keeps a user on the list of users.
        &[(2, 3.0)],
        &[(0, 5.0), (1, 0.5), (4, 2.0), (5, 2.0), (7, 2.0), (8, 1.0)],
        &[(0, 1.0), (1, 1.0), (2, 1.0)],
        &[(3, 1e300), (6, -1e300)],
    ];
    for set in [
        &[][..],
        &["data.centre=none"],
        &["data.centre=2.5"],
        &["peers.partition=random"],
        &["completion.item_means=false", "algorithm.iterations=1"],
    ] {
        let first = of_file(&file(lists[0]), set);
        let before = world(&first);
        for other in &lists[1..] {
            let changed = of_file(&file(other), set);
            let after = world(&changed);
            let different: Vec<usize> = (0..before.len())
                .filter(|&user| before[user] != after[user])
                .collect();
            assert_eq!(different, [FOURTH as usize], "{other:?} {set:?}");
            let plan =
                |experiment: &Experiment| *experiment.session(&Seed::from_u64(1)).plan().digest();
            assert_eq!(plan(&first), plan(&changed), "{other:?} {set:?}");
            let (a, b) = (first.peer_rows(), changed.peer_rows());
            let moved = (0..a.len())
                .flat_map(|u| (0..a[u].len()).map(move |i| (u, i)))
                .filter(|&(u, i)| a[u].row(i) != b[u].row(i));
            assert_eq!(moved.count(), 1, "{other:?} {set:?}");
            // A cap of four, and nothing is shortened: that is for contributions.
            assert!((0..12).all(|user| changed.user_rows().row(user).0.len() <= 4));
        }
    }
}

/// Ratings that are all the same are ratings: the entries of the row are 0, and they are there.
#[test]
fn a_rating_that_is_the_users_mean_stays_an_entry() {
    let same = of_file(
        &file(&[(0, 4.0), (3, 4.0), (5, 4.0)]),
        &["completion.test_share=1e-12"],
    );
    let (items, values) = same.user_rows().row(FOURTH as usize);
    assert_eq!((items, values), (&[0, 3, 5][..], &[0.0; 3][..]));
    assert_eq!(
        same.rating_test().expect("some").centre(FOURTH as usize),
        4.0
    );
    // What is held and what is kept aside are the file's ratings, once each.
    let cut = of_file(
        &file(&[(0, 4.0), (3, 4.0), (5, 4.0)]),
        &["data.degree_cap=9"],
    );
    let test = cut.rating_test().expect("some");
    for user in 0..USERS as usize {
        let (held, aside) = (cut.user_rows().row(user).0, test.ratings().row(user).0);
        let mut all = [held, aside].concat();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
        if user == FOURTH as usize {
            assert_eq!(all, [0, 3, 5]);
        }
    }
    assert!(test.ratings().entries() > 5);
}
