//! Kills at all moments, with and without another start.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use super::*;
use crate::node::store::SessionEnd;
use crate::node::tests::beside_one_another;

const FIVE: Lossy = Lossy::of(5, 1, 30);
const SIX_SEALED: Lossy = Lossy::of(6, 1, 20).sealed();

/// How long a session may take that loses somebody.
const END: Duration = Duration::from_secs(60);

#[test]
fn without_losses_all_have_the_bits_of_the_engine() {
    let plays = [Lossy::of(5, 1, 12), Lossy::of(6, 1, 12).sealed()];
    beside_one_another(plays, |lossy| {
        let mut play = Play::begin(lossy, &[]);
        let ends = play.ends(END);
        let finished = check(&play, &ends);
        assert_eq!(finished.len(), usize::from(lossy.members), "{}", play.why());
        let lockstep = lockstep::run(&lossy.session(), &mut Silent).expect("runs");
        let last = lockstep.records.last().expect("releases");
        let bits: Vec<u64> = last.basis.values().iter().map(|x| x.to_bits()).collect();
        assert_eq!(words(ends[0].as_ref().expect("done")).0, bits);
        for peer in 0..ends.len() {
            let (tries, end) = play.charged(peer);
            assert_eq!((tries.len(), end), (12, Some(SessionEnd::Done)));
        }
    });
}

/// One of five, or of six that seal, is killed in the middle: the others finish without it.
#[test]
fn a_member_that_is_killed_is_left_out_and_the_others_finish() {
    beside_one_another([FIVE, SIX_SEALED], |lossy| {
        let mut play = Play::losing(lossy, &[], (2, lossy.iterations / 2));
        let ends = play.ends(END);
        let finished = check(&play, &ends);
        let others = usize::from(lossy.members) - 1;
        assert_eq!(finished.len(), others, "{}", play.why());
        // Sealed, nothing was readable of what came to nothing: no try is charged twice.
        if lossy.is_sealed {
            assert_eq!(play.charged(0).0.len(), lossy.iterations as usize);
        }
        // It comes back too late.
        play.again(2);
        let ends = play.ends(END);
        let said = "have gone on without this member";
        assert!(ended(&ends, 2, 3, said), "{}", play.why());
        let before = play.charged(2);
        assert_eq!(before.1, Some(SessionEnd::Excluded));
        play.again(2);
        let ends = play.ends(END);
        let said = "had gone on without this member; what was charged (mu^2";
        assert!(ended(&ends, 2, 1, said), "{}", play.why());
        assert_eq!(play.charged(2), before);
    });
}

/// One that starts again in time goes on, and nobody is left out.
#[test]
fn a_member_that_starts_again_in_time_goes_on() {
    beside_one_another([FIVE, SIX_SEALED], |lossy| {
        let mut play = Play::losing(lossy, &[], (2, lossy.iterations / 2));
        play.again(2);
        let ends = play.ends(END);
        let finished = check(&play, &ends);
        assert_eq!(finished.len(), usize::from(lossy.members), "{}", play.why());
        let all = play.progress(0);
        assert!(all.contains("WentOn"), "nothing went wrong: {all}");
        assert!(!all.contains("GaveUp"), "somebody was given up: {all}");
        if lossy.is_sealed {
            assert_eq!(play.charged(2).0.len(), lossy.iterations as usize);
        }
    });
}

/// What a member keeps to start again with stays short over many releases, and is enough to go on from: where it is written anew with every record, and where it is whenever it is twice as long.
#[test]
fn what_is_kept_stays_short_and_is_enough_to_go_on() {
    beside_one_another([FIVE, Lossy::of(6, 1, 30).sealed()], |lossy| {
        let (members, releases) = (usize::from(lossy.members), lossy.iterations - 6);
        let when = |peer| (peer, COMPACT, if peer == 2 { "0" } else { "1" });
        let when: Vec<_> = (0..members).map(when).collect();
        let mut play = Play::losing(lossy, &when, (2, releases));
        let (always, twice) = (play.kept(2), play.kept(1));
        let blocks = (8 * 240 * members) as u64 * u64::from(releases);
        println!("{always} and {twice} bytes kept of contributions of {blocks} bytes");
        assert!(
            4 * always < 3 * blocks && twice < blocks,
            "{always} {twice}"
        );
        play.again(2);
        let ends = play.ends(END);
        assert_eq!(check(&play, &ends).len(), members, "{}", play.why());
        let all = play.progress(0);
        assert!(all.contains("WentOn"), "nothing went wrong: {all}");
        assert!(!all.contains("GaveUp"), "somebody was given up: {all}");
    });
}

/// Processes that stand still have no end, however much else the machine does, and what they are at is said.
#[test]
fn a_play_that_stands_still_is_found() {
    let mut play = Play::begin(FIVE, &[]);
    play.until(0, "charged 3;");
    play.signal_all(usize::MAX, "-STOP");
    let ended = catch_unwind(AssertUnwindSafe(|| play.ends(Duration::from_secs(2))));
    let said = ended.expect_err("nobody can have ended");
    let said = said.downcast_ref::<String>().expect("in words");
    assert!(said.starts_with("0 has no end"), "{said}");
    assert!(
        !cfg!(target_os = "linux") || said.contains(" T in "),
        "{said}"
    );
}

/// What one kill came to.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
enum Came {
    /// All finished.
    All,
    /// The others finished, without it.
    Without,
    /// Nobody did: it died while members were agreeing, before anything could be lost.
    Before,
}

/// Kills a member at a moment, and perhaps starts it again after another.
fn killed(lossy: Lossy, run: u32) -> Came {
    // The golden ratio spreads any number of moments evenly.
    let share = (f64::from(run) * 0.618_033_988_749_895).fract();
    let victim = run as usize % usize::from(lossy.members);
    // Every other one writes what it keeps anew with every record.
    let anew = [(victim, COMPACT, "0")];
    let mut play = Play::begin(lossy, &anew[..run as usize / 2 % 2]);
    match run % 2 {
        0 => std::thread::sleep(Duration::from_millis(100 + (2_500.0 * share) as u64)),
        _ => {
            let release = 1 + (share * f64::from(lossy.iterations - 2)) as u32;
            play.until(victim, &format!("charged {release};"));
        }
    }
    let is_ended = !play.runs(victim);
    if !is_ended {
        play.kill(victim);
    }
    // Before members have agreed on anything the others wait for it, until the session closes.
    let has_begun = play.progress(victim).contains("Agreed");
    let soon = Duration::from_millis((900.0 * share) as u64);
    let back = match run % 3 {
        _ if !has_begun => Some(soon),
        0 => None,
        1 => Some(soon),
        _ => Some(Duration::from_millis(1_000 * GRACE + 1_500)),
    };
    if let Some(after) = back.filter(|_| !is_ended) {
        std::thread::sleep(after);
        play.again(victim);
    }
    let ends = play.ends(END);
    let finished = check(&play, &ends);
    let others = finished.iter().filter(|peer| **peer != victim).count();
    let nobody_has_charged = (0..ends.len()).all(|peer| play.charged(peer).0.is_empty());
    let came = match (others + 1 == usize::from(lossy.members), finished.len()) {
        (true, finished) if finished > others => Came::All,
        (true, _) => Came::Without,
        (false, 0) if !has_begun && nobody_has_charged => Came::Before,
        _ => panic!("run {run}: {ends:?}\n{}", play.why()),
    };
    let charged = play.charged(0).0.len();
    println!("run {run}: {came:?}, {victim} killed, back after {back:?}; {charged} tries charged");
    came
}

/// Only these plays, by number, as in `106..110`: for one that was red.
const RUNS: &str = "UNDERTONE_TEST_RUNS";

fn campaign(runs: u32) {
    let only = std::env::var(RUNS).ok().and_then(|said| {
        let (from, to) = said.split_once("..")?;
        Some((from.parse().ok()?, to.parse().ok()?))
    });
    let (from, to) = only.unwrap_or((0, runs));
    let all = Mutex::new((BTreeMap::new(), Vec::new()));
    beside_one_another(from..to, |run| {
        let lossy = match run % 4 {
            3 => SIX_SEALED,
            _ => FIVE,
        };
        let came = catch_unwind(|| killed(lossy, run));
        let mut all = all.lock().expect("nobody panics with it");
        match came {
            Ok(came) => *all.0.entry(came).or_insert(0) += 1,
            Err(_) => {
                println!("run {run}: RED");
                all.1.push(run);
            }
        }
    });
    let (all, red) = all.into_inner().expect("nobody panics with it");
    println!("{all:?}, red: {red:?}");
    assert!(red.is_empty(), "red: {red:?}");
    let came = |one| all.contains_key(&one);
    assert!(
        only.is_some() || (came(Came::Without) && came(Came::All)),
        "{all:?}"
    );
}

#[test]
fn six_kills() {
    campaign(6);
}

#[test]
#[ignore = "a quarter of an hour: cargo test --lib losses::campaign::two_hundred_kills -- --ignored --nocapture"]
fn two_hundred_kills() {
    campaign(200);
}

/// As many of 24 are killed as are tolerated, at different moments: the others finish.
#[test]
#[ignore = "24 processes: cargo test --lib losses::campaign::four_of_twenty_four -- --ignored --nocapture"]
fn four_of_twenty_four() {
    let lossy = Lossy::of(24, 4, 30);
    let mut play = Play::begin(lossy, &[]);
    for (place, victim) in [3, 9, 14, 20].into_iter().enumerate() {
        play.until(0, &format!("charged {};", 4 + 6 * place));
        play.kill(victim);
    }
    let ends = play.ends(Duration::from_secs(300));
    assert_eq!(check(&play, &ends).len(), 20, "{}", play.why());
}

/// A machine that stands still for longer than the grace just after a member was killed: those who have not run have not waited, and take the member back.
#[test]
fn a_machine_that_stands_still_gives_nobody_up() {
    let mut play = Play::losing(FIVE, &[], (2, 10));
    // They notice that it is gone, and stop.
    std::thread::sleep(Duration::from_millis(500));
    play.signal_all(2, "-STOP");
    std::thread::sleep(Duration::from_millis(1_000 * GRACE + 1_000));
    play.again(2);
    play.signal_all(2, "-CONT");
    let ends = play.ends(END);
    assert_eq!(check(&play, &ends).len(), 5, "{}", play.why());
    let all = play.progress(0);
    assert!(all.contains("WentOn"), "nothing went wrong: {all}");
    assert!(!all.contains("GaveUp"), "somebody was given up: {all}");
}

/// One whose process lives and whose peer does nothing any more is suspected after the time that a step may take, and the others finish without it.
#[test]
fn a_member_that_hangs_is_left_out_and_the_others_finish() {
    let plays = [
        (FIVE, "contribution 9"),
        (FIVE, "average 12"),
        (SIX_SEALED, "contribution 9"),
    ];
    beside_one_another(plays, |(lossy, at)| {
        let mut play = Play::begin(lossy, &[(2, HANGS, at)]);
        let others = usize::from(lossy.members) - 1;
        // Whoever hears of it from another neighbour first goes on without having given anybody up.
        play.until(0, "WentOn");
        let said = play.progress(0);
        // Its connections live as long as the others take part.
        let (before, after) = said.split_once("WentOn").expect("said");
        assert!(!before.contains("up: false"), "{before}");
        let names = after.split('"').nth(1);
        let hangs = names.expect("who is left out").to_owned();
        play.until(0, "Waiting {");
        play.kill(2);
        let ends = play.ends(END);
        assert_eq!(check(&play, &ends).len(), others, "{}", play.why());
        // Nobody else was suspected, though all had to wait.
        let mut suspicions = 0;
        for peer in (0..ends.len()).filter(|peer| *peer != 2) {
            let said = play.progress(peer);
            let own: Vec<&str> = said
                .lines()
                .filter(|line| line.contains("GaveUp"))
                .collect();
            let of_it = own.iter().all(|line| line.contains(&format!("{hangs:?}")));
            assert!(of_it && own.len() <= 1, "{peer}: {}", play.why());
            suspicions += own.len();
        }
        assert!(suspicions > 0, "{}", play.why());
    });
}

/// All files of a folder, copied with their modes.
fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.expect("cp").success());
}

/// Files that were brought back from a backup name a life that others know to be over: whoever works on them is refused and stops, and what they say is said
/// by nobody.
#[test]
fn a_member_whose_files_come_from_a_backup_is_refused() {
    let mut play = Play::losing(FIVE, &[], (2, 8));
    let (state, kept) = (&play.group.states[2], play.group.path().join("backup"));
    let state = play.group.path().join(state);
    copy(&state, &kept);
    play.again(2);
    play.until(1, "charged 16;");
    play.kill(2);
    fs::remove_dir_all(&state).expect("there");
    copy(&kept, &state);
    play.again(2);
    let ends = play.ends(END);
    assert!(ended(&ends, 2, 4, "brought back from a backup"), "{ends:?}");
    assert_eq!(check_others(&play, &ends, 2), 4, "{}", play.why());
}

/// A member claims that its neighbours' lives are over, to all or to one, and shows a life that they have not signed, its own, or one that is not later: only
/// its links are cut. Nobody stops, blames its disk, or ends its ledger.
#[test]
fn a_claim_about_a_later_life_that_shows_none_cuts_one_link() {
    let plays = ["unsigned", "own", "present", "older", "own 2"];
    beside_one_another(plays, |shown| {
        let mut play = match shown {
            "older" => {
                let mut play = Play::losing(FIVE, &[(1, CLAIMS, shown)], (2, 8));
                play.again(2);
                play
            }
            _ => Play::begin(FIVE, &[(1, CLAIMS, shown)]),
        };
        let ends = play.ends(END);
        let finished = check(&play, &ends);
        let claimed_to: &[usize] = match shown {
            // The third of its neighbours.
            "own 2" => &[3],
            "older" => &[2],
            _ => &[0, 2, 3, 4],
        };
        for peer in [0, 2, 3, 4] {
            assert!(finished.contains(&peer), "{shown} {peer}: {}", play.why());
            let said = play.progress(peer);
            let cuts = said.lines().filter(|line| line.contains("GaveUp")).count();
            let is_cut = cuts > 0;
            // One that was away may have been given up by others, too.
            let is_given_up = shown == "older" && is_cut;
            let is_claimed_to = claimed_to.contains(&peer);
            assert!(
                is_cut == is_claimed_to || is_given_up,
                "{shown} {peer}: {said}"
            );
        }
    });
}

/// As [`check`], of a play in which somebody's ledger is not what it was.
fn check_others(play: &Play, ends: &[Option<String>], but: usize) -> usize {
    let course = Course::of(play, ends);
    let bits = course.bits();
    let others = (0..ends.len()).filter(|peer| *peer != but);
    others
        .filter(|peer| words(ends[*peer].as_ref().expect("an end")).0 == bits)
        .count()
}

/// A disk that becomes full: the member stops before anything leaves that is not written down, and the others go on without it.
#[test]
fn a_member_whose_disk_is_full_stops_and_the_others_finish() {
    let mut play = Play::begin(FIVE, &[(3, ROOM, "70")]);
    let ends = play.ends(END);
    let finished = check(&play, &ends);
    assert_eq!(finished, [0, 1, 2, 4], "{}", play.why());
    let end = ends[3].as_deref().unwrap_or_default();
    assert!(end.starts_with("4 "), "{end}");
    let said = ["not written down", "nothing of "];
    assert!(said.iter().any(|said| end.contains(said)), "{end}");
    assert_eq!(
        play.charged(3).1,
        None,
        "its session is open: it may ask for the result"
    );
}

/// One that dies just when its contribution has left has paid for that, whatever becomes of it; and goes on if it is back in time.
#[test]
fn what_has_left_is_paid() {
    let plays = [(FIVE, false), (FIVE, true), (SIX_SEALED, false)];
    beside_one_another(plays, |(lossy, is_back)| {
        let mut play = Play::dying(lossy, "contribution 8");
        let (tries, end) = play.charged(2);
        let paid: Vec<_> = (1..=8).map(|release| (release, 0)).collect();
        assert_eq!((tries, end), (paid, None));
        if is_back {
            play.again(2);
        }
        let ends = play.ends(END);
        let finished = check(&play, &ends);
        let others = usize::from(lossy.members) - 1 + usize::from(is_back);
        assert_eq!(finished.len(), others, "{}", play.why());
    });
}

/// One that dies while everybody averages, which is after all have said that they hold what it contributed, stays in the sum: it is averaged again, by those who
/// are left or with it if it is back. Nothing that it had contributed is made again.
#[test]
fn whoever_dies_while_averaging_stays_in_the_sum() {
    let plays = [
        (FIVE, false),
        (FIVE, true),
        (SIX_SEALED, true),
        (SIX_SEALED, false),
    ];
    beside_one_another(plays, |(lossy, is_back)| {
        let mut play = Play::dying(lossy, "average 12");
        let died = play.charged(2).0.len();
        if is_back {
            play.again(2);
        }
        let ends = play.ends(END);
        let finished = check(&play, &ends);
        let others = usize::from(lossy.members) - 1 + usize::from(is_back);
        assert_eq!(finished.len(), others, "{}", play.why());
        let said = format!("release: Some(ReleaseId({died})), is_again: true");
        let is_again = play.progress(0).contains(&said);
        // Without it the others may have had what they needed of it.
        assert!(is_again || !is_back, "{died}: {}", play.why());
        let course = Course::of(&play, &ends);
        let (attempt, now, heirs, _) = &course.taken[&(died as u32)];
        let then = &course.known[&attempt.view];
        assert!(then.members.contains(PeerIndex(2)));
        if is_again {
            assert_eq!(now.members.contains(PeerIndex(2)), is_back);
            assert_eq!(heirs.len(), usize::from(!is_back));
        }
        for peer in 0..usize::from(lossy.members) {
            let (tries, _) = play.charged(peer);
            let is_free = tries.iter().all(|(_, retry)| *retry == 0);
            assert!(is_free || !lossy.is_sealed, "{peer}: {tries:?}");
        }
    });
}

/// Clocks that jump by years between any two lines of a ledger change nothing.
#[test]
fn clocks_that_jump_change_nothing() {
    let lossy = Lossy::of(5, 1, 20);
    let jumps: Vec<(usize, &str, &str)> = (0..5).map(|peer| (peer, JUMPS, "1")).collect();
    let mut play = Play::losing(lossy, &jumps, (4, 10));
    play.again(4);
    let ends = play.ends(END);
    assert_eq!(check(&play, &ends).len(), 5, "{}", play.why());
    let path = play.group.path().join(&play.group.states[0]);
    let ledger = fs::read_to_string(path.join("ledger.log")).expect("a ledger");
    let year = |line: &str| Some(line.split("\"time\":\"").nth(1)?[..4].to_owned());
    let years: BTreeSet<_> = ledger.lines().filter_map(year).collect();
    assert!(years.len() > 3, "no clock has jumped: {years:?}");
}
