//! What a session under one adjacency costs a record of another adjacency.
//!
//! Several sessions about the same people may protect different units: one whole users, another single interactions. One change of the data can
//! be a record, or a few records, of both units, and then both sessions lose on it. [`Adjacency::square_factor`] says how much of a session's μ²
//! such a change is charged; sums over sessions follow ([`SquareSum`](super::SquareSum)).
//!
//! # Statement
//! Let a session have loss μ for every record of adjacency a, whoever colludes. Then its loss for every record of adjacency b is at most √c·μ, with c
//! in the row of a and the column of b. A dash: no finite c exists that holds for all data.
//!
//! | a \ b | interaction, rating | swap | user | replace-user | entry | matrix | unit-spectral |
//! | --- | --- | --- | --- | --- | --- | --- | --- |
//! | `interaction`, `rating` | 1 | 4 | – | – | – | – | – |
//! | `swap` | 1 | 1 | – | – | – | – | – |
//! | `user` | 4; 1 if plain | 4; 2 if plain | 1 | 4; 2 if plain | – | – | – |
//! | `replace-user` | 1 | 1 | 1 | 1 | – | – | – |
//! | `entry` | 9 | 16 | – | – | 1 | – | – |
//! | `matrix` | 2 | 3 | – | – | 1 | 1 | – |
//! | `unit-spectral` | 1 | 1 | 1 | 1 | 1 | 1 | 1 |
//!
//! *Plain* are sessions that release A X, for X with orthonormal columns, or a triangle of A, where A = Σ_u r̂_uᵀr̂_u over rows of interactions divided by √max(d, D)
//! that no cap has shortened. `edge` and `entry-bipartite` are about data of another kind: each bounds itself alone.
//!
//! # Proof
//! *Steps.* If every record of b is a path of k records of a, then μ_b ≤ k·μ_a: a mechanism of loss μ has at most kμ between data that are k
//! steps apart (Dong, Roth & Su, JRSS-B 2022, Theorem 2.14). So c = k².
//! - `interaction` and `rating` are one relation of files: one rating line of one user is there, not there, or has another value. It is also
//!   one case of `swap`, and of `replace-user`, as `swap` and `user` are (k = 1).
//! - `swap` is one line less and one line more: k = 2 of `interaction`.
//! - `replace-user` is one row less and one row more: k = 2 of `user`, and with it whatever is a case of `replace-user`.
//!
//! *Plain sessions under `user`.* In each release the noise is that of Δ_user(X), whatever came before; a change that moves it by at most
//! √c·Δ_user(X) costs √c·μ by the proof of [`GroupLoss`](super::GroupLoss) (D ↦ μ_l(D) is a norm) and adaptive composition. Δ_user is 1 for A X and for
//! the isometric triangle, and √((1 + 1/D)/2) for the packed triangle.
//! - `replace-user`: Δ_replace = √2·Δ_user for all three (`sensitivity/exact`, `packed`, `isometric`, `unit_row`), so c = 2, and c = 2 for `swap`,
//!   which is a case of it.
//! - `interaction`, with the bounds of the same files: for A X, Δ² = min(D̂², 1/D) + (D−1)D̂²/D² ≤ (2D−1)/D² ≤ 1, and D̂ ≤ 1 for D = 1. For the
//!   packed triangle Δ² = 1/D ≤ (1 + 1/D)/2. For the isometric triangle Δ² = (2D−1)/D² ≤ 1. So c = 1. Under a cap one interaction more can
//!   push out another, which is a swap, and the session is not plain.
//!
//! *Matrices.* Here a moves A by C with N_a(C) ≤ 1 for a norm N_a, and bounds are linear in C. So √c is the largest N_a(C) over records of b. Let C be the change
//! by one interaction with d items in the longer row, D the degree floor, no cap (none is proved under these adjacencies).
//! - Σ_ij|C_ij|: d ≤ D: (2d−1)/D < 2. d > D: (2d−1)/d + (d−1)²/(d(d−1)) = 1 + 2(d−1)/d < 3. A swap has two rows and two columns of ±1/max(d, D), at
//!   most (4d−2)/d < 4.
//! - Σ_i‖C_i‖₁²: d ≤ D: (d² + d − 1)/D² ≤ 5/4. d > D: 1 + (d−1)(2/d)² ≤ 2. A swap: (2d² + 4(d−1))/max(d, D)² ≤ 2 + 4(d−1)/d² ≤ 3.
//! - ‖C‖₂ ≤ 1 for every change of a row: C is the difference of two matrices between 0 and I.
//! - Σ_i‖C_i‖₁² ≤ (Σ_ij|C_ij|)², and ‖C‖₂² ≤ ‖C‖_F² ≤ Σ_i‖C_i‖₁².
//!
//! *Dashes.* A user with d items in a row of their own is d interactions away from nothing, and the loss of d sessions' worth of noise has no bound over all d.
//! A user's r̂ᵀr̂ with d ≥ D has Σ_i‖C_i‖₁² = d. A change of the matrix need not be one of a few rows. ∎

use super::Adjacency;

impl Adjacency {
    /// c: what a session under this adjacency that spends μ² costs one record of `record` is at most c·μ²; `None` where nothing bounds it.
    ///
    /// `plain` says that the session releases A X or a triangle of A over rows of interactions without a cap, of which closer factors are proved; see the top of
    /// `privacy/nesting.rs` for the table and its proof.
    #[must_use]
    pub fn square_factor(self, record: Self, plain: bool) -> Option<u32> {
        use Adjacency::{
            Entry, Interaction, Matrix, Rating, ReplaceUser, Swap, UnitSpectral, User,
        };
        match (self, record) {
            (own, record) if own == record => Some(1),
            (Interaction | Rating | Swap | ReplaceUser | UnitSpectral, Interaction | Rating)
            | (ReplaceUser | UnitSpectral, Swap | User)
            | (UnitSpectral, ReplaceUser | Entry | Matrix)
            | (Matrix, Entry) => Some(1),
            (Interaction | Rating, Swap) => Some(4),
            (User, Interaction | Rating) if plain => Some(1),
            (User, Swap | ReplaceUser) if plain => Some(2),
            (User, Interaction | Rating | Swap | ReplaceUser) => Some(4),
            (Matrix, Interaction | Rating) => Some(2),
            (Matrix, Swap) => Some(3),
            (Entry, Interaction | Rating) => Some(9),
            (Entry, Swap) => Some(16),
            _ => None,
        }
    }
}
