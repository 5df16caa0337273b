//! A private mean before other algorithms: one release more, on every engine.

use std::sync::Arc;

use undertone::algorithm::{
    Algorithm, Centred, IsometricCovariance, Krylov, LocalData, PowerMethod, Prelude,
};
use undertone::linalg::SparseRows;
use undertone::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use undertone::protocol::averaging::AveragingKind;

use super::{ITEMS, PEERS, Setting, conforms, local};

/// Three dense rows per peer; a slot of peer 4 is empty.
fn samples() -> Vec<LocalData> {
    local(
        (0..PEERS as u32)
            .map(|u| {
                let mut rows = SparseRows::new(ITEMS);
                for k in 0..3_u32 {
                    let entry = |i: u32| 0.3 + 0.2 * f64::from((u * 5 + k * 3 + i * i + u * i) % 7);
                    let entries = (0..ITEMS as u32).map(|i| (i, entry(i)));
                    let filled = (u, k) != (4, 1);
                    rows.push_row(entries.filter(|_| filled))
                        .expect("ascending");
                }
                rows
            })
            .collect(),
    )
}

#[test]
fn all_engines_give_equal_bits() {
    let isometric = IsometricCovariance::new(ITEMS, 2).expect("valid");
    let power = PowerMethod::new(ITEMS, 2, 2).expect("valid");
    let krylov = Krylov::new(ITEMS, 2, 3, 2).expect("valid");
    let all: [(Arc<dyn Algorithm>, bool); 3] = [
        (Arc::new(isometric), true),
        (Arc::new(power), false),
        (Arc::new(krylov), true),
    ];
    for (inner, unit_box) in all {
        let prelude = Prelude {
            slots: 3 * PEERS,
            raw_clip: 1.8,
            radius: 0.9,
            unit_box,
            share: 0.2,
        };
        let centred = Centred::new(inner, prelude).expect("may follow a mean");
        let algorithm: Arc<dyn Algorithm> = Arc::new(centred);
        let setting = Setting {
            sensitivity: SensitivitySpec::new(Adjacency::User, SensitivityRule::UnitRow, 1, None),
            averaging: AveragingKind::Tree,
            sigmas: [0.1, 2.0, 0.0],
        };
        conforms(&setting, &algorithm, &samples());
    }
}
