//! Arrays and numbers that are no transcripts: typed errors that say what to change, and no panic.

use super::*;
use crate::privacy::Delta;

fn path(peers: usize) -> Graph {
    let edges: Vec<(u32, u32)> = (1..peers as u32).map(|u| (u - 1, u)).collect();
    Graph::from_edges(peers, &edges).expect("a graph")
}

fn said(result: Result<Vec<Finding>, TranscriptError>) -> String {
    match result {
        Err(TranscriptError::Failed { .. }) | Ok(_) => panic!("{result:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_is_no_sum_is_refused() {
    let nan = f64::NAN;
    let runs = runs_for_central_dp(2) as usize;
    let good = vec![0.5; 2 * runs];
    for sigma in [0.0, -1.0, nan, f64::INFINITY] {
        let text = said(assert_central_dp(&good, &[0.0, 0.0], sigma));
        assert!(
            text.starts_with("sigma must be a finite number above 0"),
            "{text}"
        );
    }
    let text = said(assert_central_dp(&[], &[], 1.0));
    assert!(text.starts_with("sums has 0 numbers"), "{text}");
    let text = said(assert_central_dp(&good[1..], &[0.0, 0.0], 1.0));
    assert!(text.contains("a multiple of 2"), "{text}");
    let text = said(assert_central_dp(&good[2..], &[0.0, 0.0], 1.0));
    assert!(
        text.contains(&format!("found {} runs, and {runs} are needed", runs - 1)),
        "{text}"
    );
    let mut bad = good.clone();
    bad[7] = nan;
    assert!(said(assert_central_dp(&bad, &[0.0, 0.0], 1.0)).starts_with("sums[3, 1] is NaN"));
    assert!(said(assert_central_dp(&good, &[0.0, nan], 1.0)).starts_with("expected[1] is NaN"));
    // Numbers whose quotient is none.
    bad[7] = 1e300;
    let text = said(assert_central_dp(&bad, &[0.0, 0.0], 1e-300));
    assert!(
        text.starts_with("(sums - expected)/sigma[3, 1] is inf"),
        "{text}"
    );
    // Numbers whose squares are none fail, and do not panic.
    findings(assert_central_dp(&bad, &[0.0, 0.0], 1.0));
    // No noise at all.
    findings(assert_central_dp(&vec![0.0; 2 * runs], &[0.0, 0.0], 1.0));
}

#[test]
fn what_are_no_messages_is_refused() {
    let graph = path(3);
    let (f, nan) = ([0.0; 6], f64::NAN);
    let runs = runs_for_published_law(&graph, 1.0, 1.0, 2).expect("runs") as usize;
    let good = vec![0.5; 6 * runs];
    let law = |messages: &[f64], f: &[f64], own, pairwise| {
        assert_published_law(messages, f, &graph, own, pairwise)
    };
    for sigma in [0.0, -1.0, nan, f64::INFINITY] {
        assert!(said(law(&good, &f, sigma, 1.0)).starts_with("sigma_own must be"));
        assert!(said(law(&good, &f, 1.0, sigma)).contains("graph without edges"));
    }
    assert!(said(law(&good, &f[..5], 1.0, 1.0)).contains("a multiple of 3"));
    assert!(said(law(&good, &[], 1.0, 1.0)).starts_with("contributions has 0 numbers"));
    assert!(said(law(&good[1..], &f, 1.0, 1.0)).starts_with("messages has"));
    assert!(said(law(&good[6..], &f, 1.0, 1.0)).contains("are needed"));
    let mut bad = good.clone();
    bad[6 + 5] = f64::INFINITY;
    assert!(said(law(&bad, &f, 1.0, 1.0)).starts_with("messages[1, 2, 1] is inf"));
    assert!(
        said(law(&good, &[0.0, 0.0, nan, 0.0, 0.0, 0.0], 1.0, 1.0))
            .starts_with("contributions[1, 0]")
    );
    bad[6 + 5] = 1e200;
    findings(law(&bad, &f, 1.0, 1.0));
    for (own, pairwise) in [(1e-200, 1e200), (1e-9, 1e9), (1e-12, 1.0)] {
        let text = said(law(&good, &f, own, pairwise));
        assert!(text.contains("cannot be computed"), "{text}");
    }
    // A term that is hardly there takes more runs than anybody makes.
    let text = said(law(&good, &f, 1.0, 1e-6));
    assert!(text.contains("are needed"), "{text}");
    assert!(said(law(&good, &f, 1.0, 1e-300)).contains("are needed"));
    let wide = path(1025);
    let error = runs_for_published_law(&wide, 1.0, 1.0, 1).expect_err("many");
    assert!(error.to_string().contains("1025 peers"), "{error}");
}

#[test]
fn what_are_no_records_is_refused() {
    let one = Epsilon::new(1.0).expect("an epsilon");
    let runs = runs_for_epsilon(one, None).expect("runs") as usize;
    let good = vec![0.5; runs];
    assert!(said(assert_epsilon(&good, &good, 0, one, None)).starts_with("with_record has"));
    assert!(
        said(assert_epsilon(&good, &good[1..], 1, one, None)).starts_with("without_record has")
    );
    let text = said(assert_epsilon(&good[1..], &good[1..], 1, one, None));
    assert!(text.contains("are needed"), "{text}");
    let mut bad = good.clone();
    bad[3] = f64::NAN;
    assert!(
        said(assert_epsilon(&bad, &good, 1, one, None)).starts_with("with_record[3, 0] is NaN")
    );
    assert!(said(assert_epsilon(&good, &bad, 1, one, None)).starts_with("without_record[3, 0]"));
    // Equal transcripts refute nothing, however large their numbers.
    let huge = vec![1e308; runs];
    assert_epsilon(&good, &good, 1, one, None).expect("equal");
    assert_epsilon(&huge, &huge, 1, one, None).expect("equal");
    findings(assert_epsilon(&huge, &good, 1, one, None));
    findings(assert_epsilon(&huge, &vec![-1e308; runs], 1, one, None));
    let wide: Vec<f64> = (0..2 * runs)
        .map(|k| if k % 2 == 0 { 1e308 } else { -1e308 })
        .collect();
    assert_epsilon(&wide, &wide, 2, one, None).expect("equal");
    // Claims that promise nothing.
    let much = Epsilon::new(60.0).expect("an epsilon");
    assert!(matches!(
        runs_for_epsilon(much, None),
        Err(TranscriptError::WeakClaim { .. })
    ));
    let delta = Some(Delta::new(0.999_999).expect("a delta"));
    assert!(matches!(
        runs_for_epsilon(one, delta),
        Err(TranscriptError::WeakClaim { .. })
    ));
    // A claim that no mechanism keeps is tested with as few runs as any.
    let tiny = Epsilon::new(1e-300).expect("an epsilon");
    assert!(runs_for_epsilon(tiny, None).is_ok_and(|runs| runs < 2000));
}
