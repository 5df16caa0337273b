//! What the guide repeats of the headers of experiment files.

use super::stated::header;
use crate::support::repository;

/// `{sim; method; x; digits}` in a line of the guide, with the number that the header of that sim has there.
fn filled(template: &str) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (place, after) = after.split_once('}').expect("closed");
        let parts: Vec<&str> = place.split(';').map(str::trim).collect();
        let [sim, method, x, digits] = parts[..] else {
            panic!("{place}")
        };
        let numbers = header(sim);
        let number = numbers.get(&(method.to_owned(), x.to_owned()));
        let cell = number.unwrap_or_else(|| panic!("no {method} at {x} in sims/{sim}.toml"));
        let digits = digits.parse().expect("a number of digits");
        text.push_str(before);
        text.push_str(&format!("{:.digits$}", cell.mean.value));
        rest = after;
    }
    text + rest
}

/// What the guide repeats is what the headers say. That headers say what runs give is tested above.
#[test]
fn the_guide_repeats_headers_digit_by_digit() {
    let laplace = |start: &str, method: &str| {
        let cells = [
            ("pca-digits", ["0.5", "1", "5", "10"]),
            ("pca-breast-cancer", ["0.5", "1", "2", "5"]),
        ];
        let cells = cells.into_iter().flat_map(|(sim, xs)| xs.map(|x| (sim, x)));
        let cells = cells.map(|(sim, x)| format!(" {{{sim}; {method}; {x}; 2}} |"));
        (
            "laplace",
            format!("| {start} |{}", cells.collect::<String>()),
        )
    };
    let recommended = |start: &str, method: &str| {
        let cells = ["0.1", "0.25", "0.5", "1", "2", "4", "8"];
        let cells =
            cells.map(|x| format!(" {{recommender-movielens-epsilon; {method}; {x}; 3}} |"));
        ("recommendation", format!("| {start} |{}", cells.concat()))
    };
    let digits = |line: &str| line.replace("DIGITS", "pca-digits; isometric, private mean");
    let claims = [
        laplace("Gaussian triangle, δ = 10⁻⁵", "isometric, public mean"),
        laplace(
            "Laplace triangle, δ = 0",
            "Laplace covariance (delta = 0), public mean",
        ),
        laplace(
            "Laplace power, L = 3, δ = 0",
            "Laplace power (delta = 0), L = 3, public mean",
        ),
        laplace(
            "the same with Hardt & Price's constant",
            "Hardt & Price's Laplace constant (delta = 0), L = 3, public mean",
        ),
        (
            "algorithms",
            "ε = 10 is needed for a captured variance of {graph-eigenvector; power, 5 steps; 10; 2} (".to_owned(),
        ),
        recommended("`auto`, one rating", "auto, one rating"),
        recommended("`auto`, one person", "auto, one person"),
        recommended("a basis (block Krylov), one rating", "a basis, one rating"),
        (
            "choosing_epsilon",
            "error {quickstart; this run; 2; 2} of the matrix's own size".to_owned(),
        ),
        (
            "choosing_epsilon",
            digits(
                "| 0.1; 1; 5 | {DIGITS; 0.1; 2}; {DIGITS; 1; 2}; {DIGITS; 5; 2} of the variance",
            ),
        ),
        (
            "matrices",
            digits(
                "capture {pca-digits; isometric, no centring; 1; 2} of the variance without, {DIGITS; 1; 2} with a private mean",
            ),
        ),
        (
            "matrices",
            digits(
                "{pca-breast-cancer; isometric, private mean; 0.5; 2} of the variance of four components\n  is captured, with 1,797 rows at ε = 0.1 {DIGITS; 0.1; 2} of that of eight",
            ),
        ),
    ];
    for (page, template) in claims {
        let path = repository("src/guide").join(format!("{page}.md"));
        let text = std::fs::read_to_string(path).expect("readable");
        let line = filled(&template);
        assert!(text.contains(&line), "{page}.md does not say: {line}");
        // A number that is another is seen.
        let changed = line.replacen("0.", "1.", 1);
        assert!(!text.contains(&changed), "{page}.md says: {changed}");
    }
}
