//! A graph as a matrix whose rows and columns are called what its vertices are.

use super::Interactions;
use super::error::DataError;
use super::ratings::{Loaded, ReadCounts};
use crate::dataset::rows_of_edges;

impl Loaded {
    /// The names of this matrix's rows and columns as those of as many vertices, without any entry.
    #[must_use]
    pub fn sides(&self) -> Interactions {
        let read = &self.interactions;
        let rows = (0..read.users()).map(|i| format!("row {}", read.user_name(i)));
        let columns = (0..read.items()).map(|j| format!("column {}", read.item_name(j)));
        let names: Vec<String> = rows.chain(columns).collect();
        let none = vec![0; names.len() + 1];
        Interactions::from_parts(none, Vec::new(), names.clone(), names)
    }

    /// A graph as a matrix of numbers, whose rows and columns are called what its vertices are.
    ///
    /// # Errors
    /// [`DataError::Dataset`] for edges that are not of a simple graph on these vertices.
    pub fn of_graph(
        names: &[String],
        edges: impl IntoIterator<Item = (u32, u32)>,
    ) -> Result<Self, DataError> {
        let values = rows_of_edges(names.len(), edges)?;
        let none = vec![0; names.len() + 1];
        Ok(Self {
            interactions: Interactions::from_parts(
                none,
                Vec::new(),
                names.to_vec(),
                names.to_vec(),
            ),
            counts: ReadCounts {
                ratings: values.entries() as u64,
                ..ReadCounts::default()
            },
            values: Some(values),
            layout: None,
            peers: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_has_the_names_of_its_vertices_on_both_sides() {
        let names = ["a", "b", "c"].map(str::to_owned);
        let loaded = Loaded::of_graph(&names, [(0, 2)]).expect("simple");
        assert_eq!(loaded.interactions.user_name(2), "c");
        assert_eq!(loaded.interactions.item_name(2), "c");
        assert!(loaded.interactions.is_empty());
        assert_eq!(loaded.values.expect("numbers").row(2).0, [0]);
    }
}
