//! Follows the public states of peers on another host from the sums that they release.

use std::ops::Range;
use std::sync::Arc;

use super::words::Word;
use crate::algorithm::PublicState;
use crate::engine::Session;
use crate::linalg::Block;
use crate::node::exchange::Report;
use crate::protocol::{Event, kernel};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// Where one remote peer is.
#[derive(Clone, Debug)]
struct Followed {
    state: PublicState,
    /// Whether its input to the release that is due has come.
    published: bool,
    done: bool,
}

/// The peers of one other host.
///
/// A public state is a function of the one before and of the released sum, so that a host that sends its sums need not send
/// its states: the kernel that every peer advances with makes them again here, with the same bits.
#[derive(Debug)]
pub(super) struct Replay {
    session: Session,
    peers: Range<u32>,
    followed: Vec<Followed>,
}

impl Replay {
    /// Peers at their start.
    pub(super) fn new(session: Session, peers: Range<u32>) -> Self {
        let begin = Followed {
            state: PublicState::new(Arc::clone(session.start())),
            published: false,
            done: false,
        };
        Self {
            followed: vec![begin; peers.len()],
            session,
            peers,
        }
    }

    /// The peers of the host.
    pub(super) fn peers(&self) -> Range<u32> {
        self.peers.clone()
    }

    /// Whether all peers of the host are done.
    pub(super) fn is_done(&self) -> bool {
        self.followed.iter().all(|one| one.done)
    }

    /// A peer that is not done.
    fn running(&mut self, peer: PeerIndex) -> Result<&mut Followed, &'static str> {
        let at = peer.0.checked_sub(self.peers.start);
        let one = at.and_then(|at| self.followed.get_mut(at as usize));
        one.filter(|one| !one.done)
            .ok_or("news of a peer that is done")
    }

    /// What the peers would have reported themselves.
    ///
    /// # Errors
    /// What is wrong with the word, if it is not due or no peer can have said so.
    pub(super) fn reports(&mut self, word: Word) -> Result<Vec<(PeerIndex, Report)>, &'static str> {
        let plan = Arc::clone(self.session.plan());
        match word {
            Word::Published {
                peer,
                release,
                input,
            } => {
                let one = self.running(peer)?;
                if one.published || release != ReleaseId(one.state.released).next() {
                    return Err("an input to another release than the next");
                }
                one.published = true;
                let event = Event::Published { release, input };
                Ok(vec![(peer, Report::Event(event))])
            }
            Word::Released {
                peer,
                release,
                statistic,
                values,
            } => {
                let one = self.running(peer)?;
                if !one.published || release != ReleaseId(one.state.released).next() {
                    return Err("a sum of another release than the next");
                }
                let planned = plan
                    .release(release)
                    .ok_or("a release that is not planned")?;
                if !statistic.is_finite() || !values.iter().all(|x| x.is_finite()) {
                    return Err("a number that is not finite");
                }
                let (height, width) = planned.shape();
                let height = match height * width {
                    0 => 0,
                    each => height * (values.len() / each),
                };
                let sum = Arc::new(Block::from_values(height, width, values));
                let terms = planned.terms(statistic);
                let sigmas = terms.sigmas(plan.sigma_of_release(planned, terms.scale));
                let mut before = one.state.clone();
                before.agreed = planned.agrees().then_some(statistic);
                let state = kernel::advance(&plan, &before, &sum, &sigmas)
                    .map_err(|_| "a sum after which no peer goes on")?;
                one.state = state.clone();
                one.published = false;
                let basis = plan.algorithm().estimate(&state);
                let released = Event::Released {
                    release,
                    terms,
                    sum,
                };
                let advanced = Event::Advanced {
                    release,
                    state,
                    basis,
                };
                Ok(vec![
                    (peer, Report::Event(released)),
                    (peer, Report::Event(advanced)),
                ])
            }
            Word::Written { peer, written } => {
                let one = self.running(peer)?;
                one.done = true;
                Ok(vec![(peer, Report::Done(written))])
            }
            Word::Start | Word::Done => Err("what only host 0 says"),
            Word::Failed(_) => Ok(Vec::new()),
        }
    }
}
