//! Every bound against every coalition of every size on hundreds of small graphs, and wrong bounds against the same.

use std::collections::BTreeMap;

use rand::{Rng, RngExt};
use rayon::prelude::*;

use super::*;
use crate::privacy::accountant::exact_variance_factors;
use crate::privacy::testing::algebraic_connectivity;
use crate::vocabulary::{Label, Seed};

/// What the exact values, inverted densely, may be wrong by.
const EXACT: f64 = 1.0 - 1e-10;

const RATIOS: [f64; 3] = [0.3, 30.0, 1e5];

/// A graph with the exact maximum of v_u over all coalitions, by ratio, size and peer.
struct Case {
    graph: Graph,
    lambda2: f64,
    worst: BTreeMap<(usize, usize), Vec<f64>>,
}

impl Case {
    fn new(graph: Graph) -> Self {
        let n = graph.nodes();
        let mut worst = BTreeMap::new();
        for (number, ratio) in RATIOS.into_iter().enumerate() {
            for t in 0..n {
                worst.insert((number, t), vec![0.0_f64; n]);
            }
            for mask in 0_u32..(1 << n) - 1 {
                let coalition: Vec<u32> = (0..n as u32).filter(|u| mask >> u & 1 == 1).collect();
                let factors =
                    exact_variance_factors(&graph, 1.0, ratio, &coalition).expect("valid");
                let row = worst
                    .get_mut(&(number, coalition.len()))
                    .expect("every size");
                for (largest, v) in row.iter_mut().zip(factors) {
                    *largest = largest.max(v.unwrap_or(0.0));
                }
            }
        }
        let lambda2 = if graph.is_connected() {
            algebraic_connectivity(&graph) * (1.0 - 1e-12)
        } else {
            0.0
        };
        Self {
            graph,
            lambda2,
            worst,
        }
    }

    fn public(&self) -> PublicGraph<'_> {
        PublicGraph::new(
            &self.graph,
            Connectivity {
                lower_bound: self.lambda2,
            },
        )
    }

    /// Ratio, size, and the exact maximum per peer.
    fn rows(&self) -> impl Iterator<Item = (f64, usize, &[f64])> {
        self.worst
            .iter()
            .map(|(&(number, t), row)| (RATIOS[number], t, row.as_slice()))
    }
}

/// Cycles with chords, sparse graphs (often in pieces), trees with chords, cliques joined by a few edges, complete
/// graphs less a few edges, and circulants.
fn edges(rng: &mut impl Rng, family: usize, n: u32) -> Vec<(u32, u32)> {
    let mut chosen = |u: u32, v: u32, probability: f64| {
        let ring = v == u + 1 || (u == 0 && v == n - 1);
        let drawn = rng.random::<f64>() < probability;
        match family {
            0 => ring || drawn,
            1 => drawn,
            2 => v == u + 1 + u % 2 || drawn,
            3 => (u < n / 2) == (v < n / 2) || drawn,
            4 => !drawn,
            _ => [1, 2, n - 1, n - 2].contains(&(v - u)) || (n.is_multiple_of(2) && v - u == n / 2),
        }
    };
    let probability = [0.3, 0.3, 0.15, 0.2, 0.1, 0.0][family];
    (0..n)
        .flat_map(|u| (u + 1..n).map(move |v| (u, v)))
        .filter(|&(u, v)| chosen(u, v, probability))
        .collect()
}

/// At least 200 random graphs of up to 12 peers, and the complete graphs.
fn cases() -> Vec<Case> {
    let mut rng = Seed::from_u64(52).generator(Label::Scenario);
    let mut graphs: Vec<Graph> = (0..210)
        .map(|trial: usize| {
            let n = 3 + (trial / 6 % 10) as u32;
            Graph::from_edges(n as usize, &edges(&mut rng, trial % 6, n)).expect("a simple graph")
        })
        .collect();
    for n in 2..=10 {
        let all: Vec<_> = (0..n)
            .flat_map(|u| (u + 1..n).map(move |v| (u, v)))
            .collect();
        graphs.push(Graph::from_edges(n as usize, &all).expect("a simple graph"));
    }
    graphs.into_par_iter().map(Case::new).collect()
}

/// The bounds of all peers, each by its degree.
fn by_degree(public: &PublicGraph<'_>, value: impl Fn(usize) -> Option<f64>) -> Vec<Option<f64>> {
    let bound = public.by_degree(value);
    (0..public.graph().nodes()).map(bound).collect()
}

/// How often `wrong` lies below the exact maximum.
fn violations(
    cases: &[Case],
    wrong: impl Fn(&PublicGraph<'_>, f64, usize) -> Vec<Option<f64>> + Sync,
) -> usize {
    cases
        .par_iter()
        .map(|case| {
            let public = case.public();
            case.rows()
                .map(|(ratio, t, row)| {
                    let found = wrong(&public, ratio, t);
                    let pairs = found.into_iter().zip(row);
                    pairs
                        .filter(|(found, exact)| found.is_some_and(|f| f < *exact * EXACT))
                        .count()
                })
                .sum::<usize>()
        })
        .sum()
}

#[test]
fn no_bound_is_below_the_exact_worst_case_and_every_wrong_bound_is() {
    let cases = cases();
    let mut bounds: Vec<(String, Option<Bound>)> = Bound::all()
        .map(|bound| (format!("{bound:?}"), Some(bound)))
        .collect();
    bounds.push(("smallest".to_owned(), None));
    for (name, bound) in bounds {
        let mut ratios: Vec<f64> = Vec::new();
        for case in &cases {
            let public = case.public();
            for (ratio, t, row) in case.rows() {
                let found = match bound {
                    Some(bound) => bound.per_peer(&public, 1.0, ratio, t).expect("valid"),
                    None => certified_variance_factors(&public, 1.0, ratio, t)
                        .expect("valid")
                        .into_iter()
                        .map(|found| Some(found.factor))
                        .collect(),
                };
                for (found, exact) in found.into_iter().zip(row) {
                    let Some(found) = found else { continue };
                    assert!(
                        found >= exact * EXACT,
                        "{name}: {found} < {exact}, t = {t}, ratio {ratio}, {:?}",
                        case.graph
                    );
                    // Where a peer can be isolated every bound is exact, and says nothing.
                    if *exact < 0.999 {
                        ratios.push(found / exact);
                    }
                }
            }
        }
        ratios.sort_by(f64::total_cmp);
        let median = ratios[ratios.len() / 2];
        println!(
            "{name:>15}: bound/exact median {median:.4}, 90 % below {:.4}, in {} cases",
            ratios[ratios.len() * 9 / 10],
            ratios.len()
        );
        assert!(
            median.is_finite() && (1.0 - 1e-9..20.0).contains(&median),
            "{name}: {median}"
        );
        if bound.is_none() {
            assert!(median < 1.2, "{median}");
        }
    }

    let lost_one_less = |public: &PublicGraph<'_>, t: usize| {
        let left = public.connectivity().lower_bound - t as f64 + 1.0;
        (left > 0.0).then_some(left)
    };
    type Wrong<'a> = &'a (dyn Fn(&PublicGraph<'_>, f64, usize) -> Vec<Option<f64>> + Sync);
    let same = |value: Option<f64>, public: &PublicGraph<'_>| vec![value; public.graph().nodes()];
    let wrong: [(&str, Wrong<'_>); 13] = [
        ("λ₂ − t + 1 in the λ₂ bound", &|public, ratio, t| {
            let n = public.graph().nodes() - t;
            let value = lost_one_less(public, t).map(|left| lambda2_bound(n, left, 1.0, ratio));
            same(value, public)
        }),
        (
            "s instead of s − t in the λ₂ bound",
            &|public, ratio, t| {
                let n = public.graph().nodes();
                let left = public.connectivity().after(t);
                same(left.map(|left| lambda2_bound(n, left, 1.0, ratio)), public)
            },
        ),
        (
            "one partner too many in the star bound",
            &|public, ratio, t| {
                by_degree(public, |d| {
                    Some(star_bound((d + 1).saturating_sub(t), 1.0, ratio))
                })
            },
        ),
        (
            "the star bound without the partners' noise",
            &|public, ratio, t| {
                by_degree(public, |d| {
                    let h = d.saturating_sub(t) as f64;
                    Some((1.0 / (1.0 + h * (1.0 + ratio).min(2.0))).min(1.0))
                })
            },
        ),
        ("λ₂ − t + 1 in Gauss–Radau", &|public, ratio, t| {
            let n = public.graph().nodes() - t;
            let left = lost_one_less(public, t);
            by_degree(public, |d| {
                let degrees = d.saturating_sub(t)..=d.min(n - 1);
                degrees
                    .map(|d| gauss_radau::radau_bound(n, d, left?, ratio).into())
                    .max_by(|a: &Option<f64>, b| a.partial_cmp(b).expect("numbers"))?
            })
        }),
        (
            "Gauss–Radau at the degree nobody took",
            &|public, ratio, t| {
                let n = public.graph().nodes() - t;
                let left = public.connectivity().after(t).unwrap_or(0.0);
                by_degree(public, |d| {
                    Some(gauss_radau::radau_bound(n, d.min(n - 1), left, ratio))
                })
            },
        ),
        ("c off by one in the core bound", &|public, ratio, t| {
            let cores = core::cores(public, t);
            by_degree(public, |d| {
                let better = cores
                    .iter()
                    .filter(|core| core.outside > 0)
                    .map(|&core| core::Core {
                        outside: core.outside - 1,
                        connectivity: core.connectivity + 1.0,
                        ..core
                    });
                better
                    .filter_map(|core| core::core_bound(core, d, ratio))
                    .reduce(f64::min)
            })
        }),
        (
            "a core of all but the coalition, c one too small",
            &|public, ratio, t| {
                let cores = core::cores(public, t);
                let peers = public.graph().nodes();
                by_degree(public, |_| {
                    let outside = |core: &core::Core| {
                        lambda2_bound(peers - t + 1, core.connectivity + 1.0, 1.0, ratio)
                    };
                    cores.iter().map(outside).reduce(f64::min)
                })
            },
        ),
        ("one spoilt tree too few", &|public, ratio, t| {
            let forests = public.forests().iter();
            forests
                .map(|forest| {
                    let trees = forest
                        .trees()
                        .map(|tree| disjoint_forest::conductance(tree, ratio));
                    disjoint_forest::forest_bound(trees.collect(), t.checked_sub(1)?)
                })
                .collect()
        }),
        (
            "s instead of s − t in the overlap bound",
            &|public, ratio, t| {
                let known = public.overlap(t.max(1));
                let peers = public.graph().nodes();
                let energies = known.as_ref().as_ref().map_or(&[][..], Vec::as_slice);
                let bound = |&energy: &f64| Some(detour::even_bound(peers, energy, ratio));
                energies.iter().map(bound).collect()
            },
        ),
        (
            "overlapping trees of one coalition less",
            &|public, ratio, t| {
                let honest = public.graph().nodes() - t;
                let known = public.overlap(t.saturating_sub(1));
                let energies = known.as_ref().as_ref().map_or(&[][..], Vec::as_slice);
                let bound = |&energy: &f64| Some(detour::even_bound(honest, energy, ratio));
                energies.iter().map(bound).collect()
            },
        ),
        ("distances while everybody is there", &|public, ratio, t| {
            let honest = public.graph().nodes() - t;
            let length = public.detour(0).filter(|_| t <= 1);
            same(
                length.map(|length| detour::even_bound(honest, f64::from(length), ratio)),
                public,
            )
        }),
        ("one peer too many in every tree", &|public, ratio, t| {
            let forests = public.forests().iter();
            forests
                .map(|forest| {
                    let trees = forest.trees().map(|tree| {
                        let m = f64::from(tree.whole().peers);
                        let c = disjoint_forest::conductance(tree, ratio);
                        c * (m + 1.0) / m
                    });
                    disjoint_forest::forest_bound(trees.collect(), t)
                })
                .collect()
        }),
    ];
    for (name, wrong) in wrong {
        let found = violations(&cases, wrong);
        println!("{name}: {found} violations");
        assert!(found > 0, "not noticed: {name}");
    }
}

/// The λ₂ of a graph in pieces is 0, whatever is claimed of it.
#[test]
fn a_connectivity_that_is_claimed_of_a_graph_in_pieces_counts_for_nothing() {
    let claimed = Connectivity { lower_bound: 1.0 };
    let pieces = Graph::from_edges(4, &[(0, 1), (2, 3)]).expect("simple");
    assert_eq!(
        PublicGraph::new(&pieces, claimed).connectivity(),
        Connectivity::UNKNOWN
    );
    let path = Graph::from_edges(3, &[(0, 1), (1, 2)]).expect("simple");
    assert_eq!(PublicGraph::new(&path, claimed).connectivity(), claimed);
}
