//! The shape of `summary.json`, schema 1.

use serde_json::Value;

use Kind::{Flag, List, Number, Table, Text};

/// The kinds of JSON values the schema names.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Number,
    Text,
    Flag,
    List,
    Table,
}

fn has_kind(value: &Value, kind: Kind) -> bool {
    match kind {
        Number => value.is_number(),
        Text => value.is_string(),
        Flag => value.is_boolean(),
        List => value.is_array(),
        Table => value.is_object(),
    }
}

/// Checks that `table` has these keys with values of these kinds.
pub(super) fn assert_keys(about: &str, table: &Value, keys: &[(&str, Kind)]) {
    for (key, kind) in keys {
        assert!(
            has_kind(&table[*key], *kind),
            "{about}.{key}: {:?} is no {kind:?}",
            table[*key]
        );
    }
}

/// The `topology` table.
pub(super) const TOPOLOGY: [(&str, Kind); 7] = [
    ("nodes", Number),
    ("edges", Number),
    ("min_degree", Number),
    ("max_degree", Number),
    ("connected", Flag),
    ("algebraic_connectivity", Number),
    ("mixing_second_eigenvalue", Number),
];

/// Checks the `privacy` table of a run or a forecast of so many iterations.
pub(super) fn assert_privacy(privacy: &Value, iterations: usize) {
    assert_keys(
        "privacy",
        privacy,
        &[
            ("adjacency", Text),
            ("sensitivity", Text),
            ("calibration", Text),
            ("epsilon", Number),
            ("delta", Number),
            ("noise_multiplier", Number),
            ("iterations", List),
            ("views", List),
        ],
    );
    let noise = privacy["iterations"].as_array().expect("a list");
    assert_eq!(noise.len(), iterations);
    for (l, row) in noise.iter().enumerate() {
        assert_eq!(row["iteration"], l + 1);
        for key in [
            "sensitivity",
            "sigma_central",
            "sigma_own",
            "sigma_independent",
            "sigma_pairwise",
        ] {
            assert!(row[key].as_f64().is_some_and(|x| x > 0.0), "{key}: {row}");
        }
    }
    let views = privacy["views"].as_array().expect("a list");
    let colluders: Vec<_> = views.iter().map(|view| &view["colluders"]).collect();
    assert_eq!(
        colluders,
        [0, 1, 2, 5],
        "up to the coalition to withstand and beyond"
    );
    for (position, view) in views.iter().enumerate() {
        let keys = [
            ("view", Text),
            ("colluders", Number),
            ("mu", Number),
            ("epsilon", Number),
        ];
        assert_keys("view", view, &keys);
        assert_keys(
            "view",
            view,
            &[
                ("gap_to_central", Number),
                ("gap_colluders", Number),
                ("gap_finite", Number),
                ("certificate", Text),
            ],
        );
        // Only the first two are promised.
        let within = view["epsilon"].as_f64() <= privacy["epsilon"].as_f64();
        assert!(within || position > 1, "{view}");
    }
}
