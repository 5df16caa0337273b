//! Attacks of one hostile member, each by hand.
