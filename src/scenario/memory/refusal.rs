//! Refuses what needs more memory than the machine has free, and says what would fit.

use super::plan::MemoryPlan;
use crate::config::EngineKind;
use crate::plan::Plan;
use crate::scenario::error::ExperimentError;
use crate::scenario::experiment::Experiment;
use crate::vocabulary::Quantity;

/// Engines to propose to who has too little memory for lockstep, most faithful first.
const LIGHTER: &[&str] = &["analytic", "federated", "central"];

/// Refuses a run that needs more memory than the machine has free, where the system tells.
///
/// # What it may depend on
/// The number of interactions is private: two neighbours differ in it, and a refusal at a threshold would tell them
/// apart with certainty. The interactions are in memory already when this is asked, so the question left is whether the
/// *rest* fits, and the rest is a function of public sizes ([`MemoryPlan::public`]). What the interactions take is
/// counted as free again, so that the verdict and the text of a refusal are functions of public sizes and of the
/// memory the machine had before it read them.
///
/// The price: a machine that the interactions all but fill may be told to go on, and then run out. How much memory
/// a machine has left, like how long it takes, is measured and moves with everything on it; that is a side channel to
/// who shares the machine, before anything is released, and no part of the transcript that ε is about.
pub(crate) fn check(experiment: &Experiment) -> Result<(), ExperimentError> {
    check_free(experiment, &MemoryPlan::of(experiment))
}

/// The same for an audit.
pub(crate) fn check_audit(experiment: &Experiment) -> Result<(), ExperimentError> {
    check_free(experiment, &MemoryPlan::of_audit(experiment))
}

/// Refuses a session whose part at one member needs more than `limit` bytes: a function of the session file, before anything of these sizes is made.
pub(in crate::scenario) fn check_member(session: &Plan, limit: u64) -> Result<(), ExperimentError> {
    within(&MemoryPlan::of_member(session), limit)
}

/// Refuses a session over so many columns, before there is a plan of it.
pub(in crate::scenario) fn check_columns(
    columns: usize,
    limit: u64,
) -> Result<(), ExperimentError> {
    within(&MemoryPlan::of_columns(columns), limit)
}

fn within(plan: &MemoryPlan, limit: u64) -> Result<(), ExperimentError> {
    let needed = plan.total();
    if needed <= limit {
        return Ok(());
    }
    Err(ExperimentError::MemberMemory {
        needed: needed.div_ceil(1 << 20),
        limit: limit >> 20,
        largest: plan.largest(),
    })
}

fn check_free(experiment: &Experiment, plan: &MemoryPlan) -> Result<(), ExperimentError> {
    let before = |free: u64| free.saturating_add(plan.private);
    free_bytes().map_or(Ok(()), |free| check_against(experiment, plan, before(free)))
}

/// The same for a verification on an engine whose peers publish.
pub(crate) fn check_verify(experiment: &Experiment) -> Result<(), ExperimentError> {
    check_free(experiment, &MemoryPlan::of_verify(experiment))
}

/// Refuses what needs more than `free` bytes by the public parts of this plan.
fn check_against(
    experiment: &Experiment,
    plan: &MemoryPlan,
    free: u64,
) -> Result<(), ExperimentError> {
    let needed = plan.public();
    if needed <= free {
        return Ok(());
    }
    let (peers, items) = (
        experiment.topology().graph().nodes(),
        experiment.user_rows.dimension(),
    );
    let rank = experiment.config.algorithm.table().rank();
    Err(ExperimentError::Memory {
        needed: needed >> 20,
        largest: plan.largest(),
        free: free >> 20,
        peers,
        items,
        rank,
        advice: advice(experiment, (peers, items, rank), plan.share(free)),
    })
}

/// What would fit when there is room for `share` of the blocks. All other parts grow with none of the three
/// sizes more than the blocks do, so that they are no worse at what is proposed.
fn advice(
    experiment: &Experiment,
    (peers, items, rank): (usize, usize, usize),
    share: f64,
) -> String {
    let fits = |size: usize, share: f64| (size as f64 * share) as usize;
    let mut ways = Vec::new();
    let table = experiment.config.algorithm.table();
    let block = Some(table.query_columns()).filter(|block| *block > table.rank());
    let product = experiment.sensitivity.quantity() == Quantity::Product;
    // A triangle grows with the square of the items and knows no rank.
    let fewer_items = fits(items, if product { share } else { share.sqrt() });
    if fewer_items > rank {
        ways.push(format!("data.items = {fewer_items}"));
    }
    match block {
        Some(block) if fits(block, share) >= rank => {
            ways.push(format!("algorithm.block = {}", fits(block, share)));
        }
        None if product && fits(rank, share) > 0 => {
            ways.push(format!("algorithm.rank = {}", fits(rank, share)));
        }
        _ => {}
    }
    let engine = experiment.config.engine.kind;
    let block_per_peer = !engine.reveals_only_sums() && engine != EngineKind::Analytic;
    if block_per_peer && fits(peers, share) > 1 {
        ways.push(format!("peers.count = {}", fits(peers, share)));
    }
    if !engine.reveals_only_sums() {
        let other = |kind: &&&str| **kind != "analytic" || (product && block_per_peer);
        let lighter = LIGHTER.iter().filter(other);
        ways.extend(lighter.map(|kind| format!("engine.kind = {kind:?}")));
    }
    if ways.is_empty() {
        return "no smaller size of this experiment fits".to_owned();
    }
    format!("about this would fit: {}", ways.join(", or "))
}

/// Memory the system could give, from Linux's memory information; `None` elsewhere.
pub(crate) fn free_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_numbers_and_sizes_that_would_fit() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/power.toml");
        let load = |set: &[String]| Experiment::load(&path, set).expect("valid");
        let experiment = load(&["data.items=2000".to_owned(), "algorithm.rank=16".to_owned()]);
        let needed = MemoryPlan::of(&experiment).public();
        assert!(needed > 610 * 32_000 * 8, "the state alone");
        let plan = MemoryPlan::of(&experiment);
        check_against(&experiment, &plan, needed).expect("just enough");
        let error = check_against(&experiment, &plan, needed / 2).expect_err("half");
        let text = error.to_string();
        for part in [
            "610 peers x 2000 items x rank 16",
            "data.items = ",
            "algorithm.rank = ",
            "engine.kind = \"federated\"",
            "the state of all peers 148 MiB",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let proposed = text
            .split("data.items = ")
            .nth(1)
            .and_then(|t| t.split(',').next());
        let proposed = format!("data.items={}", proposed.expect("a number"));
        let smaller = load(&[proposed, "algorithm.rank=16".to_owned()]);
        let plan = MemoryPlan::of(&smaller);
        check_against(&smaller, &plan, needed / 2).expect("what was proposed fits");
    }

    fn loaded(set: &[&str]) -> Experiment {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/power.toml");
        let set: Vec<String> = set.iter().map(|&key| key.to_owned()).collect();
        Experiment::load(&path, &set).expect("valid")
    }

    #[test]
    fn how_many_interactions_there_are_decides_no_refusal() {
        let (all, few) = (loaded(&[]), loaded(&["data.threshold=4"]));
        assert!(few.user_rows.entries() < all.user_rows.entries());
        let (plan, other) = (MemoryPlan::of(&all), MemoryPlan::of(&few));
        assert!(other.total() < plan.total(), "the prediction counts them");
        assert_eq!(plan.public(), other.public());
        let free = plan.public() / 2;
        let refused = |experiment: &Experiment, plan: &MemoryPlan| {
            let error = check_against(experiment, plan, free).expect_err("half");
            error.to_string()
        };
        assert_eq!(refused(&all, &plan), refused(&few, &other), "to the word");
    }

    #[test]
    fn a_refusal_proposes_only_what_can_help() {
        let proposals = |set: &[&str]| {
            let experiment = loaded(set);
            let plan = MemoryPlan::of(&experiment);
            let free = plan.public() - plan.growing / 2;
            let error = check_against(&experiment, &plan, free).expect_err("too little");
            error.to_string()
        };
        let covariance = ["algorithm.kind=covariance", "algorithm.iterations=1"];
        let text = proposals(&covariance);
        assert!(
            !text.contains("analytic") && !text.contains("algorithm.rank = "),
            "{text}"
        );
        let items = loaded(&covariance).user_rows.dimension() as f64 * 0.5_f64.sqrt();
        assert!(
            text.contains(&format!("data.items = {}", items as usize)),
            "{text}"
        );
        let text = proposals(&["algorithm.kind=krylov", "algorithm.block=40"]);
        assert!(
            text.contains("algorithm.block = 20") && !text.contains("algorithm.rank = "),
            "{text}"
        );
        let text = proposals(&["engine.kind=analytic"]);
        assert!(
            !text.contains("\"analytic\"") && !text.contains("peers.count = "),
            "{text}"
        );
        assert!(text.contains("engine.kind = \"federated\""), "{text}");
    }
}
