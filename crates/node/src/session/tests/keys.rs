//! What two members share cancels, and is nobody else's.

use super::*;
use crate::vocabulary::StreamKey;

fn draws(key: &StreamKey) -> Vec<f64> {
    let mut out = vec![0.0; 16];
    key.add_normals(1, 0, 1.0, &mut out);
    out
}

#[test]
fn both_ends_have_one_key_and_every_plan_pair_and_session_another() {
    let (a, b, c) = (
        Ephemeral::generate().expect("entropy"),
        Ephemeral::generate().expect("entropy"),
        Ephemeral::generate().expect("entropy"),
    );
    let end = |number, key: &Ephemeral| PairEnd {
        id: identity(number).id(),
        ephemeral: key.public(),
    };
    let (end_a, end_b, end_c) = (end(0, &a), end(1, &b), end(2, &c));
    let plan = [5; 32];
    let shared = draws(&a.shared(&plan, end_a, end_b).expect("a key"));
    assert_eq!(
        shared,
        draws(&b.shared(&plan, end_b, end_a).expect("a key"))
    );
    let others = [
        a.shared(&[6; 32], end_a, end_b),
        a.shared(&plan, end_a, end_c),
        b.shared(&plan, end_b, end_c),
        // Somebody else's secret under the same names.
        c.shared(&plan, end_a, end_b),
        // The same secret under another name.
        a.shared(&plan, end(2, &a), end_b),
    ];
    for other in others {
        let other = draws(&other.expect("a key"));
        assert!(shared.iter().zip(&other).all(|(x, y)| x != y));
    }
}

/// Bit 255 of an ephemeral key is ignored where secrets are made. Both ends must have seen the same one all the same.
#[test]
fn a_key_is_bound_to_both_ephemeral_keys_as_they_were_announced() {
    let (a, b) = (
        Ephemeral::generate().expect("entropy"),
        Ephemeral::generate().expect("entropy"),
    );
    let end = |number, key: &Ephemeral| PairEnd {
        id: identity(number).id(),
        ephemeral: key.public(),
    };
    let (end_a, end_b) = (end(0, &a), end(1, &b));
    let other = |end: PairEnd| {
        let mut end = end;
        end.ephemeral[31] ^= 0x80;
        end
    };
    let at_a = |other| draws(&a.shared(&[5; 32], end_a, other).expect("a key"));
    let at_b = |other| draws(&b.shared(&[5; 32], end_b, other).expect("a key"));
    assert_eq!(at_a(end_b), at_b(end_a));
    assert_ne!(at_a(end_b), at_a(other(end_b)));
    assert_ne!(at_b(end_a), at_b(other(end_a)));
}

#[test]
fn keys_of_small_order_are_refused() {
    let own = Ephemeral::generate().expect("entropy");
    let me = PairEnd {
        id: identity(0).id(),
        ephemeral: own.public(),
    };
    // 0, 1, and a point of order 8 (Langley, Hamburg, Turner, RFC 7748, section 6.1 asks for the check).
    let order_eight = [
        0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4,
        0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49,
        0xb8, 0x00,
    ];
    let mut one = [0; 32];
    one[0] = 1;
    for ephemeral in [[0; 32], one, order_eight] {
        let id = identity(1).id();
        let refused = own.shared(&[1; 32], me, PairEnd { id, ephemeral });
        assert_eq!(refused.map(|_| ()), Err(KeyError::Weak { with: id }));
    }
}
