//! One broken field of each group that a receipt has.

use serde_json::{Value, json};

/// A group, the path that a finding must name, and the receipt with one field of the group changed.
pub(super) type Broken = (&'static str, &'static str, Value);

/// What is done to a receipt; nothing where it has no such field.
type Change = fn(&mut Value) -> Option<()>;

/// Multiplies a number.
fn scale(receipt: &mut Value, path: &str, factor: f64) -> Option<()> {
    let leaf = receipt.pointer_mut(path)?;
    let number = leaf.as_f64().filter(|number| *number != 0.0)?;
    *leaf = (number * factor).into();
    Some(())
}

/// A group, the path that a finding must name, and the change.
const CHANGES: [(&str, &str, Change); 32] = [
    ("runner", "runner", |r| {
        let covers = r.pointer("/promise/seen")? == "everything";
        (!covers).then(|| r["runner"] = "lockstep".into())
    }),
    ("program", "releases: as many", |r| {
        // One that may end before its last release may also have had fewer.
        let first = r.pointer("/program/releases/0/first")?;
        let may_end = first.get("may_end_before").is_some();
        let several = r["program"]["releases"].as_array()?.len() > 1;
        (!may_end && !several).then_some(())?;
        let count = r.pointer("/releases")?.as_array()?.len() as u64;
        r["program"]["releases"][0]["count"] = (count + 1).into();
        r["program"]["releases"][0]["first"]["may_end_before"] = false.into();
        // A budget of weights has one for each.
        r["promise"]["split"].is_string().then_some(())
    }),
    ("program", "guarantee", |r| {
        let search = r.pointer_mut("/program/search/share")?;
        *search = 0.02.into();
        Some(())
    }),
    ("program", "program.search.epsilon", |r| {
        scale(r, "/program/search/epsilon", 0.5)
    }),
    ("program", "guarantee", |r| {
        scale(r, "/program/prelude/share", 0.5)
    }),
    ("promise", "guarantee", |r| {
        scale(r, "/promise/epsilon", 0.5)
    }),
    ("promise", "guarantee", |r| scale(r, "/promise/delta", 0.5)),
    ("promise", "guarantee.calibrated", |r| {
        let pure = ["/promise/noise/laplace", "/promise/noise/wishart"];
        let gaussian = pure.iter().all(|law| r.pointer(law).is_none());
        // Those of searches are composed from a loss distribution of their own.
        let searches = r.pointer("/program/search").is_some();
        (gaussian && !searches).then(|| r["promise"]["calibration"] = "zcdp".into())
    }),
    ("promise", "promise.split", |r| {
        // Releases with shares of their own, or of batches, take no weights.
        let first = r.pointer("/program/releases/0/first")?.clone();
        let runs = r.pointer("/program/releases")?.as_array()?;
        let share = |run: &Value| run["first"]["share"].as_f64();
        let uneven = runs.iter().any(|run| share(run) != first["share"].as_f64());
        let after_mean = r.pointer("/program/prelude").is_some();
        (uneven && !after_mean && r["promise"]["split"] == "even").then_some(())?;
        let count: u64 = runs.iter().filter_map(|run| run["count"].as_u64()).sum();
        r["promise"]["split"] = vec![1.0; count as usize].into();
        Some(())
    }),
    ("promise", "statement", |r| {
        let asked = r.pointer_mut("/promise/participants")?;
        *asked = (asked.as_u64()? + 1).into();
        Some(())
    }),
    ("partners", "partners.hash", |r| {
        r["partners"]["hash"] = "0".repeat(64).into();
        Some(())
    }),
    ("partners", "guarantee.noise.ring", |r| {
        let rows = r.pointer_mut("/partners/most_rows")?;
        *rows = (rows.as_u64()? * 4).into();
        Some(())
    }),
    ("guarantee", "guarantee.noise.sigma_sum", |r| {
        scale(r, "/guarantee/noise/sigma_sum", 1.0 - 1e-5)
    }),
    ("guarantee", "guarantee.noise.views[0].mu", |r| {
        scale(r, "/guarantee/noise/views/0/mu", 0.99)
    }),
    ("guarantee", "guarantee.calibrated.z", |r| {
        scale(r, "/guarantee/calibrated/z", 1.01)
    }),
    ("guarantee", "guarantee.charge", |r| {
        let charge = &mut r["guarantee"]["charge"];
        *charge = (charge.as_u64()? + 1).into();
        Some(())
    }),
    ("guarantee", "guarantee.extra", |r| {
        r["guarantee"]["extra"] = 1.into();
        Some(())
    }),
    ("releases", "releases[0].sensitivity", |r| {
        scale(r, "/releases/0/sensitivity", 0.99)
    }),
    ("releases", "releases[0].noise_factor", |r| {
        scale(r, "/releases/0/noise_factor", 0.99)
    }),
    ("releases", "releases[0].statistic", |r| {
        r["releases"][0]["statistic"] = (-1.0).into();
        // Any number can be agreed on for some.
        let first = r.pointer("/program/releases/0/first")?;
        first.get("agreement").is_none().then_some(())
    }),
    ("statement", "statement", |r| {
        r["statement"] = "Nobody can tell anything.".into();
        Some(())
    }),
    ("choice", "what was chosen is stated", |r| {
        r.as_object_mut()?.remove("choice").map(drop)
    }),
    ("pilot", "pilot.guarantee.noise.sigma_own", |r| {
        scale(r, "/pilot/guarantee/noise/sigma_own", 0.9)
    }),
    ("pilot", "pilot.part and promise.part", |r| {
        scale(r, "/pilot/part", 0.5)
    }),
    ("pilot", "a pilot is listed", |r| {
        r.as_object_mut()?.remove("pilot").map(drop)
    }),
    ("realised", "realised.mu", |r| scale(r, "/realised/mu", 0.9)),
    ("realised", "realised.planned_epsilon", |r| {
        scale(r, "/realised/planned_epsilon", 0.9)
    }),
    ("item_list", "item_list.items", |r| {
        let items = r.pointer_mut("/item_list/items")?;
        *items = (items.as_u64()? + 1).into();
        Some(())
    }),
    ("preconditioning", "preconditioning is stated", |r| {
        r.as_object_mut()?.remove("preconditioning").map(drop)
    }),
    ("assumed", "assumptions[", |r| {
        let facts = r["assumed"].as_object_mut()?;
        let popular = facts["start"] == "popularity";
        let start = if popular { "random" } else { "popularity" };
        facts.insert("start".to_owned(), start.into());
        Some(())
    }),
    ("assumptions", "assumptions[0]", |r| {
        r["assumptions"][0] = "nothing".into();
        Some(())
    }),
    ("assumptions", "assumptions[", |r| {
        let more = json!("the moon is public");
        r["assumptions"].as_array_mut()?.push(more);
        Some(())
    }),
];

/// The receipt with one field of each of its groups changed.
pub(super) fn broken(receipt: &Value) -> Vec<Broken> {
    let change = |(group, path, change): &(&'static str, &'static str, Change)| {
        let mut changed = receipt.clone();
        change(&mut changed).map(|()| (*group, *path, changed))
    };
    CHANGES.iter().filter_map(change).collect()
}
