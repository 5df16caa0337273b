//! Words for a guarantee, what it protects and against whom: every table, page, receipt and summary takes them from here.

use serde::{Deserialize, Serialize};

use super::Adjacency;
use crate::vocabulary::Distribution;

/// What an adversary sees of a run, in ascending order: each sees all that those before it see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdversaryView {
    /// The output of a trusted curator.
    CuratorOutput,
    /// Sums from an ideal secure aggregation, and what its colluders know of their own noise.
    SecureSum,
    /// Every noisy input of every peer, every message, and what its colluders know.
    Everything,
}

/// A guarantee in three parts: what one record is, what the adversary sees, how many peers it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// What one record is.
    pub adjacency: Adjacency,
    /// What the adversary sees.
    pub seen: AdversaryView,
    /// Number of colluding peers it holds; a curator's output has none.
    pub colluders: usize,
    /// How many peers may be lost, whichever; `None` where the loss of one ends the session.
    pub lost: Option<usize>,
    /// The law of the noise, which decides what is assumed of how it is drawn.
    pub distribution: Distribution,
    /// At how many participants one person's rows may be; `None` where one file was partitioned, so that every user is at one peer.
    pub participants: Option<usize>,
}

impl Statement {
    /// What one record is, as the rest of the sentence "… can hardly tell whether …".
    ///
    /// A change of the matrix A is a change of the sum where only sums are seen. Where single inputs are seen, it
    /// is a change within one peer's A_u. A row is at one participant, or at as many as the noise was planned for.
    #[must_use]
    pub fn record(&self) -> String {
        let what = self.change();
        match self.participants.filter(|_| self.adjacency.is_of_rows()) {
            None => what.to_owned(),
            Some(1) => format!("{what}, at one participant"),
            Some(k) => format!("{what}, at up to {k} participants"),
        }
    }

    fn change(&self) -> &'static str {
        match (self.adjacency, self.seen) {
            (Adjacency::Interaction, _) => "one user had one particular interaction or not",
            (Adjacency::User, _) => "any one user's data were there at all",
            (Adjacency::Swap, _) => "one user had one item or another in its place",
            (Adjacency::ReplaceUser, _) => "one user's data were these or any others",
            (Adjacency::Matrix, AdversaryView::Everything) => {
                "one peer's matrix A_u was changed by any C with Σᵢ‖Cᵢ‖₁² ≤ 1 (the norm of the paper's equation 7, within one peer; \
                 changes at several peers are not one record)"
            }
            (Adjacency::Matrix, _) => {
                "the matrix A, the sum over all peers, was changed by any C with Σᵢ‖Cᵢ‖₁² ≤ 1 (the adjacency of the paper's equation 7)"
            }
            (Adjacency::UnitSpectral, AdversaryView::Everything) => {
                "one peer's matrix A_u was changed by any C with ‖C‖₂ ≤ 1 (within one peer; changes at several peers are not one \
                 record)"
            }
            (Adjacency::UnitSpectral, _) => {
                "the matrix A, the sum over all peers, was changed by any C with ‖C‖₂ ≤ 1"
            }
            (Adjacency::EntryBipartite, _) => {
                "one entry of the matrix, which its row and its column know, was changed by at most 1"
            }
            (Adjacency::Rating, _) => {
                "one rating of one user was this or any other, or there at all"
            }
            (Adjacency::Edge, AdversaryView::Everything) => {
                "one edge of the graph was there or not (an edge between two peers that do not collude: its ends know it)"
            }
            (Adjacency::Edge, _) => "one edge of the graph was there or not",
            (Adjacency::Entry, AdversaryView::Everything) => {
                "one entry of one peer's matrix A_u was changed by at most 1 (within one peer; changes at several peers are not one record)"
            }
            (Adjacency::Entry, _) => {
                "one entry of the matrix A, the sum over all peers, was changed by at most 1"
            }
        }
    }

    /// The adversary, as the beginning of that sentence.
    #[must_use]
    pub fn against(&self) -> String {
        match (self.seen, self.colluders) {
            (AdversaryView::CuratorOutput, _) => "Whoever sees the curator's output".to_owned(),
            (AdversaryView::SecureSum, 0) => "Whoever sees the published sums".to_owned(),
            (AdversaryView::SecureSum, 1) => {
                "Any one curious peer that sees the published sums and knows its own noise"
                    .to_owned()
            }
            (AdversaryView::SecureSum, t) => {
                format!(
                    "Any {t} colluding peers that see the published sums and know their own noise"
                )
            }
            (AdversaryView::Everything, 0) => {
                "Whoever sees all messages, but holds no peer,".to_owned()
            }
            (AdversaryView::Everything, 1) => {
                "Any one curious peer that also sees all messages".to_owned()
            }
            (AdversaryView::Everything, t) => {
                format!("Any {t} colluding peers that also see all messages")
            }
        }
    }

    /// The guarantee as one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let assumed = match self.distribution {
            Distribution::Gaussian => "",
            Distribution::Laplace => IDEAL_SAMPLER,
            Distribution::Wishart => IDEAL_MATRICES,
        };
        let lost = self.whoever_is_lost();
        let beyond = self.whoever_is_elsewhere();
        format!(
            "{} can hardly tell whether {}.{beyond}{lost}{assumed}",
            self.against(),
            self.record()
        )
    }

    /// That a person with rows at more participants loses more, as a sentence; nothing where every user is at one peer.
    #[must_use]
    pub fn whoever_is_elsewhere(&self) -> &'static str {
        match self.participants.filter(|_| self.adjacency.is_of_rows()) {
            None => "",
            Some(_) => {
                " A person with rows at more participants loses more, as is stated for groups."
            }
        }
    }

    /// That it holds whoever is lost, as a sentence after it; nothing where nobody may be.
    #[must_use]
    pub fn whoever_is_lost(&self) -> String {
        let who = match self.lost {
            None => return String::new(),
            Some(0) => "Processes may crash and come back".to_owned(),
            Some(1) => "Any one peer may be lost besides".to_owned(),
            Some(lost) => format!("Any {lost} peers may be lost besides"),
        };
        format!(" {who}, at any time, and every retry be spent.")
    }
}

/// What every promise of Laplace noise assumes.
const IDEAL_SAMPLER: &str = " This takes the Laplace noise that is drawn for real numbers: it has 64 bits, and what their last ones tell is \
                             covered by no epsilon.";

/// What every promise of Wishart noise assumes.
const IDEAL_MATRICES: &str = " This takes the Wishart noise that is drawn for real numbers: it is summed in 64 bits, and what their last ones tell is \
                              covered by no epsilon.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_the_matrix_is_within_one_peer_exactly_where_single_inputs_are_seen() {
        for adjacency in Adjacency::ALL {
            for seen in [
                AdversaryView::CuratorOutput,
                AdversaryView::SecureSum,
                AdversaryView::Everything,
            ] {
                for colluders in [0, 1, 3] {
                    let promise = Statement {
                        adjacency,
                        seen,
                        colluders,
                        lost: None,
                        distribution: Distribution::Gaussian,
                        participants: None,
                    };
                    let text = promise.sentence();
                    let tolerant = Statement {
                        lost: Some(2),
                        ..promise
                    };
                    let more =
                        " Any 2 peers may be lost besides, at any time, and every retry be spent.";
                    assert_eq!(tolerant.sentence(), format!("{text}{more}"));
                    let pure = Statement {
                        distribution: Distribution::Laplace,
                        ..promise
                    };
                    assert_eq!(pure.sentence(), format!("{text}{IDEAL_SAMPLER}"));
                    let matrices = Statement {
                        distribution: Distribution::Wishart,
                        ..promise
                    };
                    assert_eq!(matrices.sentence(), format!("{text}{IDEAL_MATRICES}"));
                    let within = adjacency.is_of_matrix() && seen == AdversaryView::Everything;
                    assert_eq!(text.contains("one peer's matrix A_u"), within, "{text}");
                    let sum = adjacency.is_of_matrix() && seen != AdversaryView::Everything;
                    assert_eq!(text.contains("the sum over all peers"), sum, "{text}");
                    let some = seen != AdversaryView::CuratorOutput && colluders == 3;
                    assert_eq!(text.contains("Any 3 colluding peers"), some, "{text}");
                    assert!(!text.contains("participant"), "{text}");
                    for (participants, words) in [
                        (1, ", at one participant. A person with rows at more"),
                        (2, ", at up to 2 participants. A person with rows at more"),
                    ] {
                        let own = Statement {
                            participants: Some(participants),
                            ..promise
                        };
                        let said = own.sentence().contains(words);
                        assert_eq!(said, adjacency.is_of_rows(), "{text}");
                    }
                }
            }
        }
    }
}
