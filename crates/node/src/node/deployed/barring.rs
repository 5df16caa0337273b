//! A network that comes apart where a test says so: a host admits nobody of another side.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::defect::Defect;
use super::hub::Hub;
use super::serving::Command;
use crate::session::PublicId;

/// How often the sides are looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Bars those of other sides, as the defect has them, and admits those of the own one, until the host ends.
pub(super) async fn follow(defect: Option<Defect>, own: PublicId, hub: Arc<Hub>) {
    let mut barred = BTreeSet::new();
    loop {
        let others = defect.as_ref().map(|defect| defect.barred(&own));
        let others = others.unwrap_or_default();
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
