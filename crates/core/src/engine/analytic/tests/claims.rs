//! D, its factor, weighted sums and the claim on what one public state costs, against dense matrices.

use super::*;

/// s·p_K(W) − 11ᵀ from the eigenvalues of W, each p_K(λ) by the scalar recurrence: as accurate as it is small.
fn dense_deviation(session: &Session) -> DMatrix<f64> {
    let peers = session.peers();
    let mut w = DMatrix::zeros(peers, peers);
    for u in 0..peers {
        w[(u, u)] = session.mixing().self_weight(u);
        let weights = session.mixing().neighbour_weights(u);
        for (&v, weight) in session.graph().neighbours(u).iter().zip(weights) {
            w[(u, v as usize)] = *weight;
        }
    }
    let eigen = w.symmetric_eigen();
    let mut deviation = DMatrix::zeros(peers, peers);
    for (k, &lambda) in eigen.eigenvalues.iter().enumerate() {
        if lambda > 1.0 - 1e-9 {
            continue;
        }
        let (mut before, mut now) = (1.0, 1.0);
        for c in schedule_of(session) {
            let next = (c.mixed * lambda + c.current) * now + c.previous * before;
            before = std::mem::replace(&mut now, next);
        }
        let v = eigen.eigenvectors.column(k);
        deviation += v * v.transpose() * (peers as f64 * now);
    }
    deviation
}

#[test]
fn rows_of_d_equal_dense_matrix_polynomials_however_small_they_are() {
    for (g, graph) in graphs().iter().enumerate() {
        for kind in AveragingKind::recurrences() {
            for rounds in [1, 3, 40, 250] {
                let case = session(graph, None, kind, (1, rounds), (0.1, 1.0));
                let dense = dense_deviation(&case);
                let every: Vec<PeerIndex> = (0..12).map(PeerIndex).collect();
                let found = deviation::rows(&case, case.schedule(), &every);
                let largest = dense.abs().max();
                // One linear round on the complete graph averages exactly: both sides are rounding.
                let exact = g == 1 && kind == AveragingKind::Linear;
                let tolerance = if exact { 1e-13 } else { 1e-7 * largest };
                for (u, row) in found.iter().enumerate() {
                    for (v, value) in row.iter().enumerate() {
                        assert!(
                            (value - dense[(u, v)]).abs() <= tolerance,
                            "graph {g}, {kind:?}, {rounds} rounds: D[{u},{v}] = {value:e}, dense {:e}",
                            dense[(u, v)]
                        );
                    }
                    assert!(row.iter().sum::<f64>().abs() <= tolerance);
                }
            }
        }
    }
}

#[test]
fn the_factor_reproduces_covariances_of_any_rank_and_scale() {
    let graph = &graphs()[3];
    let case = session(graph, None, AveragingKind::Chebyshev, (1, 3), (0.1, 1.0));
    let every: Vec<PeerIndex> = (0..12).map(PeerIndex).collect();
    let mut rows = deviation::rows(&case, case.schedule(), &every);
    // All peers as probes: the rows sum to zero. Twice the same probe, a tiny copy, and one that never deviates.
    rows.push(rows[2].clone());
    rows.push(rows[3].iter().map(|v| 1e-12 * v).collect());
    rows.push(vec![0.0; 12]);
    let covariance = covariance(&rows, 0.1, 1.0, graph);
    let factor = factor(&covariance);
    assert_eq!(
        factor.ncols(),
        11,
        "twelve rows of sum zero span eleven dimensions"
    );
    let back = &factor * factor.transpose();
    for i in 0..15 {
        for j in 0..15 {
            let scale = (covariance[(i, i)] * covariance[(j, j)]).sqrt();
            let gap = (back[(i, j)] - covariance[(i, j)]).abs();
            assert!(gap <= 1e-12 * scale, "entry {i}, {j}: {gap:e} of {scale:e}");
        }
    }
    assert_eq!(super::super::law::factor(&DMatrix::zeros(3, 3)).ncols(), 0);
    let dense = dense_deviation(&case);
    let laplacian = DMatrix::from_fn(12, 12, |u, v| {
        if u == v {
            graph.degree(u) as f64
        } else {
            -f64::from(u8::from(graph.has_edge(u as u32, v as u32)))
        }
    });
    let expected = &dense * (DMatrix::identity(12, 12) * 0.01 + laplacian) * dense.transpose();
    let block = covariance.view((0, 0), (12, 12)).into_owned();
    assert!((block - &expected).abs().max() <= 1e-10 * expected.abs().max());
}

#[test]
fn weighted_sums_equal_sums_over_peers() {
    let rows = rows();
    let x = Block::from_values(6, 2, (0..12).map(|i| f64::from(i).sin()).collect());
    let weights: Vec<f64> = (0..12)
        .flat_map(|v| [1.0, f64::from(v).cos(), 1e-9 * f64::from(v)])
        .collect();
    let gathered = Contributions::of(&rows).gather(&x, &weights, 3);
    let parts: Vec<Block> = rows.iter().map(|rows| rows.gram_product(&x)).collect();
    let expected = |k: usize| {
        let mut sum = Block::zeros(6, 2);
        for (part, weights) in parts.iter().zip(weights.chunks_exact(3)) {
            sum.add_scaled(weights[k], part);
        }
        sum
    };
    let found = [
        &gathered.total,
        &gathered.deviations[0],
        &gathered.deviations[1],
    ];
    for (k, found) in found.into_iter().enumerate() {
        let expected = expected(k);
        let mut gap = found.clone();
        gap.add_scaled(-1.0, &expected);
        assert!(gap.norm() <= 1e-14 * expected.norm(), "weight {k}");
    }
    let squares: f64 = parts.iter().map(|part| part.norm().powi(2)).sum();
    assert!((gathered.squares - squares).abs() <= 1e-13 * squares);
}

#[test]
fn the_spectral_bound_is_above_the_largest_eigenvalue_and_near_it() {
    let rows = rows();
    let mut all = SparseRows::new(6);
    rows.iter().for_each(|rows| all.append(rows));
    let largest = top_eigenvectors(&all, 1).expect("converges").values[0];
    let bound = Contributions::of(&rows).spectral_bound();
    assert!(
        bound >= largest && bound < 1.001 * largest,
        "{bound} {largest}"
    );
}

/// In a real run of all peers, what whole estimates of iteration 2 lose by taking everybody's contribution and the
/// statistic of Δ at peer 0's X stays within the claim, and the claim is idle in at most a tenth of the runs. With large
/// noise the change of Δ is most of it: a claim without that term fails.
#[test]
fn taking_contributions_at_one_state_costs_what_is_claimed_at_most() {
    let mut beyond_contributions = 0;
    let mut says_nothing = 0;
    for (graph, rounds, noise) in [
        (&graphs()[0], 60, (0.05, 0.1)),
        (&graphs()[3], 40, (0.05, 0.1)),
        (&graphs()[0], 60, (1e4, 1e4)),
    ] {
        let bounds = LOOSE;
        let kind = AveragingKind::Chebyshev;
        let case = session(graph, None, kind, (2, rounds), noise);
        let contraction = kind.contraction(bounds, rounds).expect("contracts");
        let contributions = Contributions::of(case.rows());
        let every: Vec<PeerIndex> = (0..12).map(PeerIndex).collect();
        let d = deviation::rows(&case, case.schedule(), &every);
        let largest = d
            .iter()
            .flatten()
            .fold(1.0_f64, |m, d| m.max((1.0 + d).abs()));
        for seed in 0..20 {
            let mut seen = Published::default();
            let outcome = lockstep::run(&seeded(&case, seed), &mut seen).expect("runs");
            let (first, second) = (&outcome.records[0], &outcome.records[1]);
            let norm = first.totals.published.norm();
            let mut gap = (*first.sum).clone();
            gap.add_scaled(-1.0, &first.totals.published);
            let agreement = Agreement {
                norm,
                all: contraction * first.consensus.expect("peers").initial_spread * norm,
                first: gap.norm(),
                smallest: smallest_singular_value(&first.basis, &first.sum) - gap.norm(),
            };
            let sensitivity = case.plan().releases()[0].bounds()[0];
            let statistic = sensitivity.statistic().of(&first.basis);
            // What Δ would be from peer 0 alone, over what it was.
            let ratio = sensitivity.bound(statistic) / second.sensitivity;
            let at_first: Vec<Block> = case
                .rows()
                .iter()
                .map(|rows| rows.gram_product(&first.basis))
                .collect();
            let at_own = case.rows().iter().zip(&seen.states);
            let at_own: Vec<Block> = at_own
                .map(|(rows, state)| rows.gram_product(&state.query))
                .collect();
            let inputs: Vec<Block> = seen
                .inputs
                .chunks_exact(12)
                .map(|input| Block::from_values(6, 2, input.to_vec()))
                .collect();
            let (mut moved, mut noise) = (0.0_f64, 0.0_f64);
            for row in &d {
                let (mut gap, mut noisy) = (Block::zeros(6, 2), Block::zeros(6, 2));
                for (v, d) in row.iter().enumerate() {
                    gap.add_scaled(1.0 + d, &at_own[v]);
                    gap.add_scaled(-1.0 - d, &at_first[v]);
                    noisy.add_scaled(1.0 + d, &inputs[v]);
                    noisy.add_scaled(-1.0 - d, &at_own[v]);
                }
                gap.add_scaled(1.0 - ratio, &noisy);
                moved = moved.max(gap.norm());
                noise = noise.max(ratio * noisy.norm());
            }
            let claim = |noise: f64| {
                let scaled = Scaled {
                    sensitivity,
                    statistic,
                    noise,
                };
                approximation(agreement, &contributions, largest, scaled).expect("contracts")
            };
            let claimed = claim(noise);
            assert!(moved <= claimed, "{moved:e} > {claimed:e}");
            // Where noise happens to leave the sum nearly without rank, the claim grows beyond the sum itself.
            says_nothing += u32::from(claimed >= second.totals.published.norm());
            beyond_contributions += u32::from(moved > claim(0.0));
        }
    }
    assert!(beyond_contributions > 0, "the change of the scale shows");
    assert!(says_nothing <= 6, "{says_nothing} of 60 runs learn nothing");
}
