//! A compose file (compose-spec): one service per member on one network.

use std::fmt::Write as _;

use super::members::{ComposeMember, ComposeSession};
use super::yaml::{comment, list, quoted};

/// The compose file of a session.
pub(super) fn write(session: &ComposeSession, image: &str) -> String {
    let mut out = comment(&format!(
        "Every member of the session {}, one service each.\n\
         \n\
         1. docker compose --profile init up      makes every member's key on its own volume, and prints its ticket\n\
         2. undertone node invite ...             with these tickets; write this file anew if an id has changed\n\
         3. data/SERVICE/rows.csv                 each member's own rows, beside this file\n\
         4. docker compose up                     runs the session; results are on the volumes, in out/\n\
         \n\
         A member whose process was killed is started again up to three times, and goes on or ends with the code of its session. Volumes hold\n\
         keys and ledgers: never copy one, never delete one that was in a session.",
        quoted(&session.name)
    ));
    out.push_str("services:\n");
    for member in &session.members {
        service(&mut out, member, image, session.signature.is_some());
    }
    out.push_str("networks:\n  undertone: {}\nvolumes:\n");
    for member in &session.members {
        put(&mut out, format_args!("  state-{}: {{}}", member.service));
    }
    out
}

fn service(out: &mut String, member: &ComposeMember, image: &str, is_signed: bool) {
    let name = &member.service;
    out.push_str(&comment(&format!("{} {}", member.name, member.id)));
    put(out, format_args!("  {name}:"));
    put(out, format_args!("    image: {}", quoted(image)));
    put(out, format_args!("    command: {}", words(&member.run())));
    put(out, format_args!("    restart: \"on-failure:3\""));
    // Longer than the disk takes for the last line of a ledger.
    put(out, format_args!("    stop_grace_period: 30s"));
    hardened(out);
    put(out, format_args!("    networks:\n      undertone:"));
    let mut hosts: Vec<&str> = member.listens.iter().map(|one| one.host.as_str()).collect();
    hosts.dedup();
    put(out, format_args!("        aliases: {}", list(&hosts)));
    put(out, format_args!("    volumes:"));
    state(out, name);
    let data = format!("./data/{name}");
    let signature = is_signed.then_some(("./session.toml.sig", "/session/session.toml.sig"));
    let mounts = [("./session.toml", "/session/session.toml")]
        .into_iter()
        .chain(signature)
        .chain([(data.as_str(), "/data")]);
    for (source, target) in mounts {
        put(out, format_args!("      - type: bind"));
        put(out, format_args!("        source: {}", quoted(source)));
        put(out, format_args!("        target: {target}"));
        put(out, format_args!("        read_only: true"));
    }
    for (step, arguments) in [("init", member.init()), ("id", member.id())] {
        put(out, format_args!("  {step}-{name}:"));
        put(out, format_args!("    image: {}", quoted(image)));
        put(out, format_args!("    profiles: [\"init\"]"));
        put(out, format_args!("    command: {}", words(&arguments)));
        put(out, format_args!("    network_mode: none"));
        hardened(out);
        if step == "id" {
            put(out, format_args!("    depends_on:\n      init-{name}:"));
            put(
                out,
                format_args!("        condition: service_completed_successfully"),
            );
        }
        put(out, format_args!("    volumes:"));
        state(out, name);
    }
}

/// Arguments as a list. A dollar sign would begin a variable.
fn words(arguments: &[String]) -> String {
    let words = arguments.iter().map(|word| word.replace('$', "$$"));
    list(&words.collect::<Vec<_>>())
}

/// What no service may do.
fn hardened(out: &mut String) {
    out.push_str(
        "    read_only: true\n    cap_drop: [\"ALL\"]\n    security_opt: [\"no-new-privileges:true\"]\n",
    );
}

fn state(out: &mut String, service: &str) {
    put(out, format_args!("      - type: volume"));
    put(out, format_args!("        source: state-{service}"));
    put(out, format_args!("        target: /state"));
}

fn put(out: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{line}");
}
