//! Sealed contributions: recoverable before they are readable.
//!
//! In an attempt at a release every peer first *seals* its contribution y_v: it sends the block encrypted to its neighbours in the communication graph, and to each
//! a share of the key ([`Seal`]). Once everybody's word has been heard that all seals are held ([`Certificate`](super::regroup::Certificate)), keys are opened. Whoever
//! is missing before that is left out by a new attempt with fresh noise, before anything could be read. Whoever vanishes
//! afterwards stays in the sum, because τ neighbours together can open its block ([`Threshold`](super::regroup::Threshold)).
//!
//! Reading a contribution is what costs its owner privacy, and a contribution is charged once in a try at a release. So no two attempts of one
//! try may be opened, whatever crashes, restarts, arrives late or lies. [`Escrow`] is the part of a peer that sees to it. It is a
//! state machine without clocks, sockets or entropy, and every step gives the [`Record`] that must be on disk before the step
//! has any effect.
//!
//! # Rules of a holder
//! 1. A share in v's contribution is given up for at most one attempt of a try ([`Rule::OneShare`]).
//! 2. Neither a share nor a key leaves without a certificate: signatures of all who take part in the attempt ([`Rule::Certified`]).
//! 3. The own key is opened for at most one attempt of a try, and nothing is sealed in that try afterwards ([`Rule::OneKey`]).
//! 4. A view with fewer members than the plan covers is not entered: what is charged counts on it
//!    ([`privacy::realised`](crate::privacy::realised), theorem 4).
//! 5. Only the last attempt that was sealed at a release is opened ([`Rule::LastSealed`]).
//! 6. Whoever holds a later seal of v at the same release gives up no share in an earlier one ([`Rule::LaterSeal`]), and whoever has
//!    given up any share in a try does not sign that it holds seals of another attempt of it ([`Rule::ReleasedBefore`]). Shares
//!    leave only in a view without v ([`Rule::StillThere`]).
//!
//! # Theorem (one attempt of a try)
//! Let at most t + f of the m₀ neighbours of v ever be curious, whatever these do, and v and the others follow the rules. Then at most one
//! attempt of v in each try is ever readable, whatever views are decided, by whomever, and whatever the network does.
//!
//! *Proof.* An attempt is readable by τ shares or by v's key. Two by shares: 2τ shares, of which honest holders give one each (rule 1) and curious ones two,
//! which is too few ([`Threshold`](super::regroup::Threshold)). Two by key: rule 3. One, a, by shares and another, b, by key: v sealed b last (rule 5) and
//! nothing after opening it (rule 3), so b is the later one. v opened b on a certificate (rule 2): all its live neighbours
//! in b's view signed, of whom there are m ≥ τ, since v seals for no fewer, and those who are honest hold v's seal for b, since
//! they only sign when they do and the digest that they signed says whose neighbours they are. None of them gave a share in a before signing, nor
//! afterwards (rule 6). The others are at most m₀ − m ≤ m₀ − τ honest ones and t + f curious ones, and m₀ − τ + t + f < τ. ∎
//!
//! The theorem needs no agreement among peers: that decides whether there is a sum, and not what it costs. Nor does it need that views only shrink,
//! or rule 4. Rule 1 follows from the others: whoever gave a share in a holds no later seal b yet, and without its signature b has no
//! certificate. It is kept all the same.
//!
//! # Nothing sealed is ever computed again
//! After a restart a peer may know another scale or another query than before. If it computed its contribution again with the same noise, the
//! difference of both would be free of noise. So the sealed bytes themselves are on disk before they leave, and what is sent again are those
//! bytes: a [`Seal`] gives nothing else, and [`Escrow::seal`] refuses a second one in an attempt.

mod defect;
mod holders;
mod keys;
mod membership;
mod record;
mod refused;
mod seal;
mod shamir;
#[cfg(test)]
mod tests;

pub(in crate::protocol) use defect::Defect;
pub use holders::{Durable, Escrow};
pub use keys::{EscrowKey, SealKey, SealRoot};
pub use membership::{Membership, MembershipError};
pub use record::{HeldSeal, Record, RecordError};
pub use refused::{Refused, Rule};
pub use seal::{
    Expected, HIDDEN_SHARE_LEN, SEAL_HASH_LEN, SEAL_HEAD_LEN, Seal, SealError, Sealing, seal_len,
};
pub use shamir::{Share, ShareError};
