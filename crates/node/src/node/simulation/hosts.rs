//! The hosts file of a simulation: which process has which peers, and where it listens.

use std::fs::File;
use std::io::Read;
use std::net::IpAddr;
use std::ops::Range;
use std::path::Path;

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use serde::Deserialize;

use crate::vocabulary::PeerIndex;

/// Hosts that a file may list at most.
pub const MOST_HOSTS: usize = 1024;
/// Bytes that a hosts file may have at most.
pub const MOST_BYTES: u64 = 1 << 20;
/// Characters that a name may have at most.
const LONGEST_NAME: usize = 64;

/// Why a hosts file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HostsError {
    /// It cannot be read.
    #[error("cannot read the hosts file: {0}")]
    Read(#[from] std::io::Error),
    /// It is too long.
    #[error("a hosts file has at most {MOST_BYTES} bytes: is this one?")]
    TooLong,
    /// It is no TOML, or has other keys.
    #[error("the hosts file is not understood: {0}")]
    Parse(#[from] toml::de::Error),
    /// No hosts, or too many.
    #[error("the hosts file lists {found} hosts: write 1 to {MOST_HOSTS} tables [[host]]")]
    Count {
        /// Hosts listed.
        found: usize,
    },
    /// A name that cannot be printed in a line, or two alike.
    #[error(
        "host {at}: name = {name:?} is empty, taken, longer than {LONGEST_NAME} characters or has unprintable ones: give it another"
    )]
    Name {
        /// The host's place in the file, from 0.
        at: usize,
        /// What it is called.
        name: String,
    },
    /// Peers that are no range.
    #[error("host \"{host}\": peers = {found:?} is no range \"FIRST..END\" with FIRST < END")]
    Range {
        /// The host.
        host: String,
        /// What the file says.
        found: String,
    },
    /// A range that does not begin where the one before ended.
    #[error(
        "host \"{host}\": peers begin at {found} and should at {expected}: list the hosts so that each range begins where the one before \
         ends, the first at 0"
    )]
    Gap {
        /// The host.
        host: String,
        /// Where its range should begin.
        expected: u32,
        /// Where it begins.
        found: u32,
    },
    /// Ranges of more or fewer peers than the experiment has.
    #[error(
        "the hosts have {found} peers and the experiment {expected}: correct `peers` of the last hosts"
    )]
    Incomplete {
        /// Peers of the experiment.
        expected: usize,
        /// Peers of all hosts.
        found: u32,
    },
    /// Ports above 65535.
    #[error("host \"{host}\": base_port = {base_port} leaves no room for {needed} ports: lower it")]
    Ports {
        /// The host.
        host: String,
        /// Its first port.
        base_port: u16,
        /// Ports it takes.
        needed: u32,
    },
    /// Two hosts on the same ports.
    #[error(
        "hosts \"{first}\" and \"{second}\" share ports of {address}: each takes as many as it has peers and one more; set base_port of the \
         second to {free} or above"
    )]
    Shared {
        /// One host.
        first: String,
        /// The other.
        second: String,
        /// Their address.
        address: IpAddr,
        /// The first port beyond the first host's.
        free: u32,
    },
    /// `--host` names nobody.
    #[error("there is no host {found}: the file lists hosts 0 to {last}")]
    NoSuchHost {
        /// The number given.
        found: usize,
        /// The last one listed.
        last: usize,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    #[serde(default)]
    host: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    address: IpAddr,
    #[serde(default = "default_port")]
    base_port: u16,
    peers: String,
}

fn default_port() -> u16 {
    7000
}

/// One process of a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// What it is called in messages.
    pub name: String,
    /// Where it listens, and nowhere else.
    pub address: IpAddr,
    /// Port of its first peer; the others follow, and after them the one at which host 0 collects.
    pub base_port: u16,
    /// Its peers.
    pub peers: Range<u32>,
}

impl Host {
    /// The ports that it may listen at.
    fn ports(&self) -> Range<u32> {
        let first = u32::from(self.base_port);
        first..first.saturating_add((self.peers.len() as u32).saturating_add(1))
    }

    /// Where one of its peers listens: `base_port` plus the peer's place within the host.
    #[must_use]
    pub(super) fn peer_address(&self, peer: PeerIndex) -> Multiaddr {
        self.at(peer.0.saturating_sub(self.peers.start))
    }

    /// Where the host itself listens, if it is the one that collects.
    #[must_use]
    pub(super) fn collecting_address(&self) -> Multiaddr {
        self.at(self.peers.len() as u32)
    }

    fn at(&self, offset: u32) -> Multiaddr {
        // In range: the file was refused otherwise.
        let port =
            u16::try_from(u32::from(self.base_port).saturating_add(offset)).unwrap_or(u16::MAX);
        Multiaddr::empty()
            .with(self.address.into())
            .with(Protocol::Tcp(port))
    }
}

/// All processes of a simulation. Every peer of 0..[`Self::peers`] is on exactly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts(Vec<Host>);

impl Hosts {
    /// Reads a hosts file.
    ///
    /// # Errors
    /// [`HostsError`].
    pub fn read(path: &Path) -> Result<Self, HostsError> {
        let mut text = String::new();
        let mut file = File::open(path)?.take(MOST_BYTES + 1);
        if file.read_to_string(&mut text)? as u64 > MOST_BYTES {
            return Err(HostsError::TooLong);
        }
        Self::parse(&text)
    }

    /// Reads the text of a hosts file.
    ///
    /// # Errors
    /// [`HostsError`].
    pub fn parse(text: &str) -> Result<Self, HostsError> {
        let listed: Listed = toml::from_str(text)?;
        if listed.host.is_empty() || listed.host.len() > MOST_HOSTS {
            let found = listed.host.len();
            return Err(HostsError::Count { found });
        }
        let mut hosts: Vec<Host> = Vec::with_capacity(listed.host.len());
        for (at, entry) in listed.host.into_iter().enumerate() {
            let Entry {
                name,
                address,
                base_port,
                peers,
            } = entry;
            let printable = !name.chars().any(char::is_control);
            let short = (1..=LONGEST_NAME).contains(&name.chars().count());
            if !printable || !short || hosts.iter().any(|host| host.name == name) {
                return Err(HostsError::Name { at, name });
            }
            let Some(range) = range(&peers) else {
                let (host, found) = (name, peers);
                return Err(HostsError::Range { host, found });
            };
            let expected = hosts.last().map_or(0, |host| host.peers.end);
            if range.start != expected {
                let (host, found) = (name, range.start);
                return Err(HostsError::Gap {
                    host,
                    expected,
                    found,
                });
            }
            let host = Host {
                name,
                address,
                base_port,
                peers: range,
            };
            let ports = host.ports();
            if base_port == 0 || ports.end > 65_536 {
                return Err(HostsError::Ports {
                    host: host.name,
                    base_port,
                    needed: ports.len() as u32,
                });
            }
            let meets = |other: &&Host| {
                let others = other.ports();
                other.address == address && others.start < ports.end && ports.start < others.end
            };
            if let Some(first) = hosts.iter().find(meets) {
                return Err(HostsError::Shared {
                    first: first.name.clone(),
                    second: host.name,
                    address,
                    free: first.ports().end,
                });
            }
            hosts.push(host);
        }
        Ok(Self(hosts))
    }

    /// Checks that these are hosts of an experiment of so many peers, and that host `own` is one of them.
    ///
    /// # Errors
    /// [`HostsError::Incomplete`] and [`HostsError::NoSuchHost`].
    pub fn check(&self, peers: usize, own: usize) -> Result<(), HostsError> {
        let found = self.peers();
        if found as usize != peers {
            let expected = peers;
            return Err(HostsError::Incomplete { expected, found });
        }
        if own >= self.0.len() {
            let last = self.0.len() - 1;
            return Err(HostsError::NoSuchHost { found: own, last });
        }
        Ok(())
    }

    /// Peers of all hosts.
    #[must_use]
    pub fn peers(&self) -> u32 {
        self.0.last().map_or(0, |host| host.peers.end)
    }

    /// All hosts, host 0 first.
    #[must_use]
    pub fn all(&self) -> &[Host] {
        &self.0
    }

    /// The host that has this peer.
    #[must_use]
    pub fn of(&self, peer: PeerIndex) -> Option<&Host> {
        self.0.iter().find(|host| host.peers.contains(&peer.0))
    }

    /// Hash of who has which peers; addresses may differ from host to host, where several names lead to one machine.
    pub(super) fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 simulation hosts v1");
        for host in &self.0 {
            hasher.update(&host.peers.end.to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

/// "3..8".
fn range(text: &str) -> Option<Range<u32>> {
    let (first, end) = text.split_once("..")?;
    let (first, end) = (first.trim().parse().ok()?, end.trim().parse().ok()?);
    (first < end).then_some(first..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, port: u16, peers: &str) -> String {
        format!(
            "[[host]]\nname = \"{name}\"\naddress = \"127.0.0.1\"\nbase_port = {port}\npeers = \"{peers}\"\n"
        )
    }

    fn refused(text: &str) -> String {
        let error = Hosts::parse(text).expect_err("no hosts file");
        error.to_string()
    }

    #[test]
    fn every_peer_has_one_host_and_a_port() {
        let text = host("a", 7000, "0..4") + &host("b", 7100, "4..9");
        let hosts = Hosts::parse(&text).expect("valid");
        assert_eq!(hosts.peers(), 9);
        let of = |peer| hosts.of(PeerIndex(peer)).map(|host| host.name.as_str());
        assert_eq!(
            (of(0), of(3), of(4), of(8), of(9)),
            (Some("a"), Some("a"), Some("b"), Some("b"), None)
        );
        let address = hosts.all()[1].peer_address(PeerIndex(6)).to_string();
        assert_eq!(address, "/ip4/127.0.0.1/tcp/7102");
        let address = hosts.all()[0].collecting_address().to_string();
        assert_eq!(address, "/ip4/127.0.0.1/tcp/7004");
        assert!(hosts.check(9, 1).is_ok());
        let wrong = hosts.check(10, 1).expect_err("a peer without a host");
        assert!(wrong.to_string().contains("9 peers and the experiment 10"));
        let wrong = hosts.check(9, 2).expect_err("no such host").to_string();
        assert!(wrong.contains("hosts 0 to 1"), "{wrong}");
        let other = host("a", 7000, "0..5") + &host("b", 7100, "5..9");
        assert_ne!(
            Hosts::parse(&other).expect("valid").digest(),
            hosts.digest()
        );
    }

    #[test]
    fn what_is_no_hosts_file_is_refused_and_told_what_to_change() {
        let two = |second: String| refused(&(host("a", 7000, "0..4") + &second));
        for (said, expected) in [
            (refused(""), "lists 0 hosts"),
            (refused("[[host]]\nname = 3"), "not understood"),
            (refused(&host("a\\n", 7000, "0..4")), "unprintable"),
            (refused(&host("a", 7000, "4..4")), "no range"),
            (refused(&host("a", 7000, "0..99999999999")), "no range"),
            (refused(&host("a", 7000, "1..4")), "should at 0"),
            (two(host("b", 7100, "5..9")), "should at 4"),
            (two(host("b", 7100, "3..9")), "should at 4"),
            (two(host("a", 7100, "4..9")), "taken"),
            (two(host("b", 7004, "4..9")), "7005 or above"),
            (refused(&host("a", 65_533, "0..4")), "lower it"),
            (refused(&host("a", 7000, "0..4294967295")), "lower it"),
            (
                refused(&(host("a", 7000, "0..4") + "prot = 3")),
                "unknown field",
            ),
        ] {
            assert!(said.contains(expected), "{said}");
        }
        let many: String = (0..=MOST_HOSTS)
            .map(|at| host(&at.to_string(), 7000, "0..1"))
            .collect();
        assert!(refused(&many).contains("1025 hosts"));
    }

    #[test]
    fn a_file_that_is_too_long_is_not_read_to_its_end() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "#".repeat(MOST_BYTES as usize + 1)).expect("written");
        let error = Hosts::read(file.path()).expect_err("too long");
        assert!(matches!(error, HostsError::TooLong), "{error}");
    }
}
