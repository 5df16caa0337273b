//! Arguments of `undertone node`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::data::{FileFormat, OwnFileOptions};
use crate::node::store::ScopeName;
use crate::session::{Address, MemberName};

#[derive(Debug, Subcommand)]
pub(crate) enum NodeCommand {
    /// Make this peer: a key pair, a cautious policy, an empty ledger
    #[command(
        after_help = "The key is made here and never leaves; nobody makes keys for others. It is written with mode 0600 into a directory of mode 0700, \
        and a key that others could have read is refused later. A second `init` overwrites nothing.\n\n\
        Then: look at policy.toml, and give the line that `undertone node id` prints to whoever invites.\n\n\
        Examples:\n  \
        undertone node init --name charite\n  \
        undertone node init --state /srv/undertone --name charite"
    )]
    Init(InitArguments),
    /// Print the line that others need to know this peer by: its ticket
    #[command(
        after_help = "A ticket holds the public id, the addresses where others reach this peer, and its name. It is no secret, and who \
        holds it can do nothing in this peer's name. Addresses: /dns4/HOST/tcp/PORT, /ip4/A.B.C.D/tcp/PORT, with /udp/PORT/quic-v1 in place of /tcp/PORT for QUIC.\n\n\
        Examples:\n  \
        undertone node id --address /dns4/undertone.charite.de/tcp/7655\n  \
        undertone node id --state /srv/undertone"
    )]
    Id(IdArguments),
    /// What was spent and reserved so far, and what is left: every line verified
    #[command(
        after_help = "The ledger is append-only; each line is signed and holds the hash of the line before. Exit code 4 if anything does not verify.\n\n\
        If members refuse this peer because its ledger is shorter than they have seen, its files come from a backup. Then find out which sessions \
        it took part in since, and write a file:\n\n  \
        known = { length = 12, hash = \"5c1e...\" }     # what the members saw\n  \
        [[session]]\n  \
        session = \"9f0c...\"                           # hash of the session file\n  \
        scope = \"default\"\n  \
        adjacency = \"user\"\n  \
        mu_squared = \"0.25\"                           # all that the session could spend: see `undertone node check`\n\n\
        With --adopt FILE these count in full, and so does every session that had not ended in this copy.\n\n\
        Examples:\n  \
        undertone node ledger\n  \
        undertone node ledger --verify --quiet\n  \
        undertone node ledger --adopt missing.toml"
    )]
    Ledger(LedgerArguments),
    /// How far this peer's sessions are: from the running node, or from what it wrote
    #[command(after_help = "Examples:\n  \
        undertone node status\n  \
        undertone node status --watch\n  \
        undertone node status --live\n  \
        undertone node status --state /srv/undertone --json")]
    Status(StatusArguments),
    /// Leave a session for good: what was charged stays charged, the rest of its reservation is free again
    #[command(
        after_help = "Nothing can be sent in the session afterwards, and its one-time secrets are erased. Stop a running node first. SESSION is the hash \
        that `undertone node status` prints, or its first digits (8 or more).\n\n\
        Example:\n  \
        undertone node abandon 5c1e90aa"
    )]
    Abandon(AbandonArguments),
    /// Write a session file: what is computed, who is invited, how much noise that takes
    #[command(
        after_help = "The plan is an experiment file without seed, data.path and [peers]: a graph that is drawn has seed = \"beacon\". Names of columns are \
        public; data have exactly those. The file is signed with the convener's key, which has no other role.\n\n\
        Example:\n  \
        undertone node invite sims/sessions/three-hospitals.toml --members tickets.txt --items sims/sessions/columns.txt --out session.toml"
    )]
    Invite(InviteArguments),
    /// What a session would cost this peer, against its own policy; refuses as `run` does
    #[command(
        after_help = "Example:\n  undertone node check session.toml --data rows.csv --scope patients-2026"
    )]
    Check(CheckArguments),
    /// Take part in a session, until its result is here or it ends for everybody
    #[command(
        after_help = "Charges the ledger before anything leaves, and keeps basis.npy, receipt.json and its signature in the state directory. Run again after \
        the end, it prints the result again and charges nothing.\n\n\
        Exit codes: 0 done, 1 aborted by the protocol (whose fault is said), 2 usage, input or own policy, 3 excluded by the others, 4 local state unusable.\n\n\
        Example:\n  undertone node run session.toml --data rows.csv --scope patients-2026 --out result"
    )]
    Run(RunArguments),
    /// Run an experiment with its peers dealt to several hosts: a simulation, not private
    #[command(
        after_help = "Start it on every host with the same files, changes and build, each with its own --host; in any order. Every host has all data and the seed, so \
        nothing is hidden from anybody: for real data use `undertone node run`. Host 0 collects and writes what `undertone run` writes, equal in bits, and simulation.toml.\n\n\
        The hosts file lists who runs which peers, in order, host 0 first:\n\n  \
        [[host]]\n  \
        name = \"a\"\n  \
        address = \"10.0.0.1\"       # where it listens\n  \
        base_port = 7000           # of its first peer; the others follow, then one more\n  \
        peers = \"0..128\"\n\n\
        Exit codes: 0 done, 1 another host failed, 2 usage or input.\n\n\
        Example:\n  undertone node simulate sims/quickstart.toml --hosts hosts.toml --host 0 --out result"
    )]
    Simulate(SimulateArguments),
    /// Write a compose file or Kubernetes manifests that run every member of a session
    #[command(
        after_help = "One service per member, each with a volume of its own for its state; keys are made inside, by a service of the profile `init` (compose) or an \
        init container (Kubernetes). The comment at the top of what is written says what to do in which order.\n\n\
        Examples:\n  \
        undertone node compose session.toml --out deploy\n  \
        undertone node compose session.toml --out deploy --format kubernetes --image registry.lab.org/undertone:1"
    )]
    Compose(ComposeArguments),
    /// Check that two files prove that a member of a session deviated, and whom they name
    #[command(
        after_help = "A node that finds a member saying two things where it may say one keeps both, signed, with the session's files in its state directory. \
        They hold no data. Whoever has them and the session file comes to the same end, whoever hands them over.\n\n\
        Exit codes: 0 they prove what is printed, 1 they show that results differ and convict nobody, 2 they prove nothing.\n\n\
        Example:\n  undertone node verify-evidence evidence-first.bin evidence-second.bin --session session.toml"
    )]
    VerifyEvidence(EvidenceArguments),
}

/// Which peer.
#[derive(Args, Debug)]
pub(crate) struct StateArguments {
    /// The peer's own directory [default: ~/.undertone]
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct InitArguments {
    #[command(flatten)]
    pub(crate) state: StateArguments,
    /// What others see this peer called; at most 64 characters
    #[arg(long, value_name = "NAME", default_value = "")]
    pub(crate) name: MemberName,
    /// If a peer is there already, leave it as it is and print its id: for containers that start again
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Args, Debug)]
pub(crate) struct IdArguments {
    #[command(flatten)]
    pub(crate) state: StateArguments,
    /// Where others reach this peer (repeatable) [default: network.listen of policy.toml, where that names an address]
    #[arg(long, value_name = "MULTIADDR")]
    pub(crate) address: Vec<Address>,
}

#[derive(Args, Debug)]
pub(crate) struct LedgerArguments {
    #[command(flatten)]
    pub(crate) state: StateArguments,
    /// Say only whether every line verifies, how many there are, and the head
    #[arg(long, conflicts_with = "adopt")]
    pub(crate) verify: bool,
    /// Take up sessions that were lost with a newer ledger, each charged in full
    #[arg(long, value_name = "FILE")]
    pub(crate) adopt: Option<PathBuf>,
    /// Print one JSON document on standard output instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing but warnings and errors; the exit code remains
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    pub(crate) state: StateArguments,
    /// Print again whenever something has changed, until the node stops
    #[arg(long)]
    pub(crate) watch: bool,
    /// Show it on a page that a browser on this machine can open, at this port of the loopback interface or one that is free; ends with Ctrl-C
    #[cfg(feature = "live")]
    #[arg(
        long,
        value_name = "PORT",
        num_args = 0..=1,
        default_missing_value = "0",
        require_equals = true,
        conflicts_with_all = ["watch", "json"]
    )]
    pub(crate) live: Option<u16>,
    /// Print JSON, one document per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct EvidenceArguments {
    /// What came first, as the node wrote it
    #[arg(value_name = "FIRST")]
    pub(crate) first: PathBuf,
    /// What came later
    #[arg(value_name = "SECOND")]
    pub(crate) second: PathBuf,
    /// The session file that they come from
    #[arg(long, value_name = "FILE")]
    pub(crate) session: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct AbandonArguments {
    #[command(flatten)]
    pub(crate) state: StateArguments,
    /// The session, by the first digits of its hash
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
}

#[derive(Args, Debug)]
pub(crate) struct ComposeArguments {
    /// The session file
    #[arg(value_name = "SESSION.toml")]
    pub(crate) session: PathBuf,
    /// Write into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// What runs the containers
    #[arg(long, value_enum, default_value_t = Format::Compose)]
    pub(crate) format: Format,
    /// The image that holds the `undertone` command
    #[arg(long, value_name = "IMAGE", default_value = "undertone:latest")]
    pub(crate) image: String,
}

#[derive(Debug, Args)]
pub(crate) struct InviteArguments {
    /// An experiment file without seed, data.path and peers: what all members compute. A graph that is drawn has seed = "beacon"
    pub(crate) plan: PathBuf,
    /// A file with one ticket per line: what `undertone node id` printed at each member
    #[arg(long, value_name = "FILE")]
    pub(crate) members: PathBuf,
    /// The public names of the columns of everybody's rows, one per line, in order: items, or columns of numbers
    #[arg(long, value_name = "FILE")]
    pub(crate) items: PathBuf,
    /// Where to write the session file; its signature is written beside it
    #[arg(long, value_name = "FILE", default_value = "session.toml")]
    pub(crate) out: PathBuf,
    /// What the session is called; the plan's name if absent
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Minutes until the list of members is drawn up, unless all have joined before; three days if absent
    #[arg(long, value_name = "MINUTES", default_value_t = 3 * 24 * 60)]
    pub(crate) closes_in: u64,
    /// How many of the invited must join; all if absent
    #[arg(long, value_name = "N")]
    pub(crate) min_peers: Option<usize>,
    /// How many rows of a member are planned for; 1,000,000 if absent. With noise.scheme = "ring" a contribution of more rows is clamped to what so many
    /// can reach. With data.centre = "private" it must be given: the sum of all rows is divided by so many per member, so state how many a member has on
    /// average
    #[arg(long, value_name = "N")]
    pub(crate) rows: Option<usize>,
    /// Seconds that a lost connection may take to come back before the session ends
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) grace: u64,
    /// Seconds that a member may be silent in a step
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub(crate) step_limit: u64,
    /// Seconds that whoever is done waits for the others
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub(crate) linger: u64,
    #[command(flatten)]
    pub(crate) state: StateArguments,
}

/// How this member's rows are read, which is for nobody else to say.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct RowsArguments {
    /// The format of the rows, a value of data.format; found out from the first line if absent
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<FileFormat>,
    /// Whether the first line of matrix-csv names the columns; by default it does where no field of it is a number
    #[arg(long, value_enum, value_name = "yes|no")]
    pub(crate) header: Option<Header>,
}

/// Whether there is a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Header {
    /// The first line names the columns
    Yes,
    /// The first line is a row
    No,
}

impl RowsArguments {
    /// The same as options of a reader.
    pub(crate) fn options(self) -> OwnFileOptions {
        OwnFileOptions {
            format: self.format,
            header: self.header.map(|header| header == Header::Yes),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The session file
    pub(crate) session: PathBuf,
    /// This member's rows, to be read as `run` would read them; nothing of them leaves
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rows: RowsArguments,
    /// Whose data this is: the name of a lifetime table of policy.toml
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) scope: ScopeName,
    #[command(flatten)]
    pub(crate) state: StateArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The session file
    pub(crate) session: PathBuf,
    /// This member's rows; they are read before the session file is looked at
    #[arg(long, value_name = "FILE")]
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) rows: RowsArguments,
    /// Whose data this is: the name of a lifetime table of policy.toml
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) scope: ScopeName,
    /// Where to listen, as a multiaddress; may be repeated. Those of policy.toml if absent
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Vec<String>,
    /// Where to copy the result to: basis.npy, receipt.json and its signature, config.toml
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Take a session file that its convener has not signed
    #[arg(long)]
    pub(crate) unsigned: bool,
    /// Print the outcome as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) state: StateArguments,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateArguments {
    /// The experiment file, for example sims/quickstart.toml
    #[arg(value_name = "SIM.toml")]
    pub(crate) sim: PathBuf,
    /// Which host has which peers
    #[arg(long, value_name = "FILE")]
    pub(crate) hosts: PathBuf,
    /// Which of them this is, from 0
    #[arg(long, value_name = "K")]
    pub(crate) host: usize,
    /// Change a key of the file, on all hosts alike (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Write the results into this directory; host 0 only [default: out/NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Seconds that other hosts may take to come up, and that a peer may be silent
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) stall: u64,
}

/// What runs containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A compose file
    Compose,
    /// Kubernetes manifests
    Kubernetes,
}
