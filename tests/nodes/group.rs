//! A group of real processes on the loopback interface, each with a state directory, rows and a port of its own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::ports::free_ports;

/// Columns of everybody's rows.
const COLUMNS: usize = 6;

/// The plan of all groups but for what `algorithm` and `topology` say.
const PLAN: &str = r#"
name = "group"
[data]
format = "matrix-csv"
ranges = [-1.0, 1.0]
row_clip = 1.0
[privacy]
epsilon = 1.5
delta = 1e-6
colluders = 1
adjacency = "user"
sensitivity = "unit-row"
[averaging]
scheme = "tree"
"#;

/// Members, and the session that they are invited to.
pub(crate) struct Group {
    pub(crate) folder: tempfile::TempDir,
    ports: Vec<u16>,
}

/// A process that runs.
pub(crate) struct Running {
    pub(crate) child: Child,
    errors: PathBuf,
}

/// What a process left behind.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) code: Option<i32>,
    pub(crate) errors: String,
}

impl Group {
    /// So many members, each with 20 rows, invited to a power method of so many iterations over a complete graph.
    pub(crate) fn new(members: usize, iterations: u32, invite: &[&str]) -> Self {
        Self::planned(
            members,
            &format!(
                "[topology]\ngenerator = \"complete\"\n[algorithm]\nkind = \"power\"\nrank = 2\niterations = {iterations}\n"
            ),
            invite,
        )
    }

    /// So many members invited to what these tables say.
    pub(crate) fn planned(members: usize, tables: &str, invite: &[&str]) -> Self {
        let group = Self {
            folder: tempfile::tempdir().expect("a folder"),
            ports: free_ports(members).collect(),
        };
        let mut tickets = String::new();
        for member in 0..members {
            let name = format!("member-{member}");
            group.ok(&["node", "init", "--state", &name, "--name", &name]);
            let address = group.address(member);
            tickets += &group.ok(&["node", "id", "--state", &name, "--address", &address]);
            let rows = (0..20).map(|row| {
                let value =
                    |column: usize| ((row * 7 + column * 5 + member * 3) % 11) as f64 / 11.0;
                let cells: Vec<String> = (0..COLUMNS).map(|c| value(c).to_string()).collect();
                cells.join(",") + "\n"
            });
            group.write(&format!("rows-{member}.csv"), &rows.collect::<String>());
        }
        group.write("tickets.txt", &tickets);
        let columns: String = (1..=COLUMNS).map(|column| format!("{column}\n")).collect();
        group.write("columns.txt", &columns);
        group.write("plan.toml", &format!("{PLAN}{tables}"));
        group.invite("session.toml", invite);
        group
    }

    /// Writes a session file.
    pub(crate) fn invite(&self, out: &str, more: &[&str]) {
        let first = [
            "node",
            "invite",
            "plan.toml",
            "--members",
            "tickets.txt",
            "--items",
            "columns.txt",
            "--state",
            "member-0",
            "--out",
            out,
        ];
        let arguments: Vec<&str> = first.iter().chain(more).copied().collect();
        self.ok(&arguments);
    }

    pub(crate) fn address(&self, member: usize) -> String {
        format!("/ip4/127.0.0.1/tcp/{}", self.ports[member])
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        self.command_under(&[], arguments)
    }

    /// `undertone` with these arguments, run by a program and its own arguments, if there are any.
    fn command_under(&self, emulator: &[&str], arguments: &[&str]) -> Command {
        let line = [emulator, &[env!("CARGO_BIN_EXE_undertone")], arguments].concat();
        let mut command = Command::new(line[0]);
        command.args(&line[1..]).current_dir(self.folder.path());
        command
    }

    /// Runs a command to its end: exit code, standard output and error.
    pub(crate) fn end(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = self
            .command(arguments)
            .output()
            .expect("the binary was built");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    /// What a command prints that must succeed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let (code, out, errors) = self.end(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {errors}");
        out
    }

    /// What `node run` of a member that should be refused says.
    pub(crate) fn refused(&self, member: usize, session: &str) -> (Option<i32>, String) {
        let (code, _, errors) = self.end(
            &self
                .run_arguments(member, session)
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
        );
        (code, errors)
    }

    /// What `node run` of a member says that may open so many files.
    pub(crate) fn refused_with_files(&self, files: u32, member: usize) -> (Option<i32>, String) {
        let limited = format!("ulimit -n {files}; exec \"$0\" \"$@\"");
        let ran = Command::new("sh")
            .args(["-c", &limited, env!("CARGO_BIN_EXE_undertone")])
            .args(self.run_arguments(member, "session.toml"))
            .current_dir(self.folder.path())
            .output()
            .expect("a shell");
        let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
        (ran.status.code(), errors)
    }

    fn run_arguments(&self, member: usize, session: &str) -> Vec<String> {
        let (state, data) = (format!("member-{member}"), format!("rows-{member}.csv"));
        let address = self.address(member);
        let out = format!("result-{member}");
        [
            "node", "run", session, "--state", &state, "--data", &data, "--listen", &address,
            "--out", &out,
        ]
        .map(str::to_owned)
        .to_vec()
    }

    /// Starts a member.
    pub(crate) fn start(&self, member: usize) -> Running {
        self.start_in(member, "session.toml", member)
    }

    /// Starts a member with the state and rows of `member` for this session; `number` tells its words apart.
    pub(crate) fn start_in(&self, member: usize, session: &str, number: usize) -> Running {
        self.start_under(&[], member, session, number)
    }

    /// Starts a member as [`Self::start_in`], in an emulator.
    pub(crate) fn start_under(
        &self,
        emulator: &[&str],
        member: usize,
        session: &str,
        number: usize,
    ) -> Running {
        let errors = self.path(&format!("errors-{number}.txt"));
        let child = self
            .command_under(
                emulator,
                &self
                    .run_arguments(member, session)
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>(),
            )
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&errors).expect("a file"))
            .spawn()
            .expect("the binary was built");
        Running { child, errors }
    }

    /// The ledger of a member, as JSON.
    pub(crate) fn ledger(&self, member: usize) -> serde_json::Value {
        let state = format!("member-{member}");
        let text = self.ok(&["node", "ledger", "--state", &state, "--json"]);
        serde_json::from_str(&text).expect("JSON")
    }

    /// How many releases a member has charged in all its sessions, what they cost, and how its only session ended.
    pub(crate) fn charged(&self, member: usize) -> (u64, f64, Option<String>) {
        let ledger = self.ledger(member);
        let sessions = ledger["sessions"].as_array().expect("a list");
        let sum = |key: &str| -> f64 {
            let numbers = sessions.iter().map(|one| one[key].as_f64());
            numbers.map(|number| number.expect("a number")).sum()
        };
        let ended = match &sessions[..] {
            [only] => only["ended"].as_str().map(str::to_owned),
            _ => None,
        };
        (sum("releases") as u64, sum("charged"), ended)
    }

    /// The result that a member was handed over by others, in its only session.
    pub(crate) fn late_basis(&self, member: usize) -> Option<Vec<u8>> {
        let sessions = self.path(&format!("member-{member}/sessions"));
        let session = fs::read_dir(sessions).ok()?.next()?.ok()?.path();
        fs::read(session.join("late-basis.npy")).ok()
    }

    /// The result of a member, if there is one.
    pub(crate) fn basis(&self, member: usize) -> Option<Vec<u8>> {
        fs::read(self.path(&format!("result-{member}/basis.npy"))).ok()
    }
}

impl Running {
    /// Whether the process ends within this time.
    pub(crate) fn ends_within(&mut self, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        loop {
            if self.child.try_wait().expect("a child").is_some() {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// What it has said to standard error so far.
    pub(crate) fn said(&self) -> String {
        said(&self.errors)
    }

    /// Waits for the end, at most so long.
    pub(crate) fn left(mut self, limit: Duration) -> Left {
        let until = Instant::now() + limit;
        let status = loop {
            match self.child.try_wait().expect("a child") {
                Some(status) => break status,
                None if Instant::now() < until => std::thread::sleep(Duration::from_millis(10)),
                None => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    panic!("no end within {limit:?}: {}", said(&self.errors));
                }
            }
        };
        Left {
            code: status.code(),
            errors: said(&self.errors),
        }
    }

    /// Ends the process as a power failure would.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("a child of ours");
        self.child.wait().expect("a child of ours");
    }
}

impl Drop for Running {
    /// A test that fails leaves nobody behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn said(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
