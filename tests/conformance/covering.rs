//! A few cells of a large table in which everything occurs that occurs in it.

use std::collections::BTreeSet;

/// What two axes have in a cell; one axis twice stands for itself.
type Pair = (usize, usize, usize, usize);

/// What these pairs of axes have in a cell.
fn shown<const AXES: usize>(
    cell: [usize; AXES],
    pairs: &[(usize, usize)],
) -> impl Iterator<Item = Pair> {
    pairs.iter().map(move |&(a, b)| (a, cell[a], b, cell[b]))
}

/// What these pairs of axes have in any of the cells.
pub(super) fn all_shown<const AXES: usize>(
    cells: &[[usize; AXES]],
    pairs: &[(usize, usize)],
) -> BTreeSet<Pair> {
    cells.iter().flat_map(|cell| shown(*cell, pairs)).collect()
}

/// Cells that show whatever pair of entries any cell shows on these pairs of axes: again and again the one that adds most, the first
/// of equals.
pub(super) fn covering<const AXES: usize>(
    cells: &[[usize; AXES]],
    pairs: &[(usize, usize)],
) -> Vec<[usize; AXES]> {
    let mut missing = all_shown(cells, pairs);
    let mut chosen = Vec::new();
    while !missing.is_empty() {
        let adds = |cell: &&[usize; AXES]| {
            let shown = shown(**cell, pairs);
            shown.filter(|pair| missing.contains(pair)).count()
        };
        let Some(&best) = cells.iter().rev().max_by_key(adds) else {
            break;
        };
        for pair in shown(best, pairs) {
            missing.remove(&pair);
        }
        chosen.push(best);
    }
    chosen
}

#[test]
fn nine_of_27_cells_show_every_pair() {
    let digits = |n: usize| [n / 9, n / 3 % 3, n % 3];
    let cells: Vec<[usize; 3]> = (0..27).map(digits).collect();
    let pairs = [(0, 1), (0, 2), (1, 2)];
    let chosen = covering(&cells, &pairs);
    assert_eq!(all_shown(&chosen, &pairs), all_shown(&cells, &pairs));
    assert!((9..=12).contains(&chosen.len()), "{}", chosen.len());
    let singles = covering(&cells, &[(0, 0), (1, 1), (2, 2)]);
    assert_eq!(singles.len(), 3);
    assert!(all_shown(&singles, &pairs).len() < all_shown(&cells, &pairs).len());
}
