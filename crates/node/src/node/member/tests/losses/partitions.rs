//! Networks that come apart: the side that is large enough goes on, and nobody on another has a result.

use super::*;

impl Play {
    /// Parts the network into the first so many and the rest, or heals it.
    fn part(&self, first: Option<usize>) {
        let all = usize::from(self.lossy.members);
        match first {
            Some(first) => self.sides(&[(0..first).collect(), (first..all).collect()]),
            None => self.sides(&[]),
        }
    }

    /// Who is on which side; whoever is on none hears everybody.
    fn sides(&self, sides: &[Vec<usize>]) {
        let file = fs::read(self.group.path().join("session.toml")).expect("there");
        let invitation = Invitation::read(&file).expect("a session");
        let ids = invitation.members.iter().map(|one| one.id.to_string());
        let ids: Vec<String> = ids.collect();
        let side = |side: &Vec<usize>| {
            let ids: Vec<&str> = side.iter().map(|peer| ids[*peer].as_str()).collect();
            ids.join(" ") + "\n"
        };
        let text: String = sides.iter().map(side).collect();
        let path = self.group.path();
        fs::write(path.join("sides.new"), text).expect("written");
        fs::rename(path.join("sides.new"), path.join("sides")).expect("renamed");
    }
}

const EIGHT: Lossy = Lossy::of(8, 1, 60);

/// How long a session may take whose network comes apart.
const END: Duration = Duration::from_secs(60);

/// Whether a member says that it is on the smaller side, or that there is none that is large enough.
fn is_cut_off(ends: &[Option<String>], peer: usize) -> bool {
    ended(ends, peer, 3, "gone on without") || ended(ends, peer, 1, "fewer members")
}

/// Seven and one: the seven finish, and the one does not.
#[test]
fn seven_of_eight_go_on_without_one() {
    let mut play = Play::begin(EIGHT, &[]);
    play.until(0, "charged 20;");
    play.part(Some(7));
    let ends = play.ends(END);
    let finished = check(&play, &ends);
    assert_eq!(finished, [0, 1, 2, 3, 4, 5, 6], "{}", play.why());
    assert!(is_cut_off(&ends, 7), "{ends:?}");
}

/// Four and four: nobody is enough, so nobody has a result, and nobody pays for anything twice.
#[test]
fn half_of_eight_go_nowhere() {
    let mut play = Play::begin(EIGHT, &[]);
    play.until(0, "charged 20;");
    play.part(Some(4));
    let ends = play.ends(END);
    assert!(check(&play, &ends).is_empty(), "{}", play.why());
    let mut charged = BTreeSet::new();
    for peer in 0..8 {
        assert!(is_cut_off(&ends, peer), "{peer}: {ends:?}");
        let (tries, end) = play.charged(peer);
        assert!(end.is_some());
        charged.insert(tries.len());
        // No half began anything anew: a try that is charged again needs a view, and there was none.
        assert!(tries.iter().all(|(_, retry)| *retry == 0), "{tries:?}");
    }
    assert!(charged.len() <= 2, "{charged:?}");
}

/// A network that heals within the grace costs nobody anything but time.
#[test]
fn a_network_that_heals_in_time_costs_time_alone() {
    let mut play = Play::begin(EIGHT, &[]);
    play.until(0, "charged 20;");
    play.part(Some(4));
    std::thread::sleep(Duration::from_millis(700));
    play.part(None);
    let ends = play.ends(END);
    assert_eq!(check(&play, &ends).len(), 8, "{}", play.why());
    assert!(!play.progress(0).contains("WentOn"));
    assert!(play.progress(0).contains("up: false"), "nothing was parted");
    assert_eq!(play.charged(0).0.len(), 60);
}

/// What follows from a restart that a member hears of from others waits for the one that has started again, until the two are connected.
#[test]
fn a_restart_is_heard_of_from_others_first() {
    let lossy = Lossy::of(5, 1, 60);
    let mut play = Play::begin(lossy, &[]);
    play.until(0, "charged 20;");
    play.kill(2);
    play.sides(&[vec![0], vec![2]]);
    play.again(2);
    // All have gone on, also the two that have no connection.
    for peer in 0..5 {
        play.until(peer, "WentOn");
    }
    std::thread::sleep(Duration::from_millis(200));
    play.part(None);
    let ends = play.ends(END);
    assert_eq!(check(&play, &ends).len(), 5, "{}", play.why());
    assert!(!play.progress(0).contains("GaveUp"));
}

/// Five of eight know that one of them has started again, and three cannot: nobody goes on before all have said the same.
#[test]
fn nobody_goes_on_until_all_have_said_the_same() {
    // Nobody is given up while the one that was killed starts again, however long that takes beside other work.
    let mut play = Play::waiting(EIGHT, &[], 30);
    play.until(0, "charged 20;");
    play.part(Some(5));
    play.kill(1);
    play.again(1);
    let until = Instant::now() + Duration::from_secs(20);
    while play.progress(1).matches("Agreed").count() < 2 {
        assert!(Instant::now() < until, "{}", play.why());
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(1_200));
    let went_on = |peer: usize| play.progress(peer).contains("WentOn");
    let early: Vec<usize> = (0..8).filter(|peer| went_on(*peer)).collect();
    assert!(early.is_empty(), "a part of them decided: {early:?}");
    play.part(None);
    let ends = play.ends(END);
    assert_eq!(check(&play, &ends).len(), 8, "{}", play.why());
    assert!((0..8).all(|peer| play.progress(peer).contains("WentOn")));
}
