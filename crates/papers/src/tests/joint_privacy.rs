//! Joint privacy as an identity: what one user changes is covered by noise that makes up for it, and nobody else's predictions move.

use std::sync::Arc;

use super::{
    CompletionMode, FrankWolfe, FrankWolfeParameters, Global, Local, OjaStep, ProjectedGradient,
    StepRule, SvdCompletion, made_again,
};
use crate::algorithm::{
    Algorithm, Completer, Completion, Next, PublicState, RatedRows, SHARES, SpectralRidge,
    contribution,
};
use crate::linalg::{Block, SparseRows, start_block};
use crate::vocabulary::{Label, ReleaseId, Seed};

const ITEMS: usize = 7;
const USERS: usize = 40;

const ROWS: RatedRows = RatedRows {
    slots: USERS,
    radius: 2.0,
    most_ratings: ITEMS,
    user_centred: true,
};

/// Rows of a few directions; user 0's is given.
fn ratings(first: &[(u32, f64)]) -> SparseRows {
    let mut rows = SparseRows::new(ITEMS);
    rows.push_row(first.iter().copied()).expect("ascending");
    for u in 1..USERS as u32 {
        let rated = (0..ITEMS as u32).filter(|i| !(u * 5 + i * i + u * i).is_multiple_of(4));
        let value = |i: u32| {
            let (own, item) = (f64::from(u), f64::from(i));
            (1.3 * own).sin() * (0.7 * item).cos() + 0.6 * (2.1 * own).cos() * (1.9 * item).sin()
        };
        rows.push_row(rated.map(|i| (i, value(i))))
            .expect("ascending");
    }
    rows
}

fn frank_wolfe(local: Local, global: Global) -> FrankWolfe {
    let parameters = FrankWolfeParameters {
        rank: 2,
        iterations: 3,
        rows: ROWS,
        local,
        global,
        mode: CompletionMode::Tight,
    };
    FrankWolfe::new(ITEMS, parameters).expect("valid")
}

/// Every method of completion.
fn methods() -> Vec<Arc<dyn Algorithm>> {
    let ridge = |item_means| {
        let completion = Completion {
            rows: ROWS,
            item_means,
            shares: SHARES,
        };
        SpectralRidge::new(ITEMS, 3, completion).expect("valid")
    };
    let stepping = Local::FrankWolfe {
        nuclear: 6.0,
        step: StepRule::Standard,
    };
    let (inner, step) = (3, OjaStep::Theorem);
    vec![
        Arc::new(ridge(true)),
        Arc::new(ridge(false)),
        Arc::new(frank_wolfe(stepping, Global::Covariance)),
        Arc::new(frank_wolfe(Local::Ridge, Global::Covariance)),
        Arc::new(frank_wolfe(stepping, Global::Power { inner })),
        Arc::new(frank_wolfe(stepping, Global::Oja { inner, step })),
        Arc::new(SvdCompletion::new(ITEMS, 2, ROWS, CompletionMode::Tight).expect("valid")),
        Arc::new(ProjectedGradient::new(ITEMS, 2, 3, ROWS, (6.0, 0.5)).expect("valid")),
    ]
}

/// In whole steps of 2⁻³⁰, as where sums are of integers: sums of such numbers are exact.
fn in_steps(values: &mut [f64]) {
    let step = 2.0_f64.powi(-30);
    values
        .iter_mut()
        .for_each(|x| *x = (*x / step).round() * step);
}

fn predictions(completer: &dyn Completer, rows: &SparseRows) -> Vec<Vec<u64>> {
    let of = |u: usize| {
        let (items, values) = rows.row(u);
        let predicted = completer.complete(items, values);
        predicted.iter().map(|x| x.to_bits()).collect()
    };
    (0..rows.len()).map(of).collect()
}

/// User 0's row changes, and in every release what that changes is added to the noise (the billboard). What is released is then the same to the bit,
/// and so is what any other user predicts; user 0's own predictions are not.
#[test]
fn another_row_and_noise_that_makes_up_for_it_leave_all_others_predictions_alone() {
    for algorithm in methods() {
        let about = format!("{algorithm:?}");
        let worlds = [
            ratings(&[(0, 1.0), (2, -0.7), (5, -0.3)]),
            ratings(&[(1, -2.0), (3, 2.0)]),
        ];
        let start = start_block(&Seed::from_u64(1), ITEMS, algorithm.program().query_columns);
        let mut state = PublicState::new(Arc::new(start.expect("full rank")));
        for (number, release) in (1..).zip(algorithm.program().releases) {
            state.agreed = release.agreement.map(|_| algorithm.statistic(&state));
            if algorithm.next(&state, Some(&release)) != Next::Release(ReleaseId(number)) {
                break;
            }
            let mut noise = vec![0.0; release.values()];
            let key = Seed::from_u64(4).key(Label::Scenario, number, 0);
            key.add_all_normals(1, 0.1, &mut noise);
            in_steps(&mut noise);
            let [here, there] = worlds.each_ref().map(|rows| {
                let history = state.history();
                let mut local = contribution(algorithm.as_ref(), rows, history, release.shape());
                in_steps(local.values_mut());
                local.into_values()
            });
            assert_ne!(here, there, "{about}");
            let released: Vec<f64> = here.iter().zip(&noise).map(|(x, y)| x + y).collect();
            for ((x, y), (sum, noise)) in here.iter().zip(&there).zip(released.iter().zip(&noise)) {
                let other = noise + (x - y);
                assert_eq!((y + other).to_bits(), sum.to_bits(), "{about}");
            }
            let (height, width) = release.shape();
            let sum = Arc::new(Block::from_values(height, width, released));
            let sigmas = vec![0.1; release.blocks.len()];
            state = algorithm.advance(&state, &sum, &sigmas).expect("goes on");
            state.released = number;
        }
        assert!(state.released > 0, "{about}");
        let completer = algorithm.completer(&state).expect("released");
        assert!(completer.parts().directions.columns() > 0, "{about}");
        // A few ratings bear nothing out, so that the own row shows only where they are not asked.
        let mut unchecked = completer.parts();
        unchecked.constants.remove("own check");
        let unchecked = made_again(&unchecked).expect("its own parts");
        for (completer, checked) in [(&completer, true), (&unchecked, false)] {
            let [here, there] = worlds
                .each_ref()
                .map(|rows| predictions(completer.as_ref(), rows));
            assert!(
                checked || here[0] != there[0],
                "{about}: the own row is predicted from"
            );
            assert_eq!(here[1..], there[1..], "{about}");
        }
    }
}
