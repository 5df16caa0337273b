//! What a promise takes to be public or given, in words: no ε covers it.

use super::deployment::SessionDraft;
use super::experiment::Experiment;
use super::preconditioning::Preconditioning;
use super::stated_lists::{ItemSource, StatedItems, UserSource};
use crate::algorithm::Start;

/// Everything that decides what a promise assumes: of an experiment, or as a receipt states it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assumed<'a> {
    /// The source of the list of users; `None` where rows have no names.
    pub(crate) users: Option<UserSource>,
    /// With files of the peers' own: how many of them at most have rows of one person.
    pub(crate) participants: Option<usize>,
    /// The source of the list of items; `None` where items are the columns of rows in memory.
    pub(crate) items: Option<ItemSource>,
    /// The start of the iteration.
    pub(crate) start: Start,
    /// What P was made of.
    pub(crate) preconditioning: Option<&'a Preconditioning>,
    /// Whether a released Gram matrix recommends.
    pub(crate) recommends: bool,
    /// Whether the algorithm was chosen by advice.
    pub(crate) chosen: bool,
}

impl<'a> Assumed<'a> {
    /// That of an experiment.
    pub(crate) fn of(experiment: &'a Experiment) -> Self {
        let config = &experiment.config;
        Self {
            users: UserSource::of(config),
            participants: None,
            items: Some(StatedItems::of(experiment).source),
            start: config.algorithm.table().requirements().start,
            preconditioning: experiment.preconditioning(),
            recommends: config.recommender.is_some(),
            chosen: config.pilot.is_some() && experiment.plan().program().rank > 0,
        }
    }

    /// That of rows in memory.
    pub(crate) fn in_memory() -> Self {
        Self {
            users: None,
            participants: None,
            items: None,
            start: Start::Random,
            preconditioning: None,
            recommends: false,
            chosen: false,
        }
    }

    /// That of a session: members have users of their own, of whom no list is made.
    pub(crate) fn of_session(session: &SessionDraft) -> Self {
        Self {
            users: None,
            participants: session.plan().promise().participants,
            items: Some(StatedItems::of_session(session).source),
            start: Start::Random,
            preconditioning: None,
            recommends: false,
            chosen: false,
        }
    }

    /// The sentences, each exactly where it is called for.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let users = match (self.participants, self.users) {
            (Some(1), _) => {
                "the rows of one person are assumed to be in the file of one participant".to_owned()
            }
            (Some(k), _) => format!(
                "the rows of one person are assumed to be in the files of no more than {k} participants"
            ),
            (None, None) => "who takes part (the list of users and its order) is assumed public".to_owned(),
            (None, Some(UserSource::Data)) => {
                "who takes part (the list of users and its order) is assumed public: users are numbered as the data first name them, so that one line \
                 of the data more or less can number all of them and deal them to peers in another way, which no epsilon covers"
                    .to_owned()
            }
            (None, Some(UserSource::File)) => {
                "who takes part (the list of users and its order) was read from a file of its own, which is public; the data had no part in it"
                    .to_owned()
            }
            (None, Some(UserSource::Column)) => {
                "who takes part (the list of users and its order) and which users are at which peer are assumed public: a column of the data names the peer \
                 of every user, so that one line of the data moves rows of that line's user and peer alone"
                    .to_owned()
            }
            (None, Some(UserSource::Hashed)) => {
                "which peer holds a user follows from a hash of that user's own name; no list of users and no number of users is assumed public"
                    .to_owned()
            }
        };
        let items = match self.items {
            None => "the columns of the rows and their order are assumed public",
            Some(ItemSource::Data) => {
                "the item list and its order were drawn from the data and are assumed public"
            }
            Some(ItemSource::File) => {
                "the item list and its order were read from a file of their own, which is public; the data had no part in it"
            }
            Some(ItemSource::MostRatedOfFile) => {
                "the items were read from a file of their own, which is public; which of them were kept follows from item degrees that were counted in \
                 the data"
            }
        };
        let mut all = vec![users, items.to_owned()];
        if self.start == Start::Popularity {
            all.push("the item degrees, whose shape X0 published, are assumed public".to_owned());
        }
        all.extend(self.preconditioning.map(Preconditioning::assumption));
        if self.recommends {
            all.push(
                "the item degrees, from which the items, the degree floor and the scores of the recommender follow, are assumed public: they were counted in \
                 the very data, and no epsilon covers them"
                    .to_owned(),
            );
        }
        if self.chosen {
            all.push(
                "the item degrees, by which the algorithm was chosen, are assumed public"
                    .to_owned(),
            );
        }
        all
    }
}
