//! Which way words go: from everybody to everybody along shortest paths, to each once.

use super::attempt::ViewNumber;
use super::links::Links;
use super::resume::View;
use crate::vocabulary::PeerIndex;

/// Whom a member passes words on to while nothing goes wrong, by whose word it is.
///
/// Every member is the root of a tree of shortest paths over the links of the view, and its word goes down that tree: to s − 1 members with s − 1 frames, each after as
/// many hops as a flood would take, which sends twice the number of links. All members compute the same trees. Of several neighbours that are as near to the root the one after it in
/// the order of numbers is the parent, so that trees of different roots lean on different members.
///
/// # Cost
/// O(s·(s + links)) once a view, and one number for each tree that this member passes words on in.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    view: ViewNumber,
    onward: Vec<Vec<PeerIndex>>,
    /// Per origin, the neighbour that its word comes from.
    back: Vec<Option<PeerIndex>>,
}

impl Paths {
    /// Those of a member in a view.
    pub(super) fn of(view: &View, links: &Links, me: PeerIndex) -> Self {
        let peers = links.peers();
        let cuts = view.disruptions.cuts();
        let mut live: Vec<Vec<usize>> = vec![Vec::new(); peers];
        for member in view.members.iter() {
            let neighbours = links.live(member, cuts, &view.members);
            live[member.index()] = neighbours.map(PeerIndex::index).collect();
        }
        let mut onward = vec![Vec::new(); peers];
        let mut back = vec![None; peers];
        let (mut distance, mut order) = (vec![usize::MAX; peers], Vec::with_capacity(peers));
        for root in view.members.iter().map(PeerIndex::index) {
            distance.fill(usize::MAX);
            distance[root] = 0;
            order.clear();
            order.push(root);
            let mut next = 0;
            while let Some(&from) = order.get(next) {
                next += 1;
                for &to in &live[from] {
                    if distance[to] == usize::MAX {
                        distance[to] = distance[from] + 1;
                        order.push(to);
                    }
                }
            }
            let mine = distance[me.index()];
            let after_root = |peer: usize| (peer + peers - root) % peers;
            let is_mine = |child: &usize| {
                let parents = live[*child].iter().filter(|peer| distance[**peer] == mine);
                distance[*child] == mine.saturating_add(1)
                    && parents.min_by_key(|peer| after_root(**peer)) == Some(&me.index())
            };
            let nearer = live[me.index()].iter().copied();
            let nearer = nearer.filter(|peer| distance[*peer].saturating_add(1) == mine);
            let parent = nearer.min_by_key(|peer| after_root(*peer));
            back[root] = parent.map(PeerIndex::from_index);
            let children = live[me.index()].iter().copied().filter(is_mine);
            onward[root] = children.map(PeerIndex::from_index).collect();
        }
        Self {
            view: view.number,
            onward,
            back,
        }
    }

    /// The view that these are of.
    pub(super) fn view(&self) -> ViewNumber {
        self.view
    }

    /// Whom this member passes the word of `origin` on to, ascending.
    pub(super) fn onward(&self, origin: PeerIndex) -> &[PeerIndex] {
        self.onward.get(origin.index()).map_or(&[], Vec::as_slice)
    }

    /// The neighbour that passes the word of `origin` on to this member; nobody where they are not connected, and for its own.
    pub(super) fn from(&self, origin: PeerIndex) -> Option<PeerIndex> {
        self.back.get(origin.index()).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::protocol::regroup::{Disruptions, LinkIndex, Publication, Tolerance};

    fn views() -> Vec<(Links, View)> {
        let mut all = Vec::new();
        for (peers, chords) in [
            (1, vec![]),
            (7, vec![1]),
            (12, vec![1, 3]),
            (15, vec![1, 2, 5]),
        ] {
            let mut pairs = BTreeSet::new();
            for u in 0..peers {
                for step in &chords {
                    let v = (u + step) % peers;
                    pairs.insert((PeerIndex(u.min(v)), PeerIndex(u.max(v))));
                }
            }
            let links = Links::new(peers as usize, pairs.into_iter().collect()).expect("a graph");
            let tolerance = Tolerance {
                colluders: 1,
                floor: 1,
                needs: vec![0; peers as usize],
                retries: 0,
                publication: Publication::Open,
            };
            let mut disruptions = Disruptions::none(links.peers(), links.len());
            all.push((
                links.clone(),
                View::of(disruptions.clone(), &links, &tolerance),
            ));
            // One member has no link left, and another one less.
            for cut in links.neighbours(PeerIndex(0)).iter().map(|(_, link)| *link) {
                disruptions.cuts.insert(cut);
            }
            if links.len() > 3 {
                disruptions.cuts.insert(LinkIndex(links.len() as u32 - 1));
            }
            all.push((links.clone(), View::of(disruptions, &links, &tolerance)));
        }
        all
    }

    /// Every word comes to every other member once, as soon as a flood would bring it, whatever is cut.
    #[test]
    fn every_word_comes_to_everybody_once_by_a_shortest_path() {
        let mut words = 0;
        for (links, view) in views() {
            let members: Vec<PeerIndex> = view.members.iter().collect();
            let paths: Vec<Paths> = (0..links.peers())
                .map(|u| Paths::of(&view, &links, PeerIndex::from_index(u)))
                .collect();
            for &origin in &members {
                let mut heard = BTreeSet::from([origin]);
                let (mut now, mut hops) = (vec![origin], 0);
                let mut near = BTreeSet::from([origin]);
                while !now.is_empty() {
                    let next: Vec<PeerIndex> = now
                        .iter()
                        .flat_map(|at| paths[at.index()].onward(origin).to_vec())
                        .collect();
                    for at in &now {
                        for to in paths[at.index()].onward(origin) {
                            assert_eq!(paths[to.index()].from(origin), Some(*at));
                        }
                    }
                    for peer in &next {
                        assert!(heard.insert(*peer), "{peer} hears {origin} twice");
                        words += 1;
                    }
                    // Whoever is within so many hops has it.
                    let cuts = view.disruptions.cuts();
                    let beside = near
                        .iter()
                        .flat_map(|peer| links.live(*peer, cuts, &view.members));
                    near = beside
                        .collect::<BTreeSet<_>>()
                        .union(&near)
                        .copied()
                        .collect();
                    hops += 1;
                    assert_eq!(heard, near, "after {hops} hops");
                    now = next;
                }
                assert_eq!(heard.len(), members.len());
            }
        }
        assert!(words > 500, "{words}");
    }
}
