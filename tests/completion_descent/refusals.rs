//! Keys that do not go with each other: every refusal is typed and says what to change.

use undertone::protocol::averaging::AveragingKind;

use super::RATINGS;
use crate::support::experiments::{self, CASES};

fn refusal(set: &[&str]) -> String {
    let set = [&RATINGS[..], set].concat();
    experiments::refusal(CASES[0], AveragingKind::Tree, &set)
}

#[test]
fn keys_are_refused_where_they_do_not_belong() {
    let frank_wolfe = "algorithm.kind=frank-wolfe";
    let gradient = "algorithm.kind=projected-gradient";
    let svd = ["algorithm.kind=svd-completion", "algorithm.iterations=1"];
    let power = "algorithm.kind=power";
    let nuclear = "algorithm.nuclear=100";
    for (set, says) in [
        (&[frank_wolfe][..], "algorithm.nuclear"),
        (&[gradient], "missing field `nuclear`"),
        (&[frank_wolfe, "algorithm.nuclear=0"], "above 0"),
        (&[frank_wolfe, "algorithm.nuclear=-3"], "above 0"),
        (&[gradient, nuclear, "algorithm.step_size=0"], "at most 1"),
        (&[gradient, nuclear, "algorithm.step_size=1.5"], "at most 1"),
        (
            &[gradient, nuclear, "algorithm.mode=tight"],
            "algorithm.mode",
        ),
        (
            &[gradient, nuclear, "algorithm.step=standard"],
            "algorithm.step",
        ),
        (
            &[frank_wolfe, nuclear, "algorithm.step_size=0.5"],
            "algorithm.step_size",
        ),
        (
            &[frank_wolfe, nuclear, "algorithm.inner=3"],
            "algorithm.inner",
        ),
        (
            &[frank_wolfe, nuclear, "algorithm.global=oja"],
            "algorithm.inner",
        ),
        (
            &[
                frank_wolfe,
                nuclear,
                "algorithm.global=power",
                "algorithm.inner=0",
            ],
            "algorithm.inner must lie between",
        ),
        (
            &[
                frank_wolfe,
                nuclear,
                "algorithm.global=power",
                "algorithm.inner=2",
                "algorithm.oja_step=printed",
            ],
            "algorithm.oja_step",
        ),
        (&[frank_wolfe, nuclear, "algorithm.local=ridge"], "no ball"),
        (
            &[
                frank_wolfe,
                "algorithm.local=ridge",
                "algorithm.step=standard",
            ],
            "makes no steps",
        ),
        (
            &[
                frank_wolfe,
                nuclear,
                "algorithm.mode=paper",
                "algorithm.step=standard",
            ],
            "the published algorithm",
        ),
        (
            &[
                frank_wolfe,
                nuclear,
                "algorithm.mode=paper",
                "algorithm.global=power",
                "algorithm.inner=2",
            ],
            "the published algorithm",
        ),
        (
            &[
                frank_wolfe,
                nuclear,
                "algorithm.mode=paper",
                "algorithm.iterations=1",
            ],
            "algorithm.iterations",
        ),
        (
            &[
                frank_wolfe,
                nuclear,
                "algorithm.mode=paper",
                "privacy.adjacency=replace-user",
            ],
            "4 sqrt(2) L^2",
        ),
        (&[svd[0], "algorithm.iterations=2"], "iterations = 1"),
        (&[svd[0], svd[1], nuclear], "algorithm.nuclear"),
        (
            &[svd[0], svd[1], "completion.item_means=false"],
            "spectral-ridge",
        ),
        (
            &[frank_wolfe, nuclear, "completion.shares=[0.1, 0.1, 0.8]"],
            "spectral-ridge",
        ),
        (
            &[frank_wolfe, nuclear, "privacy.adjacency=interaction"],
            "privacy.adjacency",
        ),
        (&[frank_wolfe, nuclear, "algorithm.block=3"], "only krylov"),
        (&[power, nuclear], "algorithm.nuclear"),
        (&[power], "test_share"),
    ] {
        let text = refusal(set);
        assert!(text.contains(says), "{set:?}: {text}");
    }
    // A method that is not about ratings has none of these keys.
    for key in [
        "nuclear=3",
        "inner=3",
        "global=oja",
        "mode=paper",
        "local=ridge",
        "step=standard",
        "step_size=0.5",
        "oja_step=printed",
    ] {
        let key = format!("algorithm.{key}");
        let error = experiments::refusal(CASES[0], AveragingKind::Tree, &[&key]);
        assert!(
            error.contains("with algorithm.kind = \"power\": only"),
            "{key}: {error}"
        );
    }
}
