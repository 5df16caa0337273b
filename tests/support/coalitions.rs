//! What a colluder learns on a ring of eight, by dense inverses: no code in common with the accountant.

use nalgebra::DMatrix;
use undertone::scenario::Experiment;

/// The largest [Σ_H⁻¹]_uu on a ring of eight with one colluder, per unit sensitivity.
fn worst_of_a_ring(experiment: &Experiment) -> f64 {
    let noise = experiment.noise();
    let (own, pairwise) = (noise.sigma_own().powi(2), noise.sigma_pairwise().powi(2));
    let near = |u: usize, v: usize| (u + 1) % 8 == v || (v + 1) % 8 == u;
    let mut worst = 0.0_f64;
    for colluder in 0..8 {
        let honest: Vec<usize> = (0..8).filter(|u| *u != colluder).collect();
        let covariance = DMatrix::from_fn(7, 7, |i, j| {
            let (u, v) = (honest[i], honest[j]);
            let partners = honest.iter().filter(|w| near(u, **w)).count() as f64;
            match () {
                () if u == v => own + pairwise * partners,
                () if near(u, v) => -pairwise,
                () => 0.0,
            }
        });
        let inverse = covariance.try_inverse().expect("own noise everywhere");
        worst = inverse.diagonal().iter().copied().fold(worst, f64::max);
    }
    worst
}

/// Of an experiment on a ring of eight: what is stated against one colluder is what the worst of them learns, and no less.
pub(crate) fn assert_stated_as_on_a_ring(experiment: &Experiment, about: &str) {
    let exact = (worst_of_a_ring(experiment) * experiment.even_iterations()).sqrt();
    let views = experiment.noise().views();
    let view = views.iter().find(|view| view.colluders == 1);
    let stated = view.expect("planned against one").mu;
    assert!(exact <= stated * (1.0 + 1e-9), "{about}: {exact} {stated}");
    assert!(exact > 0.99 * stated, "{about}: {exact} {stated}");
}
