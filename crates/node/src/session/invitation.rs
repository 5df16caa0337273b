//! The session file: who is invited to what. Every member's Join signs its hash, so that nobody can be in a session of another file.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::assembly::Seat;
use super::identity::PublicId;
use super::statement::{MOST_MEMBERS, SessionHash, hex};
use super::ticket::{Address, MemberName};
use crate::vocabulary::{Spellings, hidden};

/// The longest session file in bytes.
pub const MOST_FILE: usize = 16 << 20;

/// Version of the session file.
const VERSION: u32 = 2;

/// The most columns of a session's rows: names of items, or of numbers.
const MOST_COLUMNS: usize = 1 << 20;

/// Why a file is no session file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvitationError {
    /// Larger than any.
    #[error("{found} bytes, and a session file has at most {MOST_FILE}")]
    TooLong {
        /// How large.
        found: usize,
    },
    /// Not TOML, or with keys that there are not.
    #[error("{0}")]
    Parse(String),
    /// A value that makes no session.
    #[error("{key} is {found}: {change}")]
    Value {
        /// Which key.
        key: String,
        /// What it says.
        found: String,
        /// What to do.
        change: &'static str,
    },
}

/// `[session]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionTable {
    /// Version of this file: 2.
    pub version: u32,
    /// What operators call it.
    pub name: String,
    /// 64 hexadecimal digits, drawn anew for every file: the same plan twice is two sessions.
    pub nonce: String,
    /// Who wrote and signed the file; it has no role afterwards.
    pub convener: PublicId,
    /// When Joins are accepted from.
    pub opens: toml::value::Datetime,
    /// When the list of members is drawn up, unless all are there before.
    pub closes: toml::value::Datetime,
    /// How many of the invited must join.
    pub min_peers: usize,
    /// How long a lost connection may take to come back.
    #[serde(default = "grace")]
    pub grace_seconds: u64,
    /// How long a member may be silent in a step.
    #[serde(default = "step_limit")]
    pub step_limit_seconds: u64,
    /// How long whoever is done waits for the others.
    #[serde(default = "linger")]
    pub linger_seconds: u64,
}

fn grace() -> u64 {
    120
}

fn step_limit() -> u64 {
    300
}

fn linger() -> u64 {
    300
}

/// `[[member]]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Its key.
    pub id: PublicId,
    /// What others call it.
    pub name: String,
    /// Where it listens, as multiaddresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
    /// Whether others can dial it; one that is behind a NAT dials all others.
    #[serde(default = "yes")]
    pub reachable: bool,
    /// How many rows are planned for. Of sums of integers a contribution of more is clamped to what so many can reach; a private mean is the sum of all rows
    /// over the sum of these numbers. Public.
    pub rows: usize,
}

fn yes() -> bool {
    true
}

/// `[items]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ItemsTable {
    /// Names of the columns of everybody's rows, in order; public.
    names: Vec<String>,
}

/// `[stated]`: what the convener's planner found. Every member's own planner checks that it needs no more noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// Standard deviation of a member's own noise per unit sensitivity.
    pub sigma_own: f64,
    /// Standard deviation of what two members share per unit sensitivity.
    pub sigma_pairwise: f64,
}

/// A session file, read and checked as far as it goes without planning.
#[derive(Clone, Debug, PartialEq)]
pub struct Invitation {
    /// `[session]`
    pub session: SessionTable,
    /// Everybody invited, in the order of their keys.
    pub members: Vec<Member>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// `[stated]`
    pub stated: Stated,
    /// The tables of an experiment file, without seed, path and number of peers.
    pub plan: toml::Table,
    hash: SessionHash,
}

/// How it is written.
#[derive(Serialize, Deserialize)]
struct Written {
    session: SessionTable,
    member: Vec<Member>,
    stated: Stated,
    items: ItemsTable,
    #[serde(flatten)]
    plan: toml::Table,
}

impl Invitation {
    /// Reads a session file.
    ///
    /// # Errors
    /// [`InvitationError`] naming the key and what to change.
    pub fn read(bytes: &[u8]) -> Result<Self, InvitationError> {
        if bytes.len() > MOST_FILE {
            return Err(InvitationError::TooLong { found: bytes.len() });
        }
        let parse = |error: &dyn std::fmt::Display| InvitationError::Parse(error.to_string());
        let text = std::str::from_utf8(bytes).map_err(|error| parse(&error))?;
        let written: Written = toml::from_str(text).map_err(|error| parse(&error))?;
        let mut members = written.member;
        members.sort_by_key(|member| member.id);
        let invitation = Self {
            session: written.session,
            members,
            columns: written.items.names,
            stated: written.stated,
            plan: written.plan,
            hash: hash_of(bytes),
        };
        invitation.check()?;
        Ok(invitation)
    }

    /// A session file with these contents, as text.
    ///
    /// # Errors
    /// Those of [`Self::read`], which the text would meet.
    pub fn write(
        session: SessionTable,
        members: Vec<Member>,
        columns: Vec<String>,
        stated: Stated,
        plan: toml::Table,
    ) -> Result<String, InvitationError> {
        let written = Written {
            session,
            member: members,
            stated,
            items: ItemsTable { names: columns },
            plan,
        };
        let text = toml::to_string(&written);
        let text = text.map_err(|error| InvitationError::Parse(error.to_string()))?;
        Self::read(text.as_bytes())?;
        Ok(text)
    }

    fn check(&self) -> Result<(), InvitationError> {
        let refused = |key: &str, found: String, change| {
            Err(InvitationError::Value {
                key: key.to_owned(),
                found,
                change,
            })
        };
        let session = &self.session;
        if session.version != VERSION {
            let change = "this program reads version 2; ask the convener for a file of `undertone node invite`";
            return refused("session.version", session.version.to_string(), change);
        }
        let is_title = (1..=64).contains(&session.name.chars().count());
        if !is_title || hidden(&session.name).is_some() {
            let change = "a name has 1 to 64 characters, all of which can be seen";
            return refused("session.name", format!("{:?}", session.name), change);
        }
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if session.nonce.len() != 64 || !digits(&session.nonce) {
            let change = "it must be 64 hexadecimal digits";
            return refused("session.nonce", format!("{:?}", session.nonce), change);
        }
        let members = self.members.len();
        if !(2..=MOST_MEMBERS).contains(&members) {
            let change = "a session has 2 to 128 members";
            return refused(
                "the number of [[member]] tables",
                members.to_string(),
                change,
            );
        }
        if !(2..=members).contains(&session.min_peers) {
            let change = "at least 2 and at most all of the invited must join";
            return refused("session.min_peers", session.min_peers.to_string(), change);
        }
        for (key, seconds, least) in [
            ("session.grace_seconds", session.grace_seconds, 1),
            ("session.step_limit_seconds", session.step_limit_seconds, 1),
            ("session.linger_seconds", session.linger_seconds, 0),
        ] {
            if !(least..=86_400).contains(&seconds) {
                let change = "seconds are at most a day";
                return refused(key, seconds.to_string(), change);
            }
        }
        let mut names = std::collections::BTreeSet::new();
        let mut spellings = Spellings::default();
        let mut last = None;
        for member in &self.members {
            let own = |key: &str| format!("member.{key} of {:?}", member.name);
            let name = member.name.as_str();
            let is_name = !name.is_empty() && name.parse::<MemberName>().is_ok();
            let is_known = |name: &str| names.contains(name);
            if !is_name || is_known(name) || spellings.clash(name, is_known).is_some() {
                let change = "members need different names of 1 to 64 characters, all of which can be seen; two spellings of one name are not different";
                return refused("member.name", format!("{name:?}"), change);
            }
            names.insert(name);
            if last.replace(member.id) == Some(member.id) {
                let change = "every member needs a key of its own: one identity is there twice";
                return refused(&own("id"), member.id.to_string(), change);
            }
            if member.reachable && member.addresses.is_empty() {
                let change = "give it an address, or reachable = false";
                return refused(&own("addresses"), "empty".to_owned(), change);
            }
            if member.addresses.len() > 16 {
                let change = "a member has at most 16 addresses";
                let found = member.addresses.len().to_string();
                return refused(&own("addresses"), found, change);
            }
            let wrong = |text: &&String| text.parse::<Address>().is_err();
            if let Some(text) = member.addresses.iter().find(wrong) {
                let change = "an address is /ip4/A.B.C.D, /ip6/…, /dns4/HOST or /dns6/HOST, followed by /tcp/PORT or /udp/PORT/quic-v1";
                let found = format!("{:?}", text.chars().take(80).collect::<String>());
                return refused(&own("addresses"), found, change);
            }
            if !(1..=1 << 32).contains(&member.rows) {
                let change = "a member contributes at least one row";
                return refused(&own("rows"), member.rows.to_string(), change);
            }
        }
        if self
            .members
            .iter()
            .filter(|member| !member.reachable)
            .count()
            > 1
        {
            let change = "two members that nobody can dial have no way to one another: make all but one reachable";
            return refused("member.reachable", "false twice".to_owned(), change);
        }
        let columns = self.columns.len();
        if !(1..=MOST_COLUMNS).contains(&columns) {
            let change = "rows have 1 to 1,048,576 columns";
            return refused("items.names", format!("{columns} names"), change);
        }
        let distinct: std::collections::BTreeSet<_> = self.columns.iter().collect();
        if distinct.len() != columns {
            let change = "every column needs a name of its own";
            return refused("items.names", "a list with repetitions".to_owned(), change);
        }
        let texts = self.columns.iter().map(String::as_str);
        if let Some(text) = texts
            .chain(texts_of(&self.plan))
            .find(|text| hidden(text).is_some())
        {
            let change = "texts hold no character that cannot be seen";
            let found = format!("{:?}", text.chars().take(80).collect::<String>());
            return refused("a text of the file", found, change);
        }
        for (key, sigma) in [
            ("stated.sigma_own", self.stated.sigma_own),
            ("stated.sigma_pairwise", self.stated.sigma_pairwise),
        ] {
            if !(sigma.is_finite() && sigma >= 0.0) {
                let change = "a standard deviation is a finite number, not negative";
                return refused(key, sigma.to_string(), change);
            }
        }
        Ok(())
    }

    /// The hash of the file, which every Join signs.
    #[must_use]
    pub fn hash(&self) -> SessionHash {
        self.hash
    }

    /// Everybody invited as an assembly knows them.
    #[must_use]
    pub fn seats(&self) -> Vec<Seat> {
        let seats = self.members.iter().map(|member| Seat {
            id: member.id,
            name: member.name.clone(),
        });
        seats.collect()
    }

    /// The invited member with this key.
    #[must_use]
    pub fn member(&self, id: &PublicId) -> Option<&Member> {
        self.members.iter().find(|member| member.id == *id)
    }

    /// How long a lost connection may take to come back.
    #[must_use]
    pub fn grace(&self) -> Duration {
        Duration::from_secs(self.session.grace_seconds)
    }

    /// Whether the session goes on when members are lost.
    #[must_use]
    pub fn tolerates_losses(&self) -> bool {
        self.plan.contains_key("dropouts")
    }

    /// What folders of this session are called.
    #[must_use]
    pub fn id(&self) -> String {
        hex(&self.hash.0[..8])
    }
}

/// All keys and texts of a table, at every depth.
fn texts_of(table: &toml::Table) -> Vec<&str> {
    let mut texts: Vec<&str> = Vec::new();
    let mut values: Vec<&toml::Value> = Vec::new();
    let mut tables = vec![table];
    loop {
        while let Some(table) = tables.pop() {
            texts.extend(table.keys().map(String::as_str));
            values.extend(table.values());
        }
        match values.pop() {
            None => return texts,
            Some(toml::Value::String(text)) => texts.push(text),
            Some(toml::Value::Array(list)) => values.extend(list),
            Some(toml::Value::Table(table)) => tables.push(table),
            Some(_) => {}
        }
    }
}

fn hash_of(bytes: &[u8]) -> SessionHash {
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 session file v1");
    hasher.update(bytes);
    SessionHash(*hasher.finalize().as_bytes())
}
