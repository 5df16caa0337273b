//! `undertone node`: what its commands write, print and refuse.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use undertone::node::store::{
    ControlServer, Digest, Head, OneTimeSecrets, RECEIPT, Record, Reservation, Square, StateDir,
    sign_file,
};
use undertone::privacy::{Adjacency, Budget};
use undertone::session::{Identity, Ticket};
use undertone::vocabulary::ReleaseId;

use crate::support::command::{Finished, undertone_in};
use crate::support::scratch::Scratch;
use crate::support::skipped;

/// A folder with a peer in `peer/`.
struct Peer {
    folder: tempfile::TempDir,
}

impl Peer {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let peer = Self { folder };
        let shown = peer.node("init --state peer --name Ulm");
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
        peer
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `undertone node` with these words in the folder.
    fn node(&self, arguments: &str) -> Finished {
        let words: Vec<&str> = std::iter::once("node")
            .chain(arguments.split(' '))
            .collect();
        undertone_in(self.folder.path(), &words)
    }

    fn json(&self, arguments: &str) -> Value {
        let shown = self.node(arguments);
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
        serde_json::from_str(&shown.stdout).expect("JSON")
    }

    fn state(&self) -> StateDir {
        StateDir::open(&self.path("peer")).expect("a peer")
    }

    /// Reserves 0.25 for a session and charges two releases of 0.1.
    fn spend(&self, session: [u8; 32]) {
        let square = |value| Square::new(value).expect("a square");
        let wanted = Reservation {
            session: Digest(session),
            scope: "default".parse().expect("a scope"),
            adjacency: Adjacency::User,
            plain: true,
            mu_squared: square(0.25),
        };
        let mut ledger = self.state().ledger().expect("a ledger");
        let budget = Budget::new(4.0, 1e-5).expect("a budget");
        ledger.reserve(wanted, budget).expect("reserved");
        for release in 0..2 {
            ledger
                .charge(session, ReleaseId(release), square(0.1))
                .expect("charged");
        }
    }
}

#[test]
fn init_makes_one_peer_and_id_prints_its_ticket() {
    let peer = Peer::new();
    let again = peer.node("init --state peer --name Ulm");
    assert_eq!((again.code, again.stdout.as_str()), (Some(2), ""));
    assert!(
        again.stderr.contains("never overwritten"),
        "{}",
        again.stderr
    );
    let kept = peer.node("init --state peer --keep");
    assert_eq!(kept.code, Some(0), "{}", kept.stderr);

    let addresses = "--address /dns4/ulm.lab.org/tcp/7655 --address /ip4/10.0.0.1/udp/7655/quic-v1";
    let shown = peer.node(&format!("id --state peer {addresses}"));
    let ticket: Ticket = shown.stdout.parse().expect("a ticket");
    assert_eq!(ticket.id().to_string(), kept.stdout.trim());
    assert_eq!(
        (ticket.name().as_str(), ticket.addresses().len()),
        ("Ulm", 2)
    );
    // An address that means every interface is nobody's address.
    let shown = peer.node("id --state peer");
    let ticket: Ticket = shown.stdout.parse().expect("a ticket");
    assert!(ticket.addresses().is_empty());
    assert!(shown.stderr.contains("nobody can dial"), "{}", shown.stderr);
    for wrong in ["--address 10.0.0.1:7655", "--address /ip4/10.0.0.1/tcp/0"] {
        let shown = peer.node(&format!("id --state peer {wrong}"));
        assert_eq!(shown.code, Some(2), "{wrong}");
        assert!(shown.stderr.contains("/dns4/HOST"), "{}", shown.stderr);
    }
    let missing = peer.node("id --state nowhere");
    assert_eq!(missing.code, Some(2));
    assert!(
        missing.stderr.contains("undertone node init"),
        "{}",
        missing.stderr
    );
    let long = peer.node(&format!("init --state other --name {}", "x".repeat(65)));
    assert_eq!(long.code, Some(2));
    assert!(!peer.path("other").exists());
}

#[test]
fn a_state_that_others_could_read_or_that_is_in_use_ends_with_4() {
    let peer = Peer::new();
    let key = peer.path("peer/peer.key");
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
    };
    for command in ["id", "ledger", "status"] {
        for (path, wrong, word) in [
            (&key, 0o644, "`chmod 600`"),
            (&peer.path("peer"), 0o755, "`chmod 700`"),
        ] {
            let right = path.metadata().expect("there").permissions().mode();
            mode(path, wrong);
            let shown = peer.node(&format!("{command} --state peer"));
            assert_eq!(shown.code, Some(4), "{command}: {}", shown.stderr);
            assert!(shown.stderr.contains(word), "{}", shown.stderr);
            mode(path, right);
        }
    }
    // In use by this process: others may look, and change nothing.
    let state = peer.state();
    assert_eq!(peer.node("ledger --state peer").code, Some(0));
    let shown = peer.node("abandon --state peer 00000000");
    assert_eq!(shown.code, Some(4));
    assert!(
        shown.stderr.contains("another process uses"),
        "{}",
        shown.stderr
    );
    drop(state);
    assert_eq!(peer.node("abandon --state peer 00000000").code, Some(2));
}

#[test]
fn the_ledger_says_what_was_spent_and_what_is_left() {
    let peer = Peer::new();
    peer.spend([7; 32]);
    let document = peer.json("ledger --state peer --json");
    assert_eq!(document["head"]["length"], 4);
    let scope = &document["scopes"][0];
    assert_eq!(
        (&scope["scope"], &scope["mu_squared"]),
        (&"default".into(), &0.25.into())
    );
    let held = scope["budget"]["held"].as_f64().expect("a number");
    let wanted = undertone::privacy::gaussian::epsilon(
        0.5,
        undertone::privacy::Delta::new(1e-5).expect("a probability"),
    );
    assert!((held - wanted).abs() < 1e-9, "{held}");
    let session = &document["sessions"][0];
    assert_eq!(
        (&session["reserved"], &session["charged"]),
        (&0.25.into(), &0.2.into())
    );
    let shown = peer.node("ledger --state peer");
    for word in ["verified: 4 lines", "default", "0707070707070707", "open"] {
        assert!(shown.stdout.contains(word), "{word}: {}", shown.stdout);
    }
    let shown = peer.node("ledger --state peer --verify");
    assert_eq!(shown.stdout.lines().count(), 1, "{}", shown.stdout);

    let path = peer.path("peer/ledger.log");
    let whole = fs::read(&path).expect("readable");
    fs::write(&path, &whole[..whole.len() - 7]).expect("writable");
    let shown = peer.node("ledger --state peer --verify");
    assert_eq!(shown.code, Some(0));
    assert!(shown.stderr.contains("torn by a crash"), "{}", shown.stderr);
    let mut changed = whole.clone();
    let at = whole.len() / 2;
    changed[at] ^= 4;
    fs::write(&path, &changed).expect("writable");
    let shown = peer.node("ledger --state peer --verify");
    assert_eq!(shown.code, Some(4));
    assert!(shown.stderr.contains("does not verify"), "{}", shown.stderr);
    assert_eq!(peer.node("status --state peer").code, Some(4));
    fs::remove_file(&path).expect("there");
    assert_eq!(peer.node("ledger --state peer").code, Some(4));
}

#[test]
fn a_restored_backup_is_repaired_with_what_was_lost() {
    let peer = Peer::new();
    peer.spend([7; 32]);
    let path = peer.path("peer/ledger.log");
    let backup = fs::read(&path).expect("readable");
    peer.spend([8; 32]);
    let Head { length, hash } = peer.state().view().ledger().expect("a ledger").head();
    fs::write(&path, backup).expect("writable");
    let repair = format!(
        "known = {{ length = {length}, hash = \"{hash}\" }}\n[[session]]\nsession = \"{}\"\nscope = \"default\"\n\
         adjacency = \"user\"\nmu_squared = \"0.25\"\n",
        Digest([8; 32])
    );
    fs::write(peer.path("missing.toml"), &repair).expect("writable");
    let document = peer.json("ledger --state peer --json --adopt missing.toml");
    assert_eq!(document["head"]["length"], length + 1);
    assert_eq!(document["scopes"][0]["mu_squared"], 0.5);
    let again = peer.node("ledger --state peer --adopt missing.toml");
    assert_eq!(again.code, Some(2));
    assert!(
        again.stderr.contains("nothing is missing"),
        "{}",
        again.stderr
    );
    fs::write(peer.path("missing.toml"), repair.replace("scope", "scoop")).expect("writable");
    assert_eq!(
        peer.node("ledger --state peer --adopt missing.toml").code,
        Some(2)
    );
}

#[test]
fn a_session_is_left_for_good_and_its_secrets_are_erased() {
    let peer = Peer::new();
    peer.spend([7; 32]);
    let secrets = || OneTimeSecrets {
        noise: [1; 32].into(),
        exchange: [2; 32].into(),
    };
    let state = peer.state();
    let files = state.session([7; 32]).expect("made");
    files.keep_secrets(&secrets()).expect("kept");
    let (file, rows) = (Digest([7; 32]), Digest([3; 32]));
    let joined = Record::Joined { file, rows };
    files
        .journal()
        .expect("made")
        .append(joined)
        .expect("appended");
    drop(state);
    let status = peer.json("status --state peer --json");
    assert_eq!(status["running"], Value::Null);
    assert_eq!(status["sessions"][0]["stage"], "joined");
    assert_eq!(peer.node("abandon --state peer 0707").code, Some(2));
    let shown = peer.node("abandon --state peer 07070707");
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(
        shown.stdout.contains("0.2 stays charged"),
        "{}",
        shown.stdout
    );
    assert!(!peer.path(&format!("peer/sessions/{file}/own.key")).exists());
    let status = peer.json("status --state peer --json");
    assert_eq!(status["sessions"][0]["stage"], "abandoned");
    let document = peer.json("ledger --state peer --json");
    assert_eq!(document["scopes"][0]["mu_squared"], 0.2);
    assert_eq!(document["sessions"][0]["ended"], "abandoned");
    assert_eq!(
        peer.node("abandon --state peer 07070707").code,
        Some(0),
        "nothing to do"
    );
}

#[test]
fn status_asks_the_node_that_runs() {
    let peer = Peer::new();
    let shown = peer.node("status --state peer");
    assert!(shown.stdout.contains("no node runs"), "{}", shown.stdout);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let socket = peer.state().view().control_socket();
    let server = runtime.block_on(async {
        ControlServer::start(&socket, |_| serde_json::json!({ "iteration": 3 }))
    });
    let server = server.expect("it listens");
    let status = peer.json("status --state peer --json");
    assert_eq!(status["running"]["iteration"], 3);
    let shown = peer.node("status --state peer");
    let words: Vec<&str> = shown.stdout.split_whitespace().collect();
    assert!(
        words.windows(2).any(|two| two == ["iteration", "3"]),
        "{}",
        shown.stdout
    );
    drop(server);
    let status = peer.json("status --state peer --json --watch");
    assert_eq!(status["running"], Value::Null);
}

#[test]
fn a_signed_receipt_says_whose_it_is_and_a_changed_one_fails() {
    let scratch = Scratch::new();
    let run = scratch.undertone("run sims/sim.toml --out out --quiet");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let check = |more: &str| {
        let shown = scratch.undertone(&format!("privacy check out/receipt.json{more}"));
        (shown.code, shown.stdout)
    };
    let identity = Identity::from_secret([7; 32].into());
    let stranger = Identity::from_secret([8; 32].into()).id();
    let by = format!(" --signed-by {}", identity.id());
    let (code, stdout) = check("");
    assert!(
        code == Some(0) && !stdout.contains("signature:"),
        "{stdout}"
    );
    let (code, stdout) = check(&by);
    assert!(
        code == Some(1) && stdout.contains("is not signed"),
        "{stdout}"
    );
    let path = scratch.path("out/receipt.json");
    sign_file(&path, &identity, RECEIPT).expect("signed");
    for more in ["", &by] {
        let (code, stdout) = check(more);
        let wanted = format!("PASS  signature: signed by {}", identity.id());
        assert!(code == Some(0) && stdout.contains(&wanted), "{stdout}");
    }
    let (code, stdout) = check(&format!(" --signed-by {stranger}"));
    assert!(code == Some(1) && stdout.contains("not by"), "{stdout}");
    let shown = scratch.undertone("privacy check out/receipt.json --signed-by nobody");
    assert_eq!(shown.code, Some(2));
    let (_, document) = check(" --json");
    let document: Value = serde_json::from_str(&document).expect("JSON");
    assert_eq!(document["signature"]["by"], identity.id().to_string());
    // A blank more is another file; all numbers still hold.
    let mut bytes = scratch.read("out/receipt.json");
    bytes.push(b' ');
    fs::write(&path, &bytes).expect("writable");
    let (code, stdout) = check("");
    assert!(
        code == Some(1) && stdout.contains("FAIL  signature"),
        "{stdout}"
    );
    assert!(
        stdout.contains("was changed after it was signed"),
        "{stdout}"
    );
    let signature = scratch.path("out/receipt.json.sig");
    fs::write(&signature, "nonsense").expect("writable");
    assert_eq!(check("").0, Some(1));
    fs::remove_file(&signature).expect("there");
    assert_eq!(check("").0, Some(0));
}

/// A session of three, whose names containers do not all take.
fn session() -> String {
    let id = |number: u8| Identity::from_secret([number; 32].into()).id();
    let mut text = format!(
        "[session]\nversion = 2\nname = \"three hospitals\"\nnonce = \"{}\"\nconvener = \"{}\"\n\
         opens = 2026-11-21T08:00:00Z\ncloses = 2026-11-21T20:00:00Z\nmin_peers = 2\n\
         [stated]\nsigma_own = 1.0\nsigma_pairwise = 1.0\n[items]\nnames = [\"age\"]\n",
        "0a".repeat(32),
        id(0)
    );
    for (number, name) in ["charite", "Ulm $1", "?"].iter().enumerate() {
        let id = id(number as u8);
        let address = format!("/dns4/peer-{number}.undertone/tcp/7655");
        text += &format!(
            "[[member]]\nid = \"{id}\"\nname = {name:?}\naddresses = [{address:?}]\nrows = 9\n"
        );
    }
    text
}

#[test]
fn compose_writes_files_that_its_readers_take() {
    let peer = Peer::new();
    let written = |format: &str, file: &str| {
        fs::write(peer.path("session.toml"), session()).expect("writable");
        let shown = peer.node(&format!(
            "compose session.toml --out deploy --format {format}"
        ));
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
        assert!(shown.stderr.contains("not signed"), "{}", shown.stderr);
        let text = fs::read_to_string(peer.path("deploy").join(file)).expect("written");
        let documents = yaml_rust2::YamlLoader::load_from_str(&text).expect("YAML");
        assert_eq!(documents.len(), if format == "compose" { 1 } else { 8 });
    };
    written("compose", "compose.yaml");
    written("kubernetes", "undertone.yaml");
    let copied = fs::read_to_string(peer.path("deploy/session.toml")).expect("copied");
    assert_eq!(copied, session());
    fs::write(peer.path("session.toml"), "[session]\n").expect("writable");
    let shown = peer.node("compose session.toml --out other");
    assert_eq!(shown.code, Some(2));
    assert!(
        shown.stderr.contains("cannot be deployed"),
        "{}",
        shown.stderr
    );
}

/// Holds what `node compose` writes against the schemas of compose-spec and of Kubernetes, as two Python packages carry them.
///
/// `pip install --no-deps --target DIR kubernetes-validate docker-compose==1.29.2`, with `pyyaml` and `jsonschema`, and `PYTHONPATH=DIR`.
#[test]
fn compose_writes_what_the_schemas_of_the_formats_allow() {
    const CHECK: &str = r#"
import importlib.util, json, os, sys
try:
    import jsonschema, yaml
    import kubernetes_validate
    found = importlib.util.find_spec("compose")
    schema = os.path.join(os.path.dirname(found.origin), "config", "compose_spec.json")
    schema = json.load(open(schema))
except Exception as error:
    print(error)
    sys.exit(77)
compose, manifests = sys.argv[1:]
document = yaml.safe_load(open(compose))
jsonschema.Draft7Validator(schema).validate(document)
# The schema refuses something.
document["services"]["charite"]["restarts"] = "no"
assert not jsonschema.Draft7Validator(schema).is_valid(document)
documents = list(yaml.safe_load_all(open(manifests)))
for document in documents:
    kubernetes_validate.validate(document, "1.32", strict=True)
documents[-1]["spec"]["template"]["spec"]["restart"] = "Never"
try:
    kubernetes_validate.validate(documents[-1], "1.32", strict=True)
except kubernetes_validate.ValidationError:
    sys.exit(0)
sys.exit("an unknown key was taken")
"#;
    let peer = Peer::new();
    fs::write(peer.path("session.toml"), session()).expect("writable");
    for format in ["compose", "kubernetes"] {
        let shown = peer.node(&format!(
            "compose session.toml --out deploy --format {format}"
        ));
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    }
    let run = Command::new("python3")
        .args(["-W", "ignore", "-c", CHECK])
        .args([
            peer.path("deploy/compose.yaml"),
            peer.path("deploy/undertone.yaml"),
        ])
        .output();
    let Ok(output) = run else {
        skipped("there is no python3 to check compose files with");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(0) => {}
        Some(77) => skipped(format!("no schemas of compose and Kubernetes: {said}")),
        _ => panic!("{said}{}", String::from_utf8_lossy(&output.stderr)),
    }
}
