//! What a size limit on files leaves behind: no result under its final name, and nothing beside it.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::scratch::Scratch;

/// Runs `undertone` in a folder under `ulimit -f`, in blocks of 512 or 1,024 bytes as the shell counts.
fn limited(folder: &Path, blocks: usize, arguments: &str) -> Output {
    Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -f {blocks}; exec \"$0\" {arguments}"))
        .arg(env!("CARGO_BIN_EXE_undertone"))
        .current_dir(folder)
        .output()
        .expect("a shell")
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn results_cut_off_by_a_size_limit_do_not_stand_under_their_names() {
    let scratch = Scratch::new();
    let run = "run sims/sim.toml --quiet --trace --out out";
    let ended = limited(&scratch.path("."), 1, run);
    let stderr = String::from_utf8(ended.stderr).expect("text");
    assert_eq!(
        files(&scratch.path("out")),
        Vec::<String>::new(),
        "{stderr}"
    );
    assert_eq!(ended.status.code(), Some(2), "{:?} {stderr}", ended.status);
    assert!(stderr.contains("cannot write out/"), "{stderr}");

    let generate = "topology generate ring --nodes 2000 --out ring.edges";
    let ended = limited(&scratch.path("."), 1, generate);
    let stderr = String::from_utf8(ended.stderr).expect("text");
    assert_eq!(ended.status.code(), Some(2), "{:?} {stderr}", ended.status);
    assert!(stderr.contains("ring.edges"), "{stderr}");
    assert!(!scratch.path("ring.edges").exists());
    let left = files(&scratch.path("."));
    assert!(
        left.iter().all(|path| !path.contains("partial")),
        "{left:?}"
    );
}

/// The results of the run before stay whole when those of the next do not fit.
#[test]
fn results_of_an_earlier_run_survive_a_size_limit() {
    let scratch = Scratch::new();
    let run = "run sims/sim.toml --quiet --out out";
    assert_eq!(scratch.undertone(run).code, Some(0));
    let names = [
        "summary.json",
        "receipt.json",
        "basis.npy",
        "items.csv",
        "config.toml",
    ];
    let before = names.map(|name| scratch.read(&format!("out/{name}")));
    let count = files(&scratch.path("out")).len();
    let ended = limited(&scratch.path("."), 1, &format!("{run} --set seed=4"));
    assert_eq!(ended.status.code(), Some(2));
    let after = names.map(|name| scratch.read(&format!("out/{name}")));
    assert!(before == after, "a result changed");
    assert_eq!(files(&scratch.path("out")).len(), count);
}
