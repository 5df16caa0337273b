//! A direction of the space of images as an image: blue below 0, orange above, the stronger the larger.

use super::markup::Markup;

/// Strengths of a colour.
const LEVELS: usize = 10;

/// The image of these weights, row after row of `columns` cells, with a name for those who do not see it. The strongest colour is that of the largest
/// absolute weight.
pub(super) fn image(name: &str, weights: &[f64], columns: usize) -> Markup {
    let columns = columns.max(1);
    let rows = weights.len().div_ceil(columns);
    let largest = weights.iter().fold(0.0, |m: f64, w| m.max(w.abs()));
    let mut cells = vec![String::new(); 2 * LEVELS];
    for (at, weight) in weights.iter().enumerate() {
        let share = weight.abs() / largest;
        if share > 0.0 {
            let level = (share * LEVELS as f64).ceil() as usize;
            let sign = usize::from(*weight > 0.0);
            let square = format!("M{} {}h1v1h-1z", at % columns, at / columns);
            cells[sign * LEVELS + level.clamp(1, LEVELS) - 1].push_str(&square);
        }
    }
    let (width, height) = (columns.to_string(), rows.to_string());
    let view = format!("0 0 {width} {height}");
    let attributes = [
        ("viewBox", view.as_str()),
        ("role", "img"),
        ("shape-rendering", "crispEdges"),
    ];
    let mut piece = Markup::new();
    piece.element("svg", &attributes, |svg| {
        svg.leaf("title", &[], name);
        let background = [
            ("class", "cells"),
            ("width", width.as_str()),
            ("height", height.as_str()),
        ];
        svg.empty("rect", &background);
        for (at, squares) in cells.iter().enumerate() {
            if !squares.is_empty() {
                let class = if at < LEVELS { "below" } else { "above" };
                let opacity = format!("{:.1}", (at % LEVELS + 1) as f64 / LEVELS as f64);
                let path = [("class", class), ("fill-opacity", &opacity), ("d", squares)];
                svg.empty("path", &path);
            }
        }
    });
    piece
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_weight_is_a_cell_coloured_by_sign_and_size() {
        let image = image("<Direction> 1", &[1.0, -0.5, 0.0, 0.01, -1.0, 0.55], 3);
        let text = image.as_str();
        assert!(text.contains("viewBox=\"0 0 3 2\""), "{text}");
        assert!(text.contains("&lt;Direction&gt; 1"), "{text}");
        assert_eq!(text.matches("h1v1h-1z").count(), 5, "all but the 0: {text}");
        for (class, opacity, square) in [
            ("above", "1.0", "M0 0"),
            ("below", "0.5", "M1 0"),
            ("above", "0.1", "M0 1"),
            ("below", "1.0", "M1 1"),
            ("above", "0.6", "M2 1"),
        ] {
            let cell = format!(
                "<path class=\"{class}\" fill-opacity=\"{opacity}\" d=\"{square}h1v1h-1z\"/>"
            );
            assert!(text.contains(&cell), "{cell} in {text}");
        }
        for nothing in [&[0.0, 0.0][..], &[]] {
            let drawn = super::image("x", nothing, 2);
            assert!(!drawn.as_str().contains("<path"), "{drawn:?}");
        }
    }
}
