//! What a session releases, as data.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Prelude, Proved, ReleaseSpec, ThresholdSearch};

/// A name of an algorithm or of one of its numbers.
pub type Text = Cow<'static, str>;

/// What a session releases: a list of releases with what is known of the algorithm that makes and interprets them.
///
/// Everything in it is public and fixed before a session starts. Noise is planned from it alone, without the algorithm and without rows.
/// Peers whose programs differ in anything are in different sessions.
///
/// # Validity
/// A program is data before validation. [`SessionPlan::new`](crate::protocol::SessionPlan::new) refuses one that cannot be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// What the algorithm is called.
    pub name: Text,
    /// Every number that the algorithm was made with and that its releases do not show, by name.
    pub settings: Vec<(Text, f64)>,
    /// Items n.
    pub items: usize,
    /// Columns b of the public query X, n × b; the starting block has as many.
    pub query_columns: usize,
    /// Columns of the estimate; 0 where no basis is found.
    pub rank: usize,
    /// All releases, in the order in which they are made.
    pub releases: Vec<ReleaseSpec>,
    /// What is proved of it beyond the quantities of its releases. Wrappers state what holds of the whole.
    pub proved: Proved,
    /// The degree floor that what it releases is weighed for; `None` where none is. A plan of rows under another one is refused, since the
    /// bound would be of something else.
    pub degree_floor: Option<u32>,
    /// The most that an entry of a vertex's row counts as, in absolute value; 1 in a graph. Rows of norm at most 1 are bounded by that,
    /// whatever this is.
    pub largest_entry: f64,
    /// The private mean that is release 1, and what it spends; `None` where none is.
    pub prelude: Option<Prelude>,
    /// The search for a threshold that takes the place of the agreement before each release, which only somebody who sees all rows can
    /// make; `None` for an algorithm without one. No engine but [`central`](crate::engine::central) runs a program with one.
    pub search: Option<ThresholdSearch>,
    /// What the public state keeps beside the query.
    pub state: RetainedState,
}

/// What a public state keeps beside the query from one release to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetainedState {
    /// Nothing: all releases are of one shape, that of the query, and the next query is a function of the noisy sum alone and is the
    /// estimate too. Engines then keep one array per peer and no past. Such an algorithm must not look at the state in
    /// [`advance`](super::Algorithm::advance), at anything but the query in [`prepare`](super::Algorithm::prepare) and
    /// [`statistic`](super::Algorithm::statistic), or at anything but the counters in [`next`](super::Algorithm::next).
    Query,
    /// All that was released.
    All,
    /// So many public numbers.
    Numbers(usize),
}

impl RetainedState {
    /// The same where states have a past that nobody asked for, as those of wrappers.
    pub(super) fn with_past(self) -> Self {
        match self {
            Self::Query => Self::All,
            other => other,
        }
    }
}

impl Program {
    /// A program of an algorithm of this name: its estimate has as many columns as its query, all that is released is kept, and it has no
    /// other numbers than its releases show.
    #[must_use]
    pub fn of(
        name: impl Into<Text>,
        items: usize,
        query_columns: usize,
        releases: Vec<ReleaseSpec>,
    ) -> Self {
        Self {
            name: name.into(),
            settings: Vec::new(),
            items,
            query_columns,
            rank: query_columns,
            releases,
            proved: Proved::default(),
            degree_floor: None,
            largest_entry: 1.0,
            prelude: None,
            search: None,
            state: RetainedState::All,
        }
    }

    /// The same with a number that the algorithm was made with.
    #[must_use]
    pub fn with_setting(mut self, name: impl Into<Text>, value: f64) -> Self {
        self.settings.push((name.into(), value));
        self
    }

    /// The same with all of these numbers.
    #[must_use]
    pub fn with_settings<N: Into<Text>>(mut self, all: impl IntoIterator<Item = (N, f64)>) -> Self {
        let all = all.into_iter().map(|(name, value)| (name.into(), value));
        self.settings.extend(all);
        self
    }

    /// The same with so many columns of the estimate.
    #[must_use]
    pub fn rank(self, rank: usize) -> Self {
        Self { rank, ..self }
    }

    /// The same of which the public state keeps this.
    #[must_use]
    pub fn state(self, state: RetainedState) -> Self {
        Self { state, ..self }
    }

    /// The same with this proved of it.
    #[must_use]
    pub fn proved(self, proved: Proved) -> Self {
        Self { proved, ..self }
    }

    /// What experiment files call the algorithm.
    #[must_use]
    pub fn kind(&self) -> Text {
        self.name.clone()
    }

    /// The same inside a wrapper of this name, which has these numbers of its own: the name and the numbers of what is inside follow.
    pub(super) fn inside<N: Into<Text>>(
        mut self,
        name: &'static str,
        own: impl IntoIterator<Item = (N, f64)>,
    ) -> Self {
        self.proved.matrix_only = false;
        let inner = std::mem::replace(&mut self.name, name.into());
        let settings = std::mem::take(&mut self.settings);
        self.with_setting(inner, 1.0)
            .with_settings(own)
            .with_settings(settings)
    }
}
