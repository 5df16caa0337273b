#![doc = include_str!("../errata.md")]

#[cfg(test)]
mod page;
#[cfg(test)]
mod tests;
