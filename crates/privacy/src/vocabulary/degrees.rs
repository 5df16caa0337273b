//! The public numbers of interactions at which users are counted.

/// D_1 < D_2 < …: a pilot counts how many users have at least so many interactions. About √2 apart, as the degree floors are that
/// such counts help to choose.
///
/// Part of what is released, and of its bounds: another list is another release.
pub const TAIL_DEGREES: [u32; 16] = [
    1, 2, 3, 5, 7, 10, 14, 20, 28, 40, 56, 80, 113, 160, 226, 320,
];
