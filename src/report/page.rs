//! A page: heading, sections of text, figures and tables, the configuration, a footer.

use super::figure::{Figure, FigureError};
use super::markup::Markup;
use super::network::Network;
use super::table::PageTable;

/// A page that shows itself without network, scripts or other files.
#[derive(Clone, Debug)]
pub(super) struct Page {
    name: String,
    body: Markup,
}

const STYLE: &str = include_str!("style.css");
/// Even if something slipped through the escaping, a browser would run and fetch nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

impl Page {
    /// A page with a heading and a sentence on what it shows.
    #[must_use]
    pub(super) fn new(name: &str, lead: &str) -> Self {
        let mut body = Markup::new();
        body.element("header", &[], |header| {
            header.leaf("h1", &[], name);
            header.leaf("p", &[("class", "lead")], lead);
        });
        Self {
            name: name.to_owned(),
            body,
        }
    }

    /// Adds a heading.
    pub(super) fn section(&mut self, title: &str) {
        self.body.line();
        self.body.leaf("h2", &[], title);
    }

    /// Adds a paragraph.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.body.line();
        self.body.leaf("p", &[], text);
    }

    /// Adds a paragraph that stands out: what is guaranteed.
    pub(super) fn guarantee(&mut self, text: &str) {
        self.body.line();
        let class = [("class", "guarantee")];
        self.body.element("p", &class, |inside| inside.prose(text));
    }

    /// Adds a list of warnings, if there are any.
    pub(super) fn warnings(&mut self, warnings: &[impl std::fmt::Display]) {
        if warnings.is_empty() {
            return;
        }
        self.body.line();
        self.body.element("ul", &[("class", "warnings")], |list| {
            for warning in warnings {
                list.leaf("li", &[], &format!("Warning: {warning}"));
            }
        });
    }

    /// Adds figures, and networks after them, two beside each other where they are narrow. Figures in which nothing can
    /// be drawn are replaced by a sentence that says so.
    ///
    /// # Errors
    /// [`FigureError`] if the plotting crate fails.
    pub(super) fn figures(
        &mut self,
        figures: &[Figure],
        networks: &[Network<'_>],
    ) -> Result<(), FigureError> {
        let mut pieces = Vec::new();
        for figure in figures {
            pieces.push(match figure.markup() {
                Err(FigureError::Empty { .. }) => {
                    let mut piece = Markup::new();
                    let text = format!("{}: nothing to draw.", figure.title);
                    piece.leaf("p", &[("class", "note")], &text);
                    piece
                }
                drawn => drawn?,
            });
        }
        for network in networks {
            pieces.push(network.markup()?);
        }
        self.body.line();
        self.body.element("div", &[("class", "figures")], |grid| {
            for piece in &pieces {
                grid.line();
                grid.piece(piece);
            }
        });
        Ok(())
    }

    /// Adds a table.
    pub(super) fn table(&mut self, table: &PageTable) {
        self.body.line();
        self.body.piece(&table.markup());
    }

    /// Adds pieces side by side, as many as fit.
    pub(super) fn cards(&mut self, pieces: &[Markup]) {
        self.body.line();
        self.body.element("div", &[("class", "cards")], |grid| {
            for piece in pieces {
                grid.line();
                grid.piece(piece);
            }
        });
    }

    /// Adds the configuration, as written in the experiment file.
    pub(super) fn configuration(&mut self, toml: &str) {
        self.section("Configuration");
        self.body.leaf("pre", &[], toml);
    }

    /// Adds the line with what differs from run to run: nothing else on a page does.
    pub(super) fn timing(&mut self, text: &str) {
        self.body.line();
        let text = format!("Timing (differs from run to run): {text}").replace('\n', " ");
        self.body.leaf("p", &[("class", "timing")], &text);
        self.body.line();
    }

    /// The document.
    #[must_use]
    pub(super) fn html(&self) -> String {
        let mut page = Markup::new();
        page.element("html", &[("lang", "en")], |html| {
            html.line();
            html.element("head", &[], |head| {
                head.empty("meta", &[("charset", "utf-8")]);
                let policy = [
                    ("http-equiv", "Content-Security-Policy"),
                    ("content", POLICY),
                ];
                head.empty("meta", &policy);
                let viewport = [
                    ("name", "viewport"),
                    ("content", "width=device-width, initial-scale=1"),
                ];
                head.empty("meta", &viewport);
                head.leaf("title", &[], &format!("{} – Undertone", self.name));
                head.line();
                head.element("style", &[], |style| {
                    style.piece(&Markup::trusted(STYLE.to_owned()));
                });
            });
            html.line();
            html.element("body", &[], |body| {
                body.piece(&self.body);
                body.line();
                let text = format!("Written by Undertone {}.", env!("CARGO_PKG_VERSION"));
                body.leaf("footer", &[], &text);
            });
            html.line();
        });
        format!("<!DOCTYPE html>\n{}\n", page.as_str())
    }
}
