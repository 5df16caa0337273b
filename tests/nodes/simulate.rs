//! One experiment in several processes: the bits of one process, and what happens when a host is not there or goes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::ports::free_ports;
use crate::support::repository;

/// A folder with a hosts file of so many hosts with so many peers each.
struct Simulation {
    folder: tempfile::TempDir,
    set: Vec<String>,
    sim: PathBuf,
}

/// A process of one host.
struct Running {
    child: Child,
    errors: PathBuf,
}

impl Running {
    /// Its exit code and what it said to standard error; killed and a failure of the test after `limit`.
    fn left(mut self, limit: Duration) -> (Option<i32>, String) {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                let errors = fs::read_to_string(&self.errors).expect("text");
                return (status.code(), errors);
            }
            if began.elapsed() > limit {
                self.child.kill().expect("killed");
                let errors = fs::read_to_string(&self.errors).expect("text");
                panic!("still running after {limit:?}: {errors}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Simulation {
    fn new(hosts: usize, peers: usize, set: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut text = String::new();
        let ports = free_ports(hosts * (peers + 1));
        for host in 0..hosts {
            let (first, end) = (host * peers, (host + 1) * peers);
            let port = usize::from(ports.start) + host * (peers + 1);
            text += &format!(
                "[[host]]\nname = \"host-{host}\"\naddress = \"127.0.0.1\"\nbase_port = {port}\npeers = \"{first}..{end}\"\n"
            );
        }
        fs::write(folder.path().join("hosts.toml"), text).expect("written");
        let count = format!("peers.count={}", hosts * peers);
        let common = [&count, "topology.degree=2", "data.items=30", "seed=11"];
        let set = common.iter().chain(set).map(|key| format!("--set={key}"));
        Self {
            set: set.collect(),
            folder,
            sim: repository("tests/power.toml"),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts a host, which waits so many seconds for silent ones.
    fn start(&self, host: usize, stall: u32, more: &[&str]) -> Running {
        let errors = self.path(&format!("errors-{host}"));
        let child = Command::new(env!("CARGO_BIN_EXE_undertone"))
            .args(["node", "simulate"])
            .arg(&self.sim)
            .args(&self.set)
            .args(["--host", &host.to_string(), "--stall", &stall.to_string()])
            .arg("--hosts")
            .arg(self.path("hosts.toml"))
            .arg("--out")
            .arg(self.path(&format!("host-{host}")))
            .args(more)
            .stdout(Stdio::null())
            .stderr(fs::File::create(&errors).expect("a file"))
            .spawn()
            .expect("the binary was built");
        Running { child, errors }
    }

    /// The same experiment in one process.
    fn alone(&self, engine: &str) -> PathBuf {
        let out = self.path(engine);
        let output = Command::new(env!("CARGO_BIN_EXE_undertone"))
            .arg("run")
            .arg(&self.sim)
            .args(&self.set)
            .args(["--quiet", "--engine", engine, "--out"])
            .arg(&out)
            .output()
            .expect("the binary was built");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        out
    }
}

fn read(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join(name)).expect("a result")
}

/// The summary without what tells runs apart that should be equal.
fn summary(folder: &Path) -> serde_json::Value {
    let mut summary: serde_json::Value =
        serde_json::from_slice(&read(folder, "summary.json")).expect("JSON");
    let fields = summary.as_object_mut().expect("an object");
    fields.remove("timing").expect("there");
    fields.remove("engine").expect("there");
    // It covers the name of the engine.
    fields.remove("config_hash").expect("there");
    summary
}

fn equal_to_one_process(hosts: usize, peers: usize, set: &[&str]) {
    let simulation = Simulation::new(hosts, peers, set);
    // The last one first: whoever comes early waits.
    let running: Vec<Running> = (0..hosts)
        .rev()
        .map(|host| simulation.start(host, 60, &[]))
        .collect();
    for running in running {
        let (code, errors) = running.left(Duration::from_secs(90));
        assert_eq!(code, Some(0), "{errors}");
        assert!(errors.starts_with("simulation: not private"), "{errors}");
    }
    let ours = simulation.path("host-0");
    for engine in ["lockstep", "swarm"] {
        let theirs = simulation.alone(engine);
        assert_eq!(read(&ours, "basis.npy"), read(&theirs, "basis.npy"));
        assert_eq!(read(&ours, "metrics.csv"), read(&theirs, "metrics.csv"));
        assert_eq!(summary(&ours), summary(&theirs), "{engine} {set:?}");
    }
    let mode = String::from_utf8(read(&ours, "simulation.toml")).expect("text");
    assert!(
        mode.contains("whoever has the seed has the noise"),
        "{mode}"
    );
    assert!(!simulation.path("host-1").exists());
}

const POWER: [&str; 2] = ["algorithm.rank=2", "algorithm.iterations=2"];

#[test]
fn two_hosts_of_four_peers_give_the_bits_of_one_process() {
    equal_to_one_process(2, 4, &POWER);
    let covariance = [
        "algorithm.kind=covariance",
        "algorithm.iterations=1",
        "algorithm.rank=2",
        "averaging={scheme = \"tree\"}",
    ];
    equal_to_one_process(2, 4, &covariance);
}

#[test]
fn three_hosts_of_three_peers_give_the_bits_of_one_process() {
    equal_to_one_process(3, 3, &[POWER[0], POWER[1], "averaging={scheme = \"tree\"}"]);
}

#[test]
fn a_host_that_does_not_come_is_named_by_all_others() {
    let simulation = Simulation::new(3, 3, &POWER);
    let running = [simulation.start(0, 4, &[]), simulation.start(1, 4, &[])];
    for running in running {
        let (code, errors) = running.left(Duration::from_secs(60));
        assert_eq!(code, Some(1), "{errors}");
        assert!(
            errors.contains("host \"host-2\" was not there within 4s"),
            "{errors}"
        );
    }
    let waiting = fs::read_to_string(simulation.path("errors-0")).expect("text");
    assert!(waiting.contains("waiting for host host-2"), "{waiting}");
}

#[test]
fn a_host_that_is_killed_ends_the_others_with_its_name() {
    // Long enough to be killed in the middle of it.
    let simulation = Simulation::new(3, 3, &["algorithm.rank=2", "algorithm.iterations=3000"]);
    let mut running: Vec<Running> = (0..3).map(|host| simulation.start(host, 30, &[])).collect();
    let began = Instant::now();
    let errors = simulation.path("errors-2");
    while !fs::read_to_string(&errors)
        .expect("text")
        .contains("all hosts are here")
    {
        let has_ended = running[2].child.try_wait().expect("a child").is_some();
        if has_ended || began.elapsed() > Duration::from_secs(60) {
            let errors = [0, 1, 2]
                .map(|host| fs::read_to_string(simulation.path(&format!("errors-{host}"))));
            panic!("the hosts did not meet: {errors:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut killed = running.remove(2);
    killed.child.kill().expect("it runs");
    killed.child.wait().expect("a child");
    for running in running {
        let (code, errors) = running.left(Duration::from_secs(30));
        assert_eq!(code, Some(1), "{errors}");
        assert!(errors.contains("lost host \"host-2\""), "{errors}");
    }
}

#[test]
fn hosts_with_other_settings_or_another_seed_are_refused() {
    let simulation = Simulation::new(2, 4, &POWER);
    let running = [
        simulation.start(0, 20, &[]),
        simulation.start(1, 20, &["--set=privacy.epsilon=1.5"]),
    ];
    for running in running {
        let (code, errors) = running.left(Duration::from_secs(60));
        assert_eq!(code, Some(1), "{errors}");
        assert!(
            errors.contains("host \"host-1\" has a plan other than"),
            "{errors}"
        );
    }
    let running = [
        simulation.start(0, 4, &[]),
        simulation.start(1, 20, &["--set=seed=12"]),
    ];
    let ends = running.map(|running| running.left(Duration::from_secs(60)));
    assert!(
        ends[0].1.contains("host \"host-1\" was not there"),
        "{}",
        ends[0].1
    );
    assert!(
        ends[1].1.contains("is not that host of this simulation"),
        "{}",
        ends[1].1
    );
}

#[test]
fn hosts_files_of_other_experiments_are_refused() {
    let simulation = Simulation::new(2, 4, &POWER);
    let (code, errors) = simulation
        .start(0, 4, &["--set=peers.count=9"])
        .left(Duration::from_secs(30));
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("8 peers and the experiment 9"), "{errors}");
    let (code, errors) = simulation.start(2, 4, &[]).left(Duration::from_secs(30));
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("hosts 0 to 1"), "{errors}");
    fs::write(simulation.path("hosts.toml"), "[[host]]\nname = \"a\"\n").expect("written");
    let (code, errors) = simulation.start(0, 4, &[]).left(Duration::from_secs(30));
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("missing field"), "{errors}");
}
