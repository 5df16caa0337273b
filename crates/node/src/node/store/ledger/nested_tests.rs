//! Sessions of different adjacencies about the same people: no sum is below what a record loses.

use nalgebra::DMatrix;
use rand::{Rng, RngExt};

use super::super::terms::{Reservation, Square};
use super::account::Accounts;
use super::entry::LedgerEvent;
use super::*;
use crate::linalg::Block;
use crate::privacy::{Sensitivity, SensitivityRule, gaussian};
use crate::vocabulary::{Label, Quantity, Seed};

const ITEMS: usize = 4;

fn reservation(number: u8, adjacency: Adjacency, square: f64) -> Reservation {
    Reservation {
        session: Digest([number; 32]),
        scope: "patients".parse().expect("a scope"),
        adjacency,
        mu_squared: Square::new(square).expect("a square"),
        plain: true,
    }
}

/// A lifetime of ε = 2 and two sessions of ε = 2, of users and of interactions: a user with one item loses ε = 2.954 on both.
#[test]
fn a_session_of_users_counts_for_interactions() {
    let budget = Budget::new(2.0, 1e-5).expect("a budget");
    let whole = gaussian::mu(budget.epsilon, budget.delta).powi(2);
    let both = gaussian::epsilon((2.0 * whole).sqrt(), budget.delta);
    assert!((both - 2.9536).abs() < 1e-4, "{both}");
    let wanted = |number, adjacency| reservation(number, adjacency, whole);
    for (first, second) in [
        (Adjacency::User, Adjacency::Interaction),
        (Adjacency::Interaction, Adjacency::User),
    ] {
        let mut accounts = Accounts::default();
        let scope = wanted(1, first).scope;
        assert!(accounts.check_budget(&wanted(1, first), budget).is_ok());
        accounts.apply(LedgerEvent::Reserved(wanted(1, first)));
        let refused = accounts.check_budget(&wanted(2, second), budget);
        let Err(LedgerError::Budget { adjacency, .. }) = refused else {
            panic!("{first} before {second} is allowed");
        };
        assert_eq!(adjacency, Adjacency::Interaction);
        accounts.apply(LedgerEvent::Reserved(wanted(2, second)));
        let held = accounts.held(&scope, Adjacency::Interaction).get();
        assert!((held / (2.0 * whole) - 1.0).abs() < 1e-12, "{held}");
        // What a session of interactions costs a user is not in the sum, and is named.
        assert_eq!(accounts.held(&scope, Adjacency::User).get(), whole);
        let uncounted = accounts.uncounted(&scope, Adjacency::User);
        assert!(uncounted.into_iter().eq([Adjacency::Interaction]));
        let uncounted = accounts.uncounted(&scope, Adjacency::Interaction);
        assert!(uncounted.is_empty());
    }
}

/// Lines of older versions do not say whether a session was plain: the larger factor counts, and the session can be resumed.
#[test]
fn an_older_reservation_is_read_and_counts_as_not_plain() {
    let old = format!(
        r#"{{"session":"{}","scope":"patients","adjacency":"user","mu_squared":"2.5e-1"}}"#,
        Digest([1; 32])
    );
    let read: Reservation = serde_json::from_str(&old).expect("it is read");
    assert_eq!(serde_json::to_string(&read).expect("JSON"), old);
    let mut accounts = Accounts::default();
    accounts.apply(LedgerEvent::Reserved(read.clone()));
    let held = accounts.held(&read.scope, Adjacency::Interaction).get();
    assert_eq!(held, 1.0);
    let again = reservation(1, Adjacency::User, 0.25);
    assert!(read.is_of(&again) && !again.is_of(&read));
}

/// The rows of items that a number stands for, divided under this floor: r̂ᵀr̂.
fn gram(row: u32, floor: u32) -> DMatrix<f64> {
    let entries = (0..ITEMS).map(|item| f64::from(row >> item & 1));
    let row_vector = DMatrix::from_iterator(1, ITEMS, entries);
    let most = row.count_ones().max(floor);
    row_vector.transpose() * row_vector / f64::from(most)
}

/// Whether one row becomes another by one record.
fn is_record(adjacency: Adjacency, a: u32, b: u32) -> bool {
    let (gone, new) = ((a & !b).count_ones(), (b & !a).count_ones());
    match adjacency {
        Adjacency::Interaction | Adjacency::Rating => gone + new == 1,
        Adjacency::Swap => gone <= 1 && new <= 1,
        Adjacency::User => a == 0 || b == 0,
        _ => true,
    }
}

/// Random sessions of every adjacency over one user's row: the sum of every adjacency is at least what any of its records loses on those
/// sessions that bound it, worked out from the matrices themselves.
#[test]
fn no_sum_is_below_what_a_record_loses() {
    let sessions = [
        Adjacency::Interaction,
        Adjacency::Swap,
        Adjacency::User,
        Adjacency::ReplaceUser,
        Adjacency::Matrix,
        Adjacency::UnitSpectral,
        Adjacency::Entry,
    ];
    let mut rng = Seed::from_u64(17).generator(Label::Scenario);
    let mut closest = 0.0_f64;
    for _ in 0..300 {
        let mut accounts = Accounts::default();
        let mut moved = Vec::new();
        for number in 0..1 + (rng.next_u32() % 4) as u8 {
            let adjacency = sessions[rng.next_u32() as usize % sessions.len()];
            let floor = 1 + rng.next_u32() % 4;
            let quantities = [
                Quantity::Product,
                Quantity::PackedTriangle,
                Quantity::IsometricTriangle,
            ];
            let quantity = quantities[rng.next_u32() as usize % 3];
            let columns = 1 + rng.next_u32() as usize % 2;
            let proved = Sensitivity::of_quantity(
                quantity,
                adjacency,
                SensitivityRule::Exact,
                floor,
                None,
                columns,
            );
            let Ok(bound) = proved else {
                continue;
            };
            let x = DMatrix::from_fn(ITEMS, columns, |_, _| rng.random_range(-1.0..1.0_f64));
            let x = x.qr().q();
            let block = Block::from_values(ITEMS, columns, x.transpose().as_slice().to_vec());
            let unit = bound.bound(bound.statistic().of(&block));
            let square = rng.random_range(0.01..1.0);
            let wanted = reservation(number, adjacency, square);
            accounts.apply(LedgerEvent::Reserved(wanted));
            let loss = move |a: u32, b: u32| {
                let change = gram(a, floor) - gram(b, floor);
                let length = match quantity {
                    Quantity::Product => (change * &x).norm(),
                    Quantity::PackedTriangle => change.upper_triangle().norm(),
                    _ => change.norm(),
                };
                square * (length / unit).powi(2)
            };
            moved.push((adjacency, loss));
        }
        let scope = "patients".parse().expect("a scope");
        for record in &sessions[..4] {
            let held = accounts.held(&scope, *record).get();
            for (a, b) in (0..16).flat_map(|a| (0..16).map(move |b| (a, b))) {
                if !is_record(*record, a, b) {
                    continue;
                }
                let bounding = moved.iter();
                let bounding =
                    bounding.filter(|(from, _)| from.square_factor(*record, true).is_some());
                let lost: f64 = bounding.map(|(_, loss)| loss(a, b)).sum();
                assert!(lost <= held * (1.0 + 1e-9), "{record}: {lost} {held}");
                if held > 0.0 {
                    closest = closest.max(lost / held);
                }
            }
        }
    }
    assert!(closest > 0.99, "{closest}");
}
