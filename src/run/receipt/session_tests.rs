//! Receipts of sessions: what a person loses who is in the files of two or three participants.

use std::path::Path;
use std::sync::Arc;

use nalgebra::{DMatrix, DVector};
use serde_json::Value;

use super::Receipt;
use crate::engine::{PeerRows, Session, SessionParts, Silent, lockstep};
use crate::linalg::SparseRows;
use crate::privacy::{Adjacency, Delta, gaussian};
use crate::scenario::{Deployment, PlannedSession};
use crate::vocabulary::Seed;

/// Three members on a complete graph, one of them curious.
const PLAN: &str = r#"
name = "hospitals"
[data]
format = "csv-triples"
[topology]
generator = "complete"
[algorithm]
kind = "covariance"
rank = 1
iterations = 1
[averaging]
scheme = "tree"
[privacy]
epsilon = 2.0
delta = 1e-5
colluders = 1
"#;

/// What so many participants plan with these further lines of the table `privacy`.
fn session(privacy: &str, participants: usize) -> PlannedSession {
    let unit = match privacy.contains("adjacency") {
        true => "",
        false => "adjacency = \"interaction\"\n",
    };
    let plan = toml::from_str(&format!("{PLAN}{unit}{privacy}")).expect("TOML");
    let columns = (0..8).map(|item| format!("i{item}")).collect();
    let deployment = Deployment::new(&plan, columns, 30, Path::new(".")).expect("valid");
    let planned = deployment.plan(&vec![30; participants], &[3; 32], 0);
    planned.expect("can be planned")
}

/// The receipt of a run over no rows.
fn receipt(privacy: &str, participants: usize) -> Receipt {
    let planned = session(privacy, participants);
    let public = planned.public();
    let none = SparseRows::new(planned.plan().program().items);
    let simulated = Session::new(SessionParts {
        plan: Arc::clone(public.plan()),
        topology: Arc::clone(public.topology()),
        schedule: Arc::clone(public.schedule()),
        noise_topology: Arc::clone(public.noise_topology()),
        rows: Arc::new(PeerRows::new(vec![none; participants])),
        start: Arc::clone(public.start()),
        seed: Seed::from_u64(3),
        sigma_central: planned.plan().sigma_central(),
        setting: [0; 32],
    });
    let outcome = lockstep::run(&simulated.expect("valid"), &mut Silent).expect("runs");
    let records = outcome.records.iter();
    let releases = records.map(|one| (one.release, one.statistic, one.sensitivity));
    Receipt::of_session(&planned, releases)
}

/// What does not hold.
fn failures(receipt: &Receipt) -> Vec<String> {
    let findings = receipt.check().expect("can be checked");
    let failed = findings.into_iter().filter(|finding| !finding.agrees);
    failed.map(|finding| finding.what).collect()
}

/// The largest exact μ of a person who holds one item at each of `k` honest peers, over all such peers and all coalitions of one or of nobody: by
/// dense inverses, from what the receipt states. A row of one item moves the triangle by all of the sensitivity.
fn worst(receipt: &Receipt, k: u32) -> f64 {
    let peers = receipt.partners.nodes;
    let sigma = |name: &str| receipt.guarantee["noise"][name].as_f64().expect("a number");
    let (own, pairwise) = (sigma("sigma_own").powi(2), sigma("sigma_pairwise").powi(2));
    let mut worst = 0.0_f64;
    for coalition in 0..=peers {
        let honest: Vec<usize> = (0..peers).filter(|peer| *peer != coalition).collect();
        let place = |peer: u32| honest.iter().position(|one| *one == peer as usize);
        let mut covariance = DMatrix::from_diagonal_element(honest.len(), honest.len(), own);
        for &(u, v) in &receipt.partners.edges {
            if let (Some(u), Some(v)) = (place(u), place(v)) {
                covariance[(u, u)] += pairwise;
                covariance[(v, v)] += pairwise;
                covariance[(u, v)] -= pairwise;
                covariance[(v, u)] -= pairwise;
            }
        }
        let inverse = covariance.try_inverse().expect("positive definite");
        for holders in 0_u32..1 << honest.len() {
            if holders.count_ones() == k {
                let at = |peer: usize| f64::from(holders >> peer & 1);
                let row = DVector::from_fn(honest.len(), |peer, _| at(peer));
                worst = worst.max((&inverse * &row).dot(&row).sqrt());
            }
        }
    }
    worst
}

/// The groups that a receipt states: how many peers, μ and ε.
fn groups(receipt: &Receipt) -> Vec<(usize, f64, f64)> {
    let groups = receipt.guarantee["groups"].as_array().expect("a list");
    let number = |group: &Value, name: &str| group[name].as_f64().expect("a number");
    let group = |group| {
        let peers = number(group, "peers") as usize;
        (peers, number(group, "mu"), number(group, "epsilon"))
    };
    groups.iter().map(group).collect()
}

/// Multiplies a number of the guarantee.
fn scale(receipt: &mut Receipt, path: &str, factor: f64) {
    let stated = receipt.guarantee.pointer_mut(path).expect("stated");
    *stated = (stated.as_f64().expect("a number") * factor).into();
}

#[test]
fn a_person_at_two_of_three_participants_loses_no_more_than_the_receipt_states() {
    let delta = Delta::new(1e-5).expect("valid");
    let receipt = receipt("adjacency = \"user\"\n", 3);
    let one = gaussian::epsilon(worst(&receipt, 1), delta);
    assert!(one <= 2.0 * (1.0 + 1e-9), "{one}");
    let sizes: Vec<usize> = groups(&receipt).iter().map(|group| group.0).collect();
    assert_eq!(sizes, [2, 3]);
    for (peers, mu, epsilon) in groups(&receipt) {
        let exact = worst(&receipt, peers as u32);
        let lost = gaussian::epsilon(exact, delta);
        assert!(
            exact <= mu * (1.0 + 1e-9) && lost <= epsilon * (1.0 + 1e-9),
            "{lost} {peers} {mu} {epsilon}"
        );
        // More than twice what the words of one record suggest.
        assert!(lost > 4.3);
    }
    let promise = receipt.statement.as_deref().expect("stated");
    assert!(promise.contains(", at one participant."), "{promise}");
    let assumed = receipt.assumptions.join("; ");
    assert!(!assumed.contains("list of users"), "{assumed}");
    assert!(assumed.contains("in the file of one participant"));
    assert_eq!(failures(&receipt), Vec::<String>::new());
}

#[test]
fn what_a_receipt_says_of_persons_is_recomputed() {
    let honest = receipt("adjacency = \"user\"\n", 5);
    assert_eq!(failures(&honest), Vec::<String>::new());
    let text = serde_json::to_string(&honest).expect("writable");
    let read: Receipt = serde_json::from_str(&text).expect("readable");
    assert_eq!(failures(&read), Vec::<String>::new());
    let changes: [fn(&mut Receipt); 6] = [
        |receipt| scale(receipt, "/groups/0/mu", 0.9),
        |receipt| scale(receipt, "/groups/1/epsilon", 0.9),
        |receipt| {
            receipt.guarantee["groups"]
                .as_array_mut()
                .expect("a list")
                .truncate(1)
        },
        |receipt| receipt.assumed.own_files = false,
        |receipt| {
            receipt.statement = receipt
                .statement
                .take()
                .map(|words| words.replace(", at one participant", ""))
        },
        |receipt| {
            receipt
                .assumptions
                .retain(|words| !words.contains("participant"))
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut changed = honest.clone();
        change(&mut changed);
        assert!(!failures(&changed).is_empty(), "change {number}");
    }
}

/// Groups of persons where a record is one of rows; of peers' matrices where it is one of those.
#[test]
fn sessions_of_every_adjacency_state_their_groups() {
    for adjacency in Adjacency::ALL {
        let name = adjacency.to_string();
        let krylov = format!("adjacency = \"{name}\"\n");
        if !(adjacency.is_of_rows() || adjacency.is_of_matrix()) || adjacency == Adjacency::Rating {
            continue;
        }
        let plan = PLAN.replace("\"covariance\"", "\"power\"");
        let plan = toml::from_str(&format!("{plan}{krylov}")).expect("TOML");
        let columns = (0..8).map(|item| format!("i{item}")).collect();
        let deployment = Deployment::new(&plan, columns, 30, Path::new(".")).expect("valid");
        let planned = deployment.plan(&[30; 6], &[3; 32], 0).expect("valid");
        let sizes: Vec<usize> = planned
            .draft()
            .groups()
            .iter()
            .map(|group| group.peers)
            .collect();
        let rows: &[usize] = if adjacency.is_of_rows() {
            &[2, 3]
        } else {
            &[2, 3, 5]
        };
        assert_eq!(sizes, rows, "{adjacency}");
        let words = planned.plan().promise().statement().sentence();
        assert_eq!(words.contains("at one participant"), adjacency.is_of_rows());
    }
}

/// A user with the same item at two of three participants, of whom one is curious: 2.00 is promised, and kept.
#[test]
fn a_plan_for_persons_at_two_participants_keeps_its_epsilon_for_them() {
    let delta = Delta::new(1e-5).expect("valid");
    for (scheme, peers) in [("pairwise", 3), ("pairwise", 6), ("local", 5), ("ring", 5)] {
        for k in [2, 3] {
            let keys = format!(
                "adjacency = \"user\"\nparticipants_per_person = {k}\n[noise]\nscheme = \"{scheme}\"\n"
            );
            let honest = receipt(&keys, peers);
            assert_eq!(failures(&honest), Vec::<String>::new(), "{scheme} {k}");
            let group = groups(&honest).into_iter().find(|group| group.0 == k);
            let stated = group.expect("stated").2;
            assert!(
                stated <= 2.0 * (1.0 + 1e-8) && stated > 1.9,
                "{scheme} {k}: {stated}"
            );
            // Sums of integers have no standard deviation per pair to compute with.
            if scheme != "ring" && k < peers {
                let lost = gaussian::epsilon(worst(&honest, k as u32), delta);
                assert!(lost <= 2.0 * (1.0 + 1e-8), "{scheme} {k}: {lost}");
            }
            let promise = honest.statement.as_deref().expect("stated");
            let words = format!("at up to {k} participants");
            assert!(promise.contains(&words), "{promise}");
            let words = format!("no more than {k} participants");
            assert!(honest.assumptions.iter().any(|one| one.contains(&words)));
            let changes: [fn(&mut Receipt); 3] = [
                |receipt| receipt.promise.participants = None,
                |receipt| {
                    let asked = &mut receipt.promise.participants;
                    *asked = asked.map(|k| k + 1);
                },
                |receipt| scale(receipt, "/noise/sigma_own", 1.0 / 1.1),
            ];
            for (number, change) in changes.into_iter().enumerate() {
                let mut changed = honest.clone();
                change(&mut changed);
                let found = changed
                    .check()
                    .map_or(true, |all| all.iter().any(|one| !one.agrees));
                assert!(found, "{scheme} {k}: change {number}");
            }
        }
    }
}
