//! The certificate by exact arithmetic, the law by statistics, the streams, and what all of them catch.

mod exact;
mod ideal;
mod law_of_draws;
mod streams;
