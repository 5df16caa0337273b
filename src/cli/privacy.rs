//! `undertone privacy`: what an experiment would cost before it runs, and `privacy check` of a receipt.

use std::io::{self, Write};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::Value;

use super::arguments::{ExperimentArguments, PrivacyArguments, PrivacyCommand, names};
use super::progress::Progress;
use super::signed::{Signed, signed};
use super::{Verdict, colour, table};
use crate::assess::coalitions::{NamedAdvice, WorstCoalition};
use crate::assess::{Conversions, DropoutCost, Forecast, ForecastOptions, PeerCost, PilotForecast};
use crate::campaign::auto::Auto;
use crate::privacy::{
    Adjacency, AdversaryView, Delta, GroupLoss, LaplacePlan, RingPlan, WishartPlan,
};
use crate::run::items::ItemList;
use crate::run::receipt::{FieldStanding, Finding, ON_TRUST, Receipt, Standing, Trusted};
use crate::run::summary::PrivacySummary;
use crate::scenario::Warning;
use crate::topology::TopologySummary;
use crate::vocabulary::{printed, printed_list};

#[derive(Serialize)]
struct Document<'a> {
    topology: TopologySummary,
    privacy: Forecast,
    warnings: &'a [Warning],
}

pub(crate) fn execute(arguments: &PrivacyArguments) -> Result<Verdict> {
    match (&arguments.command, &arguments.experiment) {
        (Some(command), _) => check(command),
        (None, Some(experiment)) => plan(experiment, arguments),
        (None, None) => {
            bail!("name an experiment file, for example sims/quickstart.toml, or `check RECEIPT`")
        }
    }
}

/// What `check --json` prints.
#[derive(Serialize)]
struct Checked {
    /// Whether every finding agrees.
    holds: bool,
    findings: Vec<Finding>,
    /// Who signed it, where anybody did or should have.
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<Signed>,
    /// What nobody can recompute from a receipt.
    taken_on_trust: [Trusted; ON_TRUST.len()],
    /// Every field of a receipt and how far the findings vouch for it.
    fields: Vec<FieldStanding>,
}

/// Recomputes a receipt and verifies its signature.
fn check(command: &PrivacyCommand) -> Result<Verdict> {
    let PrivacyCommand::Check {
        receipt: path,
        #[cfg(feature = "node")]
        signed_by,
        report,
    } = command;
    let bytes = Receipt::read_bytes(path)?;
    let receipt = Receipt::parse(path, &bytes)?;
    #[cfg(feature = "node")]
    let signature = signed(path, &bytes, signed_by.as_ref());
    #[cfg(not(feature = "node"))]
    let signature = signed(path);
    let mut findings = receipt
        .check()
        .with_context(|| format!("{} does not hold", path.display()))?;
    let items = path.with_file_name("items.csv");
    if receipt.preconditioning.is_some() && items.exists() {
        findings.extend(receipt.check_items(&ItemList::read(&items)?));
    }
    let holds = findings.iter().all(|finding| finding.agrees)
        && signature.as_ref().is_none_or(|signature| signature.holds);
    let mut out = colour::stdout();
    if report.json {
        let checked = Checked {
            holds,
            findings,
            signature,
            taken_on_trust: ON_TRUST,
            fields: Receipt::standings(),
        };
        serde_json::to_writer_pretty(&mut out, &checked).context("cannot print the findings")?;
        writeln!(out)?;
    } else if !report.quiet {
        print_claims(&mut out, &receipt)?;
        let heading = ["", "what", "stated", "computed"];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        for finding in &findings {
            rows.push(vec![
                colour::verdict(finding.agrees),
                finding.what.clone(),
                leaf(&finding.stated),
                leaf(&finding.computed),
            ]);
        }
        table::write(&mut out, &rows)?;
        if let Some(Signed { holds, by, problem }) = &signature {
            let standing = colour::verdict(*holds);
            let by = by.as_deref().map(|by| format!("signed by {by}"));
            let said = problem.clone().or(by).unwrap_or_default();
            writeln!(out, "\n{standing}  signature: {said}")?;
        }
        print_trust(&mut out)?;
        writeln!(out, "{}", colour::verdict(holds))?;
    }
    Ok(if holds {
        Verdict::Success
    } else {
        Verdict::CheckFailed
    })
}

/// What the findings say nothing about.
fn print_trust(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "\ntaken on trust: nobody can recompute this from a receipt"
    )?;
    for item in &ON_TRUST {
        writeln!(out, "  {}: {}", item.what, item.why)?;
    }
    for (standing, what) in [
        (Standing::OnTrust, "fields on trust"),
        (
            Standing::CrossChecked,
            "fields that must fit the others, but are not determined by them",
        ),
    ] {
        let mut fields = Receipt::standings();
        fields.retain(|line| line.standing == standing);
        let names: Vec<&str> = fields.iter().map(|line| line.field).collect();
        writeln!(out, "  {what}: {}", names.join(", "))?;
    }
    writeln!(out)
}

/// A value of a finding, in one cell. What is null is infinite, or not there.
fn leaf(value: &Value) -> String {
    match (value, value.as_f64()) {
        (_, Some(number)) => table::number(number),
        (Value::Null, _) => "none".to_owned(),
        (Value::String(text), _) => {
            let short: String = text.chars().take(MOST_SHOWN).collect();
            let more = if short.len() < text.len() { "..." } else { "" };
            short + more
        }
        (other, _) => other.to_string(),
    }
}

/// The most characters of a text in a table of findings.
const MOST_SHOWN: usize = 40;

/// What the receipt claims to be about.
fn print_claims(out: &mut impl Write, receipt: &Receipt) -> io::Result<()> {
    let promise = &receipt.promise;
    let trust = match promise.seen {
        AdversaryView::CuratorOutput => "a curator is trusted with everything",
        AdversaryView::SecureSum => "an ideal secure sum is trusted",
        AdversaryView::Everything => "nobody is trusted",
    };
    let bounds = &promise.bounds;
    let program = receipt.program["name"].as_str().unwrap_or("unnamed");
    writeln!(
        out,
        "{}: program {program}, runner {} ({trust}), noise {}, {} peers, {} colluders; epsilon = {}, delta = {}, {} adjacency, \
         {} sensitivity, degree floor {}, cap {}, {} releases",
        receipt.name,
        receipt.runner,
        name(&promise.noise.scheme()),
        receipt.partners.nodes,
        promise.colluders,
        table::number(promise.epsilon.get()),
        table::number(promise.delta.map_or(0.0, Delta::get)),
        name(&bounds.adjacency()),
        name(&bounds.rule()),
        bounds.degree_floor(),
        bounds
            .degree_cap()
            .map_or_else(|| "none".to_owned(), |cap| cap.to_string()),
        receipt.releases.len(),
    )?;
    if let Some(stated) = &receipt.preconditioning {
        writeln!(
            out,
            "eigenvectors of P A P, P = diag(degree^-{}) with shrinkage {}, degrees {}",
            stated.exponent, stated.shrinkage, stated.degrees
        )?;
    }
    writeln!(out, "{}", promise.statement().sentence())
}

fn plan(arguments: &ExperimentArguments, options: &PrivacyArguments) -> Result<Verdict> {
    let report = options.report;
    let progress = Progress::new("planning", report.quiet);
    let config = arguments.config()?;
    let open = Auto::is_meant(&config);
    let (experiment, pilot) = if open {
        let open = Auto::new(config, arguments.base()).map_err(|error| arguments.explain(error))?;
        let pilot = open
            .pilot()
            .map(|pilot| PilotForecast::of(pilot, open.ground()));
        (open.ground().clone(), pilot)
    } else {
        (arguments.load()?, None)
    };
    progress.message("coalitions");
    let wanted = ForecastOptions {
        peers: options.peers,
        coalition: names(&options.coalition)?,
        target_gap: options.target_gap,
    };
    let forecast = Forecast::of(&experiment, &wanted)?;
    progress.finish();
    let document = Document {
        topology: experiment.topology().summary(),
        privacy: Forecast { pilot, ..forecast },
        warnings: experiment.warnings(),
    };

    let mut out = io::stdout().lock();
    if report.json {
        serde_json::to_writer_pretty(&mut out, &document).context("cannot print the document")?;
        writeln!(out)?;
    } else if !report.quiet {
        if open {
            print_open(&mut out, document.privacy.pilot.as_ref())?;
        }
        print(&mut out, &document.privacy.summary)?;
        print_dropouts(&mut out, &document.privacy.dropouts)?;
        print_conversions(&mut out, &document.privacy.conversions)?;
        print_coalitions(&mut out, &document.privacy.coalitions)?;
        if let Some(costs) = &document.privacy.peers {
            print_costs(&mut out, &wanted.coalition, costs)?;
        }
        if let Some(advice) = &document.privacy.advice {
            print_advice(&mut out, advice)?;
        }
        writeln!(out, "\nsigmas per unit sensitivity")?;
        print_graph(&mut out, "messages on", &document.topology)?;
        let noise = document.privacy.noise_topology.unwrap_or(document.topology);
        print_graph(&mut out, "noise shared on", &noise)?;
    }
    super::warn(experiment.warnings());
    Ok(Verdict::Success)
}

/// What a pilot costs, what is left and both, and what the tables that follow are of.
fn print_open(out: &mut impl Write, pilot: Option<&PilotForecast>) -> io::Result<()> {
    let Some(pilot) = pilot else {
        return writeln!(
            out,
            "the algorithm is still to be chosen, by public numbers alone (share = 0): whatever is chosen spends the whole budget; below, one release that does\n"
        );
    };
    writeln!(
        out,
        "the algorithm is still to be chosen: a pilot spends {} % of mu^2 on one release, and whatever is chosen by it the rest",
        table::number(100.0 * pilot.share)
    )?;
    let heading = [
        "seen by",
        "pilot: mu",
        "epsilon",
        "chosen run: mu",
        "epsilon",
        "both: mu",
        "epsilon",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for cost in &pilot.costs {
        let mut row = vec![cost.view.clone()];
        for spent in [cost.pilot, cost.rest, cost.both] {
            row.extend([table::number(spent.mu), table::number(spent.epsilon)]);
        }
        rows.push(row);
    }
    table::write(out, &rows)?;
    writeln!(
        out,
        "below, a run of one release after the pilot, with losses as if it had the whole budget; sigmas are its own\n"
    )
}

/// What it costs by what goes wrong.
fn print_dropouts(out: &mut impl Write, costs: &[DropoutCost]) -> io::Result<()> {
    if costs.is_empty() {
        return Ok(());
    }
    let heading = [
        "lost peers",
        "retries spent",
        "colluders",
        "mu at most",
        "epsilon at most",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for cost in costs {
        rows.push(vec![
            cost.case.clone(),
            cost.retries.to_string(),
            cost.colluders.to_string(),
            table::number(cost.mu),
            table::number(cost.epsilon),
        ]);
    }
    writeln!(out)?;
    table::write(out, &rows)
}

fn print_conversions(out: &mut impl Write, views: &[Conversions]) -> io::Result<()> {
    if views.is_empty() {
        return Ok(());
    }
    let heading = [
        "the same as",
        "rho (zCDP)",
        "epsilon exact",
        "from rho, best",
        "from rho, papers",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for view in views {
        rows.push(vec![
            view.view.clone(),
            table::number(view.rho),
            table::number(view.epsilon_exact),
            table::number(view.epsilon_zcdp),
            table::number(view.epsilon_paper),
        ]);
    }
    writeln!(out)?;
    table::write(out, &rows)
}

/// At least, at most, and who.
fn print_coalitions(out: &mut impl Write, coalitions: &[WorstCoalition]) -> io::Result<()> {
    if coalitions.is_empty() {
        return Ok(());
    }
    let heading = [
        "colluders",
        "epsilon at least",
        "at most",
        "tried",
        "about peer",
        "learned by peers",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for worst in coalitions {
        let shown = worst.attained_by.len().min(8);
        let mut who = printed_list(&worst.attained_by[..shown]);
        if worst.attained_by.len() > shown {
            who.push_str(", ...");
        }
        rows.push(vec![
            worst.colluders.to_string(),
            table::number(worst.epsilon_at_least),
            table::number(worst.epsilon_at_most),
            if worst.exhaustive { "all" } else { "some" }.to_owned(),
            printed(&worst.victim).into_owned(),
            if worst.colluders == 0 {
                "anybody outside".to_owned()
            } else {
                who
            },
        ]);
    }
    writeln!(out)?;
    table::write(out, &rows)
}

/// How many of the most exposed peers are printed.
const MOST_EXPOSED: usize = 10;

fn print_costs(out: &mut impl Write, coalition: &[String], costs: &[PeerCost]) -> io::Result<()> {
    let mut exposed: Vec<&PeerCost> = costs.iter().collect();
    exposed.sort_by(|a, b| b.epsilon.total_cmp(&a.epsilon));
    let against = match coalition.len() {
        0 => "an outside observer".to_owned(),
        1 => format!("peer {}", printed_list(coalition)),
        count => format!("the {count} peers {}", printed_list(coalition)),
    };
    writeln!(
        out,
        "\nmost exposed of {} honest peers, against {against}",
        costs.len()
    )?;
    let heading = [
        "peer",
        "honest partners",
        "epsilon",
        "certified at least",
        "at most",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for cost in exposed.iter().take(MOST_EXPOSED) {
        rows.push(vec![
            printed(&cost.peer).into_owned(),
            cost.honest_partners.to_string(),
            format!("{:.6}", cost.epsilon),
            format!("{:.6}", cost.epsilon_low),
            format!("{:.6}", cost.epsilon_high),
        ]);
    }
    table::write(out, &rows)
}

fn print_advice(out: &mut impl Write, advice: &NamedAdvice) -> io::Result<()> {
    writeln!(
        out,
        "\nadvice: with unlimited pairwise noise the certified gap is {:.4}",
        advice.gap
    )?;
    if advice.edges.is_empty() {
        writeln!(
            out,
            "  that is small enough; what the table above has on top is privacy.overhead"
        )?;
    } else {
        let name = |(u, v): &(String, String)| format!("{} - {}", printed(u), printed(v));
        let edges: Vec<String> = advice.edges.iter().map(name).collect();
        writeln!(
            out,
            "  adding {} edges brings it to {:.4}: {}",
            edges.len(),
            advice.reached,
            edges.join(", ")
        )?;
    }
    if let Some(regular) = advice.regular.as_ref().filter(|_| !advice.edges.is_empty()) {
        writeln!(
            out,
            "  or use generator = \"random-regular\", degree = {}, seed = {}: {:.4}",
            regular.degree, regular.seed, regular.gap,
        )?;
    }
    Ok(())
}

fn print_graph(out: &mut impl Write, what: &str, topology: &TopologySummary) -> io::Result<()> {
    writeln!(
        out,
        "{what} {} peers, {} edges, degrees {} to {}, algebraic connectivity {}{}",
        topology.nodes,
        topology.edges,
        topology.min_degree,
        topology.max_degree,
        topology.algebraic_connectivity_is.words(),
        table::number(topology.algebraic_connectivity),
    )
}

/// The guarantee as text: σ's, then one row per view.
pub(crate) fn print(out: &mut impl Write, privacy: &PrivacySummary) -> io::Result<()> {
    let (Some(epsilon), Some(z)) = (privacy.epsilon, privacy.noise_multiplier) else {
        return writeln!(out, "privacy: NONE (noise.scheme = \"none\")");
    };
    writeln!(
        out,
        "privacy: epsilon = {}, delta = {}, {} adjacency, {} sensitivity, {} calibration (z = {})",
        table::number(epsilon),
        table::number(privacy.delta),
        name(&privacy.adjacency),
        name(&privacy.sensitivity),
        name(&privacy.calibration),
        table::number(z),
    )?;
    if let Some(promise) = &privacy.promise {
        writeln!(out, "{promise}")?;
    }
    let heading = [
        "iteration",
        "sensitivity",
        "sigma central",
        "sigma own",
        "sigma pairwise",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for noise in &privacy.iterations {
        rows.push(vec![
            noise.iteration.to_string(),
            table::number(noise.sensitivity),
            table::number(noise.sigma_central),
            table::number(noise.sigma_own),
            table::number(noise.sigma_pairwise),
        ]);
    }
    table::write(out, &rows)?;
    if let Some(ring) = &privacy.ring {
        writeln!(out, "{}", sentence(ring))?;
    }
    if let Some(laplace) = &privacy.laplace {
        writeln!(out, "{}", laplace_sentence(laplace))?;
    }
    if let Some(wishart) = &privacy.wishart {
        writeln!(out, "{}", wishart_sentence(wishart))?;
    }
    let heading = [
        "seen by",
        "mu",
        "epsilon",
        "gap to central",
        "= collusion",
        "x finite",
        "certificate",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for view in &privacy.views {
        rows.push(vec![
            view.view.clone(),
            table::number(view.mu),
            table::number(view.epsilon),
            format!("{:.4}", view.gap_to_central),
            format!("{:.4}", view.gap_colluders),
            format!("{:.4}", view.gap_finite),
            name(&view.certificate),
        ]);
    }
    writeln!(out)?;
    table::write(out, &rows)?;
    print_groups(out, privacy.adjacency, &privacy.groups)
}

/// A ring in words.
fn sentence(ring: &RingPlan) -> String {
    format!(
        "ring: grid 2^-{} of the sensitivity, k = {}: {} bits of head-room; contributions within {} steps; smallest honest piece {} \
         peers; rounding costs {:.3} % of the variance, the sampler {:.1e} of delta times (1 + e^epsilon)",
        ring.grid().exponent(),
        ring.modulus().bits(),
        ring.headroom(),
        ring.clamp(),
        ring.piece(),
        100.0 * ring.grid_overhead(),
        ring.sampler_distance(),
    )
}

/// Laplace noise in words.
fn laplace_sentence(laplace: &LaplacePlan) -> String {
    let scale = table::number(laplace.scale());
    let Some(held) = laplace.holders() else {
        return format!(
            "laplace: lambda = {scale} per unit of sensitivity in absolute values, in shares of shape {}; delta = 0 for an ideal sampler",
            table::number(laplace.shape()),
        );
    };
    format!(
        "laplace: lambda = {scale} per unit of sensitivity in absolute values at each of {} holders, epsilon = {}; shared Gaussian noise adds \
         epsilon = {} at a certified delta of {:.2e} (resistance to an honest holder at most {})",
        held.count,
        table::number(laplace.epsilon()),
        table::number(held.epsilon),
        held.delta,
        table::number(held.resistance),
    )
}

/// Wishart noise in words.
fn wishart_sentence(wishart: &WishartPlan) -> String {
    let mean = wishart.mean_shape().map_or(String::new(), |shape| {
        let shape = table::number(shape);
        format!("; the mean has Laplace noise of that scale in shares of shape {shape}")
    });
    format!(
        "wishart: b = {} per unit of sensitivity in the nuclear norm, two matrices of {} terms, at most {} at one place{mean}; delta = 0 for an \
         ideal sampler",
        table::number(wishart.scale()),
        wishart.terms(),
        wishart.terms_of_one(),
    )
}

/// What changes at several peers cost, where that is not what one record is.
fn print_groups(
    out: &mut impl Write,
    adjacency: Adjacency,
    groups: &[GroupLoss],
) -> io::Result<()> {
    if groups.is_empty() {
        return Ok(());
    }
    let (what, peers) = match adjacency.is_of_rows() {
        true => (
            "if a person has rows at several participants, one record at each",
            "participants",
        ),
        false => (
            "if several peers' matrices change at once, each by one record; also where the sum stays as it is",
            "changed peers",
        ),
    };
    let heading = [peers, "mu at most", "epsilon at most"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for group in groups {
        rows.push(vec![
            group.peers.to_string(),
            table::number(group.mu),
            table::number(group.epsilon),
        ]);
    }
    writeln!(out, "\n{what}")?;
    table::write(out, &rows)
}

/// The name a value has in experiment files and JSON.
pub(crate) fn name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => name,
        Ok(other) => other.to_string(),
        Err(_) => "?".to_owned(),
    }
}
