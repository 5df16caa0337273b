//! Keeps the connection to one member: dials, waits, dials again, and tells when it is up, down and lost.

use std::sync::Arc;
use std::time::Duration;

use tokio::pin;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::address::resolve;
use super::control;
use super::hub::{Hub, Member, lock};
use super::serving::Command;
use super::setup::HostEvent;

/// The first pause between two attempts to connect, which doubles up to the last; that is less where the grace is short.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(2);

/// Attempts that a member has at least within the grace once it listens again.
const ATTEMPTS: u32 = 8;

/// Keeps the link to a member until the host ends.
pub(super) async fn keep(hub: Arc<Hub>, member: Arc<Member>) {
    let mut link = member.link.subscribe();
    let mut is_up = false;
    let mut lost_at: Option<Duration> = None;
    loop {
        let dialling = dial(&hub, &member);
        pin!(dialling);
        let connection = loop {
            let connected = async {
                let up = link.wait_for(|link| link.connection.is_some()).await;
                up.ok().and_then(|link| link.connection)
            };
            tokio::select! {
                connection = connected => match connection {
                    Some(connection) => break connection,
                    None => return,
                },
                () = &mut dialling, if member.is_dialled => {}
                () = hub.awake.until(lost_at.unwrap_or_default()), if lost_at.is_some() => {
                    lost_at = None;
                    member.link.send_modify(|link| link.is_lost = true);
                    tracing::info!(member = %member.id, "lost");
                    hub.tell(HostEvent::Lost(member.id)).await;
                }
            }
        };
        lost_at = None;
        member.note_life(hub.awake.now());
        // Who comes back may have begun anew, and have nothing of what it said.
        lock(&member.has).clear();
        if !is_up {
            is_up = true;
            member.link.send_modify(|link| link.is_lost = false);
            tracing::info!(member = %member.id, "up");
            hub.tell(HostEvent::Up(member.id)).await;
        }
        let broken = async {
            let after = link
                .wait_for(|link| link.connection != Some(connection))
                .await;
            after.map(|link| link.connection)
        };
        let after = tokio::select! {
            after = broken => match after {
                Ok(after) => after,
                Err(_) => return,
            },
            () = control::speak(&hub, &member) => return,
        };
        if after.is_none() {
            is_up = false;
            lost_at = Some(hub.awake.now() + hub.grace);
            tracing::info!(member = %member.id, "down");
            hub.tell(HostEvent::Down(member.id)).await;
        }
    }
}

/// Dials, once a connection is wanted, until it is dropped.
async fn dial(hub: &Hub, member: &Member) {
    let mut wanted = member.is_wanted.subscribe();
    // It is there as long as this member.
    let _ = wanted.wait_for(|wanted| *wanted).await;
    let mut pause = FIRST_PAUSE;
    let mut was_found = true;
    loop {
        let mut addresses = Vec::new();
        for address in &member.addresses {
            addresses.extend(resolve(address).await);
        }
        // Once, until it is found again.
        if addresses.is_empty() && std::mem::take(&mut was_found) {
            let places: Vec<_> = member.addresses.iter().map(ToString::to_string).collect();
            tracing::warn!(member = %member.id, places = places.join(", "), "no address of a member can be looked up");
        }
        if !addresses.is_empty() {
            was_found = true;
            let (failed, why) = oneshot::channel();
            let command = Command::Dial {
                member: member.peer,
                addresses,
                failed,
            };
            if hub.commands.send(command).await.is_err() {
                // The host is ending, and this task with it.
                std::future::pending::<()>().await;
            }
            if let Ok(why) = why.await {
                tracing::debug!(member = %member.id, why, "could not connect");
            }
        }
        sleep(pause).await;
        pause = LAST_PAUSE
            .min(2 * pause)
            .min(hub.grace / ATTEMPTS)
            .max(FIRST_PAUSE);
    }
}
