//! `algorithm.kind = "auto"` and `advise --pilot`: what is chosen is run, promised, verified and audited together with its pilot.

use serde_json::Value;

use crate::support::scratch::Scratch;

/// A choice after a pilot, in sims/sim.toml.
const OPEN: &str = "--set algorithm={kind=\"auto\",rank=2} --set pilot.share=0.1 --set averaging={scheme=\"tree\"}";

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("JSON")
}

/// The name of the candidate that `src/guide/algorithms.md` says is advised, from the numbers of the file alone.
fn chosen_by_the_file(advice: &Value) -> Value {
    let candidates = advice["candidates"].as_array().expect("a list").iter();
    let errors = |one: &Value| -> Vec<f64> {
        let listed = one["predicted_by_stand_in"].as_array().expect("a list");
        listed
            .iter()
            .map(|x| x.as_f64().expect("a number"))
            .collect()
    };
    let compared: Vec<(&Value, Vec<f64>)> = candidates
        .map(|one| (one, errors(one)))
        .filter(|(_, errors)| !errors.is_empty())
        .collect();
    assert!(compared.len() > 1, "something to choose from");
    let stand_ins = compared[0].1.len();
    let best: Vec<f64> = (0..stand_ins)
        .map(|at| {
            let all = compared.iter().map(|(_, errors)| errors[at]);
            all.fold(f64::INFINITY, f64::min)
        })
        .collect();
    let score = |errors: &[f64]| {
        let ratios = errors.iter().zip(&best).map(|(error, best)| error / best);
        let ratios: Vec<f64> = ratios.collect();
        let largest = ratios.iter().copied().fold(0.0, f64::max);
        let mean = ratios.iter().map(|x| x.ln()).sum::<f64>() / stand_ins as f64;
        (largest * mean.exp()).sqrt()
    };
    let order = |one: &Value| {
        let numbers = [&one["algorithm"]["iterations"], &one["bytes_max_peer"]];
        numbers.map(|x| x.as_u64().expect("a count"))
    };
    // Schemes that run one algorithm have the same errors, up to the last digits that a file keeps.
    let least = compared.iter().map(|(_, errors)| score(errors));
    let least = least.fold(f64::INFINITY, f64::min) * (1.0 + 1e-12);
    let equal = compared.iter().filter(|(_, errors)| score(errors) <= least);
    let chosen = equal.min_by_key(|(one, _)| order(one));
    chosen.expect("a candidate").0["name"].clone()
}

#[test]
fn a_run_that_was_chosen_writes_and_prints_its_pilot_and_can_be_made_again() {
    let scratch = Scratch::new();
    let run = scratch.undertone(&format!("run sims/sim.toml --out out --verbose {OPEN}"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for words in [
        "chosen by a pilot: ",
        "pilot: 10",
        "chosen (advise ",
        "PASS",
    ] {
        let checked = scratch.undertone("privacy check out/receipt.json");
        assert_eq!(checked.code, Some(0), "{}", checked.stdout);
        let text = format!("{}{}", run.stdout, checked.stdout);
        assert!(text.contains(words), "{words}: {text}");
    }
    let (receipt, summary) = (
        json(&scratch.read("out/receipt.json")),
        json(&scratch.read("out/summary.json")),
    );
    assert_eq!(receipt["pilot"], summary["pilot"]);
    assert_eq!(receipt["choice"], summary["choice"]);
    assert_eq!(receipt["pilot"]["part"], 0.1);
    assert_eq!(receipt["promise"]["part"], 0.9);
    assert_eq!(
        receipt["pilot"]["counts"].as_array().map(Vec::len),
        Some(16)
    );
    let shares = receipt["pilot"]["shares"].as_array().map(Vec::len);
    assert_eq!(
        shares,
        receipt["program"]["items"].as_u64().map(|n| n as usize)
    );
    let advice = json(&scratch.read("out/advice.json"));
    assert_eq!(advice["recommended"]["name"], receipt["choice"]["chosen"]);
    assert_eq!(
        receipt["program"]["name"],
        advice["recommended"]["algorithm"]["kind"]
    );
    assert_eq!(chosen_by_the_file(&advice), receipt["choice"]["chosen"]);
    let page = String::from_utf8(scratch.read("out/report.html")).expect("text");
    let name = receipt["choice"]["chosen"].as_str().expect("a name");
    let section = page
        .split("Pilot and choice")
        .nth(1)
        .expect("a section of the pilot");
    for words in ["10 % of", "nearest that could be true", "pilot alone", name] {
        assert!(section.contains(words), "{words}");
    }
    // From any folder: pilot, choice and run to the bit.
    let again = scratch.undertone("run out/config.toml --out again --quiet");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(
        scratch.read("again/basis.npy"),
        scratch.read("out/basis.npy")
    );
    let receipt_again = json(&scratch.read("again/receipt.json"));
    assert_eq!(receipt_again["pilot"], receipt["pilot"]);
    // A file that names its algorithm leaves no advice of an earlier run behind.
    let named = scratch.undertone("run sims/sim.toml --out out --quiet");
    assert_eq!(named.code, Some(0), "{}", named.stderr);
    assert!(!scratch.path("out/advice.json").exists());
    let page = String::from_utf8(scratch.read("out/report.html")).expect("text");
    assert!(!page.contains("Pilot and choice"));
    // What the table of fields says is on trust is not found.
    let mut believed = receipt.clone();
    believed["pilot"]["counts"][0] = 1.5.into();
    believed["pilot"]["bytes_max_peer"] = 1.into();
    believed["choice"]["chosen"] = "else".into();
    believed["choice"]["rule"] = "else".into();
    scratch.write("out/receipt.json", &believed.to_string());
    let checked = scratch.undertone("privacy check out/receipt.json");
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
    // Less noise in the pilot's part of the receipt than was planned.
    let mut forged = receipt;
    let own = &mut forged["pilot"]["guarantee"]["noise"]["sigma_own"];
    *own = (own.as_f64().expect("a number") / 2.0).into();
    scratch.write("out/receipt.json", &forged.to_string());
    let checked = scratch.undertone("privacy check out/receipt.json");
    assert_eq!(checked.code, Some(1), "{}", checked.stdout);
    assert!(
        checked
            .stdout
            .contains("FAIL  pilot.guarantee.noise.sigma_own"),
        "{}",
        checked.stdout
    );
}

#[test]
fn verify_and_audit_look_at_both_sessions() {
    let scratch = Scratch::new();
    let verified = scratch.undertone(&format!("verify sims/sim.toml --runs 8 --json {OPEN}"));
    assert_eq!(
        verified.code,
        Some(0),
        "{}{}",
        verified.stdout,
        verified.stderr
    );
    let table = json(verified.stdout.as_bytes());
    let named = |what: &str| {
        let checks = table["checks"].as_array().expect("a list").iter();
        checks
            .filter(|check| {
                check["name"]
                    .as_str()
                    .is_some_and(|name| name.contains(what))
            })
            .count()
    };
    assert!(named("pilot: epsilon against") > 0 && named("pilot: ") > 8);
    assert_eq!(named("of the noise of the pilot and of the run"), 1);
    assert_eq!(named("streams of noise that the pilot"), 1);
    let audited = scratch.undertone(&format!("audit sims/sim.toml --trials 300 --json {OPEN}"));
    assert_eq!(
        audited.code,
        Some(0),
        "{}{}",
        audited.stdout,
        audited.stderr
    );
    let both = json(audited.stdout.as_bytes());
    let certified = |which: &str| both[which]["certified_mu"].as_f64().expect("a number");
    // A tenth of μ² and nine: the certificates against an outsider differ by little more than that.
    let ratio = (certified("run") / certified("pilot")).powi(2);
    assert!((8.9..9.1).contains(&ratio), "{ratio}");
}

#[test]
fn advice_after_a_pilot_prints_a_command_that_makes_the_same_pilot() {
    let scratch = Scratch::new();
    let advise = "advise sims/sim.toml --pilot 0.2 --bytes 1000000 --json";
    let advised = scratch.undertone(advise);
    assert_eq!(advised.code, Some(0), "{}", advised.stderr);
    let document = json(advised.stdout.as_bytes());
    let counts = &document["pilot"]["counts"];
    assert_eq!(counts.as_array().map(Vec::len), Some(16));
    let command = document["command"].as_str().expect("a command");
    for words in ["kind = \"auto\"", "share = 0.2", "bytes = 1000000"] {
        assert!(command.contains(words), "{words}: {command}");
    }
    let run = scratch.undertone(
        "run sims/sim.toml --out out --quiet --set algorithm={kind=\"auto\",rank=3} --set pilot={share=0.2,bytes=1000000}",
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let receipt = json(&scratch.read("out/receipt.json"));
    assert_eq!(&receipt["pilot"]["counts"], counts);
    assert_eq!(receipt["choice"]["chosen"], document["recommended"]["name"]);
}

#[test]
fn what_a_choice_does_not_go_with_is_refused_in_words() {
    let scratch = Scratch::new();
    for (set, words) in [
        ("--set pilot.share=0.05", "algorithm.kind = \"auto\""),
        ("--set algorithm.kind=auto", "[algorithm] iterations"),
        (
            "--set algorithm={kind=\"auto\",rank=2} --set pilot.share=1.5",
            "[pilot] share = 1.5",
        ),
        (
            "--set algorithm={kind=\"auto\",rank=2} --set privacy.adjacency=matrix",
            "how many users have how many interactions",
        ),
        (
            "--set algorithm={kind=\"auto\",rank=2} --set noise.scheme=ring --set averaging={scheme=\"tree\"}",
            "noise.scheme = \"ring\"",
        ),
        ("--set algorithm={kind=\"power\",rank=2}", "iterations"),
        (
            "--set algorithm={kind=\"auto\",rank=2} --set recommender.method=auto",
            "algorithm.kind = \"auto\" with [recommender]",
        ),
        (
            "--set algorithm={kind=\"auto\",rank=2,precondition=\"items\"}",
            "algorithm.kind = \"auto\" with algorithm.precondition",
        ),
        (
            "--set algorithm={kind=\"auto\",rank=2} --set peers={count=9,partition=\"hashed\"}",
            "keeps the number of users private",
        ),
    ] {
        let refused = scratch.undertone(&format!("run sims/sim.toml --out out {set}"));
        assert_eq!(refused.code, Some(2), "{set}: {}", refused.stdout);
        assert!(refused.stderr.contains(words), "{set}: {}", refused.stderr);
    }
    // Advice alone would drop what the file asks for.
    for (set, words) in [
        ("--set algorithm.precondition=items", "P A P"),
        (
            "--set peers={count=9,partition=\"hashed\"}",
            "depends on the number of users",
        ),
        (
            "--set algorithm={kind=\"isometric-covariance\",rank=2,iterations=1} --set recommender.method=auto --set recommender.items=10",
            "[recommender]",
        ),
    ] {
        let refused = scratch.undertone(&format!("advise sims/sim.toml {set}"));
        assert_eq!(refused.code, Some(2), "{set}: {}", refused.stdout);
        assert!(refused.stderr.contains(words), "{set}: {}", refused.stderr);
    }
}

/// The pilot's cost, what is left, and both, before anything runs.
#[test]
fn privacy_of_a_run_that_is_still_to_be_chosen_is_that_of_both_parts() {
    let scratch = Scratch::new();
    let planned = scratch.undertone(&format!("privacy sims/sim.toml --json {OPEN}"));
    assert_eq!(planned.code, Some(0), "{}", planned.stderr);
    let document = json(planned.stdout.as_bytes());
    let pilot = &document["privacy"]["pilot"];
    assert_eq!(pilot["share"], 0.1);
    let costs = pilot["costs"].as_array().expect("a list");
    let promised = costs.iter().find(|cost| cost["colluders"] == 1);
    let promised = promised.expect("the view promised");
    let number = |part: &str, what: &str| promised[part][what].as_f64().expect("a number");
    assert!(number("both", "epsilon") <= 2.0 + 1e-9 && number("both", "epsilon") > 1.9);
    let squares = number("pilot", "mu").powi(2) + number("rest", "mu").powi(2);
    assert!((squares / number("both", "mu").powi(2) - 1.0).abs() < 1e-12);
    let part = (number("pilot", "mu") / number("both", "mu")).powi(2);
    assert!((part - 0.1).abs() < 1e-9, "{part}");
    // What is said to the reader, with a pilot and without.
    let text = scratch.undertone(&format!("privacy sims/sim.toml {OPEN}"));
    assert!(
        text.stdout.contains("a pilot spends 10.00 % of mu^2"),
        "{}",
        text.stdout
    );
    assert!(text.stdout.contains("both: mu"), "{}", text.stdout);
    let none = "privacy sims/sim.toml --set algorithm={kind=\"auto\",rank=2} --set pilot.share=0";
    let none = scratch.undertone(none);
    assert_eq!(none.code, Some(0), "{}", none.stderr);
    assert!(
        none.stdout.contains("spends the whole budget"),
        "{}",
        none.stdout
    );
    // A file that names its algorithm has no such table.
    let named = scratch.undertone("privacy sims/sim.toml --json");
    assert!(json(named.stdout.as_bytes())["privacy"]["pilot"].is_null());
}
