//! Assigns users to peers.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::DatasetError;
use crate::linalg::SparseRows;
use crate::vocabulary::{Label, Seed};

/// How users are assigned to peers. Every rule gives every user to one peer; sizes differ by at most one, but for `Hashed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Partition {
    /// User u goes to peer u mod s.
    RoundRobin,
    /// Consecutive users go to the same peer; the first peers hold one more if it does not come out even.
    Contiguous,
    /// As contiguous, after a uniform shuffle from `Label::Partition`.
    Random,
    /// By a keyed hash of the user's own name. Peers may hold no user.
    Hashed,
}

impl Partition {
    /// Every rule.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &[
            Self::RoundRobin,
            Self::Contiguous,
            Self::Random,
            Self::Hashed,
        ]
    }
}

/// The users of each of `peers` peers, ascending.
///
/// # Errors
/// [`DatasetError::NoPeers`] for 0 peers, [`DatasetError::TooManyPeers`] if a peer would hold no user, [`DatasetError::HashedNames`] for
/// [`Partition::Hashed`], which needs names.
///
/// # Panics
/// If `users` exceeds 32 bits, which no [`Interactions`](super::Interactions) does.
pub fn assign(
    users: usize,
    peers: usize,
    partition: Partition,
    seed: &Seed,
) -> Result<Vec<Vec<u32>>, DatasetError> {
    if peers == 0 {
        return Err(DatasetError::NoPeers);
    }
    if peers > users {
        return Err(DatasetError::TooManyPeers { peers, users });
    }
    if partition == Partition::Hashed {
        return Err(DatasetError::HashedNames);
    }
    let count = u32::try_from(users).expect("user counts are limited to 32 bits");
    let mut order: Vec<u32> = (0..count).collect();
    if partition == Partition::RoundRobin {
        return Ok((0..peers)
            .map(|peer| order.iter().copied().skip(peer).step_by(peers).collect())
            .collect());
    }
    if partition == Partition::Random {
        let mut generator = seed.generator(Label::Partition);
        // Fisher–Yates, written out so that the order does not hang on another crate's shuffle.
        for last in (1..users).rev() {
            let other = generator.random_range(0..=last);
            order.swap(last, other);
        }
    }
    let (size, larger) = (users / peers, users % peers);
    let mut rest = &order[..];
    let mut assignment = Vec::with_capacity(peers);
    for peer in 0..peers {
        let (mine, others) = rest.split_at(size + usize::from(peer < larger));
        let mut mine = mine.to_vec();
        mine.sort_unstable();
        assignment.push(mine);
        rest = others;
    }
    Ok(assignment)
}

/// The users of each of `peers` peers under [`Partition::Hashed`]: user v goes to peer ⌊s·h(v)/2⁶⁴⌋, where s is the number of
/// peers and h(v) are 64 bits of `seed` under [`Label::Partition`] for the name of v. The users of a peer stand in the order of h.
///
/// # Neighbours stay neighbours
/// *Statement.* Let D and D′ be data that differ in the rows of one user v alone, who may be absent from one of them, and let the
/// users of each come in any order. Then under one seed every peer other than that of v holds the same rows in the same order, and
/// the rows of the peer of v differ in the row of v alone.
///
/// *Proof.* p(u) = ⌊s·h(u)/2⁶⁴⌋ is a function of the name of u, the seed and s. It does not depend on the other users, on the
/// rows or on the order. Peer q holds the rows of {u : p(u) = q}, sorted by (h(u), name of u), which has no ties since names are
/// distinct. For q ≠ p(v) set, rows and order are equal in D and D′. For q = p(v) they are equal but for v. ∎
///
/// So an adjacency about one user's rows, or a part of them, changes one peer's rows by that change, and a sum over all users as
/// without peers. The number of users at a peer depends on who takes part: whatever needs it must take it from a public list.
///
/// # Errors
/// [`DatasetError::NoPeers`] for 0 peers.
pub fn assign_by_name<'a>(
    names: impl Iterator<Item = &'a str>,
    peers: usize,
    seed: &Seed,
) -> Result<Vec<Vec<u32>>, DatasetError> {
    if peers == 0 {
        return Err(DatasetError::NoPeers);
    }
    let key = seed.named(Label::Partition, "user");
    let hashed = (0_u32..).zip(names);
    let mut hashed: Vec<(u64, &str, u32)> = hashed
        .map(|(user, name)| (key.bits(name), name, user))
        .collect();
    hashed.sort_unstable();
    let mut assignment = vec![Vec::new(); peers];
    for (bits, _, user) in hashed {
        let peer = (u128::from(bits) * peers as u128) >> 64;
        assignment[peer as usize].push(user);
    }
    Ok(assignment)
}

/// The users of each of `peers` peers where user u is at peer `of[u]`; those of one peer in the order of their names. Peers may hold no user.
///
/// # Neighbours stay neighbours
/// Peer q holds the rows of {u : of(u) = q} in the order of their distinct names. Let two data sets differ in the rows of one user v alone, who is at the
/// same peer in both or absent from one. Then every peer but that of v holds the same rows in the same order, and that of v all others, whatever the order
/// in which the data name their users. ∎
///
/// # Panics
/// If `of` has another length than `names`, or names a peer beyond the last.
pub fn assign_to<'a>(
    names: impl Iterator<Item = &'a str>,
    of: &[u32],
    peers: usize,
) -> Vec<Vec<u32>> {
    let mut named: Vec<(&str, u32)> = names.zip(0..).collect();
    assert_eq!(named.len(), of.len(), "one peer for every user");
    named.sort_unstable();
    let mut assignment = vec![Vec::new(); peers];
    for (_, user) in named {
        assignment[of[user as usize] as usize].push(user);
    }
    assignment
}

/// The users of each of `peers` peers where they are so many: the first ones are peer 0's, the next ones peer 1's.
///
/// # Errors
/// [`DatasetError::NoPeers`] for 0 peers, [`DatasetError::Sizes`] unless there is one size per peer, none of them 0, and they sum to `users`.
pub fn assign_sizes(
    users: usize,
    peers: usize,
    sizes: &[u32],
) -> Result<Vec<Vec<u32>>, DatasetError> {
    if peers == 0 {
        return Err(DatasetError::NoPeers);
    }
    let sum: u64 = sizes.iter().copied().map(u64::from).sum();
    if sizes.len() != peers || sizes.contains(&0) || sum != users as u64 {
        return Err(DatasetError::Sizes {
            found: sizes.len(),
            sum,
            peers,
            users,
        });
    }
    let mut next = 0_u32;
    let held = sizes.iter().map(|size| {
        let own = next..next + size;
        next = own.end;
        own.collect()
    });
    Ok(held.collect())
}

/// The rows of each peer, in the order of its users, with all columns.
///
/// # Panics
/// If `assignment` names a row that `rows` does not have.
#[must_use]
pub fn peer_rows(rows: &SparseRows, assignment: &[Vec<u32>]) -> Vec<SparseRows> {
    let held = |users: &Vec<u32>| {
        let mut own = SparseRows::new(rows.dimension());
        for &user in users {
            own.append_row(rows, user as usize);
        }
        own
    };
    assignment.iter().map(held).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_deals_every_user_once_and_evenly() {
        let seed = Seed::from_u64(1);
        let even = |rule: &&Partition| **rule != Partition::Hashed;
        for &partition in Partition::all().iter().filter(even) {
            for (users, peers) in [(1, 1), (7, 7), (7, 3), (100, 9), (610, 64)] {
                let assignment = assign(users, peers, partition, &seed).expect("enough users");
                assert_eq!(assignment.len(), peers);
                let sizes: Vec<usize> = assignment.iter().map(Vec::len).collect();
                assert_eq!(*sizes.iter().min().expect("peers"), users / peers);
                assert_eq!(*sizes.iter().max().expect("peers"), users.div_ceil(peers));
                assert!(assignment.iter().all(|own| own.is_sorted()));
                let mut all = assignment.concat();
                all.sort_unstable();
                assert_eq!(all, (0..users as u32).collect::<Vec<_>>(), "{partition:?}");
            }
        }
    }

    #[test]
    fn the_rules_are_what_their_names_say() {
        let deal =
            |partition, seed| assign(5, 2, partition, &Seed::from_u64(seed)).expect("enough users");
        assert_eq!(deal(Partition::RoundRobin, 1), [vec![0, 2, 4], vec![1, 3]]);
        assert_eq!(deal(Partition::Contiguous, 1), [vec![0, 1, 2], vec![3, 4]]);
        assert_eq!(deal(Partition::Random, 1), deal(Partition::Random, 1));
        let distinct: std::collections::BTreeSet<_> =
            (0..20).map(|seed| deal(Partition::Random, seed)).collect();
        assert!(distinct.len() > 1);
    }

    #[test]
    fn the_random_rule_is_uniform() {
        // User 0 of 6 lands at peer 0 of 3 with probability 1/3. Over 3,000 seeds the count has standard
        // deviation 25.8; 5 deviations fail by chance with probability below 6e-7. Likewise with user 1
        // beside it, of probability 1/15 and deviation 13.7.
        let (mut alone, mut together) = (0.0_f64, 0.0_f64);
        for number in 0..3000 {
            let dealt =
                assign(6, 3, Partition::Random, &Seed::from_u64(number)).expect("enough users");
            alone += f64::from(u8::from(dealt[0].contains(&0)));
            together += f64::from(u8::from(dealt[0] == [0, 1]));
        }
        assert!((alone - 1000.0).abs() < 5.0 * 25.8, "{alone}");
        assert!((together - 200.0).abs() < 5.0 * 13.7, "{together}");
    }

    #[test]
    fn a_hashed_user_depends_on_nobody_else() {
        let seed = Seed::from_u64(4);
        let names: Vec<String> = (0..300).map(|user| format!("u{user}")).collect();
        let held = |names: &[&str], seed: &Seed| -> Vec<Vec<String>> {
            let dealt = assign_by_name(names.iter().copied(), 9, seed).expect("peers");
            let of = |own: Vec<u32>| own.iter().map(|&u| names[u as usize].to_owned()).collect();
            dealt.into_iter().map(of).collect()
        };
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let before = held(&all, &seed);
        assert_eq!(before.iter().map(Vec::len).sum::<usize>(), 300);
        // 300 users at 9 peers: a binomial of mean 33.3 and deviation 5.4; 5.5 deviations for 9 peers fail with probability below 4e-7.
        for own in &before {
            assert!((own.len() as f64 - 33.3).abs() < 5.5 * 5.4, "{}", own.len());
        }
        let reversed: Vec<&str> = all.iter().rev().copied().collect();
        assert_eq!(held(&reversed, &seed), before);
        for gone in [0, 17, 299] {
            let mut less = reversed.clone();
            less.retain(|&name| name != names[gone]);
            let mut expected = before.clone();
            for own in &mut expected {
                own.retain(|name| *name != names[gone]);
            }
            assert_eq!(held(&less, &seed), expected);
        }
        assert_ne!(held(&all, &Seed::from_u64(5)), before);
        // Peers without users are peers.
        let few = assign_by_name(["a"].into_iter(), 4, &seed).expect("four peers");
        assert_eq!((few.len(), few.concat()), (4, vec![0]));
        assert_eq!(
            assign_by_name(["a"].into_iter(), 0, &seed),
            Err(DatasetError::NoPeers)
        );
        assert_eq!(
            assign(3, 2, Partition::Hashed, &seed),
            Err(DatasetError::HashedNames)
        );
    }

    #[test]
    fn peers_without_users_are_refused() {
        let seed = Seed::from_u64(1);
        let error = assign(3, 4, Partition::RoundRobin, &seed).expect_err("too many");
        assert_eq!(
            error.to_string(),
            "4 peers for 3 users: every peer must hold at least one user; \
             ask for at most 3 peers or keep more users"
        );
        assert_eq!(
            assign(3, 0, Partition::Random, &seed),
            Err(DatasetError::NoPeers)
        );
    }

    #[test]
    fn sizes_deal_every_user_once_or_are_refused() {
        let dealt = assign_sizes(6, 3, &[1, 3, 2]).expect("six users");
        assert_eq!(dealt, [vec![0], vec![1, 2, 3], vec![4, 5]]);
        // 2³² users more than there are would come out even in 32 bits.
        let wraps: &[u32] = &[u32::MAX, 1, 6];
        for sizes in [&[3, 3][..], &[6, 0, 0], &[2, 2, 3], &[1; 4], &[], wraps] {
            let error = assign_sizes(6, 3, sizes).expect_err("not six users at three peers");
            assert!(error.to_string().contains("6 together"), "{error}");
        }
        assert_eq!(assign_sizes(0, 0, &[]), Err(DatasetError::NoPeers));
    }

    #[test]
    fn peers_hold_the_rows_of_their_users() {
        let mut rows = SparseRows::new(3);
        rows.push_row([(0, 1.0), (2, 0.5)]).expect("valid");
        rows.push_row([]).expect("valid");
        rows.push_row([(1, 2.0)]).expect("valid");
        let held = peer_rows(&rows, &[vec![0, 2], vec![1]]);
        assert_eq!(held.len(), 2);
        assert_eq!((held[0].len(), held[1].len()), (2, 1));
        assert_eq!(held[0].row(0), rows.row(0));
        assert_eq!(held[0].row(1), rows.row(2));
        assert_eq!(held[1].row(0), rows.row(1));
        assert_eq!(held[1].dimension(), 3);
    }

    #[test]
    fn rules_have_the_names_of_the_experiment_file() {
        let names: Vec<String> = Partition::all()
            .iter()
            .map(|partition| serde_json::to_string(partition).expect("a name"))
            .collect();
        let expected = ["round-robin", "contiguous", "random", "hashed"];
        assert_eq!(names, expected.map(|name| format!("\"{name}\"")));
    }
}
