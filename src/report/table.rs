//! Tables of a page.

use super::markup::Markup;
use super::number;
use crate::writing::Column;

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageTable {
    /// What it lists.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, one cell per column.
    pub rows: Vec<Vec<Cell>>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number, shown with four digits.
    Number(f64),
    /// A number with a lower and an upper end.
    Range(f64, f64, f64),
    /// A count, shown whole.
    Count(u64),
    /// Nothing is known.
    Missing,
}

impl Cell {
    /// Words.
    #[must_use]
    pub fn text(text: &(impl ToString + ?Sized)) -> Self {
        Self::Text(text.to_string())
    }

    /// A number, or nothing.
    #[must_use]
    pub fn optional(value: Option<f64>) -> Self {
        value.map_or(Self::Missing, Self::Number)
    }

    fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(value) => number::short(*value),
            Self::Range(value, low, high) => {
                let [value, low, high] = [*value, *low, *high].map(|v| number::significant(v, 3));
                format!("{value} ({low} to {high})")
            }
            Self::Count(count) => number::grouped(*count),
            Self::Missing => "–".to_owned(),
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

impl PageTable {
    /// The table. Columns with words are aligned left, all others right. A column in which nothing is known is left out.
    #[must_use]
    pub fn markup(&self) -> Markup {
        let known = |c: &usize| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(*c));
            self.rows.is_empty() || cells.any(|cell| *cell != Cell::Missing)
        };
        let shown: Vec<usize> = (0..self.columns.len()).filter(known).collect();
        let words: Vec<bool> = (0..self.columns.len())
            .map(|c| {
                self.rows
                    .iter()
                    .any(|row| row.get(c).is_some_and(Cell::is_text))
            })
            .collect();
        let class = |c: usize| {
            if words.get(c) == Some(&true) {
                "words"
            } else {
                "number"
            }
        };
        let mut outer = Markup::new();
        // With the keyboard, too, one can scroll what has the focus.
        let scrolled = [
            ("class", "scroll"),
            ("tabindex", "0"),
            ("role", "region"),
            ("aria-label", &*self.caption),
        ];
        outer.element("div", &scrolled, |scroll| {
            scroll.element("table", &[], |table| {
                table.leaf("caption", &[], &self.caption);
                table.element("thead", &[], |head| {
                    head.element("tr", &[], |row| {
                        for (c, column) in shown.iter().map(|c| (*c, &self.columns[*c])) {
                            row.element("th", &[("scope", "col"), ("class", class(c))], |cell| {
                                cell.text(&column.name);
                                if let Some(unit) = &column.unit {
                                    let unit = format!(" [{unit}]");
                                    cell.leaf("span", &[("class", "unit")], &unit);
                                }
                            });
                        }
                    });
                });
                table.element("tbody", &[], |body| {
                    for cells in &self.rows {
                        body.line();
                        body.element("tr", &[], |row| {
                            for (c, cell) in shown.iter().filter_map(|c| Some((*c, cells.get(*c)?)))
                            {
                                let tag = if c == 0 && words[0] { "th" } else { "td" };
                                let scope = [("class", class(c)), ("scope", "row")];
                                let attributes = if tag == "th" { &scope[..] } else { &scope[..1] };
                                row.leaf(tag, attributes, &cell.shown());
                            }
                        });
                    }
                });
            });
        });
        outer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_right_and_words_left() {
        let table = PageTable {
            caption: "c & d".to_owned(),
            columns: vec![Column::new("<who>", ""), Column::new("ε", "nats")],
            rows: vec![
                vec![Cell::text("a"), Cell::Number(0.25)],
                vec![Cell::text("b"), Cell::Missing],
            ],
        };
        let text = table.markup().as_str().to_owned();
        assert!(text.contains("c &amp; d") && text.contains("&lt;who&gt;"));
        assert!(text.contains("<td class=\"number\">0.25</td>"), "{text}");
        assert!(
            text.contains("<th class=\"words\" scope=\"row\">a</th>"),
            "{text}"
        );
        assert_eq!(text.matches("<tr>").count(), 3);
    }

    #[test]
    fn a_column_in_which_nothing_is_known_is_left_out() {
        let mut table = PageTable {
            caption: String::new(),
            columns: ["run", "relative error", "subspace error"]
                .map(|name| Column::new(name, ""))
                .to_vec(),
            rows: vec![
                vec![Cell::text("a"), Cell::Missing, Cell::Number(0.5)],
                vec![Cell::text("b"), Cell::Missing, Cell::Missing],
            ],
        };
        let text = table.markup().as_str().to_owned();
        assert!(!text.contains("relative error"), "{text}");
        assert!(text.contains("subspace error"), "{text}");
        assert_eq!(
            (text.matches("<td").count(), text.matches('–').count()),
            (2, 1)
        );
        table.rows.clear();
        let text = table.markup().as_str().to_owned();
        assert_eq!(
            text.matches("<th ").count(),
            3,
            "no row says nothing of columns"
        );
    }
}
