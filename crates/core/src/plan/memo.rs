//! Values that are costly to make, made once per key.

use std::sync::{Arc, Mutex, PoisonError};

/// Values computed once per key.
///
/// Whoever asks first computes; whoever asks for the same key meanwhile waits for that value, and other keys
/// are not held up. Errors are not kept. Keys are compared one after the other: the values are costly, and few.
pub struct Memo<K, T>(Mutex<Vec<(K, Slot<T>)>>);

type Slot<T> = Arc<Mutex<Option<Arc<T>>>>;

impl<K, T> Default for Memo<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: PartialEq, T> Memo<K, T> {
    /// The value of this key.
    pub fn get<E>(&self, key: K, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let slot = self.slot(key);
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = &*slot {
            return Ok(Arc::clone(value));
        }
        let value = Arc::new(make()?);
        *slot = Some(Arc::clone(&value));
        Ok(value)
    }

    /// Where the value of this key is, or will be.
    fn slot(&self, key: K) -> Slot<T> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, slot)) = slots.iter().find(|(known, _)| *known == key) {
            return Arc::clone(slot);
        }
        let slot = Slot::default();
        slots.push((key, Arc::clone(&slot)));
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once_per_key_and_errors_are_not_kept() {
        let memo = Memo::default();
        let mut made = 0;
        assert_eq!(memo.get(1, || Err::<u32, &str>("no")), Err("no"));
        for (key, value) in [(1, 10), (1, 11), (2, 20), (1, 12)] {
            let found = memo.get(key, || {
                made += 1;
                Ok::<u32, &str>(value)
            });
            assert_eq!(*found.expect("made"), if key == 1 { 10 } else { 20 });
        }
        assert_eq!(made, 2);
    }
}
