//! Kubernetes manifests: one job per member, each with a claim of its own for its state, found by name through headless services.
//!
//! Jobs, not a stateful set: a set starts its containers again whatever their exit code, for ever, and an abort, a refused policy or an unusable ledger
//! is final. A job's failure policy tells these apart from a node that was drained or a process that was killed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Result, bail};

use super::members::{ComposeMember, ComposeSession, Listening};
use super::yaml::{comment, list, quoted};

/// User and group that containers run as.
const USER: u32 = 10_001;

/// The manifests of a session, one document after another.
pub(super) fn write(session: &ComposeSession, image: &str) -> Result<String> {
    let mut out = comment(&format!(
        "Every member of the session {}, one job each.\n\
         \n\
         1. make a claim data-SERVICE for every member, with its rows as rows.csv\n\
         2. kubectl apply -f undertone.yaml       every member makes its key on its own claim and prints its ticket:\n   \
            kubectl logs job/SERVICE -c id\n\
         3. undertone node invite ...             with these tickets, then write this file anew: the session file below is part of it\n\
         4. kubectl delete jobs -l app.kubernetes.io/name=undertone && kubectl apply -f undertone.yaml\n\
         \n\
         Exit codes 1 to 4 are final: the job fails and is not started again. Claims named state-... hold keys and ledgers: never copy one, never\n\
         delete one that was in a session.",
        quoted(&session.name)
    ));
    config_map(&mut out, session);
    let mut services: BTreeMap<String, Vec<Listening>> = BTreeMap::new();
    for member in &session.members {
        for listening in &member.listens {
            let (_, service) = pod_and_service(member, listening)?;
            services.entry(service).or_default().push(listening.clone());
        }
    }
    for (name, listens) in &services {
        service(&mut out, name, listens);
    }
    for member in &session.members {
        claim(&mut out, &member.service);
        job(&mut out, member, image)?;
    }
    Ok(out)
}

/// The host name of the pod and the service that a member is found through: `POD.SERVICE`, also with the cluster's own name after it.
fn pod_and_service(member: &ComposeMember, listening: &Listening) -> Result<(String, String)> {
    let labels: Vec<&str> = listening.host.split('.').collect();
    let right = |label: &str| !label.contains('_') && label.len() <= 63;
    match labels[..] {
        [pod, service] | [pod, service, _, "svc", ..] if right(pod) && right(service) => {
            Ok((pod.to_owned(), service.to_owned()))
        }
        _ => bail!(
            "member {} is dialled at {}, which is no name of a pod: invite it with /dns4/{}.undertone/tcp/{}",
            member.id,
            listening.host,
            member.service,
            listening.port
        ),
    }
}

fn config_map(out: &mut String, session: &ComposeSession) {
    head(out, "v1", "ConfigMap", "undertone-session");
    out.push_str("data:\n");
    put(
        out,
        format_args!("  session.toml: {}", quoted(&session.text)),
    );
    if let Some(signature) = &session.signature {
        put(
            out,
            format_args!("  session.toml.sig: {}", quoted(signature)),
        );
    }
}

/// A headless service: its name with a pod's before it is the pod's address, also before the pod is ready.
fn service(out: &mut String, name: &str, listens: &[Listening]) {
    head(out, "v1", "Service", name);
    out.push_str("spec:\n  clusterIP: None\n  publishNotReadyAddresses: true\n  selector:\n    app.kubernetes.io/name: undertone\n  ports:\n");
    let mut ports: Vec<(u16, bool)> = listens.iter().map(|one| (one.port, one.quic)).collect();
    ports.sort_unstable();
    ports.dedup();
    for (port, quic) in ports {
        let (name, protocol) = match quic {
            true => ("quic", "UDP"),
            false => ("tcp", "TCP"),
        };
        put(out, format_args!("    - name: {name}-{port}"));
        put(
            out,
            format_args!("      port: {port}\n      protocol: {protocol}"),
        );
    }
}

fn claim(out: &mut String, name: &str) {
    head(out, "v1", "PersistentVolumeClaim", &format!("state-{name}"));
    out.push_str("spec:\n  accessModes: [\"ReadWriteOnce\"]\n  resources:\n    requests:\n      storage: 1Gi\n");
}

fn job(out: &mut String, member: &ComposeMember, image: &str) -> Result<()> {
    let name = &member.service;
    out.push_str("---\n");
    out.push_str(&comment(&format!("{} {}", member.name, member.id)));
    out.push_str(&named("batch/v1", "Job", name));
    out.push_str(
        "spec:\n  backoffLimit: 3\n  podFailurePolicy:\n    rules:\n      - action: FailJob\n        onExitCodes:\n          containerName: run\n          \
         operator: In\n          values: [1, 2, 3, 4]\n",
    );
    out.push_str(
        "  template:\n    metadata:\n      labels:\n        app.kubernetes.io/name: undertone\n",
    );
    put(
        out,
        format_args!("        undertone/member: {}", quoted(name)),
    );
    out.push_str("    spec:\n");
    if let Some(listening) = member.listens.first() {
        let (pod, service) = pod_and_service(member, listening)?;
        for other in &member.listens {
            if pod_and_service(member, other)? != (pod.clone(), service.clone()) {
                bail!(
                    "member {} is dialled at {} and {}: a pod has one name",
                    member.id,
                    listening.host,
                    other.host
                );
            }
        }
        put(out, format_args!("      hostname: {}", quoted(&pod)));
        put(out, format_args!("      subdomain: {}", quoted(&service)));
    }
    out.push_str("      restartPolicy: Never\n      automountServiceAccountToken: false\n      terminationGracePeriodSeconds: 30\n");
    put(
        out,
        format_args!(
            "      securityContext:\n        runAsNonRoot: true\n        runAsUser: {USER}\n        runAsGroup: {USER}\n        fsGroup: {USER}\n        \
             seccompProfile:\n          type: RuntimeDefault"
        ),
    );
    out.push_str(
        "      affinity:\n        podAntiAffinity:\n          preferredDuringSchedulingIgnoredDuringExecution:\n            - weight: 100\n              \
         podAffinityTerm:\n                topologyKey: kubernetes.io/hostname\n                labelSelector:\n                  matchLabels:\n                    \
         app.kubernetes.io/name: undertone\n",
    );
    out.push_str("      initContainers:\n");
    container(out, "init", image, &member.init(), false);
    container(out, "id", image, &member.id(), false);
    out.push_str("      containers:\n");
    container(out, "run", image, &member.run(), true);
    out.push_str("      volumes:\n");
    put(
        out,
        format_args!(
            "        - name: state\n          persistentVolumeClaim:\n            claimName: state-{name}"
        ),
    );
    put(
        out,
        format_args!(
            "        - name: data\n          persistentVolumeClaim:\n            claimName: data-{name}\n            readOnly: true"
        ),
    );
    out.push_str(
        "        - name: session\n          configMap:\n            name: undertone-session\n",
    );
    Ok(())
}

fn container(out: &mut String, name: &str, image: &str, words: &[String], runs: bool) {
    put(out, format_args!("        - name: {name}"));
    put(out, format_args!("          image: {}", quoted(image)));
    // $(NAME) would be replaced by a variable of the container.
    let words: Vec<String> = words.iter().map(|word| word.replace('$', "$$")).collect();
    put(out, format_args!("          args: {}", list(&words)));
    out.push_str(
        "          securityContext:\n            allowPrivilegeEscalation: false\n            readOnlyRootFilesystem: true\n            \
         capabilities:\n              drop: [\"ALL\"]\n          volumeMounts:\n            - name: state\n              mountPath: /state\n",
    );
    if runs {
        out.push_str(
            "            - name: data\n              mountPath: /data\n              readOnly: true\n            - name: session\n              \
             mountPath: /session\n              readOnly: true\n",
        );
    }
}

fn head(out: &mut String, version: &str, kind: &str, name: &str) {
    out.push_str("---\n");
    out.push_str(&named(version, kind, name));
}

fn named(version: &str, kind: &str, name: &str) -> String {
    format!(
        "apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {}\n  labels:\n    app.kubernetes.io/name: undertone\n",
        quoted(name)
    )
}

fn put(out: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{line}");
}
