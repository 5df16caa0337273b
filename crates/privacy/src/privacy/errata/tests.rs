//! Computes every number on the errata page and compares.

mod budgets;
mod completion;
mod laplace;
mod networks;
mod power_iterations;
mod random_blocks;
mod sensitivities;

use super::page::printed;

/// All numbers of the page by key.
fn computed() -> Vec<(&'static str, f64)> {
    let mut all = budgets::numbers();
    all.extend(sensitivities::numbers());
    all.extend(completion::numbers());
    all.extend(networks::numbers());
    all.extend(random_blocks::numbers());
    all.extend(laplace::numbers());
    all.extend(power_iterations::numbers());
    all
}

#[test]
fn the_page_prints_what_is_computed() {
    let page = printed(include_str!("../errata.md"));
    let computed = computed();
    for row in &page {
        let matches: Vec<f64> = computed
            .iter()
            .filter(|(key, _)| *key == row.key)
            .map(|(_, value)| *value)
            .collect();
        assert_eq!(matches.len(), 1, "{} is computed once", row.key);
        assert!(
            (matches[0] - row.value).abs() <= row.tolerance,
            "{}: the page says {}, computed is {:e}",
            row.key,
            row.text,
            matches[0]
        );
    }
    for (key, value) in &computed {
        let rows = page.iter().filter(|row| row.key == *key).count();
        assert_eq!(rows, 1, "{key} = {value:e} is on the page once");
    }
}
