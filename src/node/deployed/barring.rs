//! A network that comes apart on purpose: a file says who is on which side, and hosts admit nobody of another side.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::hub::Hub;
use super::serving::Command;
use crate::session::PublicId;

/// Names the file. Its lines are sides, each the ids of those on it; whoever is on none hears everybody.
pub(in crate::node) const SIDES: &str = "UNDERTONE_TEST_SIDES";

/// How often the file is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Follows the file, if there is one, until the host ends.
pub(super) async fn follow(own: PublicId, hub: Arc<Hub>) {
    let Some(path) = std::env::var_os(SIDES) else {
        return std::future::pending().await;
    };
    let own = own.to_string();
    let mut barred = BTreeSet::new();
    loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let sides: Vec<Vec<&str>> = text.lines().map(|side| side.split(' ').collect()).collect();
        let is_here = sides.iter().any(|side| side.contains(&own.as_str()));
        let others = sides
            .iter()
            .filter(|side| is_here && !side.contains(&own.as_str()));
        let others: BTreeSet<String> = others.flatten().map(|id| (*id).to_owned()).collect();
        for member in hub.members.values() {
            let id = member.id.to_string();
            let is_barred = others.contains(&id);
            if is_barred != barred.contains(&id) {
                let member = member.peer;
                let _ = hub.commands.send(Command::Bar { member, is_barred }).await;
            }
        }
        barred = others;
        sleep(LOOK).await;
    }
}
