//! Terms of Wishart noise: bits, dealing, laws in any dimension, and the ratio of densities that the promise is about.

use super::*;
use crate::noise::{NoiseChunk, PeerNoise, Sigmas, Term};
use crate::vocabulary::{Label, ReleaseId, Seed};

const ALL: Drawn = Drawn {
    fewer: 0,
    one_sided: false,
};

fn key(number: u64) -> StreamKey {
    Seed::from_u64(number).key(Label::Scenario, 0, 0)
}

fn terms(dimension: u32, count: u64) -> WishartTerms {
    WishartTerms {
        dimension,
        count,
        isometric: false,
        mean: None,
    }
}

/// The packed triangle of one draw of b = 1.
fn drawn(terms: WishartTerms, drawn: Drawn, (seed, release): (u64, u32)) -> Vec<f64> {
    let mut out = vec![0.0; terms.coordinates()];
    terms.add_triangle((&key(seed), release), drawn, 1.0, (0, &mut out));
    out
}

/// vᵀZv.
fn form(n: usize, triangle: &[f64], v: &[f64]) -> f64 {
    let mut rest = triangle.iter();
    let mut sum = 0.0;
    for i in 0..n {
        for l in i..n {
            let twice = if i == l { 1.0 } else { 2.0 };
            sum += twice * v[i] * v[l] * rest.next().expect("a triangle");
        }
    }
    sum
}

#[test]
fn parts_and_peers_have_the_bits_of_the_whole() {
    for (n, count) in [(1, 2), (5, 7), (37, 67), (300, 3)] {
        for isometric in [false, true] {
            let terms = WishartTerms {
                isometric,
                ..terms(n, count)
            };
            let term = Term::wishart(key(4), 0.75, terms);
            let mut whole = vec![0.5; terms.coordinates()];
            term.add_to(ReleaseId(2), 1.5, &mut whole);
            let mut parts = vec![0.5; terms.coordinates()];
            for (chunk, out) in (0..).zip(parts.chunks_mut(CHUNK)) {
                let at = NoiseChunk {
                    release: ReleaseId(2),
                    chunk,
                    unit: 1.5,
                };
                term.add_chunk(at, out);
            }
            assert_eq!(whole, parts, "{n} {isometric}");
        }
    }
}

/// Straight from the definition, with a matrix of g's and one of h's.
#[test]
fn the_kernel_is_the_difference_of_two_sums_of_squares() {
    let (n, count) = (7_usize, 5_u64);
    let mut expected = vec![0.0; n * n];
    for j in 0..count {
        let mut normals = vec![0.0; 2 * n];
        draw((&key(9), 3), j, &mut normals);
        let (g, h) = normals.split_at(n);
        for i in 0..n {
            for l in 0..n {
                expected[i * n + l] += 0.5 * (g[i] * g[l] - h[i] * h[l]);
            }
        }
    }
    for isometric in [false, true] {
        let terms = WishartTerms {
            isometric,
            ..terms(7, count)
        };
        let found = drawn(terms, ALL, (9, 3));
        let mut found = found.iter();
        for i in 0..n {
            for l in i..n {
                let off = if isometric && i != l { SQRT_2 } else { 1.0 };
                let found = found.next().expect("a triangle");
                assert!((found - off * expected[i * n + l]).abs() < 1e-13);
            }
        }
    }
}

#[test]
fn terms_are_dealt_evenly_and_all_of_them() {
    for (peers, m) in [(1, 5), (3, 47), (100, 66), (7, 700)] {
        let shares = WishartShares {
            dimension: 4,
            terms: m,
            peers,
            isometric: true,
            mean: None,
        };
        let counts: Vec<u64> = (0..peers)
            .map(|u| shares.of_peer(PeerIndex(u)).count)
            .collect();
        assert_eq!(counts.iter().sum::<u64>(), m);
        assert_eq!(counts.iter().copied().max(), Some(shares.of_one()));
        assert!(counts.iter().all(|count| count + 1 >= shares.of_one()));
        assert!(counts.is_sorted_by(|a, b| a >= b));
    }
}

#[test]
fn a_peer_s_noise_is_planned_only_with_its_own_terms() {
    let shares = WishartShares {
        dimension: 4,
        terms: 5,
        peers: 3,
        isometric: true,
        mean: None,
    };
    let planned = Sigmas {
        wishart: Some(shares),
        ..Sigmas::of_sums(0.5, 0.0)
    };
    let noise = |own: Term| PeerNoise::new(own, Vec::new(), Term::new(key(1), 0.0));
    let of = |peer: u32, scale: f64| Term::wishart(key(1), scale, shares.of_peer(PeerIndex(peer)));
    let is = |own, sigmas| noise(own).is_planned(PeerIndex(1), &[], sigmas);
    assert!(is(of(1, 0.5), planned));
    assert!(!is(of(2, 0.5), planned), "one term instead of two");
    assert!(!is(of(1, 0.4), planned));
    assert!(!is(Term::new(key(1), 0.5), planned));
    assert!(!is(of(1, 0.5), Sigmas::of_sums(0.5, 0.0)));
    assert!(!is(Term::laplace(key(1), 0.5, 1.0), planned));
}

/// The mean of cos(s·x) over `numbers` less what the law says, in standard errors of at most 1/√N.
fn off(numbers: &[f64], s: f64, expected: f64) -> f64 {
    let n = numbers.len() as f64;
    let mean = numbers.iter().map(|x| (s * x).cos()).sum::<f64>() / n;
    (mean - expected) * n.sqrt()
}

/// Orthonormal directions: the columns of I − 2uuᵀ, u = (1, …, 1)/√n.
fn direction(n: usize, k: usize) -> Vec<f64> {
    let fall = 2.0 / n as f64;
    (0..n)
        .map(|i| if i == k { 1.0 - fall } else { -fall })
        .collect()
}

/// Numbers v_kᵀ Z v_k over an orthonormal basis, which are independent.
fn forms(n: u32, count: u64, how: Drawn, draws: u32) -> Vec<f64> {
    let basis: Vec<Vec<f64>> = (0..n as usize).map(|k| direction(n as usize, k)).collect();
    (1..=draws)
        .flat_map(|release| {
            let triangle = drawn(terms(n, count), how, (7, release));
            let forms = basis.iter().map(|v| form(n as usize, &triangle, v));
            forms.collect::<Vec<f64>>()
        })
        .collect()
}

/// vᵀZv has the characteristic function (1 + s²)^(−m/2). Honest numbers fail with probability below 10⁻⁶ each (Hoeffding: 2e^(−z²/2), z = 5.5);
/// seeds are fixed.
#[test]
fn quadratic_forms_have_their_law_in_dimensions_1_3_and_64() {
    for (n, m, draws) in [(1, 2, 20_000), (3, 4, 6_000), (3, 6, 6_000), (64, 65, 60)] {
        let numbers = forms(n, m, ALL, draws);
        for s in [0.1, 0.3, 1.0] {
            let expected = (1.0_f64 + s * s).powf(-0.5 * m as f64);
            let found = off(&numbers, s, expected);
            assert!(found.abs() < 5.5, "{n} {m} {s}: {found}");
        }
    }
}

/// tr(MZ) for an M with eigenvalues μ has the characteristic function Π (1 + s²μ²)^(−m/2), whatever their signs.
#[test]
fn traces_with_any_matrix_have_their_law() {
    let (n, m) = (4_usize, 7_u64);
    let mu = [1.5, -0.5, 0.25, 0.0];
    let numbers: Vec<f64> = (1..=6_000)
        .map(|release| {
            let triangle = drawn(terms(n as u32, m), ALL, (8, release));
            let parts = (0..n).map(|k| mu[k] * form(n, &triangle, &direction(n, k)));
            parts.sum()
        })
        .collect();
    for s in [0.1, 0.3, 0.7] {
        let each = mu
            .iter()
            .map(|mu| (1.0 + s * s * mu * mu).powf(-0.5 * m as f64));
        let found = off(&numbers, s, each.product());
        assert!(found.abs() < 5.5, "{s}: {found}");
    }
    let variance = numbers.iter().map(|x| x * x).sum::<f64>() / numbers.len() as f64;
    let expected = m as f64 * mu.iter().map(|mu| mu * mu).sum::<f64>();
    assert!(
        (variance / expected - 1.0).abs() < 0.1,
        "{variance} {expected}"
    );
}

/// One term less, one matrix alone and half of b are seen by the same test.
#[test]
fn other_laws_fail_the_test_of_the_law() {
    let n = 3;
    let expected = |s: f64| (1.0_f64 + s * s).powf(-2.0);
    let fewer = Drawn { fewer: 1, ..ALL };
    let alone = Drawn {
        one_sided: true,
        ..ALL
    };
    for (what, how, scale) in [
        ("m = n", fewer, 1.0),
        ("one matrix", alone, 1.0),
        ("half", ALL, 0.5),
    ] {
        let numbers: Vec<f64> = forms(n, 4, how, 6_000).iter().map(|x| scale * x).collect();
        let found = off(&numbers, 1.0, expected(1.0));
        assert!(found.abs() > 5.5, "{what}: {found}");
    }
}

/// ln det W, and whether W is positive definite, by Cholesky's method.
fn log_det(n: usize, triangle: &[f64]) -> Option<f64> {
    let at = |i: usize, l: usize| triangle[row_start(n, i.min(l)) + i.abs_diff(l)];
    let mut factor = vec![0.0; n * n];
    let mut sum = 0.0;
    for i in 0..n {
        for l in 0..=i {
            let done: f64 = (0..l).map(|k| factor[i * n + k] * factor[l * n + k]).sum();
            let rest = at(i, l) - done;
            if i == l {
                (rest > 0.0).then_some(())?;
                factor[i * n + i] = rest.sqrt();
                sum += rest.ln();
            } else {
                factor[i * n + l] = rest / factor[l * n + l];
            }
        }
    }
    Some(sum)
}

/// f(Z) for Z = −(W₂ less what it is added to): the mean of det(W₂ + Z)^p·e^(−tr(W₂ + Z)) over draws of W₂, and its standard error.
fn density(n: usize, m: u64, sample: &[Vec<f64>], z: &[f64]) -> (f64, f64) {
    let p = 0.5 * (m as f64 - n as f64 - 1.0);
    let values: Vec<f64> = sample
        .iter()
        .map(|w| {
            let moved: Vec<f64> = w.iter().zip(z).map(|(w, z)| w + z).collect();
            let trace: f64 = (0..n).map(|i| moved[row_start(n, i)]).sum();
            log_det(n, &moved).map_or(0.0, |log| (p * log - trace).exp())
        })
        .collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, squares.sqrt() / count)
}

/// The largest |ln f(Z + D) − ln f(Z)|/‖D‖_* in units of 1/b over pairs of a point and a change, less four standard errors.
fn worst_ratio(n: usize, m: u64, draws: u32, points: &[Vec<f64>], changes: &[Change]) -> f64 {
    let one = Drawn {
        one_sided: true,
        ..ALL
    };
    let sample: Vec<Vec<f64>> = (1..=draws)
        .map(|release| drawn(terms(n as u32, m), one, (10, release)))
        .collect();
    let mut worst = 0.0_f64;
    for z in points {
        let (here, error) = density(n, m, &sample, z);
        for (change, size) in changes {
            let moved: Vec<f64> = z.iter().zip(change).map(|(z, d)| z + d).collect();
            let (there, other) = density(n, m, &sample, &moved);
            let slack = 4.0 * (error / here + other / there);
            worst = worst.max(((there / here).ln().abs() - slack) / size);
        }
    }
    worst
}

/// The packed triangle of a change, and its nuclear norm.
type Change = (Vec<f64>, f64);

/// xxᵀ − yyᵀ, of nuclear norm ‖x − y‖·‖x + y‖.
fn change(x: &[f64], y: &[f64]) -> Change {
    let n = x.len();
    let entries = (0..n).flat_map(|i| (i..n).map(move |l| (i, l)));
    let triangle = entries.map(|(i, l)| x[i] * x[l] - y[i] * y[l]).collect();
    let length = |sign: f64| -> f64 {
        let sum = x.iter().zip(y).map(|(x, y)| (x + sign * y).powi(2));
        sum.sum::<f64>().sqrt()
    };
    (triangle, length(1.0) * length(-1.0))
}

/// The promise itself, by Monte Carlo: no change moves the logarithm of the density by more than ‖D‖_*/b, and some nearly do. One user, one in place
/// of another, one interaction under floors 1 and 2.
#[test]
fn no_change_moves_the_density_further_than_promised() {
    for (n, m) in [(2, 3), (2, 4), (3, 4)] {
        let unit = |k: usize| -> Vec<f64> { (0..n).map(|i| f64::from(u8::from(i == k))).collect() };
        let nothing = vec![0.0; n];
        let half = vec![(n as f64).sqrt().recip(); n];
        let (one, two) = (0.5_f64.sqrt(), 0.5_f64.sqrt());
        let both: Vec<f64> = (0..n).map(|i| if i < 2 { one } else { 0.0 }).collect();
        let floored: Vec<f64> = unit(0).iter().map(|x| x * two).collect();
        let changes = [
            change(&half, &nothing),
            change(&unit(0), &unit(1)),
            change(&both, &unit(0)),
            change(&both, &floored),
        ];
        let points: Vec<Vec<f64>> = [0.0, 0.3, -0.7]
            .iter()
            .map(|scale| {
                let (triangle, _) = change(&unit(0), &half);
                triangle.iter().map(|x| scale * x).collect()
            })
            .collect();
        let worst = worst_ratio(n, m, 20_000, &points, &changes);
        assert!(worst <= 1.0, "{n} {m}: {worst}");
        assert!(worst > 0.5, "{n} {m}: {worst}");
    }
}

/// With m = n there is no bound: near 0 the density of the plane grows without one.
#[test]
fn as_many_terms_as_columns_break_the_promise() {
    let near = |size: f64| vec![size, 0.0, size];
    let away = change(&[0.5, 0.0], &[0.0, 0.0]);
    let worst = worst_ratio(2, 2, 60_000, &[near(1e-4)], &[away]);
    assert!(worst > 1.2, "{worst}");
}
