//! The built command: what it writes, prints and refuses.

mod advice;
mod audits;
mod auto;
mod cell_data;
mod cells;
mod extreme_receipts;
mod faults;
mod first_screen;
mod frontiers;
mod help;
mod item_lists;
#[cfg(unix)]
mod limits;
mod lists;
mod memory;
mod naming;
mod outputs;
mod printed;
mod private;
mod real_graphs;
mod receipts;
mod recommend;
mod refusals;
mod results;
mod schema;
mod studies;
mod sweep_screen;
mod sweeps;
mod topology;
