//! Who is still connected: members of a communication graph some of whose links are cut.

use std::collections::VecDeque;

use super::sets::{CutLinks, LinkIndex, Members};
use crate::vocabulary::PeerIndex;

/// The links of the communication graph, numbered. All members of a session hold the same list.
#[derive(Clone, Debug)]
pub struct Links {
    pairs: Vec<(PeerIndex, PeerIndex)>,
    /// Per peer, its neighbours in ascending order, each with the number of the link.
    neighbours: Vec<Vec<(PeerIndex, LinkIndex)>>,
}

/// Why a list is no graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinksError {
    /// A link is not between two different peers of the session, smaller number first, or the list is not ascending.
    #[error(
        "link {at} of {peers} peers is out of place: links are (u, v) with u < v, ascending, each once"
    )]
    Pair {
        /// Which.
        at: usize,
        /// Of how many peers.
        peers: usize,
    },
}

impl Links {
    /// The graph of these links, each (u, v) with u < v, ascending.
    ///
    /// # Errors
    /// [`LinksError`].
    pub fn new(peers: usize, pairs: Vec<(PeerIndex, PeerIndex)>) -> Result<Self, LinksError> {
        let mut neighbours = vec![Vec::new(); peers];
        let mut last = None;
        for (at, &pair) in pairs.iter().enumerate() {
            let (u, v) = pair;
            let is_new = last.is_none_or(|last| last < pair);
            if u >= v || v.index() >= peers || !is_new || u32::try_from(at).is_err() {
                return Err(LinksError::Pair { at, peers });
            }
            last = Some(pair);
            let link = LinkIndex(at as u32);
            neighbours[u.index()].push((v, link));
            neighbours[v.index()].push((u, link));
        }
        for list in &mut neighbours {
            list.sort_unstable();
        }
        Ok(Self { pairs, neighbours })
    }

    /// How many peers.
    #[must_use]
    pub fn peers(&self) -> usize {
        self.neighbours.len()
    }

    /// How many links.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether nobody is connected to anybody.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The two ends of a link.
    #[must_use]
    pub fn ends(&self, link: LinkIndex) -> Option<(PeerIndex, PeerIndex)> {
        self.pairs.get(link.0 as usize).copied()
    }

    /// The link between two peers.
    #[must_use]
    pub fn between(&self, u: PeerIndex, v: PeerIndex) -> Option<LinkIndex> {
        let list = self.neighbours.get(u.index())?;
        let at = list.binary_search_by_key(&v, |(peer, _)| *peer).ok()?;
        Some(list[at].1)
    }

    /// Neighbours of a peer before anything was cut, ascending, each with its link.
    #[must_use]
    pub fn neighbours(&self, peer: PeerIndex) -> &[(PeerIndex, LinkIndex)] {
        &self.neighbours[peer.index()]
    }

    /// Neighbours of a peer among these members over links that are not cut, ascending.
    pub fn live<'a>(
        &'a self,
        peer: PeerIndex,
        cuts: &'a CutLinks,
        members: &'a Members,
    ) -> impl Iterator<Item = PeerIndex> + 'a {
        let list = self.neighbours(peer).iter();
        list.filter(|(other, link)| members.contains(*other) && !cuts.contains(*link))
            .map(|(other, _)| *other)
    }

    /// Who goes on when these links are cut: the largest component, nobody where two are equally large. A peer that has fewer live
    /// neighbours than it `needs` is left out, and so on until nobody is.
    ///
    /// More cuts never make a member of somebody who was none, as long as the result is a majority M′ of all peers. *Proof.* Follow
    /// the computation for fewer cuts and suppose that M′ is still within the set at hand, as it is in the beginning. M′ is connected over
    /// links that are not cut, so it lies in one component, which is the largest since M′ is a majority. Everybody in M′ has as many
    /// live neighbours as it needs within M′, so nobody of M′ is left out. ∎
    #[must_use]
    pub fn members(&self, cuts: &CutLinks, needs: &[u32]) -> Members {
        let mut members = Members::all(self.peers());
        loop {
            members = self.largest(cuts, &members);
            let lonely: Vec<PeerIndex> = members
                .iter()
                .filter(|&peer| {
                    let live = self.live(peer, cuts, &members).count();
                    live < needs.get(peer.index()).map_or(0, |need| *need as usize)
                })
                .collect();
            if lonely.is_empty() {
                return members;
            }
            for peer in lonely {
                members.remove(peer);
            }
        }
    }

    fn largest(&self, cuts: &CutLinks, among: &Members) -> Members {
        let mut left = among.clone();
        let (mut best, mut size, mut is_tie) = (Members::none(self.peers()), 0, false);
        for first in among.iter() {
            if !left.contains(first) {
                continue;
            }
            let mut component = Members::none(self.peers());
            self.walk(first, cuts, among, |peer, _| {
                component.insert(peer);
                left.remove(peer);
            });
            let found = component.len();
            is_tie = found == size || (is_tie && found < size);
            if found > size {
                (best, size) = (component, found);
            }
        }
        match is_tie {
            true => Members::none(self.peers()),
            false => best,
        }
    }

    /// The largest number of links between two of these members over links that are not cut; 0 for one member alone.
    #[must_use]
    pub fn diameter(&self, cuts: &CutLinks, members: &Members) -> u32 {
        let mut most = 0;
        for first in members.iter() {
            self.walk(first, cuts, members, |_, distance| {
                most = most.max(distance)
            });
        }
        most
    }

    /// Visits everybody whom `first` reaches, nearest first, with the distance.
    fn walk(
        &self,
        first: PeerIndex,
        cuts: &CutLinks,
        among: &Members,
        mut visit: impl FnMut(PeerIndex, u32),
    ) {
        let mut seen = Members::none(self.peers());
        seen.insert(first);
        let mut todo = VecDeque::from([(first, 0)]);
        while let Some((peer, distance)) = todo.pop_front() {
            visit(peer, distance);
            for other in self.live(peer, cuts, among) {
                if seen.insert(other) {
                    todo.push_back((other, distance + 1));
                }
            }
        }
    }
}
