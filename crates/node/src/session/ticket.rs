//! Tickets: one line that says who a member is and where it listens, to be given to others.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use super::identity::{IdentityError, PublicId};
use crate::vocabulary::hidden;

/// First word of a ticket, up to the id.
const PREFIX: &str = "undertone1:";

/// Bytes of the longest ticket.
pub(crate) const LONGEST: usize = 4096;

/// Addresses of one member at most.
pub(crate) const MOST_ADDRESSES: usize = 16;

/// Characters of the longest name of a member.
pub(crate) const LONGEST_NAME: usize = 64;

/// Bytes of the longest address: a host name of 253 and what stands around it.
const LONGEST_ADDRESS: usize = 300;

/// Who a member is, where it listens, and what it calls itself: `undertone1:ID@ADDRESS,ADDRESS;name=NAME`.
///
/// Nothing in a ticket is signed: the id is what a connection is checked against, addresses only say where to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    id: PublicId,
    addresses: Vec<Address>,
    name: MemberName,
}

/// A network address that a member can be dialled at, as a multiaddress: `/dns4/HOST/tcp/PORT`, `/dns6/…`, `/ip4/…` or `/ip6/…`, and `/udp/PORT/quic-v1`
/// in place of `/tcp/PORT`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(String);

/// What a member is called: 0 to 64 characters that can be seen. It may be empty, and identifies nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberName(String);

/// Why a text is no ticket, no address or no name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TicketError {
    /// Something else altogether.
    #[error(
        "this is no ticket: it must be the line that `undertone node id` prints, beginning with undertone1:"
    )]
    NotATicket,
    /// Beyond the limit.
    #[error("this ticket has {found} bytes; no ticket has more than {LONGEST}")]
    TooLong {
        /// Its bytes.
        found: usize,
    },
    /// The id is none.
    #[error(transparent)]
    Id(#[from] IdentityError),
    /// More addresses than anybody dials.
    #[error(
        "more than {MOST_ADDRESSES} addresses for one member: keep those that others can reach"
    )]
    Addresses,
    /// Something that cannot be dialled.
    #[error(
        "an address must be /ip4/A.B.C.D, /ip6/…, /dns4/HOST or /dns6/HOST, followed by /tcp/PORT or /udp/PORT/quic-v1, with a port from 1 to 65535; \
         found {found:?}"
    )]
    Address {
        /// The text, or its beginning.
        found: String,
    },
    /// A name that cannot be printed.
    #[error(
        "a member's name has at most {LONGEST_NAME} characters, all of which can be seen: {problem}"
    )]
    Name {
        /// What is wrong.
        problem: String,
    },
}

impl Ticket {
    /// The ticket of this member.
    ///
    /// # Errors
    /// [`TicketError::Addresses`] for more than 16 addresses, [`TicketError::TooLong`].
    pub fn new(
        id: PublicId,
        addresses: Vec<Address>,
        name: MemberName,
    ) -> Result<Self, TicketError> {
        if addresses.len() > MOST_ADDRESSES {
            return Err(TicketError::Addresses);
        }
        let ticket = Self {
            id,
            addresses,
            name,
        };
        match ticket.to_string().len() {
            found if found > LONGEST => Err(TicketError::TooLong { found }),
            _ => Ok(ticket),
        }
    }

    /// Who it is.
    #[must_use]
    pub fn id(&self) -> PublicId {
        self.id
    }

    /// Where it listens; empty for a member that only dials.
    #[must_use]
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// What it calls itself.
    #[must_use]
    pub fn name(&self) -> &MemberName {
        &self.name
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}@", self.id)?;
        for (at, address) in self.addresses.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{address}")?;
        }
        write!(f, ";name={}", self.name)
    }
}

impl FromStr for Ticket {
    type Err = TicketError;

    /// Reads one ticket, with or without blanks around it. Whatever is read is printed as the same line.
    fn from_str(text: &str) -> Result<Self, TicketError> {
        // Before anything is looked at or copied.
        if text.len() > LONGEST {
            return Err(TicketError::TooLong { found: text.len() });
        }
        let rest = text.trim().strip_prefix(PREFIX);
        let parts = rest.and_then(|rest| {
            let (id, rest) = rest.split_once('@')?;
            let (addresses, name) = rest.split_once(";name=")?;
            Some((id, addresses, name))
        });
        let (id, addresses, name) = parts.ok_or(TicketError::NotATicket)?;
        let addresses: Vec<&str> = match addresses {
            "" => Vec::new(),
            some => some.split(',').take(MOST_ADDRESSES + 1).collect(),
        };
        if addresses.len() > MOST_ADDRESSES {
            return Err(TicketError::Addresses);
        }
        let addresses: Result<_, _> = addresses.iter().map(|text| text.parse()).collect();
        Self::new(id.parse()?, addresses?, name.parse()?)
    }
}

impl Address {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Address {
    type Err = TicketError;

    fn from_str(text: &str) -> Result<Self, TicketError> {
        if text.len() <= LONGEST_ADDRESS && dialled(text).is_some() {
            return Ok(Self(text.to_owned()));
        }
        let found = text.chars().take(80).collect();
        Err(TicketError::Address { found })
    }
}

/// `Some` if the text is an address of the forms above.
fn dialled(text: &str) -> Option<()> {
    let mut parts = text.strip_prefix('/')?.split('/');
    let (kind, host) = (parts.next()?, parts.next()?);
    let right = match kind {
        "ip4" => host.parse::<Ipv4Addr>().is_ok(),
        "ip6" => host.parse::<Ipv6Addr>().is_ok(),
        "dns4" | "dns6" => is_host(host),
        _ => false,
    };
    let (transport, port) = (parts.next()?, parts.next()?);
    let rest: Vec<&str> = parts.take(2).collect();
    let carried = matches!((transport, &rest[..]), ("tcp", []) | ("udp", ["quic-v1"]));
    // `parse` would take a sign and zeros in front.
    let number = port.parse::<u16>().ok().filter(|&port| port > 0)?;
    (right && carried && number.to_string() == port).then_some(())
}

/// Whether this is a host name: up to 253 characters, labels of 1 to 63 letters, digits, hyphens and underscores.
fn is_host(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    text.len() <= 253 && text.split('.').all(label)
}

impl MemberName {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MemberName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for MemberName {
    type Err = TicketError;

    fn from_str(text: &str) -> Result<Self, TicketError> {
        let problem = if text.len() > 4 * LONGEST_NAME || text.chars().count() > LONGEST_NAME {
            format!("this one has {} bytes", text.len())
        } else if let Some(found) = hidden(text) {
            found.to_string()
        } else if text.contains('\t') {
            "it holds a tab".to_owned()
        } else if text.trim() != text {
            "it begins or ends with a blank".to_owned()
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(TicketError::Name { problem })
    }
}

/// As text, checked on reading.
macro_rules! as_text {
    ($($name:ty),*) => {$(
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

as_text!(Ticket, Address, MemberName);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Identity;
    use crate::vocabulary::Seed;
    use rand::Rng;

    fn id() -> PublicId {
        Identity::from_secret([7; 32].into()).id()
    }

    fn ticket() -> Ticket {
        let addresses = [
            "/dns4/peer-3.lab.org/tcp/7655",
            "/ip4/10.0.0.7/udp/7655/quic-v1",
            "/ip6/fe80::1/tcp/1",
        ];
        let addresses = addresses.map(|text| text.parse().expect(text));
        let name = "Charité, Haus 3; name=x".parse().expect("a name");
        Ticket::new(id(), addresses.to_vec(), name).expect("a ticket")
    }

    #[test]
    fn what_is_printed_is_read() {
        let printed = ticket().to_string();
        assert_eq!(
            printed,
            format!(
                "undertone1:{}@/dns4/peer-3.lab.org/tcp/7655,/ip4/10.0.0.7/udp/7655/quic-v1,/ip6/fe80::1/tcp/1;name=Charité, Haus 3; name=x",
                id()
            )
        );
        assert_eq!(printed.parse(), Ok(ticket()));
        assert_eq!(format!(" {printed}\n").parse(), Ok(ticket()));
        // Somebody who only dials, and has no name.
        let shy = Ticket::new(id(), Vec::new(), MemberName::default()).expect("a ticket");
        assert_eq!(shy.to_string(), format!("undertone1:{}@;name=", id()));
        assert_eq!(shy.to_string().parse(), Ok(shy));
    }

    #[test]
    fn what_cannot_be_dialled_is_no_address() {
        for wrong in [
            "",
            "/",
            "/ip4/1.2.3/tcp/1",
            "/ip4/1.2.3.4/tcp/0",
            "/ip4/1.2.3.4/tcp/65536",
            "/ip4/1.2.3.4/tcp/+1",
            "/ip4/1.2.3.4/tcp/01",
            "/ip4/1.2.3.4/tcp/1/",
            "/ip4/1.2.3.4/udp/1",
            "/ip4/1.2.3.4/tcp/1/quic-v1",
            "/ip4/1.2.3.4/udp/1/quic-v1/p2p/x",
            "ip4/1.2.3.4/tcp/1",
            "/ip6/1.2.3.4/tcp/1",
            "/dns4//tcp/1",
            "/dns4/-a/tcp/1",
            "/dns4/a..b/tcp/1",
            "/dns4/ä/tcp/1",
            "/dns4/a b/tcp/1",
            "/unix/a/tcp/1",
        ] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
        let long = format!("/dns4/{}/tcp/1", "a.".repeat(200));
        let error = long.parse::<Address>().expect_err("long").to_string();
        assert!(error.len() < 400, "{error}");
        let host = format!("/dns6/{}.de/udp/65535/quic-v1", "a".repeat(63));
        assert!(host.parse::<Address>().is_ok());
    }

    #[test]
    fn what_is_beyond_the_limits_is_refused() {
        let with = |addresses: usize, name: &str| {
            let address = "/ip4/1.2.3.4/tcp/1,".repeat(addresses);
            let address = address.trim_end_matches(',');
            format!("undertone1:{}@{address};name={name}", id()).parse::<Ticket>()
        };
        assert!(with(16, &"ü".repeat(64)).is_ok());
        assert_eq!(with(17, ""), Err(TicketError::Addresses));
        assert!(matches!(
            with(1, &"x".repeat(65)),
            Err(TicketError::Name { .. })
        ));
        for hidden in ["a\u{200b}b", "a\nb", "a\tb", "a\u{7f}", "a\u{1b}[31m"] {
            let error = with(1, hidden).expect_err(hidden).to_string();
            assert!(!error.contains(hidden), "{error:?}");
        }
        // A blank at the end of the line is around the ticket.
        assert!(with(1, " a").is_err() && with(1, "a ").is_ok());
        assert_eq!(with(220, ""), Err(TicketError::TooLong { found: 4249 }));
        for none in [
            "",
            "undertone1:",
            "undertone2:x@;name=",
            "undertone1:x;name=@",
        ] {
            assert_eq!(none.parse::<Ticket>(), Err(TicketError::NotATicket));
        }
        let foreign = "undertone1:12D3@;name=";
        assert!(matches!(foreign.parse::<Ticket>(), Err(TicketError::Id(_))));
    }

    /// Reads changed tickets: whatever is taken for one is printed as it was, within the limits.
    fn fuzz(inputs: u32) -> u32 {
        let mut rng = Seed::from_u64(5)
            .key(crate::vocabulary::Label::Identity, 0, 0)
            .stream(0, 0);
        let good = ticket().to_string().into_bytes();
        let mut read = 0;
        for _ in 0..inputs {
            let mut bytes = good.clone();
            for _ in 0..1 + rng.next_u32() % 4 {
                let at = rng.next_u32() as usize % bytes.len();
                match rng.next_u32() % 4 {
                    0 => bytes[at] ^= 1 << (rng.next_u32() % 8),
                    1 => drop(bytes.remove(at)),
                    2 => bytes.insert(at, b"/,;@:=.-1a\n\x80"[rng.next_u32() as usize % 12]),
                    _ => {
                        let piece = bytes[at..(at + 40).min(bytes.len())].to_vec();
                        let times = rng.next_u32() as usize % 100;
                        bytes.extend(piece.repeat(times));
                    }
                }
            }
            let text = String::from_utf8_lossy(&bytes);
            if let Ok(ticket) = text.parse::<Ticket>() {
                assert_eq!(ticket.to_string(), text.trim());
                assert!(ticket.addresses().len() <= MOST_ADDRESSES);
                read += 1;
            }
        }
        read
    }

    #[test]
    fn changed_tickets_are_refused_or_read_as_they_stand() {
        // Some changes leave a ticket, or nothing was tested.
        let read = fuzz(100_000);
        assert!((1_000..99_000).contains(&read), "{read}");
    }

    #[test]
    #[ignore = "ten million inputs; cargo test --lib -- --ignored session::ticket"]
    fn ten_million_changed_tickets() {
        assert!(fuzz(10_000_000) > 0);
    }
}
