use std::collections::BTreeSet;

use yaml_rust2::{Yaml, YamlLoader};

use super::docker;
use super::kubernetes;
use super::members::ComposeSession;
use super::yaml::quoted;
use crate::session::Identity;

/// A session of members with these names and addresses.
fn session(members: &[(&str, &[&str])]) -> anyhow::Result<ComposeSession> {
    // Members stand in the order of their keys.
    let mut ids: Vec<_> = (0..members.len() as u8)
        .map(|number| Identity::from_secret([number; 32].into()).id())
        .collect();
    ids.sort();
    let mut text = format!(
        "[session]\nversion = 2\nname = \"eight hospitals: \\\"ATC\\\" - x: \"\nnonce = \"{}\"\nconvener = \"{}\"\n\
         opens = 2026-11-21T08:00:00Z\ncloses = 2026-11-21T20:00:00Z\nmin_peers = 2\n\
         [stated]\nsigma_own = 1.0\nsigma_pairwise = 1.0\n[items]\nnames = [\"age\"]\n",
        "0a".repeat(32),
        Identity::from_secret([0; 32].into()).id(),
    );
    for (id, (name, addresses)) in ids.iter().zip(members) {
        let reachable = !addresses.is_empty();
        text += &format!(
            "[[member]]\nid = \"{id}\"\nname = {name:?}\naddresses = {addresses:?}\nreachable = {reachable}\nrows = 9\n"
        );
    }
    ComposeSession::of(text, Some("id\nsignature\n".to_owned()))
}

const POD: &[&str] = &["/dns4/peer-0.undertone/tcp/7655"];

/// Three members: one with a plain name, one that has none that containers take, one that only dials.
fn three() -> ComposeSession {
    session(&[
        (
            "Charité",
            &[
                "/dns4/peer-0.undertone/tcp/7655",
                "/dns4/peer-0.undertone/udp/7656/quic-v1",
            ],
        ),
        ("$(HOME): \"3\" # ☃ 𝄞", &["/dns4/Peer-1.undertone/tcp/7655"]),
        ("charit-", &[]),
    ])
    .expect("a session")
}

fn read(text: &str) -> Vec<Yaml> {
    YamlLoader::load_from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn texts(list: &Yaml) -> Vec<&str> {
    let list = list.as_vec().unwrap_or_else(|| panic!("a list: {list:?}"));
    list.iter()
        .map(|text| text.as_str().expect("a text"))
        .collect()
}

#[test]
fn whatever_is_quoted_comes_back() {
    for text in [
        "",
        "plain",
        "a: b # c",
        "\"quoted\" \\ back",
        "line\nline\r\n\ttab",
        "é☃𝄞",
        "\u{85}\u{2028}\u{feff}\u{7f}\0",
        "~",
        "0x10",
    ] {
        let yaml = read(&format!("key: {}\n", quoted(text)));
        assert_eq!(yaml[0]["key"].as_str(), Some(text), "{text:?}");
        assert!(quoted(text).is_ascii());
    }
}

#[test]
fn a_compose_file_has_a_service_and_a_volume_of_its_own_for_every_member() {
    let text = docker::write(&three(), "registry/undertone:1");
    let files = read(&text);
    assert_eq!(files.len(), 1);
    let file = &files[0];
    let services = file["services"].as_hash().expect("services");
    assert_eq!(services.len(), 9);
    let names = ["charit", "home-3", "charit-2"];
    for (number, name) in names.iter().enumerate() {
        let service = &file["services"][*name];
        assert_eq!(
            service["image"].as_str(),
            Some("registry/undertone:1"),
            "{name}"
        );
        assert_eq!(service["restart"].as_str(), Some("on-failure:3"));
        assert_eq!(service["read_only"].as_bool(), Some(true));
        assert_eq!(texts(&service["cap_drop"]), ["ALL"]);
        let command = texts(&service["command"]);
        assert_eq!(&command[..3], ["node", "run", "/session/session.toml"]);
        let listens = command.iter().filter(|word| **word == "--listen").count();
        assert_eq!(listens, [2, 1, 0][number]);
        let aliases = texts(&service["networks"]["undertone"]["aliases"]);
        let wanted: [&[&str]; 3] = [&["peer-0.undertone"], &["peer-1.undertone"], &[]];
        assert_eq!(aliases, wanted[number]);
        // The state is this member's alone.
        let volumes = service["volumes"].as_vec().expect("volumes");
        let states: Vec<_> = volumes
            .iter()
            .filter(|volume| volume["target"].as_str() == Some("/state"))
            .filter_map(|volume| volume["source"].as_str())
            .collect();
        assert_eq!(states, [format!("state-{name}")]);
        // The signature lies beside the session file, where `node run` looks for it.
        for file in ["session.toml", "session.toml.sig"] {
            let (from, to) = (format!("./{file}"), format!("/session/{file}"));
            let is_there = volumes.iter().any(|volume| {
                volume["source"].as_str() == Some(&from) && volume["target"].as_str() == Some(&to)
            });
            assert!(is_there, "{file}");
        }
        assert!(!file["volumes"][states[0]].is_badvalue());
        for step in ["init", "id"] {
            let service = &file["services"][format!("{step}-{name}").as_str()];
            assert_eq!(texts(&service["profiles"]), ["init"]);
            assert_eq!(texts(&service["command"])[..2], ["node", step]);
        }
    }
    let init = texts(&file["services"]["init-home-3"]["command"]);
    assert_eq!(
        init.last(),
        Some(&"$(HOME): \"3\" # ☃ 𝄞".replace('$', "$$").as_str())
    );
}

#[test]
fn manifests_have_a_job_and_a_claim_of_its_own_for_every_member() {
    let session = three();
    let text = kubernetes::write(&session, "registry/undertone:1").expect("names of pods");
    let documents = read(&text);
    let kinds = |kind: &str| -> Vec<&Yaml> {
        let of = |document: &&Yaml| document["kind"].as_str() == Some(kind);
        documents.iter().filter(of).collect()
    };
    assert_eq!(documents.len(), 8);
    let maps = kinds("ConfigMap");
    assert_eq!(
        maps[0]["data"]["session.toml"].as_str(),
        Some(session.text.as_str())
    );
    assert_eq!(
        maps[0]["data"]["session.toml.sig"].as_str(),
        Some("id\nsignature\n")
    );
    let services = kinds("Service");
    assert_eq!(services.len(), 1);
    assert_eq!(services[0]["metadata"]["name"].as_str(), Some("undertone"));
    assert_eq!(services[0]["spec"]["clusterIP"].as_str(), Some("None"));
    assert_eq!(services[0]["spec"]["ports"].as_vec().map(Vec::len), Some(2));
    let claimed: Vec<&str> = kinds("PersistentVolumeClaim")
        .iter()
        .filter_map(|claim| claim["metadata"]["name"].as_str())
        .collect();
    assert_eq!(claimed, ["state-charit", "state-home-3", "state-charit-2"]);
    let jobs = kinds("Job");
    assert_eq!(jobs.len(), 3);
    let mut used = BTreeSet::new();
    for (number, job) in jobs.iter().enumerate() {
        let pod = &job["spec"]["template"]["spec"];
        // Codes of the protocol are final; the failure policy needs pods that are not restarted in place.
        assert_eq!(pod["restartPolicy"].as_str(), Some("Never"));
        let rule = &job["spec"]["podFailurePolicy"]["rules"][0];
        assert_eq!(rule["action"].as_str(), Some("FailJob"));
        let codes = rule["onExitCodes"]["values"].as_vec().expect("codes");
        assert_eq!(
            codes.iter().filter_map(Yaml::as_i64).collect::<Vec<_>>(),
            [1, 2, 3, 4]
        );
        assert_eq!(
            rule["onExitCodes"]["containerName"].as_str(),
            pod["containers"][0]["name"].as_str()
        );
        let host = [Some("peer-0"), Some("peer-1"), None][number];
        assert_eq!(pod["hostname"].as_str(), host);
        assert_eq!(pod["subdomain"].as_str(), host.map(|_| "undertone"));
        let claim = pod["volumes"][0]["persistentVolumeClaim"]["claimName"].as_str();
        assert!(used.insert(claim.expect("a claim")), "shared state");
        for container in [
            &pod["initContainers"][0],
            &pod["initContainers"][1],
            &pod["containers"][0],
        ] {
            let context = &container["securityContext"];
            assert_eq!(context["allowPrivilegeEscalation"].as_bool(), Some(false));
            assert_eq!(context["readOnlyRootFilesystem"].as_bool(), Some(true));
            assert_eq!(texts(&context["capabilities"]["drop"]), ["ALL"]);
        }
        assert_eq!(pod["securityContext"]["runAsNonRoot"].as_bool(), Some(true));
    }
    let name = texts(&jobs[1]["spec"]["template"]["spec"]["initContainers"][0]["args"]);
    assert!(name.last().expect("a name").starts_with("$$(HOME)"));
}

#[test]
fn sessions_that_no_container_can_run_are_refused() {
    let refused = |members: &[(&str, &[&str])], kubernetes: bool| {
        let found = session(members).and_then(|session| match kubernetes {
            true => kubernetes::write(&session, "x"),
            false => Ok(docker::write(&session, "x")),
        });
        found.expect_err("refused").to_string()
    };
    let ip: &[&str] = &["/ip4/10.0.0.1/tcp/7655"];
    let long: &[&str] = &["/dns4/undertone.charite.de/tcp/7655"];
    let two: &[&str] = &["/dns4/a.u/tcp/1", "/dns4/b.u/tcp/1"];
    assert!(refused(&[("a", POD)], false).contains("2 to 128 members"));
    assert!(refused(&[("a", ip), ("b", POD)], false).contains("/dns4/NAME"));
    assert!(refused(&[("a", POD), ("b", POD)], false).contains("two members"));
    assert!(refused(&[("a", long), ("b", POD)], true).contains("/dns4/a.undertone"));
    assert!(refused(&[("a", two), ("b", POD)], true).contains("one name"));
    // A compose network takes any name.
    let session = session(&[("a", long), ("b", two)]).expect("a session");
    assert_eq!(read(&docker::write(&session, "x")).len(), 1);
    // No names that containers take, or all the same to them, or an index that is another's name.
    for names in [["!", "?", "#"], ["x", "X", "x!"], ["peer-1", "1", "?"]] {
        let addresses: [&[&str]; 3] = [&["/dns4/a.u/tcp/1"], &["/dns4/b.u/tcp/1"], &[]];
        let members: Vec<_> = names.into_iter().zip(addresses).collect();
        let session = self::session(&members).expect("a session");
        let services: BTreeSet<_> = session.members.iter().map(|one| &one.service).collect();
        assert_eq!(services.len(), 3, "{services:?}");
    }
}
