//! Colours, dashes and markers of figures: they follow the page's light or dark scheme, and colour is never the only thing
//! that tells two series apart.
//!
//! The plotting crate knows fixed colours only. Each [`Ink`] has one that occurs nowhere else, and [`themed`]
//! replaces it by a variable of the style sheet.

use plotters::style::RGBColor;

use super::markup::Markup;

/// A colour of figures, by its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// Labels.
    Text,
    /// Axes and ticks.
    Axis,
    /// Lines at labelled ticks.
    Grid,
    /// Lines between them.
    Faint,
    /// Guide lines.
    Guide,
    /// The series with this number.
    Series(Style),
}

/// How the series with this number looks. Sixty-four differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style(u8);

/// Colours in the style sheet: `--series-0` and so on, after Okabe and Ito (2008).
const COLOURS: u8 = 8;

const DASHES: [&str; 5] = ["", "7 4", "2 3", "10 3 2 3", "4 2"];

/// Corners of a marker around its centre, in pixels; none for a disc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marker(pub(super) &'static [(i32, i32)]);

const MARKERS: [Marker; 8] = [
    Marker(&[]),
    Marker(&[(-4, -4), (4, -4), (4, 4), (-4, 4)]),
    Marker(&[(0, -5), (5, 4), (-5, 4)]),
    Marker(&[(0, -6), (5, 0), (0, 6), (-5, 0)]),
    Marker(&[(0, 5), (5, -4), (-5, -4)]),
    Marker(&[
        (-5, -3),
        (-3, -5),
        (0, -2),
        (3, -5),
        (5, -3),
        (2, 0),
        (5, 3),
        (3, 5),
        (0, 2),
        (-3, 5),
        (-5, 3),
        (-2, 0),
    ]),
    Marker(&[
        (-1, -6),
        (1, -6),
        (1, -1),
        (6, -1),
        (6, 1),
        (1, 1),
        (1, 6),
        (-1, 6),
        (-1, 1),
        (-6, 1),
        (-6, -1),
        (-1, -1),
    ]),
    Marker(&[(-6, -2), (6, -2), (6, 2), (-6, 2)]),
];

/// Radius of the marker that is a disc, in pixels.
pub(super) const DISC: u32 = 4;

impl Style {
    /// The style of series number `index`, from 0; they repeat after 64.
    pub(super) fn of(index: usize) -> Self {
        Self((index % 64) as u8)
    }

    fn lap(self) -> u8 {
        self.0 / COLOURS
    }

    /// The variable with the colour.
    pub(super) fn colour(self) -> String {
        format!("var(--series-{})", self.0 % COLOURS)
    }

    /// Lengths of dashes and gaps; empty for a line without gaps.
    pub(super) fn dashes(self) -> &'static str {
        DASHES[usize::from((self.0 + self.lap()) % DASHES.len() as u8)]
    }

    pub(super) fn marker(self) -> Marker {
        MARKERS[usize::from((self.0 + self.lap()) % MARKERS.len() as u8)]
    }
}

impl Ink {
    /// The colour that stands for this ink while the plotting crate draws.
    pub(super) const fn sentinel(self) -> RGBColor {
        match self {
            Self::Text => RGBColor(1, 0, 0),
            Self::Axis => RGBColor(1, 0, 1),
            Self::Grid => RGBColor(1, 0, 2),
            Self::Faint => RGBColor(1, 0, 3),
            Self::Guide => RGBColor(1, 0, 4),
            Self::Series(style) => RGBColor(1, 1, style.0),
        }
    }

    fn of_sentinel(colour: &str) -> Option<Self> {
        let number = |range| u8::from_str_radix(colour.get(range)?, 16).ok();
        Some(match (number(0..2)?, number(2..4)?, number(4..6)?) {
            (1, 0, 0) => Self::Text,
            (1, 0, 1) => Self::Axis,
            (1, 0, 2) => Self::Grid,
            (1, 0, 3) => Self::Faint,
            (1, 0, 4) => Self::Guide,
            (1, 1, style) => Self::Series(Style(style)),
            _ => return None,
        })
    }

    /// The value that replaces the sentinel, with what goes beside it on a stroke.
    fn themed(self) -> (String, &'static str) {
        match self {
            Self::Text => ("var(--text)".to_owned(), ""),
            Self::Axis => ("var(--axis)".to_owned(), ""),
            Self::Grid => ("var(--grid)".to_owned(), ""),
            Self::Faint => ("var(--faint)".to_owned(), ""),
            Self::Guide => ("var(--muted)".to_owned(), "5 5"),
            Self::Series(style) => (style.colour(), style.dashes()),
        }
    }
}

/// Drawn text with every sentinel replaced by its variable, and strokes dashed. Text that is not an attribute cannot
/// match: quotes in it are escaped.
pub(super) fn themed(drawn: &str) -> String {
    let mut out = String::with_capacity(drawn.len() + drawn.len() / 4);
    let mut rest = drawn;
    while let Some(at) = rest.find("=\"#") {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let colour = after.get(3..9).unwrap_or("");
        match Ink::of_sentinel(colour).filter(|_| after[9..].starts_with('"')) {
            Some(ink) => {
                let (value, dashes) = ink.themed();
                out.push_str(&format!("=\"{value}\""));
                if before.ends_with("stroke") && !dashes.is_empty() {
                    out.push_str(&format!(" stroke-dasharray=\"{dashes}\""));
                }
                rest = &after[10..];
            }
            None => {
                out.push_str("=\"#");
                rest = &after[3..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// A small picture of a series for a legend.
pub(super) fn swatch(style: Style, line: bool, marker: bool) -> Markup {
    let mut picture = Markup::new();
    let attributes = [
        ("class", "swatch"),
        ("width", "40"),
        ("height", "16"),
        ("viewBox", "0 0 40 16"),
        ("aria-hidden", "true"),
    ];
    let colour = style.colour();
    picture.element("svg", &attributes, |svg| {
        if line {
            svg.empty(
                "line",
                &[
                    ("x1", "0"),
                    ("x2", "40"),
                    ("y1", "8"),
                    ("y2", "8"),
                    ("stroke", &colour),
                    ("stroke-width", "2"),
                    ("stroke-dasharray", style.dashes()),
                ],
            );
        }
        let Marker(corners) = style.marker();
        if marker && corners.is_empty() {
            let radius = DISC.to_string();
            let place = [("cx", "20"), ("cy", "8"), ("r", &radius), ("fill", &colour)];
            svg.empty("circle", &place);
        } else if marker {
            let points: Vec<String> = corners
                .iter()
                .map(|(x, y)| format!("{},{}", 20 + x, 8 + y))
                .collect();
            svg.empty(
                "polygon",
                &[("points", &points.join(" ")), ("fill", &colour)],
            );
        }
    });
    picture
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn sixty_four_series_look_different_and_neighbours_differ_without_colour() {
        let looks: BTreeSet<_> = (0..64)
            .map(|i| {
                (
                    Style::of(i).colour(),
                    Style::of(i).dashes(),
                    Style::of(i).marker().0,
                )
            })
            .collect();
        assert_eq!(looks.len(), 64);
        let plain: BTreeSet<_> = (0..8)
            .map(|i| (Style::of(i).dashes(), Style::of(i).marker().0))
            .collect();
        assert_eq!(plain.len(), 8);
    }

    #[test]
    fn sentinels_become_variables_and_other_colours_stay() {
        let ink = Ink::Series(Style::of(1));
        assert_eq!(Ink::of_sentinel("010101"), Some(ink));
        assert_eq!(
            themed("<a stroke=\"#010101\" fill=\"#010000\"/><b fill=\"#ABCDEF\" x=\"#01"),
            "<a stroke=\"var(--series-1)\" stroke-dasharray=\"7 4\" fill=\"var(--text)\"/>\
             <b fill=\"#ABCDEF\" x=\"#01"
        );
    }
}
