//! One attempt at a release: what is said of it, and what is checked.

use super::Counted;
use super::error::RealisedError;
use crate::topology::Graph;
use crate::vocabulary::ReleaseId;

/// One attempt at one release, as it went.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempted {
    /// Which release of the session's program.
    pub release: ReleaseId,
    /// How often the release was charged anew before this attempt.
    pub retry: u32,
    /// Under which view it was begun.
    pub view: u64,
    /// The members of that view, each once. Whoever of them did not get to contribute counts as well: its partners added their terms.
    pub members: Vec<u32>,
    /// Whose contribution became readable to anybody but its owner; members, each once.
    pub read: Vec<u32>,
    /// Edges of the noise graph between members whose term in this attempt became known to others than its two ends: a partner took
    /// it back after the other end could be read, or its key was opened. An exact sum without a peer that was read counts as all terms of that peer.
    pub revealed: Vec<(u32, u32)>,
    /// Δ: how far one record can move a contribution to this release, in L2 norm.
    pub sensitivity: f64,
    /// What each member multiplied its noise with, in the order of `members`: its scale, times the factor of the release's share of the budget.
    pub scales: Vec<f64>,
}

/// An attempt that can have happened, its sets in ascending order.
#[derive(Clone, Debug)]
pub(super) struct Checked {
    pub(super) members: Vec<u32>,
    read: Vec<u32>,
    revealed: Vec<(u32, u32)>,
    /// Δ/d_u of every member.
    units: Vec<f64>,
}

impl Checked {
    pub(super) fn new(attempt: Attempted, graph: &Graph) -> Result<Self, RealisedError> {
        let Attempted {
            members,
            mut read,
            revealed,
            sensitivity,
            scales,
            ..
        } = attempt;
        if members.is_empty() || members.len() != scales.len() {
            return Err(RealisedError::Scales {
                members: members.len(),
                scales: scales.len(),
            });
        }
        // Written so that NaN is refused too.
        if !(sensitivity >= 0.0 && sensitivity.is_finite()) {
            return Err(RealisedError::Sensitivity { found: sensitivity });
        }
        let mut scaled: Vec<(u32, f64)> = members.into_iter().zip(scales).collect();
        scaled.sort_by_key(|&(peer, _)| peer);
        let (members, scales): (Vec<u32>, Vec<f64>) = scaled.into_iter().unzip();
        check_set("members", &members, |peer| (peer as usize) < graph.nodes())?;
        read.sort_unstable();
        let is_member = |peer: u32| members.binary_search(&peer).is_ok();
        check_set("read", &read, is_member)?;
        let mut units = Vec::with_capacity(scales.len());
        for (&peer, scale) in members.iter().zip(scales) {
            let unit = sensitivity / scale;
            if !(scale > 0.0 && scale.is_finite() && (unit * unit).is_finite()) {
                return Err(RealisedError::Scale { peer, found: scale });
            }
            units.push(unit);
        }
        let mut revealed: Vec<(u32, u32)> = revealed
            .into_iter()
            .map(|(u, v)| (u.min(v), u.max(v)))
            .collect();
        revealed.sort_unstable();
        revealed.dedup();
        let no_term = |&&(u, v): &&(u32, u32)| {
            !(u != v && is_member(u) && is_member(v) && graph.has_edge(u, v))
        };
        if let Some(&(u, v)) = revealed.iter().find(no_term) {
            return Err(RealisedError::NoTerm { u, v });
        }
        Ok(Self {
            members,
            read,
            revealed,
            units,
        })
    }

    /// Members, whoever of them counts as read, and revealed terms. Where nobody was read, nobody counts.
    pub(super) fn sets(&self, counted: Counted) -> (&[u32], &[u32], &[(u32, u32)]) {
        let read = match counted {
            Counted::Members if !self.read.is_empty() => &self.members,
            _ => &self.read,
        };
        (&self.members, read, &self.revealed)
    }

    /// Δ/d_u; 0 for whoever is no member.
    pub(super) fn unit(&self, u: u32) -> f64 {
        let at = self.members.binary_search(&u);
        at.map_or(0.0, |at| self.units[at])
    }

    /// (Δ/d_u)², rounded up.
    pub(super) fn square(&self, u: u32) -> f64 {
        let unit = self.unit(u).next_up();
        (unit * unit).next_up()
    }
}

/// Refuses an ascending list with a peer twice, or one that may not be in it.
fn check_set(
    of: &'static str,
    peers: &[u32],
    allowed: impl Fn(u32) -> bool,
) -> Result<(), RealisedError> {
    let twice = peers.windows(2).find(|pair| pair[0] == pair[1]);
    let stranger = peers.iter().find(|&&peer| !allowed(peer));
    let (peer, problem) = match (twice, stranger) {
        (Some(pair), _) => (pair[0], "is named twice"),
        (None, Some(&peer)) if of == "read" => (peer, "is no member of the view"),
        (None, Some(&peer)) => (peer, "is not in the noise graph"),
        (None, None) => return Ok(()),
    };
    Err(RealisedError::Peer { of, peer, problem })
}
