//! The README's picture: errors of three methods over forty seeds, and that its numbers are those of the text.

use std::fmt::Write as _;
use std::fs;

use undertone::config::read_config;
use undertone::engine::Silent;
use undertone::run::run;

use crate::support::experiments::resolve;
use crate::support::repository;

const PICTURE: &str = "docs/quickstart.svg";
const SEEDS: u32 = 40;

/// One bar: the method, and the mean and standard deviation of its relative error.
struct Bar {
    method: &'static str,
    colour: &'static str,
    mean: f64,
    deviation: f64,
}

impl Bar {
    fn of(method: &'static str, colour: &'static str, errors: &[f64]) -> Self {
        let count = errors.len() as f64;
        let mean = errors.iter().sum::<f64>() / count;
        let squares: f64 = errors.iter().map(|error| (error - mean).powi(2)).sum();
        Self {
            method,
            colour,
            mean,
            deviation: (squares / (count - 1.0)).sqrt(),
        }
    }
}

/// The picture as SVG that stands alone: a bar for each method, with its standard deviation.
fn drawn(bars: &[Bar]) -> String {
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 150\" width=\"720\" height=\"150\" font-family=\"sans-serif\" font-size=\"14\">\n\
         <rect width=\"720\" height=\"150\" rx=\"6\" fill=\"#ffffff\"/>\n",
    );
    for (row, bar) in bars.iter().enumerate() {
        let top = 14 + 36 * row;
        let width = 640.0 * bar.mean;
        let (least, most) = (
            640.0f64.mul_add(bar.mean - bar.deviation, 300.0),
            640.0f64.mul_add(bar.mean + bar.deviation, 300.0),
        );
        writeln!(
            svg,
            "<text x=\"288\" y=\"{}\" text-anchor=\"end\" fill=\"#1b1f24\">{}</text>\n\
             <rect x=\"300\" y=\"{top}\" width=\"{width:.1}\" height=\"24\" fill=\"{}\"/>\n\
             <path d=\"M{least:.1} {middle}H{most:.1}\" stroke=\"#1b1f24\" stroke-width=\"1.5\"/>\n\
             <text x=\"{:.1}\" y=\"{}\" fill=\"#1b1f24\">{:.3}</text>",
            top + 17,
            bar.method,
            bar.colour,
            most + 10.0,
            top + 17,
            bar.mean,
            middle = top + 12,
        )
        .expect("writes to memory");
    }
    svg.push_str(
        "<text x=\"300\" y=\"140\" font-size=\"12\" fill=\"#57606a\">relative error at \u{3b5} = 2, mean and standard deviation of 40 seeds</text>\n</svg>\n",
    );
    svg
}

#[test]
#[ignore = "forty runs: a minute; UNDERTONE_PICTURES=write draws the picture anew"]
fn the_picture_shows_what_forty_seeds_give() {
    let file = repository("sims/quickstart.toml");
    let [mut ours, mut central, mut compared] = [const { Vec::new() }; 3];
    for seed in 0..SEEDS {
        let config = read_config(&file, &[format!("seed={seed}")]).expect("valid");
        let report = run(&resolve(config).expect("valid"), &mut Silent).expect("runs");
        let utility = report.summary.utility;
        let error = |found: Option<f64>| found.expect("there is a reference");
        ours.push(error(utility.relative_error));
        central.push(error(utility.central.relative_error));
        let other = utility.compared.expect("the file names a method");
        compared.push(error(other.utility.relative_error));
    }
    let bars = [
        Bar::of("Undertone, 610 peers, no server", "#0072b2", &ours),
        Bar::of("trusted curator", "#8b949e", &central),
        Bar::of("power method over gossip, no server", "#d55e00", &compared),
    ];
    let svg = drawn(&bars);
    let path = repository(PICTURE);
    if std::env::var_os("UNDERTONE_PICTURES").is_some_and(|what| what == "write") {
        fs::write(&path, &svg).expect("writable");
    }
    assert_eq!(fs::read_to_string(&path).expect("readable"), svg);
}

/// The numbers with a point in a text.
fn numbers(text: &str) -> Vec<&str> {
    let apart = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    apart
        .map(|word| word.trim_matches('.'))
        .filter(|word| word.contains('.'))
        .collect()
}

#[test]
fn the_text_beside_the_picture_has_its_numbers() {
    let svg = fs::read_to_string(repository(PICTURE)).expect("readable");
    let shown: Vec<&str> = svg
        .lines()
        .filter_map(|line| line.strip_prefix("<text "))
        .filter_map(|line| line.split(['>', '<']).nth(1))
        .flat_map(numbers)
        .collect();
    assert_eq!(shown.len(), 3, "one number a bar: {shown:?}");
    let readme = fs::read_to_string(repository("README.md")).expect("readable");
    let caption = readme
        .lines()
        .find(|line| line.starts_with("![") && line.contains(PICTURE))
        .expect("the README has the picture");
    assert_eq!(numbers(caption.split("](").next().expect("a text")), shown);
}
