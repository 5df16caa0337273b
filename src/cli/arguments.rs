//! Command-line arguments of every subcommand, with their help texts.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

use crate::campaign::advise::Guess;
use crate::campaign::sweep::Shard;
use crate::config::{
    Config, ConfigError, Place, StudyConfig, left_to_defaults, read_config, read_faults,
};
use crate::run::recommend::Format;
use crate::scenario::{Experiment, ExperimentError};
use crate::vocabulary::{NameSyntax, read_name, read_names};

/// How options and tables name peers; stands at the end of the help of every command that takes one.
macro_rules! peer_names {
    () => {
        "Peers are named as in the graph file, and as tables, messages and JSON print them; peers of generated graphs \
         are numbers from 0. A name with a comma, blanks at an end or a double quote at its beginning is written as a \
         JSON string, as it is printed: --coalition '17,\"a, b\"'."
    };
}

/// Private spectral computation without a server.
///
/// Peers on a graph find the leading eigenvectors of the sum of everybody's data; noise shared between
/// neighbours cancels until what is left is the noise a trusted curator would have added.
#[derive(Debug, Parser)]
#[command(
    name = "undertone",
    version,
    propagate_version = true,
    arg_required_else_help = true
)]
#[command(after_help = "Start here:\n  \
    undertone run sims/quickstart.toml       610 MovieLens users as 610 peers\n  \
    undertone privacy sims/quickstart.toml   what it would cost, before running\n  \
    undertone verify sims/quickstart.toml    is it equal to central differential privacy?\n\n\
    Exit codes: 0 success, 1 a check failed, 2 bad usage or input.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an experiment, and in comparison its central baseline and the same without privacy
    #[command(
        after_help = "Writes into DIR: summary.json, receipt.json (see `undertone privacy check`), basis.npy (X, n x p), items.csv (which item each row is), metrics.csv (one row per \
        iteration), config.toml (all defaults filled in), and with --trace the public transcript. A run with [dropouts] on engine event also writes \
        faults.toml (all that went wrong, to be run again with --faults) and faults.json; if nobody has a result, these alone, and the exit code is 1.\n\n\
        Examples:\n  \
        undertone run sims/quickstart.toml --out out/first\n  \
        undertone run sims/quickstart.toml --engine event --set privacy.epsilon=1 --json\n  \
        undertone run sims/auto-small.toml       algorithm.kind = \"auto\": a pilot, a choice, a run; also writes advice.json"
    )]
    Run(RunArguments),
    /// Is this decentralised run equal to central DP? PASS or FAIL with statistics
    #[command(
        after_help = "Repeats the run with independent seeds and checks the algebra of the noise, its \
        law, the utility against a curator with the same noise, and the spent epsilon. Exit code 1 on FAIL.\n\n\
        A run in which something goes wrong is made again as well: it must give the same bytes, and what it cost must follow. \
        With --results every file that an earlier run left in a folder is held against one more run; anything else in the folder is a FAIL.\n\n\
        Examples:\n  \
        undertone verify sims/quickstart.toml\n  \
        undertone verify sims/crashes.toml --results out/crashes\n  \
        undertone verify sims/quickstart.toml --runs 50 --set averaging.scheme=linear"
    )]
    Verify(VerifyArguments),
    /// What an experiment would cost: epsilon per view and coalition, gap to central
    #[command(after_help = concat!(
        "Standard deviations are per unit sensitivity; a run multiplies them by the sensitivity of each iteration.\n\n",
        peer_names!(),
        "\n\nExamples:\n  \
        undertone privacy sims/quickstart.toml --set privacy.colluders=2\n  \
        undertone privacy sims/quickstart.toml --coalition 3,17\n  \
        undertone privacy check out/quickstart/receipt.json"
    ))]
    Privacy(PrivacyArguments),
    /// Which algorithm, block, iterations and degree floor to use for an epsilon and a byte budget
    #[command(
        after_help = "Uses public quantities alone (users, items and their degrees, the graph, the budget) and stated \
        assumptions on the rest: every candidate runs on stand-ins for the data.\n\nExamples:\n  \
        undertone advise sims/quickstart.toml\n  \
        undertone advise sims/quickstart.toml --epsilon 1 --bytes 200000 --json\n  \
        undertone advise sims/quickstart.toml --pilot 0.05"
    )]
    Advise(AdviseArguments),
    /// Attack real transcripts: a lower bound on epsilon, held against the certified one
    #[command(after_help = concat!(
        "Plays the distinguishing game: the protocol runs many times in two worlds that differ in \
        one record of one peer, and attackers who see everything published (and what a coalition knows) guess \
        which. Exit code 1 if they do better than the certificate allows.\n\n",
        peer_names!(),
        "\n\nExamples:\n  \
        undertone audit sims/audit.toml\n  \
        undertone audit sims/audit.toml --victim 3 --coalition 1,5 --trials 20000"
    ))]
    Audit(AuditArguments),
    /// One user's recommendations from a published basis, as the user's own device computes them
    #[command(
        after_help = "Needs the basis, the public item list with degrees (items.csv, which `undertone run` writes \
        beside basis.npy) and the user's own row. Without an item list the items are those of the data after its \
        filters; their number must be the basis's.\n\nExamples:\n  \
        undertone recommend --basis out/quickstart/basis.npy --sim sims/quickstart.toml --user 42\n  \
        undertone recommend --basis basis.npy --data ratings.csv --format movielens-csv --items 200 --user 42 --titles movies.csv\n  \
        undertone recommend --basis basis.npy --items-file items.csv --row my-items.txt --top 5 --json\n  \
        undertone recommend --basis out/quickstart/basis.npy --directions --titles movies.csv"
    )]
    Recommend(RecommendArguments),
    /// What goes wrong in simulations: the least that keeps a failure
    #[command(
        subcommand,
        after_help = "Examples:\n  \
        undertone run sims/crashes.toml                        writes out/crashes/faults.toml\n  \
        undertone run sims/crashes.toml --faults faults.toml   the same once more, or another\n  \
        undertone faults shrink sims/crashes.toml --faults faults.toml --out least.toml"
    )]
    Faults(FaultsCommand),
    /// Put together what shards of a sweep have run
    #[command(
        subcommand,
        after_help = "Examples:\n  \
        undertone run sims/fig1-small.toml --shard 1/4 --out out/shard-1   on each of four machines, with a number of its own\n  \
        undertone sweep merge out/shard-1 out/shard-2 out/shard-3 out/shard-4"
    )]
    Sweep(SweepCommand),
    /// Look at, make and list communication graphs
    #[command(after_help = "Examples:\n  \
        undertone topology list\n  \
        undertone topology inspect topologies/karate.toml")]
    Topology(TopologyArguments),
    /// Be one peer on a host of one's own: keys, sessions with others, ledger
    #[cfg(feature = "node")]
    #[command(
        subcommand,
        after_help = "Start here:\n  \
        undertone node init --name charite       a key, a policy, a ledger in ~/.undertone\n  \
        undertone node id --address /dns4/...    the line to give to whoever invites\n\n\
        Exit codes: 0 done, 1 aborted by the protocol, 2 usage, input or own policy, 3 excluded by the others, 4 local state \
        unusable (ledger, permissions, lock)."
    )]
    Node(super::node::NodeCommand),
}

/// The experiment and changes to it.
#[derive(Args, Debug)]
pub(crate) struct ExperimentArguments {
    /// The experiment file, for example sims/quickstart.toml
    #[arg(value_name = "SIM.toml")]
    pub(crate) sim: PathBuf,
    /// Use this engine: central, federated, lockstep, analytic, event or swarm
    #[arg(long, value_name = "E")]
    pub(crate) engine: Option<String>,
    /// Use this seed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub(crate) seed: Option<u64>,
    /// Change a key of the file, for example --set privacy.epsilon=1.0 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

impl ExperimentArguments {
    /// The experiment with all changes. Every error names the file.
    pub(crate) fn load(&self) -> Result<Experiment> {
        Experiment::load(&self.sim, &self.overrides()).map_err(|error| self.explain(error))
    }

    /// The experiment of this configuration with the faults of a file, if one is given.
    pub(crate) fn with_faults(
        &self,
        mut config: Config,
        faults: Option<&Path>,
    ) -> Result<Experiment> {
        if let Some(path) = faults {
            config.faults = Some(read_faults(path)?);
        }
        Experiment::resolve(config, self.base()).map_err(|error| self.explain(error))
    }

    /// The configuration with all changes. Every error names the file.
    pub(crate) fn config(&self) -> Result<Config> {
        read_config(&self.sim, &self.overrides()).map_err(|error| self.explain(error))
    }

    /// The keys of which a run says what their defaults were.
    pub(crate) fn left_to_defaults(&self) -> Result<Vec<&'static str>> {
        let keys = left_to_defaults(&self.sim, &self.overrides());
        keys.map_err(|error| self.explain(error))
    }

    /// The folder that the file's relative paths start at.
    pub(crate) fn base(&self) -> &Path {
        self.sim.parent().unwrap_or(Path::new("."))
    }

    /// The error with the name of the file.
    pub(crate) fn explain(&self, error: impl Into<ExperimentError>) -> anyhow::Error {
        match error.into() {
            // These name it themselves.
            ExperimentError::Config(
                error @ (ConfigError::Read { .. } | ConfigError::Parse { .. }),
            ) => error.into(),
            other => self.named(other),
        }
    }

    /// The error, said of this file, with the line that it is about.
    pub(crate) fn named(
        &self,
        error: impl std::error::Error + Send + Sync + 'static,
    ) -> anyhow::Error {
        let error = anyhow::Error::new(error);
        let refusal: Vec<String> = error.chain().map(ToString::to_string).collect();
        // The file was read before; where it is gone meanwhile, no line is named.
        let text = std::fs::read_to_string(&self.sim).unwrap_or_default();
        let place = Place::of(&refusal.join(" "), &text, &self.overrides());
        let place = place.map_or_else(String::new, |place| format!(": {place}"));
        error.context(format!("{} cannot be used{place}", self.sim.display()))
    }

    /// The study with all changes, if the file is one.
    pub(crate) fn study(&self) -> Result<Option<StudyConfig>> {
        StudyConfig::load(&self.sim, &self.overrides()).map_err(|error| self.explain(error))
    }

    /// All changes as `key=value`, the dedicated options last so that they win.
    pub(crate) fn overrides(&self) -> Vec<String> {
        let mut set = self.set.clone();
        set.extend(
            self.engine
                .as_ref()
                .map(|engine| format!("engine.kind={engine}")),
        );
        set.extend(self.seed.map(|seed| format!("seed={seed}")));
        set
    }
}

/// Options on what is printed.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ReportArguments {
    /// Print one JSON document on standard output instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress, no tables; errors and the exit code remain
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// Options on how much is printed.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct DetailArguments {
    /// Print all details, not only the main results
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Of a sweep: also print which methods no other beats in both error and bytes sent
    #[arg(long)]
    pub(crate) pareto: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArguments,
    /// Write the results into this directory [default: out/NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Also write the public transcript: trace/basis-L.npy and trace/sum-L.npy
    #[arg(long)]
    pub(crate) trace: bool,
    /// Let go wrong what this file lists instead of `[faults]`; a run with `[dropouts]` writes one, faults.toml
    #[arg(long, value_name = "FILE")]
    pub(crate) faults: Option<PathBuf>,
    /// Show the run on a page that a browser on this machine can open, at this port of the loopback interface or one that is free; ends with Ctrl-C
    #[cfg(feature = "live")]
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "0", require_equals = true)]
    pub(crate) live: Option<u16>,
    /// With --live on engine event: begin paused
    #[cfg(feature = "live")]
    #[arg(long, requires = "live")]
    pub(crate) paused: bool,
    /// Of a sweep: run every N-th cell, from the I-th on, for `undertone sweep merge`
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    #[command(flatten)]
    pub(crate) detail: DetailArguments,
    #[command(flatten)]
    pub(crate) report: ReportArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SweepCommand {
    /// Write what the whole sweep would have written, from the folders of all its shards
    #[command(
        after_help = "Nothing is run: cells that no shard has finished are counted, and nothing is written. The results are those of the whole sweep, byte for byte.\n\n\
        Example:\n  undertone sweep merge out/shard-1 out/shard-2 --out out/fig1-small"
    )]
    Merge(MergeArguments),
}

#[derive(Args, Debug)]
pub(crate) struct MergeArguments {
    /// The folders that `undertone run --shard` wrote
    #[arg(value_name = "DIR", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// Write the results into this directory [default: out/NAME]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The folder of the experiment file on this machine, if it is another one than on the machine of the first shard
    #[arg(long, value_name = "FOLDER")]
    pub(crate) base: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) detail: DetailArguments,
    #[command(flatten)]
    pub(crate) report: ReportArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FaultsCommand {
    /// Take away from a schedule whatever a failure does not need
    #[command(
        after_help = "A failure is that nobody has a result. With --keep CASE it is that the case occurs, such as --keep \"while averaging\"; a run prints its \
        cases.\n\n\
        Example:\n  undertone faults shrink sims/crashes.toml --faults out/crashes/faults.toml --out least.toml"
    )]
    Shrink(ShrinkArguments),
}

#[derive(Args, Debug)]
pub(crate) struct ShrinkArguments {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArguments,
    /// The faults to shrink, instead of `[faults]` in the file
    #[arg(long, value_name = "FILE")]
    pub(crate) faults: Option<PathBuf>,
    /// Keep that this case occurs, not that nobody has a result
    #[arg(long, value_name = "CASE")]
    pub(crate) keep: Option<String>,
    /// Write what is left into this file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// No progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArguments {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArguments,
    /// Repeated runs with independent seeds
    #[arg(long, value_name = "R", default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(crate) runs: u32,
    /// Probability at most that a correct run fails: each p-value is held against this over their number
    #[arg(long, value_name = "P", default_value_t = 1e-3)]
    pub(crate) significance: f64,
    /// Also make the run again and compare it, byte by byte, with all files that an earlier run left in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) results: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: ReportArguments,
}

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct PrivacyArguments {
    #[command(subcommand)]
    pub(crate) command: Option<PrivacyCommand>,
    #[command(flatten)]
    pub(crate) experiment: Option<ExperimentArguments>,
    /// Also advise which edges to add, or which degree to use, to bring the gap to central below G
    #[arg(long, value_name = "G")]
    pub(crate) target_gap: Option<f64>,
    /// Also say what each peer's data costs, exactly: the most exposed ones, or all with --json
    #[arg(long)]
    pub(crate) peers: bool,
    /// Against these colluding peers, by name, separated by commas (repeatable; implies --peers) [default: nobody]
    #[arg(long, value_name = "U,V,...", allow_hyphen_values = true)]
    pub(crate) coalition: Vec<String>,
    #[command(flatten)]
    pub(crate) report: ReportArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PrivacyCommand {
    /// Recompute a receipt that a run wrote: exit code 1 if a number does not hold
    #[command(
        after_help = "Where RECEIPT.sig lies beside it, the signature is verified too, and the peer that signed is named.\n\n\
        Examples:\n  \
        undertone privacy check out/quickstart/receipt.json\n  \
        undertone privacy check receipt.json --signed-by 12D3KooW..."
    )]
    Check {
        /// The receipt, for example out/quickstart/receipt.json
        #[arg(value_name = "RECEIPT")]
        receipt: PathBuf,
        /// Fail unless this peer has signed the receipt (its public id, as `undertone node init` printed it)
        #[cfg(feature = "node")]
        #[arg(long, value_name = "ID")]
        signed_by: Option<crate::session::PublicId>,
        #[command(flatten)]
        report: ReportArguments,
    },
}

#[derive(Args, Debug)]
pub(crate) struct AdviseArguments {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArguments,
    /// For this epsilon [default: the file's]
    #[arg(long, value_name = "E")]
    pub(crate) epsilon: Option<f64>,
    /// The most bytes that the busiest peer may send in a run [default: no limit]
    #[arg(long, value_name = "B")]
    pub(crate) bytes: Option<u64>,
    /// First release, for this share of the budget (of mu^2), how many users have how many interactions, and advise by that; the command that
    /// is printed makes the same pilot and run [default of a bare --pilot: 0.05]
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = "0.05")]
    pub(crate) pilot: Option<f64>,
    /// Assume that log-odds of user and item have standard deviation TASTE through taste, the variance of whose k-th direction
    /// falls as k^-DECAY, and SPREAD because users are more or less active (each from 0 to 5; repeatable) [default: each of 1,1 and 1.75,1 and 1.75,2 and 3,2 with each of 0.6, 1, 1.5 and 2.2]
    #[arg(long, value_name = "TASTE,DECAY,SPREAD", value_parser = guess)]
    pub(crate) assume: Vec<Guess>,
    #[command(flatten)]
    pub(crate) report: ReportArguments,
}

#[derive(Args, Debug)]
pub(crate) struct AuditArguments {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArguments,
    /// Runs in each of the two worlds
    #[arg(long, value_name = "R", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(crate) trials: u32,
    /// Probability that an honest implementation fails
    #[arg(long, value_name = "P", default_value_t = 1e-3)]
    pub(crate) significance: f64,
    /// The peer whose record differs, by name [default: the first honest one]
    #[arg(long, value_name = "U", allow_hyphen_values = true, value_parser = read_name)]
    pub(crate) victim: Option<String>,
    /// Colluding peers, by name, separated by commas (repeatable)
    #[arg(long, value_name = "U,V,...", allow_hyphen_values = true)]
    pub(crate) coalition: Vec<String>,
    #[command(flatten)]
    pub(crate) report: ReportArguments,
}

#[derive(Args, Debug)]
pub(crate) struct RecommendArguments {
    /// The basis, as `undertone run` writes it
    #[arg(long, value_name = "FILE", required_unless_present_any = ["predict", "recommender"])]
    pub(crate) basis: Option<PathBuf>,
    /// Predict ratings from this folder, in which a run of completion wrote completion.toml
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["basis", "items_file", "threshold", "items"])]
    pub(crate) predict: Option<PathBuf>,
    /// Score with this folder, in which a run whose Gram matrix recommends wrote recommender.toml
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["basis", "predict", "items_file"])]
    pub(crate) recommender: Option<PathBuf>,
    /// The user's id, as in the data
    #[arg(long, value_name = "U", conflicts_with = "row")]
    pub(crate) user: Option<String>,
    /// Take the user's row from this rating file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sim", "row"])]
    pub(crate) data: Option<PathBuf>,
    /// Its format, as in an experiment file
    #[arg(long, value_name = "F", value_parser = format, requires = "data")]
    pub(crate) format: Option<Format>,
    /// An interaction is a rating above this
    #[arg(
        long,
        value_name = "T",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    pub(crate) threshold: f64,
    /// Keep the N most rated items; 0 keeps all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) items: usize,
    /// Or take the user's row from the data of this experiment, as its peers hold it
    #[arg(long, value_name = "SIM.toml", conflicts_with = "row")]
    pub(crate) sim: Option<PathBuf>,
    /// Change a key of the experiment (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "sim")]
    pub(crate) set: Vec<String>,
    /// Or take the user's items from this text file, one id per line; with --predict item,rating
    #[arg(long, value_name = "FILE")]
    pub(crate) row: Option<PathBuf>,
    /// The items of the basis [default: items.csv beside it]
    #[arg(long, value_name = "FILE")]
    pub(crate) items_file: Option<PathBuf>,
    /// Titles: MovieLens movies.csv, movies.dat or u.item, or any table of id and title [default: data.titles of --sim]
    #[arg(long, value_name = "FILE")]
    pub(crate) titles: Option<PathBuf>,
    /// Print the items that weigh most in each column of the basis instead
    #[arg(long, requires = "basis", conflicts_with_all = ["user", "data", "row"])]
    pub(crate) directions: bool,
    /// Number of recommendations, or of items of a column [default: 20, and 8 of a column]
    #[arg(long, value_name = "K")]
    pub(crate) top: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// The names in all values of a list option.
pub(crate) fn names(values: &[String]) -> Result<Vec<String>, NameSyntax> {
    let mut names = Vec::new();
    for value in values {
        names.append(&mut read_names(value)?);
    }
    Ok(names)
}

/// Three numbers, which the advice checks.
fn guess(text: &str) -> Result<Guess, String> {
    let numbers = text.split(',').map(|part| part.trim().parse());
    match numbers.collect::<Result<Vec<f64>, _>>().as_deref() {
        Ok(&[taste, decay, spread]) => Ok(Guess::new(taste, decay, spread)),
        _ => Err("expected three numbers, such as 2.5,1.5,1.5".to_owned()),
    }
}

/// A rating file format by its name.
fn format(name: &str) -> Result<Format, String> {
    let all = Format::all();
    all.iter()
        .copied()
        .find(|format| format.name() == name)
        .ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|format| format.name()).collect();
            format!("expected one of {}", names.join(", "))
        })
}

#[derive(Args, Debug)]
pub(crate) struct TopologyArguments {
    #[command(subcommand)]
    pub(crate) command: TopologyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TopologyCommand {
    /// Describe a graph file or recipe: size, degrees, connectivity, spectrum
    #[command(after_help = "Examples:\n  \
        undertone topology inspect topologies/karate.toml\n  \
        undertone topology inspect topologies/deutsche-telekom.gml --largest-component --json")]
    Inspect {
        /// A graph file (.edges, .txt, .csv, .json, .graphml, .gml, .gexf, .npz and others) or a .toml recipe
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Take the largest connected component of a disconnected graph
        #[arg(long)]
        largest_component: bool,
        /// Merge parallel edges
        #[arg(long)]
        merge_parallel: bool,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Make a graph and write its edges
    #[command(
        after_help = "Example:\n  undertone topology generate random-regular --nodes 100 --set degree=6 --set seed=1"
    )]
    Generate {
        /// The generator, see `undertone topology list`
        #[arg(value_name = "GENERATOR")]
        generator: String,
        /// Number of nodes
        #[arg(long, value_name = "N")]
        nodes: usize,
        /// A parameter of the generator (repeatable)
        #[arg(long = "set", value_name = "KEY=VALUE")]
        set: Vec<String>,
        /// Write here instead of to standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// List the generators and the named topologies of a directory
    #[command(after_help = "Example:\n  undertone topology list topologies")]
    List {
        /// Directory with .toml recipes
        #[arg(value_name = "DIR", default_value = "topologies")]
        directory: PathBuf,
    },
}
