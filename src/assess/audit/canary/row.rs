//! The canary of a simulation whose rows are in memory: the first row that the victim holds, as it is held.

use super::{Canary, Read};
use crate::assess::audit::error::AuditError;
use crate::engine::{PeerRows, Session, Simulation};
use crate::linalg::SparseRows;
use crate::privacy::Adjacency;

/// Rows of the run that may take the place of the victim's first.
const MOST_OTHERS: usize = 64;

impl Canary {
    /// The first row of the victim, and the rows that all peers hold in the two worlds: without it and with it, or, where a row is replaced, with
    /// the other row of the run in its place that moves the first contribution furthest.
    ///
    /// # Errors
    /// [`AuditError::NoCanary`] for an adjacency under which a record is no row, [`AuditError::NoUser`] for a victim without rows, and
    /// [`AuditError::SameRow`] for a row that moves nothing.
    pub(in crate::assess::audit) fn of_row(
        simulation: &Simulation,
        session: &Session,
        victim: usize,
    ) -> Result<(Self, [PeerRows; 2]), AuditError> {
        let adjacency = simulation.plan().promise().adjacency();
        let held = session.rows();
        let mine = held.get(victim).filter(|rows| !rows.is_empty());
        let row = one(mine.ok_or(AuditError::NoUser)?, 0);
        let others = match adjacency {
            Adjacency::User => vec![SparseRows::new(row.dimension())],
            Adjacency::ReplaceUser => others(held, victim),
            _ => return Err(AuditError::NoCanary { adjacency }),
        };
        let canaries = others.into_iter().map(|other| Self {
            batch: None,
            read: [&other, &row].map(|rows| Read::Numbers(entries(rows))),
            held: [other, row.clone()],
        });
        let moved = |canary: &Self| {
            let begun = canary.begun(session.start());
            canary.change(simulation, &begun).norm()
        };
        let furthest = canaries.max_by(|a, b| moved(a).total_cmp(&moved(b)));
        let canary = furthest.filter(|canary| moved(canary) > 0.0);
        let canary = canary.ok_or(AuditError::SameRow)?;
        let worlds = [0, 1].map(|world| {
            let mut peers = held.to_vec();
            let mut rows = canary.held[world].clone();
            for later in 1..held[victim].len() {
                rows.append(&one(&held[victim], later));
            }
            peers[victim] = rows;
            PeerRows::new(peers)
        });
        Ok((canary, worlds))
    }
}

/// Rows of the run but the victim's first, evenly spaced.
fn others(held: &PeerRows, victim: usize) -> Vec<SparseRows> {
    let all = held.iter().enumerate().flat_map(|(peer, rows)| {
        let first = usize::from(peer == victim);
        (first..rows.len()).map(move |row| (rows, row))
    });
    let all: Vec<_> = all.collect();
    let step = all.len().div_ceil(MOST_OTHERS).max(1);
    let spaced = all.into_iter().step_by(step);
    spaced.map(|(rows, row)| one(rows, row)).collect()
}

/// Numbers of a matrix of at most one row, by their columns.
fn entries(rows: &SparseRows) -> Vec<(u32, f64)> {
    let rows = (0..rows.len()).map(|row| rows.row(row));
    rows.flat_map(|(columns, values)| columns.iter().copied().zip(values.iter().copied()))
        .collect()
}

/// One of these rows as a matrix.
pub(super) fn one(rows: &SparseRows, number: usize) -> SparseRows {
    let (columns, values) = rows.row(number);
    let entries = columns.iter().copied().zip(values.iter().copied());
    let mut one = SparseRows::new(rows.dimension());
    one.push_row(entries)
        .expect("a row of other rows ascends and fits");
    one
}
