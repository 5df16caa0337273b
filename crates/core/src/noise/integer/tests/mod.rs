//! The certificate by exact arithmetic, the law by statistics, the streams, and what all of them catch.

mod constant_time;
mod exact;
mod ideal;
mod law_of_draws;
mod streams;
