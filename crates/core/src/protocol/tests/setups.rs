//! Setups and plans that are refused.

use super::*;

#[test]
fn bad_setups_and_plans_are_errors() {
    let mut wrong = setup();
    wrong.neighbours.swap(0, 1);
    assert!(matches!(
        Peer::new(wrong),
        Err(PeerError::Neighbours { .. })
    ));
    let linear = AveragingKind::Linear.compile(
        &Triangle,
        MixingBounds {
            lowest: -0.5,
            second: 0.5,
        },
        Length::Rounds(ROUNDS),
        AveragingOptions::default(),
    );
    let mut wrong = setup();
    wrong.schedule = linear.expect("contracts").peer(&Triangle, 1);
    assert!(matches!(Peer::new(wrong), Err(PeerError::Schedule { .. })));
    let mut wrong = setup();
    wrong.neighbours.pop();
    assert!(matches!(Peer::new(wrong), Err(PeerError::Schedule { .. })));
    let mut wrong = setup();
    wrong.rows = SparseRows::new(5).into();
    assert!(matches!(
        Peer::new(wrong),
        Err(PeerError::Shape {
            found: 5,
            expected: 4,
            ..
        })
    ));
    let mut bench = Bench::started();
    assert!(matches!(
        bench.give(Input::Start),
        Err(PeerError::StartedTwice { .. })
    ));
    let bad: [fn(&mut SessionParameters); 7] = [
        |p| p.peers = 0,
        |p| p.sigma_coordinate = f64::INFINITY,
        |p| p.averaging_rounds = 0,
        // Each peer would scale its noise by a statistic of its own.
        |p| p.scale_rounds = 0,
        |p| p.scale_rounds = u32::MAX,
        |p| p.sigma_own = f64::NAN,
        |p| p.sigma_pairwise = -1.0,
    ];
    for change in bad {
        let mut parameters = parameters();
        change(&mut parameters);
        assert!(matches!(
            planned(parameters),
            Err(SessionPlanError::Count { .. } | SessionPlanError::Sigma(_))
        ));
    }
}
