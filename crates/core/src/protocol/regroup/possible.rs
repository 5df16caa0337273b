//! Which statements a member that follows the protocol can make: others are refused where they are read.

use super::attempt::Attempt;
use super::defect::Defect;
use super::machine::Regroup;
use super::record::{MOST_RESTARTS, Statement};
use crate::vocabulary::ReleaseId;

impl Regroup {
    /// Whether a member that follows the protocol can state this, as its statement of this number: nothing is counted, compared or begun that others state
    /// beyond it.
    ///
    /// Every statement has more that has gone wrong than the one before, and so has every view that is decided: with n things gone wrong it is at most the n-th statement, after at most
    /// n − 1 decisions, each of which counts at most one retry.
    pub(super) fn is_possible(&self, serial: u64, statement: &Statement) -> bool {
        if self.defect.is_some_and(Defect::believes_all) {
            return true;
        }
        let Statement {
            disruptions,
            done,
            certified,
            sent,
            retries,
        } = statement;
        let (last, most) = (self.setup.last, self.setup.tolerance.retries);
        let (count, number) = (disruptions.count(), disruptions.number());
        let is_earlier = |at: &Attempt| {
            let is_release = at.release > ReleaseId(0) && at.release <= last;
            is_release && at.retry <= *retries && at.view < number
        };
        (1..=count).contains(&serial)
            && u64::from(*retries) < count
            && *retries <= most
            && *done <= last
            && disruptions
                .restarts
                .iter()
                .all(|count| *count <= MOST_RESTARTS)
            && certified.is_sorted_by(|one, next| one < next)
            && certified.iter().chain(sent).all(is_earlier)
    }
}
