//! Coalitions and variances that are refused.

use crate::privacy::PrivacyError;

/// The coalition in ascending order, if every peer of it exists and is named once.
pub(super) fn check_coalition(peers: usize, coalition: &[u32]) -> Result<Vec<u32>, PrivacyError> {
    let mut sorted = coalition.to_vec();
    sorted.sort_unstable();
    for (position, &peer) in sorted.iter().enumerate() {
        let problem = if peer as usize >= peers {
            "which does not exist"
        } else if position > 0 && sorted[position - 1] == peer {
            "twice"
        } else {
            continue;
        };
        return Err(PrivacyError::Coalition {
            peer,
            problem,
            peers,
        });
    }
    Ok(sorted)
}

/// σ_Δ²/σ_η² up to which squares of the inverse's entries are representable.
pub(in crate::privacy) const LARGEST_RATIO: f64 = 1e100;

pub(super) fn check_variances(own: f64, pairwise: f64) -> Result<(), PrivacyError> {
    if !(own.is_normal() && own > 0.0) {
        return Err(PrivacyError::Parameter {
            name: "the variance of the own noise",
            found: own,
            expected: "a finite number above 0",
        });
    }
    // Written so that NaN is refused too.
    if !(pairwise >= 0.0 && pairwise / own <= LARGEST_RATIO) {
        return Err(PrivacyError::Parameter {
            name: "the variance of the pairwise noise",
            found: pairwise,
            expected: "a number of at least 0, at most 1e100 times the variance of the own noise",
        });
    }
    Ok(())
}
