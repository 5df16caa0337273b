//! Noise of deployed members in views: theirs alone, the same at both ends of a pair, and never the same in two views.

use super::*;
use crate::node::member::views::MemberViews;
use crate::protocol::regroup::Disruptions;
use crate::protocol::regroup::{Regroup, Signed};
use crate::protocol::tolerant::Views;
use crate::session::{Ephemeral, OwnNoise, PairEnd};

/// What all members contribute to the first release in a view, and who they are.
fn contributions(all: &[MemberViews], view: &View) -> Vec<Vec<f64>> {
    let members = view.members.iter();
    let of = |member: PeerIndex| {
        let setup = all[member.index()]
            .setup(view, member)
            .expect("a member")
            .setup;
        let start = PublicState {
            agreed: Some(1.0),
            ..PublicState::new(Arc::clone(&setup.start))
        };
        let mut peer = Peer::new(setup).expect("fits").after(start).expect("fits");
        let mut said = CollectingOutbox::default();
        peer.handle(Input::Start, Time(0), &mut said)
            .expect("starts");
        let input = said.events.into_iter().find_map(|event| match event {
            Event::Published { input, .. } => input.reals().map(|values| values.to_vec()),
            _ => None,
        });
        input.expect("it contributes at once")
    };
    members.map(of).collect()
}

/// The view after a member has started again so often, and nothing else has gone wrong.
fn after_restarts(lossy: Lossy, views: &SessionViews, count: u8) -> View {
    let (_, setup) = lossy.format(views);
    let mut member = Regroup::new(setup.clone());
    let mut out = Vec::new();
    member.handle(crate::protocol::regroup::Input::Start, Time(0), &mut out);
    let mut known: Option<Disruptions> = None;
    for number in 1..=count {
        let origin = PeerIndex(3);
        let record = crate::protocol::regroup::Record::Restart {
            origin,
            count: number,
        };
        let bytes = record.signed_bytes(setup.session, |_| None).expect("bytes");
        let signature = views.signatures(origin).sign(&bytes);
        let record = Signed { record, signature };
        let heard = crate::protocol::regroup::Input::Heard {
            from: origin,
            record,
        };
        member.handle(heard, Time(0), &mut out);
    }
    // It states what it knows a little later.
    let timers: Vec<u64> = out
        .iter()
        .filter_map(|output| match output {
            crate::protocol::regroup::Output::Wake(number, _) => Some(*number),
            _ => None,
        })
        .collect();
    for timer in timers {
        let input = crate::protocol::regroup::Input::Timer(timer);
        member.handle(input, Time(0), &mut out);
    }
    for output in out {
        if let crate::protocol::regroup::Output::Persist(Durable::Stated { statement, .. }) = output
        {
            known = Some(statement.disruptions);
        }
    }
    View::of(
        known.expect("it states what it heard"),
        &setup.links,
        &setup.tolerance,
    )
}

#[test]
fn two_views_with_the_same_members_share_no_noise_and_pairs_cancel_in_each() {
    let lossy = Lossy::of(5, 1, 3);
    let views = lossy.views();
    let public = views.session().public().clone();
    let public = Arc::new(PublicViews::new(public, AveragingKind::Tree.into()));
    let keys: Vec<Ephemeral> = (0..5)
        .map(|_| Ephemeral::generate().expect("random"))
        .collect();
    let ends = keys.iter().enumerate().map(|(u, key)| PairEnd {
        id: crate::session::Identity::from_secret([u as u8 + 1; 32].into()).id(),
        ephemeral: key.public(),
    });
    let ends: Vec<PairEnd> = ends.collect();
    let all: Vec<MemberViews> = keys
        .into_iter()
        .enumerate()
        .map(|(u, ephemeral)| MemberViews {
            public: Arc::clone(&public),
            rows: lossy
                .session()
                .peer_setup(PeerIndex::from_index(u), None)
                .rows,
            noise: OwnNoise::from_os().expect("random"),
            ephemeral,
            ends: ends.clone(),
            defect: None,
        })
        .collect();
    let (_, setup) = lossy.format(&views);
    let none = Disruptions::none(5, setup.links.len());
    let first = View::of(none, &setup.links, &setup.tolerance);
    let second = after_restarts(lossy, &views, 1);
    let third = after_restarts(lossy, &views, 2);
    assert_eq!(second.members, first.members);
    let plan = |view: &View| {
        *public
            .of(view)
            .expect("a session")
            .session()
            .plan()
            .digest()
    };
    assert_eq!(
        plan(&first),
        plan(&second),
        "plans are alike: only the view tells them apart"
    );
    let published = [&first, &second, &third].map(|view| contributions(&all, view));
    // The same view gives the same bits.
    assert_eq!(contributions(&all, &second), published[1]);
    let largest = |values: &[f64]| values.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let sums = published.each_ref().map(|inputs| {
        let mut sum = vec![0.0; inputs[0].len()];
        for input in inputs {
            sum.iter_mut().zip(input).for_each(|(sum, x)| *sum += x);
        }
        sum
    });
    for (one, other) in [(0, 1), (0, 2), (1, 2)] {
        for (a, b) in published[one].iter().zip(&published[other]) {
            let apart: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            assert!(largest(&apart) > 1.0, "views {one} and {other} share noise");
        }
        // Pairwise noise of scale 3 is gone from the sums; own noise of 0.02 is left.
        let apart: Vec<f64> = sums[one]
            .iter()
            .zip(&sums[other])
            .map(|(a, b)| a - b)
            .collect();
        assert!(largest(&apart) < 1.0 && largest(&apart) > 0.0);
    }
}
