//! Which coordinates of a release are looked at.

use std::collections::BTreeSet;

use crate::vocabulary::{CHUNK, GROUP};

/// Residuals kept of one iteration, over all peers, unless one pattern needs more.
const MOST: usize = 1 << 22;

/// The most patterns.
const PATTERNS: usize = 8;

/// The coordinates whose residuals are kept, and among them *patterns* of coordinates that an implementation may
/// confuse: neighbours in a row, in a column, one drawing group and one chunk of the noise streams apart.
///
/// They are the same in all iterations and runs, so that a stream used twice is seen.
#[derive(Debug)]
pub(in crate::assess) struct Places {
    values: usize,
    /// Ascending.
    all: Vec<usize>,
    /// Where in `all` each pattern's coordinates are; all patterns have as many, and no coordinate is in two.
    patterns: Vec<Vec<usize>>,
    turn: usize,
}

impl Places {
    /// For a release of `height` × `width` values from each of `peers` peers.
    pub(in crate::assess) fn new(peers: usize, (height, width): (usize, usize)) -> Self {
        let values = height * width;
        let mut lags: Vec<usize> = [0, 1, width, GROUP, CHUNK].to_vec();
        lags.retain(|&lag| lag < values);
        lags.sort_unstable();
        lags.dedup();
        let reach = lags.last().map_or(0, |&lag| lag + 1);
        let room = (MOST / peers.max(1)).max(lags.len());
        let wanted = (room / lags.len().max(1)).clamp(1, PATTERNS);
        let starts = values - reach + 1;
        let mut used = BTreeSet::new();
        let mut patterns: Vec<Vec<usize>> = Vec::new();
        for k in 0..wanted {
            let free = |start: &usize| lags.iter().all(|lag| !used.contains(&(start + lag)));
            let start = (k * starts / wanted..starts).find(free);
            if let Some(start) = start {
                let pattern: Vec<usize> = lags.iter().map(|lag| start + lag).collect();
                used.extend(&pattern);
                patterns.push(pattern);
            }
        }
        let stride = values.div_ceil(room.saturating_sub(used.len()).max(1));
        if used.len() < room {
            used.extend((0..values).step_by(stride.max(1)));
        }
        let all: Vec<usize> = used.into_iter().collect();
        for pattern in &mut patterns {
            for place in pattern {
                *place = all.partition_point(|&other| other < *place);
            }
        }
        Self {
            values,
            all,
            patterns,
            turn: 0,
        }
    }

    /// Coordinates of the whole release.
    pub(super) fn values(&self) -> usize {
        self.values
    }

    /// The coordinates whose residuals are kept, ascending.
    pub(in crate::assess) fn all(&self) -> &[usize] {
        &self.all
    }

    /// Positions in [`Self::all`], pattern after pattern.
    pub(super) fn patterns(&self) -> impl Iterator<Item = usize> + '_ {
        self.patterns.iter().flatten().copied()
    }

    /// Coordinates of one pattern.
    pub(super) fn pattern_len(&self) -> usize {
        self.patterns.first().map_or(1, Vec::len)
    }

    /// Iterations taken in so far, over all runs.
    pub(super) fn turn(&self) -> usize {
        self.turn
    }

    /// One more iteration has been taken in.
    pub(super) fn next_turn(&mut self) {
        self.turn += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_disjoint_and_their_distances_are_those_of_the_streams() {
        for (peers, shape, expected) in [
            (610, (200, 4), 5),
            (16, (100, 4), 4),
            (3, (2, 1), 2),
            (3, (1, 1), 1),
            (1_000_000, (3706, 32), 5),
            (12, (30 * 31 / 2, 1), 3),
            (5, (70, 64), 4),
        ] {
            let places = Places::new(peers, shape);
            assert_eq!(places.pattern_len(), expected, "{shape:?}");
            let positions: Vec<usize> = places.patterns().collect();
            let distinct: BTreeSet<_> = positions.iter().collect();
            assert_eq!(distinct.len(), positions.len());
            let first = places.all()[positions[0]];
            for (&at, lag) in positions.iter().zip([0, 1]) {
                assert_eq!(places.all()[at], first + lag);
            }
            if shape == (200, 4) {
                let lags: Vec<_> = positions[..5].iter().map(|&at| places.all()[at]).collect();
                assert_eq!(lags, [0, 1, 4, 64, 512]);
                assert_eq!(places.all().len(), 800);
            }
            assert!(places.all().len() <= (MOST / peers).max(5) && places.all().is_sorted());
        }
    }
}
