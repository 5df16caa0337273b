//! Sets of small numbers: of peers, and of links.

use std::marker::PhantomData;

use crate::vocabulary::PeerIndex;

/// The place of a link in the list of all links of the communication graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkIndex(pub u32);

/// What a set holds.
pub trait Index: Copy {
    /// The index as a subscript.
    fn subscript(self) -> usize;
    /// The other way round.
    fn of(subscript: usize) -> Self;
}

impl Index for PeerIndex {
    fn subscript(self) -> usize {
        self.index()
    }

    fn of(subscript: usize) -> Self {
        Self::from_index(subscript)
    }
}

impl Index for LinkIndex {
    fn subscript(self) -> usize {
        self.0 as usize
    }

    fn of(subscript: usize) -> Self {
        Self(u32::try_from(subscript).expect("links are counted in 32 bits when they are listed"))
    }
}

/// A set of indices below a bound that is fixed when it is made; one bit each.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Set<I> {
    words: Vec<u64>,
    of: PhantomData<I>,
}

/// Peers.
pub type Members = Set<PeerIndex>;

/// Links that are cut.
pub type CutLinks = Set<LinkIndex>;

impl<I: Index> Set<I> {
    /// Nothing of `bound` indices.
    #[must_use]
    pub fn none(bound: usize) -> Self {
        Self {
            words: vec![0; bound.div_ceil(64)],
            of: PhantomData,
        }
    }

    /// All of `bound` indices.
    #[must_use]
    pub fn all(bound: usize) -> Self {
        let mut all = Self::none(bound);
        for subscript in 0..bound {
            all.insert(I::of(subscript));
        }
        all
    }

    /// Puts it in; whether it is new. An index beyond the bound never gets in.
    pub fn insert(&mut self, index: I) -> bool {
        let subscript = index.subscript();
        let Some(word) = self.words.get_mut(subscript / 64) else {
            return false;
        };
        let bit = 1 << (subscript % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Takes it out.
    pub fn remove(&mut self, index: I) {
        if let Some(word) = self.words.get_mut(index.subscript() / 64) {
            *word &= !(1 << (index.subscript() % 64));
        }
    }

    /// Whether it is in.
    #[must_use]
    pub fn contains(&self, index: I) -> bool {
        let subscript = index.subscript();
        let word = self.words.get(subscript / 64).copied().unwrap_or(0);
        word >> (subscript % 64) & 1 == 1
    }

    /// How many are in.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// Whether nothing is in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Whether all of this is in the other.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        let missing = |at: usize, word: u64| word & !other.words.get(at).copied().unwrap_or(0);
        self.words
            .iter()
            .enumerate()
            .all(|(at, word)| missing(at, *word) == 0)
    }

    /// Its bits, 64 to a word.
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// What is in, ascending.
    pub fn iter(&self) -> impl Iterator<Item = I> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let set = move |bit: &usize| word >> bit & 1 == 1;
            (0..64).filter(set).map(move |bit| I::of(64 * at + bit))
        })
    }
}
