//! Receipts of runs at the ends of what may be asked for.

use serde_json::Value;

use crate::support::scratch::Scratch;

fn checked(scratch: &Scratch) -> (Option<i32>, String, String) {
    let shown = scratch.undertone("privacy check out/receipt.json");
    (shown.code, shown.stdout, shown.stderr)
}

/// JSON has no infinite numbers, and 1 − 10⁻¹⁶ is not 1.
#[test]
fn receipts_of_extreme_numbers_hold_and_nothing_finite_passes_for_infinite() {
    let scratch = Scratch::new();
    let next_to_one = 1.0_f64.next_down();
    let run = |set: &str| {
        let run = scratch.undertone(&format!("run sims/sim.toml --out out --quiet {set}"));
        assert_eq!(run.code, Some(0), "{set}: {}", run.stderr);
        let (code, stdout, stderr) = checked(&scratch);
        assert_eq!(code, Some(0), "{set}: {stdout}{stderr}");
    };
    run(&format!("--set privacy.delta={next_to_one}"));
    run(&format!(
        "--set algorithm.kind=deflation --set algorithm.eigenvalue_share={next_to_one}"
    ));
    run(&format!(
        "--set algorithm.kind=clipped-power --set algorithm.clip=histogram --set algorithm.clip_share={next_to_one} --set privacy.adjacency=user --set privacy.sensitivity=unit-row"
    ));
    run(&format!(
        "--set algorithm={{kind=\"auto\",rank=2}} --set pilot.share={next_to_one}"
    ));
    run("--set noise.scheme=ring --set privacy.epsilon=1e16 --set averaging={scheme=\"tree\"}");
    // Beyond the coalition that was asked for the sampler certifies no ε.
    let mut forged: Value =
        serde_json::from_slice(&scratch.read("out/receipt.json")).expect("JSON");
    let views = forged["guarantee"]["noise"]["views"]
        .as_array_mut()
        .expect("a list")
        .iter_mut();
    let open = views
        .map(|view| &mut view["epsilon"])
        .find(|epsilon| epsilon.is_null());
    *open.expect("an infinite epsilon") = 60.into();
    scratch.write("out/receipt.json", &forged.to_string());
    let (code, stdout, _) = checked(&scratch);
    assert_eq!(code, Some(1), "{stdout}");
    let failed = stdout.lines().find(|line| line.contains("FAIL"));
    assert!(
        failed.is_some_and(|line| line.contains("guarantee.noise.views")),
        "{stdout}"
    );
}
