//! Who signed a receipt, as `privacy check` reports it.

use std::path::Path;

use serde::Serialize;

#[cfg(feature = "node")]
use crate::node::store::{RECEIPT, SignedFileError, signature_path, verify_bytes};
#[cfg(feature = "node")]
use crate::session::PublicId;

/// What is known of a receipt's signature.
#[derive(Debug, Serialize)]
pub(super) struct Signed {
    /// Whether it is there and holds, and is by whom it should be.
    pub(super) holds: bool,
    /// Who signed, where the signature holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<String>,
    /// What is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
}

/// Verifies the signature beside a receipt whose bytes these are; `None` where there is none and none is asked for.
#[cfg(feature = "node")]
pub(super) fn signed(path: &Path, bytes: &[u8], wanted: Option<&PublicId>) -> Option<Signed> {
    let found = match verify_bytes(path, bytes, RECEIPT) {
        Err(SignedFileError::Unsigned { .. })
            if wanted.is_none() && !signature_path(path).is_symlink() =>
        {
            return None;
        }
        other => other,
    };
    Some(match found {
        Err(error) => Signed {
            holds: false,
            by: None,
            problem: Some(error.to_string()),
        },
        Ok(by) => {
            let other = wanted.filter(|wanted| **wanted != by);
            Signed {
                holds: other.is_none(),
                by: Some(by.to_string()),
                problem: other.map(|wanted| format!("it is signed by {by}, not by {wanted}")),
            }
        }
    })
}

/// A build without nodes knows no signatures: one that is there is not vouched for.
#[cfg(not(feature = "node"))]
pub(super) fn signed(path: &Path) -> Option<Signed> {
    let mut signature = path.as_os_str().to_owned();
    signature.push(".sig");
    Path::new(&signature).exists().then(|| Signed {
        holds: false,
        by: None,
        problem: Some(
            "this build cannot verify signatures: build it with the feature `node`".to_owned(),
        ),
    })
}
