//! Formulas against numbers: what is said of a schedule is what its steps do.

use rand::{Rng, RngExt};

use super::super::agreement::Formulas;
use super::super::{
    AveragingKind, AveragingOptions, Expected, Length, MixingBounds, Neighbourhood, PeerStep,
    Schedule, fold,
};
use super::CommonEnd;
use crate::protocol::Values;
use crate::vocabulary::{Label, Seed};

/// A graph by its neighbour lists.
struct Lists(Vec<Vec<u32>>);

impl Neighbourhood for Lists {
    fn peers(&self) -> usize {
        self.0.len()
    }

    fn neighbours(&self, peer: usize) -> &[u32] {
        &self.0[peer]
    }

    fn weights(&self, _: usize) -> &[f64] {
        &[]
    }

    fn self_weight(&self, _: usize) -> f64 {
        0.0
    }
}

fn complete(peers: u32) -> Lists {
    let others = |u| (0..peers).filter(move |v| *v != u).collect();
    Lists((0..peers).map(others).collect())
}

fn hypercube(dimensions: u32) -> Lists {
    let flipped = |u: u32| {
        let mut near: Vec<u32> = (0..dimensions).map(|k| u ^ (1 << k)).collect();
        near.sort_unstable();
        near
    };
    Lists((0..1 << dimensions).map(flipped).collect())
}

/// A random connected graph: a random tree and as many edges again.
fn random(peers: usize, generator: &mut impl Rng) -> Lists {
    let mut lists = vec![Vec::new(); peers];
    for u in 1..peers {
        for bound in [u, peers] {
            let v = generator.random_range(0..bound);
            if v != u && !lists[u].contains(&(v as u32)) {
                lists[u].push(v as u32);
                lists[v].push(u as u32);
            }
        }
    }
    lists.iter_mut().for_each(|list| list.sort_unstable());
    Lists(lists)
}

/// A step with these factors: of the own value, and of the neighbours by number.
fn step(network: &Lists, peer: usize, round: u32, own: f64, from: &[(u32, f64)]) -> PeerStep {
    let at = |v: u32| network.0[peer].binary_search(&v).expect("a neighbour") as u32;
    let mut expect: Vec<Expected> = from
        .iter()
        .map(|&(v, weight)| Expected {
            position: at(v),
            weight,
        })
        .collect();
    expect.sort_unstable_by_key(|e| e.position);
    PeerStep {
        round,
        // Whom it sends to is the business of others' steps.
        send_to: [].into(),
        expect,
        own,
        own_at: 0,
    }
}

/// In round k everybody adds what the neighbour across dimension k has.
fn doubling(network: &Lists, dimensions: u32) -> Vec<Vec<PeerStep>> {
    let steps = |u: usize| {
        let across = |k| step(network, u, k, 1.0, &[(u as u32 ^ (1 << k), 1.0)]);
        (0..dimensions).map(across).collect()
    };
    (0..1 << dimensions).map(steps).collect()
}

/// The tree's schedule and steps on this network.
fn tree(network: &Lists) -> Schedule {
    let bounds = MixingBounds {
        lowest: -0.5,
        second: 0.5,
    };
    AveragingKind::Tree
        .compile(network, bounds, Length::Own, AveragingOptions::default())
        .expect("connected")
}

/// What all peers end with, one coordinate each, by the definition of a step.
fn by_steps(network: &Lists, steps: &[Vec<PeerStep>], inputs: &[f64]) -> Vec<f64> {
    let rounds = steps
        .iter()
        .flatten()
        .map(|s| s.round + 1)
        .max()
        .unwrap_or(0);
    let mut now = inputs.to_vec();
    for round in 0..rounds {
        let before = now.clone();
        for (u, steps) in steps.iter().enumerate() {
            for step in steps.iter().filter(|step| step.round == round) {
                let messages = step.expect.iter().map(|e| {
                    let v = network.0[u][e.position as usize] as usize;
                    (e.weight, &before[v..=v])
                });
                fold(
                    (step.own, step.own_at),
                    &before[u..=u],
                    messages,
                    &mut now[u..=u],
                );
            }
        }
    }
    now
}

/// The same number to the bit, or both not a number.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

fn inputs(count: usize, generator: &mut impl Rng) -> Vec<f64> {
    let rare = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300];
    (0..count)
        .map(|_| match generator.random_range(0..40) {
            k if k < rare.len() => rare[k],
            _ => (generator.random::<f64>() - 0.5) * 10_f64.powi(generator.random_range(-8..8)),
        })
        .collect()
}

#[test]
fn peers_with_one_formula_hold_one_number_whatever_the_inputs() {
    let mut generator = Seed::from_u64(3).generator(Label::Scenario);
    let (mut shared, mut told_apart) = (0, 0);
    for _ in 0..400 {
        let peers = generator.random_range(2..7);
        let network = random(peers, &mut generator);
        let factors = [1.0, 1.0, 1.0, 1.0, 0.5, -1.0];
        let steps: Vec<Vec<PeerStep>> = (0..peers)
            .map(|u| {
                let steps = (0..4).map(|round| {
                    // Often a peer takes what another has, or adds it: that makes peers of one formula.
                    let near = &network.0[u];
                    let one = near[generator.random_range(0..near.len())];
                    match generator.random_range(0..3) {
                        0 => return step(&network, u, round, 0.0, &[(one, 1.0)]),
                        1 => return step(&network, u, round, 1.0, &[(one, 1.0)]),
                        _ => {}
                    }
                    let mut from = Vec::new();
                    for &v in &network.0[u] {
                        if generator.random_range(0..2) == 0 {
                            from.push((v, factors[generator.random_range(0..6)]));
                        }
                    }
                    let own = [1.0, 1.0, 0.0, 0.5][generator.random_range(0..4)];
                    step(&network, u, round, own, &from)
                });
                steps.collect()
            })
            .collect();
        let (_, ends) = Formulas::of(&network, &steps);
        let numbers: Vec<Vec<f64>> = (0..6)
            .map(|_| by_steps(&network, &steps, &inputs(peers, &mut generator)))
            .collect();
        for u in 0..peers {
            for v in 0..u {
                let equal = numbers.iter().all(|x| same(x[u], x[v]));
                assert!(equal || ends[u] != ends[v]);
                shared += u32::from(ends[u] == ends[v]);
                told_apart += u32::from(!equal);
            }
        }
    }
    // The test could fail: there are many pairs of either kind.
    assert!(shared > 100 && told_apart > 1000, "{shared} {told_apart}");
}

#[test]
fn a_tree_and_doubling_end_equal_and_the_common_end_is_what_every_peer_has() {
    let mut generator = Seed::from_u64(4).generator(Label::Scenario);
    let mut schedules: Vec<(Lists, Vec<Vec<PeerStep>>)> = Vec::new();
    for dimensions in [1, 3, 5] {
        let network = hypercube(dimensions);
        let steps = doubling(&network, dimensions);
        schedules.push((network, steps));
    }
    let path = (0..300_u32).map(|u| {
        let near = [u.checked_sub(1), Some(u + 1).filter(|v| *v < 300)];
        near.into_iter().flatten().collect()
    });
    let star = |u: u32| if u == 0 { (1..60).collect() } else { vec![0] };
    let mut networks = vec![Lists(path.collect()), Lists((0..60).map(star).collect())];
    networks.extend([1, 2, 40, 200].map(|peers| random(peers, &mut generator)));
    for network in networks {
        let schedule = tree(&network);
        assert!(schedule.ends_equal() && schedule.sums_exactly(&network));
        let super::super::Form::Listed(steps) = schedule.form() else {
            panic!("a tree lists steps")
        };
        schedules.push((network, steps.to_vec()));
    }
    for (network, steps) in &schedules {
        let peers = network.peers();
        let common = CommonEnd::of(network, steps, 3.0).expect("all end with the same bits");
        let additions =
            |operation: &&super::Operation| matches!(operation, super::Operation::Add(..));
        let additions = common.operations.iter().filter(additions).count();
        assert_eq!(additions, peers - 1, "nothing that is not needed");
        let most = 2 * peers.ilog2() as usize + 2;
        assert!(
            common.registers() <= most,
            "{} registers",
            common.registers()
        );
        let inputs: Vec<Vec<f64>> = (0..7).map(|_| inputs(peers, &mut generator)).collect();
        let columns: Vec<Vec<f64>> = (0..peers)
            .map(|u| inputs.iter().map(|x| x[u]).collect())
            .collect();
        // Room that is too small, and then holds what was left there.
        let mut registers = Vec::new();
        for range in [0..3, 3..7] {
            let mut out = vec![f64::NAN; range.len()];
            let input = |u: usize| &columns[u][range.clone()];
            common.evaluate(Values::F64, input, &mut registers, &mut out);
            for (out, k) in out.iter().zip(range) {
                let ends = by_steps(network, steps, &inputs[k]);
                assert!(
                    ends.iter().all(|end| same(3.0 * end, *out)),
                    "{ends:?} {out}"
                );
            }
        }
    }
    // A path takes two registers however long it is.
    let path = CommonEnd::of(&schedules[3].0, &schedules[3].1, 1.0).expect("as before");
    assert_eq!((schedules[3].0.peers(), path.registers() <= 3), (300, true));
}

/// Whether these steps are a schedule, and one that adds up every input exactly once.
fn sums_exactly(network: &dyn Neighbourhood, steps: &[Vec<PeerStep>]) -> bool {
    let mut sending = steps.to_vec();
    for (peer, own) in steps.iter().enumerate() {
        for (round, expected) in own
            .iter()
            .flat_map(|s| s.expect.iter().map(|e| (s.round, e)))
        {
            let sender = network.neighbours(peer)[expected.position as usize] as usize;
            let at = network.neighbours(sender).binary_search(&(peer as u32));
            let step = sending[sender].iter_mut().find(|step| step.round == round);
            let (Ok(at), Some(step)) = (at, step) else {
                return false;
            };
            let mut send_to = step.send_to.to_vec();
            send_to.push(at as u32);
            send_to.sort_unstable();
            step.send_to = send_to.into();
        }
    }
    Schedule::listed(network, 1.0, sending).is_ok_and(|one| one.sums_exactly(network))
}

#[test]
fn sums_in_orders_of_their_own_are_exact_for_integers_and_not_of_equal_bits() {
    // Everybody adds the two others, ascending, to its own.
    let network = complete(3);
    let steps: Vec<Vec<PeerStep>> = (0..3)
        .map(|u| {
            let from: Vec<_> = network.0[u].iter().map(|&v| (v, 1.0)).collect();
            vec![step(&network, u, 0, 1.0, &from)]
        })
        .collect();
    assert!(sums_exactly(&network, &steps));
    let (_, ends) = Formulas::of(&network, &steps);
    assert_eq!(ends[0], ends[1], "the first two terms change places");
    assert_ne!(ends[0], ends[2]);
    assert_eq!(CommonEnd::of(&network, &steps, 1.0), None);
    let found = by_steps(&network, &steps, &[1e16, 1.0, -1e16]);
    assert_eq!(found, [0.0, 0.0, 1.0]);
}

#[test]
fn a_sum_that_misses_doubles_or_weighs_an_input_is_none() {
    let network = hypercube(3);
    let good = doubling(&network, 3);
    assert!(sums_exactly(&network, &good));
    let broken = |change: &dyn Fn(&mut PeerStep)| {
        let mut steps = good.clone();
        change(&mut steps[5][1]);
        steps
    };
    let (lost, doubled, heavy, absent) = (
        broken(&|step| step.expect.clear()),
        broken(&|step| step.own = 2.0),
        broken(&|step| step.expect[0].weight = 3.0),
        broken(&|step| step.own = 0.0),
    );
    for steps in [&lost, &doubled, &heavy, &absent] {
        assert!(!sums_exactly(&network, steps));
        assert!(CommonEnd::of(&network, steps, 1.0).is_none());
    }
    // As many inputs as there should be, but one twice instead of another: peers 0 and 1 hear from each other twice.
    let square = complete(4);
    let swapped: Vec<Vec<PeerStep>> = (0..4_usize)
        .map(|u| {
            let beside = u as u32 ^ 1;
            let again = if u < 2 { beside } else { u as u32 ^ 2 };
            vec![
                step(&square, u, 0, 1.0, &[(beside, 1.0)]),
                step(&square, u, 1, 1.0, &[(again, 1.0)]),
            ]
        })
        .collect();
    let counts = by_steps(&square, &swapped, &[1.0; 4]);
    assert_eq!(counts, [4.0; 4], "the count alone does not tell");
    assert!(!sums_exactly(&square, &swapped));
    // A last factor makes no sum of a mean.
    let mean = Schedule::listed(&complete(1), 0.5, vec![Vec::new()]).expect("a schedule");
    assert!(mean.ends_equal() && !mean.sums_exactly(&complete(1)));
    let one = Schedule::listed(&complete(1), 1.0, vec![Vec::new()]).expect("a schedule");
    assert!(one.ends_equal() && one.sums_exactly(&complete(1)));
}

#[test]
fn a_recurrence_promises_neither() {
    let coefficients = AveragingKind::Linear
        .schedule(
            MixingBounds {
                lowest: -0.5,
                second: 0.5,
            },
            3,
        )
        .expect("contracts");
    let schedule = Schedule::recurrence(&complete(4), coefficients);
    assert!(!schedule.ends_equal() && !schedule.sums_exactly(&complete(4)));
    assert_eq!(schedule.common_ends(&complete(4)), None);
}
