//! Pages as a whole: well-formed, self-contained, escaped, complete, repeatable.

use std::collections::BTreeSet;
use std::path::PathBuf;

use quick_xml::events::Event;
use quick_xml::reader::Reader;

use super::axis::{Axis, Spacing};
use super::figure::{Figure, frontier};
use super::network::{MOST_NODES, Network};
use super::page::Page;
use super::series::{Mark, Point, Series};
use super::sweep_page::{MarkedCrossing, Method, Panel};
use super::*;
use crate::campaign::sweep::Crossing;
use crate::engine::Silent;
use crate::run::run;
use crate::scenario::Experiment;
use crate::scenario::testing::sim;

/// A name that a file could hold.
const HOSTILE: &str = "</title></svg><script>fetch('//evil')</script>\"' onload=x & \u{202E}\u{1}";

const EPSILONS: [f64; 14] = [
    0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 300.0, 500.0, 1000.0,
];

/// Name, error at small ε, ε at which it has halved, bias that stays.
const METHODS: [(&str, f64, f64, f64); 8] = [
    ("P1 Alg. 1 (trusted curator)", 1.40, 1.9, 1e-3),
    ("P1 Alg. 2", 1.40, 2.0, 1e-3),
    ("Hardt–Price, max-entry sensitivity", 1.41, 5.5, 1e-3),
    (
        "Balcan federated, full noise at every node",
        1.42,
        30.0,
        1e-3,
    ),
    ("FedPower-style (reconstruction)", 1.41, 14.0, 1e-3),
    ("Undertone, P1's constants", 1.39, 2.05, 1e-3),
    (
        "Undertone, exact sensitivity, degree floor 20, analytic calibration",
        1.30,
        0.33,
        0.048,
    ),
    ("Undertone, user level", 1.38, 1.1, 2e-3),
];

fn curve(worst: f64, half: f64, bias: f64) -> Vec<Point> {
    let points = EPSILONS.iter().enumerate().map(|(k, &x)| {
        let clean = worst / (1.0 + (x / half).powf(1.6)) + bias;
        let y = clean * (1.0 + 0.03 * ((k * 7 % 5) as f64 - 2.0) / 2.0);
        let width = 0.04 + 0.06 * ((k * 3 % 4) as f64) / 3.0;
        Point {
            x,
            y,
            band: Some((y * (1.0 - width), y * (1.0 + width))),
        }
    });
    points.collect()
}

/// Eight methods at fourteen values of ε, made up.
pub(super) fn sweep() -> SweepReport {
    let series = |worse: f64| -> Vec<Series> {
        let methods = METHODS.iter();
        methods
            .map(|(name, worst, half, bias)| {
                let points = curve(*worst, *half, bias * worse + 0.001 * (worse - 1.0));
                Series::new(name, Mark::LineAndMarkers, points)
            })
            .collect()
    };
    let panel = |id: &'static str, against: &str, worse| Panel {
        id: id.into(),
        y: Axis::new(
            &format!("relative error against {against}"),
            "ratio",
            Spacing::Log,
        ),
        series: series(worse),
        description: "Mean of 10 runs; the band is the 99 % percentile bootstrap of the mean."
            .to_owned(),
    };
    let crossings = METHODS.iter().map(|(name, worst, half, _)| {
        let epsilon = half * (worst / 0.1 - 1.0_f64).powf(0.625);
        MarkedCrossing {
            found: Crossing {
                method: (*name).to_owned(),
                x: Some(epsilon).filter(|e| *e < 100.0),
                at_most: false,
                epsilon_spent: Some(epsilon * 0.7),
                ratio: Some(7.0 / epsilon),
                ratio_spent: Some(4.9 / epsilon),
            },
            is_baseline: *name == "P1 Alg. 2",
        }
    });
    let methods = METHODS.iter().enumerate().map(|(k, (name, ..))| Method {
        name: (*name).to_owned(),
        settings: match k {
            1 => Vec::new(),
            _ => vec![
                ("engine.kind".to_owned(), "\"lockstep\"".to_owned()),
                ("privacy.sensitivity".to_owned(), "\"row-norm\"".to_owned()),
            ],
        },
        points: 14,
        runs: 140,
        missing: 0,
    });
    SweepReport {
        name: "fig1-jester".to_owned(),
        lead: "8 methods at 14 values of ε, 10 seeds each: rank 32, 3 iterations, Jester."
            .to_owned(),
        guarantee: "All methods: (ε, δ)-differential privacy for one interaction, δ = 10⁻⁵."
            .to_owned(),
        promises: METHODS
            .iter()
            .map(|(name, ..)| ((*name).to_owned(), "Nobody can tell.".to_owned()))
            .collect(),
        warnings: Vec::new(),
        x: Axis::new("ε", "nats, whole run", Spacing::Log),
        panels: vec![
            panel("against-plain", "the non-private run", 1.0),
            panel("against-exact", "exact eigenvectors", 40.0),
        ],
        target: Some(0.1),
        baseline: "P1 Alg. 2".to_owned(),
        crossings: crossings.collect(),
        methods: methods.collect(),
        figures: Vec::new(),
        frontiers: Vec::new(),
        tables: Vec::new(),
        configuration: "name = \"fig1-jester\"\n[sweep]\nseeds = 10\n".to_owned(),
        timing: "812 s on 2 cores.".to_owned(),
    }
}

fn experiment(set: &[&str]) -> Experiment {
    sim("audit.toml", set).unwrap_or_else(|error| panic!("{error}"))
}

fn page_of(experiment: &Experiment) -> String {
    let report = run(experiment, &mut Silent).expect("runs");
    run_page(experiment, &report).expect("drawn")
}

/// Reads a whole page as XML, entities and all; returns its tags and its visible text.
fn parsed(page: &str) -> (Vec<String>, String) {
    let body = page.strip_prefix("<!DOCTYPE html>\n").expect("a doctype");
    let mut reader = Reader::from_str(body);
    reader.config_mut().check_end_names = true;
    let (mut tags, mut text, mut depth) = (Vec::new(), String::new(), 0_i32);
    loop {
        match reader
            .read_event()
            .unwrap_or_else(|e| panic!("{e} at {}", reader.buffer_position()))
        {
            Event::Start(tag) => {
                depth += 1;
                check(&tag);
                tags.push(String::from_utf8_lossy(tag.name().as_ref()).into_owned());
            }
            Event::Empty(tag) => {
                check(&tag);
                tags.push(String::from_utf8_lossy(tag.name().as_ref()).into_owned());
            }
            Event::End(_) => depth -= 1,
            Event::Text(piece) => text.push_str(&String::from_utf8_lossy(&piece)),
            Event::GeneralRef(name) => text.push_str(match &*name {
                b"lt" => "<",
                b"gt" => ">",
                b"amp" => "&",
                b"quot" => "\"",
                b"apos" | b"#39" => "'",
                other => panic!("{other:?}"),
            }),
            Event::Eof => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(depth, 0, "every tag is closed");
    (tags, text)
}

fn check(tag: &quick_xml::events::BytesStart<'_>) {
    for attribute in tag.attributes() {
        let attribute = attribute.expect("a quoted attribute, once");
        attribute.unescape_value().expect("known entities");
        let name = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
        assert!(!name.starts_with("on"), "{name}");
        assert!(
            !["src", "href", "xlink:href", "style", "srcdoc"].contains(&&*name),
            "{name}"
        );
    }
}

/// What every page must be.
fn assert_sound(page: &str) -> (Vec<String>, String) {
    let (tags, text) = parsed(page);
    for tag in [
        "script",
        "link",
        "img",
        "iframe",
        "object",
        "a",
        "foreignObject",
        "image",
        "use",
    ] {
        assert!(!tags.iter().any(|t| t == tag), "{tag}");
    }
    let without_namespace = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for outside in ["http:", "https:", "url(", "@import", "data:"] {
        assert!(!without_namespace.contains(outside), "{outside}");
    }
    assert!(
        !page.contains("fill=\"#") && !page.contains("stroke=\"#"),
        "a colour of its own"
    );
    let ids: Vec<&str> = page
        .split(" id=\"")
        .skip(1)
        .filter_map(|s| s.split('"').next())
        .collect();
    assert_eq!(
        ids.iter().collect::<BTreeSet<_>>().len(),
        ids.len(),
        "{ids:?}"
    );
    let sizes = page
        .split("font-size=\"")
        .skip(1)
        .filter_map(|s| s.split('"').next());
    for size in sizes {
        assert!(size.parse::<f64>().expect("a size") >= 12.0, "{size}");
    }
    assert!(page.len() < 1 << 20, "{} bytes", page.len());
    (tags, text)
}

/// The plots of a page with what their axes must say.
fn plots(page: &str) -> Vec<&str> {
    let plots = page.split("class=\"plot\"").skip(1);
    plots
        .map(|svg| svg.split("</svg>").next().expect("closed"))
        .collect()
}

fn assert_axes_have_units(page: &str) {
    let mut seen = 0;
    for svg in plots(page)
        .iter()
        .filter(|svg| !svg.contains("class=\"edges\""))
    {
        // Captions are the texts with a unit; one of the two is turned.
        let captions: Vec<&str> = svg
            .split("<text")
            .skip(1)
            .filter(|t| t.contains('[') && t.contains(']'))
            .collect();
        assert_eq!(captions.len(), 2, "{svg}");
        assert!(captions.iter().any(|t| t.contains("rotate(270")));
        assert!(svg.contains("<title") && svg.contains("<desc"));
        seen += 1;
    }
    assert!(seen > 0);
}

#[test]
fn the_page_of_a_run_is_sound_complete_and_repeats() {
    let experiment = experiment(&["algorithm.iterations=3"]);
    let page = page_of(&experiment);
    let (_, text) = assert_sound(&page);
    assert_axes_have_units(&page);
    assert_eq!(plots(&page).len(), 4, "two errors, consensus, the graph");
    assert_eq!(
        page.matches("class=\"node\"").count(),
        12 + page.matches("class=\"swatch\" width=\"24\"").count()
    );
    for expected in [
        "central baseline",
        "one curious peer",
        "outside observer",
        "colluders = 1",
        "[algorithm]",
        "iterations = 3",
        "bytes sent by the busiest peer",
        "ε = 4",
        "at most (guaranteed)",
    ] {
        assert!(text.contains(expected), "{expected}");
    }
    for warning in experiment.warnings() {
        assert!(text.contains(&warning.to_string()), "{warning}");
    }
    let fixed = |page: &str| -> Vec<String> {
        let lines = page
            .lines()
            .filter(|line| !line.contains("class=\"timing\""));
        lines.map(str::to_owned).collect()
    };
    let again = page_of(&experiment);
    assert_eq!(page.lines().count(), fixed(&page).len() + 1);
    assert_eq!(fixed(&page), fixed(&again));
}

#[test]
fn runs_of_every_kind_have_a_page() {
    let kinds: [&str; 5] = [
        "engine.kind=central",
        "engine.kind=federated",
        "engine.kind=event",
        "noise.scheme=none",
        "noise_topology={generator = \"complete\"}",
    ];
    for kind in kinds {
        let page = page_of(&experiment(&[kind, "algorithm.iterations=2"]));
        let (_, text) = assert_sound(&page);
        assert_axes_have_units(&page);
        let has = |words: &str| text.contains(words);
        match kind {
            "noise.scheme=none" => {
                assert!(has("No guarantee") && has("protects nobody") && !has("Privacy loss"));
            }
            "engine.kind=event" => assert!(has("Only the engine lockstep tells")),
            "engine.kind=central" => assert!(has("one copy of the basis")),
            kind if kind.starts_with("noise_topology") => {
                assert!(has("The noise graph: 12 peers") && has("The communication graph"));
            }
            _ => assert!(has("sees the published sums")),
        }
    }
}

#[test]
fn one_iteration_is_a_line_of_the_table_and_no_plot() {
    let page = page_of(&experiment(&[]));
    let (_, text) = assert_sound(&page);
    assert_eq!(plots(&page).len(), 2, "consensus, the graph");
    assert!(text.contains("The run has one iteration. Its errors are in the table above."));
    assert!(text.contains("Error after the last iteration"));
    assert!(page.contains("a factor of e<sup>ε</sup> = "), "typeset");
    assert!(!page.contains("e^ε"));
    let page = page_of(&experiment(&["algorithm.iterations=3"]));
    assert!(!page.contains("The run has one iteration"));
    // The release of a private mean is no iteration.
    let with_mean = sim("digits.toml", &["peers.count=20"]);
    let page = page_of(&with_mean.unwrap_or_else(|error| panic!("{error}")));
    assert!(page.contains("The run has one iteration"));
}

#[test]
fn a_basis_that_misses_a_direction_is_said_in_words() {
    let experiment = experiment(&["algorithm.iterations=3"]);
    let mut report = run(&experiment, &mut Silent).expect("runs");
    for (error, rank, words) in [
        (
            Some(0.93),
            2,
            Some(
                "at least one of the 2 leading directions: the largest angle to their space is 68°",
            ),
        ),
        (
            Some(1.0),
            1,
            Some("does not find the leading direction: the angle to it is 90°"),
        ),
        (Some(0.5), 2, None),
        (None, 2, None),
    ] {
        report.summary.utility.subspace_error = error;
        report.summary.rank = rank;
        let (_, text) = parsed(&run_page(&experiment, &report).expect("drawn"));
        let found = text.contains("A subspace error of");
        assert_eq!(found, words.is_some(), "{error:?}");
        assert!(words.is_none_or(|words| text.contains(words)), "{error:?}");
    }
}

/// On a small screen figures keep the size of their letters and scroll, as tables do.
#[test]
fn what_is_wider_than_the_screen_scrolls_and_shows_it() {
    let page = sweep_page(&sweep()).expect("drawn");
    assert_eq!(page.matches("class=\"pane\"").count(), 2, "a pane a figure");
    let tables = page.matches("<table>").count();
    assert_eq!(
        page.matches("class=\"scroll\" tabindex=\"0\"").count(),
        tables
    );
    let (_, narrow) = page
        .split_once("@media (max-width: 760px)")
        .expect("a rule");
    for (class, width) in [("full", 790.0), ("half", 510.0)] {
        let rule = format!(".{class} .pane svg.plot {{ min-width: ");
        let least = narrow.split_once(&rule).expect("a width").1;
        let least: f64 = least
            .split("px")
            .next()
            .expect("pixels")
            .parse()
            .expect("a number");
        let letters = figure::TEXT_SIZE * least / width;
        assert!(letters >= 11.0, "{class}: {letters}");
    }
}

#[test]
fn graphs_too_large_to_draw_show_their_degrees() {
    use crate::topology::Graph;
    let star: Vec<(u32, u32)> = (1..=MOST_NODES as u32).map(|v| (0, v)).collect();
    let graph = Graph::from_edges(MOST_NODES + 1, &star).expect("simple");
    let network = Network {
        id: "graph",
        what: "communication graph",
        graph: &graph,
        values: &[],
        value_name: "",
    };
    let mut page = Page::new("large", "");
    page.figures(&[], &[network]).expect("drawn");
    let html = page.html();
    let (_, text) = assert_sound(&html);
    assert!(text.contains("are not drawn") && text.contains("1 to 2000 neighbours"));
    assert_axes_have_units(&html);
    assert_eq!(
        plots(&html)[0].matches("var(--series-0)").count(),
        2,
        "two bars"
    );
}

#[test]
fn hostile_names_stay_text() {
    use crate::topology::Graph;
    let mut hostile = sweep();
    hostile.name = HOSTILE.to_owned();
    hostile.configuration = format!("name = {HOSTILE}\n</pre>");
    hostile.methods[0].name = HOSTILE.to_owned();
    hostile.methods[0].settings = vec![(HOSTILE.to_owned(), HOSTILE.to_owned())];
    hostile.crossings[6].found.method = HOSTILE.to_owned();
    hostile.promises[0] = (HOSTILE.to_owned(), HOSTILE.to_owned());
    hostile.warnings = vec![HOSTILE.to_owned()];
    hostile.panels[0].series[0].name = HOSTILE.to_owned();
    hostile.panels[0].y.label = HOSTILE.to_owned();
    hostile.x.unit = HOSTILE.to_owned();
    let page = sweep_page(&hostile).expect("drawn");
    let (_, text) = assert_sound(&page);
    assert!(text.contains("<script>fetch('//evil')</script>"));
    assert!(!page.contains(['\u{202E}', '\u{1}']));

    let names = vec![HOSTILE.to_owned(), "b".to_owned()];
    let graph = Graph::from_edges(2, &[(0, 1)]).expect("simple");
    let graph = graph.with_names(names).expect("two names");
    let network = Network {
        id: "graph",
        what: HOSTILE,
        graph: &graph,
        values: &[Some(f64::NAN), None],
        value_name: HOSTILE,
    };
    let mut page = Page::new(HOSTILE, HOSTILE);
    page.figures(&[], &[network]).expect("drawn");
    assert_sound(&page.html());
}

/// Methods and bands that a page shows: legend entries, lines and filled bands per panel.
fn shown(page: &str) -> Vec<(usize, usize, usize)> {
    let figures = page.split("<figure").skip(1);
    let count = |figure: &str| {
        let svg = plots(figure)[0].to_owned();
        let bands = svg.matches(&format!("opacity=\"{}\"", 0.18)).count();
        let lines = svg.matches("stroke=\"var(--series-").count();
        (figure.matches("class=\"swatch\"").count(), lines, bands)
    };
    figures.map(count).collect()
}

#[test]
fn a_sweep_shows_every_method_with_its_band_in_both_panels() {
    let whole = sweep();
    let page = sweep_page(&whole).expect("drawn");
    let (_, text) = assert_sound(&page);
    assert_axes_have_units(&page);
    assert_eq!(shown(&page), [(8, 8, 8), (8, 8, 8)]);
    for (name, ..) in METHODS {
        // Legends, numbers of the figures, crossings, settings, counts.
        assert!(text.matches(name).count() >= 7, "{name}");
    }
    // One line for what all promise alike, one for each where they differ.
    assert_eq!(text.matches("Nobody can tell.").count(), 1);
    let mut other = whole.clone();
    other.promises[0].1 = "Nobody but one can tell.".to_owned();
    let (_, lines) = assert_sound(&sweep_page(&other).expect("drawn"));
    assert_eq!(lines.matches("Nobody can tell.").count(), METHODS.len() - 1);
    assert_eq!(lines.matches("Nobody but one can tell.").count(), 1);
    assert!(text.contains("target 0.1") && text.contains("P1 Alg. 2 (baseline)"));
    assert_eq!(
        page,
        sweep_page(&whole).expect("drawn"),
        "same input, same bytes"
    );

    // The check sees a method or a band that is gone.
    let mut fewer = whole.clone();
    fewer.panels[0].series.remove(3);
    let page = sweep_page(&fewer).expect("drawn");
    assert_eq!(shown(&page), [(7, 7, 7), (8, 8, 8)]);
    let mut bare = whole.clone();
    bare.panels[1].series[2]
        .points
        .iter_mut()
        .for_each(|p| p.band = None);
    let page = sweep_page(&bare).expect("drawn");
    assert_eq!(shown(&page), [(8, 8, 8), (8, 8, 7)]);

    let mut missing = whole;
    missing.methods[0].missing = 3;
    let (_, text) = assert_sound(&sweep_page(&missing).expect("drawn"));
    assert!(text.contains("3 runs are missing"));
}

#[test]
fn the_finding_names_the_method_that_needs_least() {
    let mut sweep = sweep();
    let title = |sweep: &SweepReport| {
        let page = sweep_page(sweep).expect("drawn");
        let at = page.split("<figcaption>").nth(1).expect("a caption");
        at.split('<').next().expect("text").to_owned()
    };
    let found = title(&sweep);
    assert!(
        found.contains("degree floor 20")
            && found.contains(" reaches 0.1 at ε = ")
            && found.contains(", P1 Alg. 2 (baseline) at 9.9"),
        "{found}"
    );
    sweep.crossings.iter_mut().for_each(|c| c.found.x = None);
    assert!(title(&sweep).contains("no method reaches 0.1"));
}

#[test]
fn points_without_a_place_are_counted_and_gaps_split_lines() {
    let mut figure = Figure {
        id: "gaps".into(),
        title: "gaps".to_owned(),
        description: String::new(),
        x: Axis::new("x", "count", Spacing::Linear),
        y: Axis::new("y", "ratio", Spacing::Log),
        series: vec![Series::new(
            "s",
            Mark::Line,
            [1.0, 2.0, 0.0, 4.0, f64::NAN, 3.0]
                .iter()
                .enumerate()
                .map(|(k, y)| Point::new(k as f64, *y))
                .collect(),
        )],
        guides: Vec::new(),
        half: true,
    };
    assert_eq!(figure.hidden(), 2);
    let svg = figure.svg().expect("drawn");
    assert_eq!(
        svg.as_str().matches("stroke=\"var(--series-0)\"").count(),
        3
    );
    assert!(
        figure
            .markup()
            .expect("drawn")
            .as_str()
            .contains("2 points are not finite")
    );
    figure.series[0].points.truncate(0);
    assert_eq!(figure.svg(), Err(FigureError::Empty { id: "gaps".into() }));
    let mut page = Page::new("empty", "");
    page.figures(&[figure], &[]).expect("said instead");
    assert!(page.html().contains("nothing to draw"));
}

#[test]
fn measurements_and_predictions_share_a_colour_and_the_frontier_is_lower_left() {
    let points: Vec<Point> = [
        (1.0, 5.0),
        (2.0, 6.0),
        (3.0, 2.0),
        (3.0, 4.0),
        (f64::NAN, 0.0),
        (5.0, 1.0),
    ]
    .iter()
    .map(|(x, y)| Point::new(*x, *y))
    .collect();
    let best: Vec<(f64, f64)> = frontier(&points).iter().map(|p| (p.x, p.y)).collect();
    assert_eq!(best, [(1.0, 5.0), (3.0, 2.0), (5.0, 1.0)]);
    let figure = Figure {
        id: "ratio".into(),
        title: "r(k, n)".to_owned(),
        description: String::new(),
        x: Axis::new("k", "power", Spacing::Linear),
        y: Axis::new("r", "ratio", Spacing::Linear),
        series: vec![
            Series::new("measured", Mark::Markers, points.clone()).with_look(3),
            Series::new("predicted", Mark::Line, frontier(&points)).with_look(3),
        ],
        guides: Vec::new(),
        half: true,
    };
    let svg = figure.svg().expect("drawn").as_str().to_owned();
    assert_eq!(svg.matches("fill=\"var(--series-3)\"").count(), 5);
    assert_eq!(svg.matches("stroke=\"var(--series-3)\"").count(), 1);
}

#[test]
fn a_page_that_cannot_be_written_names_its_path() {
    let folder = PathBuf::from("/dev/null/nowhere");
    let error = write(&folder, "").expect_err("no folder");
    assert!(
        error.to_string().contains("/dev/null/nowhere/report.html"),
        "{error}"
    );
}
