//! Why there is a key for each direction: with one for both, two keys that were opened give all others.
//!
//! All ciphertexts of an attempt are public. If the two shares that cross on a link are hidden by one pad, their sum is public too: a linear equation
//! over GF(2⁸) in the coefficients of two polynomials. Colluders add the shares dealt to them, and each key that was opened is one equation more.

use super::super::shamir::{SECRET_LEN, inverse, product};
use super::*;

/// Peers, all neighbours of one another, and how many of them collude: the first ones.
const SIZE: u32 = 8;
const COLLUDERS: u32 = 2;

/// How shares are hidden.
#[derive(Clone, Copy, PartialEq)]
enum Hidden {
    /// As they are in seals.
    ByDirection,
    /// By one pad per pair and attempt, in both directions.
    ByPair,
}

/// A linear equation over GF(2⁸) in unknown bytes: coefficients, and the 32 right-hand sides for the 32 bytes of every secret.
struct Equation {
    of: Vec<u8>,
    is: [u8; SECRET_LEN],
}

impl Equation {
    fn plus(&mut self, factor: u8, other: &Self) {
        let add = |to: &mut [u8], from: &[u8]| {
            to.iter_mut()
                .zip(from)
                .for_each(|(a, b)| *a ^= product(factor, *b));
        };
        add(&mut self.of, &other.of);
        add(&mut self.is, &other.is);
    }
}

/// What is determined of the unknowns numbered from `first` on, by Gauss and Jordan; unknowns before it are eliminated first.
fn solved(mut rows: Vec<Equation>, unknowns: usize, first: usize) -> BTreeMap<usize, [u8; 32]> {
    let mut rank = 0;
    for column in 0..unknowns {
        let Some(pivot) = (rank..rows.len()).find(|&row| rows[row].of[column] != 0) else {
            continue;
        };
        rows.swap(rank, pivot);
        let mut row = Equation {
            of: vec![0; unknowns],
            is: [0; 32],
        };
        row.plus(inverse(rows[rank].of[column]), &rows[rank]);
        for other in (0..rows.len()).filter(|&other| other != rank) {
            let factor = rows[other].of[column];
            if factor != 0 {
                rows[other].plus(factor, &row);
            }
        }
        rows[rank] = row;
        rank += 1;
    }
    let alone = rows[..rank].iter().filter_map(|row| {
        let mut involved = (0..unknowns).filter(|&column| row.of[column] != 0);
        let column = involved.next()?;
        (involved.next().is_none() && column >= first).then_some((column, row.is))
    });
    alone.collect()
}

/// How many keys of honest peers that were not opened the attack finds, after `opened` keys were.
fn found(how: Hidden, opened: usize) -> usize {
    let threshold = Threshold::new(SIZE as usize - 1, COLLUDERS as usize, 0).expect("enough");
    let seals: Vec<Seal> = (0..SIZE)
        .map(|dealer| {
            let order = Order {
                attempt: attempt(0, 0),
                dealer: PeerIndex(dealer),
                threshold,
                holders: peers((0..SIZE).filter(|p| *p != dealer)),
                values: vec![1; 40],
                scale: 1.0,
            };
            order.with(|s| Seal::new(&root(dealer), s)).expect("valid")
        })
        .collect();
    // Unknowns: the upper coefficients of every honest dealer's polynomial, then the keys.
    let upper = threshold.shares() - 1;
    let honest: Vec<u32> = (COLLUDERS..SIZE).collect();
    let (keys, unknowns) = (upper * honest.len(), (upper + 1) * honest.len());
    // What the share of `holder` is made of.
    let share = |of: &mut [u8], dealer: u32, holder: u32| {
        let at = (dealer - COLLUDERS) as usize;
        let holders = seals[dealer as usize].holders();
        let point = holders.binary_search(&PeerIndex(holder)).expect("a holder") as u8 + 1;
        let mut power = 1;
        of[keys + at] ^= power;
        for k in 0..upper {
            power = product(power, point);
            of[at * upper + k] ^= power;
        }
    };
    let share_of = |dealer: u32, holder: u32| {
        let (dealer, holder) = (PeerIndex(dealer), PeerIndex(holder));
        let share = seals[dealer.index()].share_of(holder, &escrow_key(dealer, holder));
        *share.expect("its own").value()
    };
    // What everybody sees on the link.
    let hidden = |dealer: u32, holder: u32| match how {
        Hidden::ByDirection => {
            let seen = seals[dealer as usize].hidden_for(PeerIndex(holder));
            *seen.expect("a holder")
        }
        Hidden::ByPair => {
            let pair = escrow_key(PeerIndex(dealer.min(holder)), PeerIndex(dealer.max(holder)));
            let mut seen = share_of(dealer, holder);
            let pad = pair.pad(attempt(0, 0), threshold, 1);
            seen.iter_mut()
                .zip(pad.iter())
                .for_each(|(byte, pad)| *byte ^= pad);
            seen
        }
    };
    let mut equations = Vec::new();
    for &dealer in &honest {
        for holder in 0..SIZE {
            let mut of = vec![0; unknowns];
            let mut is = [0; 32];
            if holder < COLLUDERS {
                share(&mut of, dealer, holder);
                is = share_of(dealer, holder);
            } else if dealer < holder {
                share(&mut of, dealer, holder);
                share(&mut of, holder, dealer);
                let sum = hidden(dealer, holder).into_iter();
                let sum = sum.zip(hidden(holder, dealer));
                is.iter_mut().zip(sum).for_each(|(is, (a, b))| *is = a ^ b);
            } else {
                continue;
            }
            equations.push(Equation { of, is });
        }
    }
    for at in 0..opened {
        let mut of = vec![0; unknowns];
        of[keys + at] = 1;
        let key = root(honest[at]).key(attempt(0, 0));
        equations.push(Equation {
            of,
            is: *key.secret(),
        });
    }
    let solution = solved(equations, unknowns, keys).into_iter();
    let new = solution.filter(|(column, _)| column - keys >= opened);
    let opens = new.filter(|(column, key)| {
        let dealer = honest[column - keys] as usize;
        let key = SealKey::from_secret(&Zeroizing::new(*key));
        seals[dealer]
            .open(&key)
            .is_ok_and(|values| values == vec![1; 40])
    });
    opens.count()
}

#[test]
fn one_key_for_both_directions_gives_away_all_keys_once_two_are_opened() {
    assert_eq!(found(Hidden::ByPair, 0), 0);
    assert_eq!(found(Hidden::ByPair, 1), 0);
    assert_eq!(found(Hidden::ByPair, 2), 4);
    assert_eq!(found(Hidden::ByPair, 3), 3);
}

#[test]
fn with_a_key_for_each_direction_the_same_equations_are_wrong() {
    for opened in 0..=5 {
        assert_eq!(
            found(Hidden::ByDirection, opened),
            0,
            "{opened} keys opened"
        );
    }
}
