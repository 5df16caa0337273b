//! Who is deployed, under which names and ports.

use std::collections::BTreeSet;

use anyhow::{Result, bail, ensure};

use crate::session::{Address, Invitation, Member, MemberName, PublicId};

/// Characters of the longest name of a service.
const LONGEST_SERVICE: usize = 40;

/// A session as far as containers are concerned.
#[derive(Debug)]
pub(super) struct ComposeSession {
    pub(super) name: String,
    pub(super) members: Vec<ComposeMember>,
    /// The session file.
    pub(super) text: String,
    /// Its signature file.
    pub(super) signature: Option<String>,
}

/// One member.
#[derive(Debug)]
pub(super) struct ComposeMember {
    pub(super) id: PublicId,
    pub(super) name: MemberName,
    /// What its service is called: small letters, digits and hyphens; no two are alike.
    pub(super) service: String,
    /// Host names and ports that others dial it at; none for a member that only dials.
    pub(super) listens: Vec<Listening>,
}

/// A name and a port that a member is dialled at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listening {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) quic: bool,
}

impl ComposeSession {
    /// Who takes part in a session by this file; whoever joins verifies its signature.
    pub(super) fn of(text: String, signature: Option<String>) -> Result<Self> {
        let invitation = Invitation::read(text.as_bytes())?;
        let mut taken = BTreeSet::new();
        let mut hosts = BTreeSet::new();
        let mut members = Vec::new();
        for (index, member) in invitation.members.into_iter().enumerate() {
            let listens = listens(&member)?;
            for Listening { host, port, quic } in &listens {
                ensure!(
                    hosts.insert((host.clone(), *port, *quic)),
                    "two members are dialled at {host}, port {port}"
                );
            }
            members.push(ComposeMember {
                service: service(&member.name, index, &mut taken),
                id: member.id,
                name: member.name.parse()?,
                listens,
            });
        }
        Ok(Self {
            name: invitation.session.name,
            members,
            text,
            signature,
        })
    }
}

impl ComposeMember {
    /// The arguments of `undertone` that take part in the session.
    pub(super) fn run(&self) -> Vec<String> {
        let mut words = [
            "node",
            "run",
            "/session/session.toml",
            "--state",
            "/state/peer",
        ]
        .map(str::to_owned)
        .to_vec();
        for listening in &self.listens {
            words.push("--listen".to_owned());
            words.push(listening.anywhere());
        }
        words.extend(["--data", "/data/rows.csv", "--out", "/state/out"].map(str::to_owned));
        words
    }

    /// The arguments that make the key, unless it is there.
    pub(super) fn init(&self) -> Vec<String> {
        let words = ["node", "init", "--keep", "--state", "/state/peer", "--name"];
        let name = std::iter::once(self.name.to_string());
        words.map(str::to_owned).into_iter().chain(name).collect()
    }

    /// The arguments that print the ticket.
    pub(super) fn id(&self) -> Vec<String> {
        let mut words = ["node", "id", "--state", "/state/peer"]
            .map(str::to_owned)
            .to_vec();
        for listening in &self.listens {
            words.push("--address".to_owned());
            words.push(listening.address());
        }
        words
    }
}

impl Listening {
    fn transport(&self) -> String {
        match self.quic {
            true => format!("/udp/{}/quic-v1", self.port),
            false => format!("/tcp/{}", self.port),
        }
    }

    /// Where the member listens inside its container.
    fn anywhere(&self) -> String {
        format!("/ip4/0.0.0.0{}", self.transport())
    }

    /// Where others dial it.
    fn address(&self) -> String {
        format!("/dns4/{}{}", self.host, self.transport())
    }
}

/// The host names of a member's addresses.
fn listens(member: &Member) -> Result<Vec<Listening>> {
    let mut found = Vec::new();
    for address in &member.addresses {
        let address: Address = address.parse()?;
        let parts: Vec<&str> = address.as_str().split('/').collect();
        let ["", "dns4", host, transport, port, ..] = parts[..] else {
            bail!(
                "member {} is dialled at {address}: containers have names, not fixed addresses; invite it with /dns4/NAME/tcp/PORT",
                member.id
            )
        };
        found.push(Listening {
            host: host.to_ascii_lowercase(),
            port: port.parse()?,
            quic: transport == "udp",
        });
    }
    Ok(found)
}

/// A service's name for a member: its own, as far as container runtimes take it, or its place.
fn service(name: &str, index: usize, taken: &mut BTreeSet<String>) -> String {
    let mut slug = String::new();
    for character in name.chars().map(|c| c.to_ascii_lowercase()) {
        match character {
            'a'..='z' | '0'..='9' => slug.push(character),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
    }
    slug.truncate(LONGEST_SERVICE);
    let slug = slug.trim_end_matches('-');
    // Names of services begin with a letter.
    let lettered = slug.starts_with(|c: char| c.is_ascii_lowercase());
    let mut service = match lettered {
        true => slug.to_owned(),
        false => format!("peer-{index}"),
    };
    // What stands for another already: a name that is a member's own index would clash at most once.
    while !taken.insert(service.clone()) {
        service.push_str(&format!("-{index}"));
    }
    service
}
