//! The tables `[dropouts]` and `[faults]`.

use serde::{Deserialize, Serialize};

use super::peer_name::PeerName;
use crate::engine::event::faults::FaultSchedule;

/// `[dropouts]`: what a session tolerates. Its noise is planned for `colluders` and these together, and for so many releases more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DropoutsConfig {
    /// f: how many peers may be lost for good.
    pub tolerate: usize,
    /// How often a release may be tried again, at the price of one release more each time.
    #[serde(default)]
    pub retries: u32,
    /// Whether contributions can be read before everybody holds them; where nothing is said they cannot, if every peer has enough neighbours for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publish: Option<Publish>,
}

/// `dropouts.publish`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Publish {
    /// They can: whoever tries a release again has published twice, and pays for it with a retry.
    Open,
    /// They cannot.
    Sealed,
}

/// `[faults]`: what goes wrong in a simulation.
pub(crate) type FaultsConfig = FaultSchedule<PeerName>;
