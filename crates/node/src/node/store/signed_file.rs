//! Signatures of files: `FILE.sig` beside `FILE`, two lines, whose and what.
//!
//! The first line is the public id of the signer, the second its Ed25519 signature in base64 over the file's bytes, in a domain that says what
//! kind of file it is: the signature of a receipt is none of an invitation.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::disk;
use super::error::StoreError;
use crate::session::{Domain, Identity, IdentityError, PublicId, Signature};

/// What the receipt of a peer's session is signed as.
pub const RECEIPT: Domain = Domain("undertone 2026-11 receipt v1");

/// What a session file is signed as, by whoever invites.
pub const INVITATION: Domain = Domain("undertone 2026-11 invitation v1");

/// Bytes of the longest signature file.
const LONGEST: u64 = 256;

/// Bytes of the longest file that is signed.
const LONGEST_SIGNED: u64 = 1 << 28;

/// Why a file does not count as signed.
#[derive(Debug, thiserror::Error)]
pub enum SignedFileError {
    /// No signature.
    #[error("{} is not signed: there is no {}", file.display(), signature.display())]
    Unsigned {
        /// The file.
        file: PathBuf,
        /// Where its signature would be.
        signature: PathBuf,
    },
    /// A signature file that is none.
    #[error("{} is no signature: it must have two lines, a public id and 64 bytes in base64", .0.display())]
    Form(PathBuf),
    /// The signature does not verify.
    #[error("{} was changed after it was signed, or was never signed so: {source}", file.display())]
    Wrong {
        /// The file.
        file: PathBuf,
        /// Who is said to have signed.
        source: IdentityError,
    },
    /// Files that cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Where the signature of a file lies.
#[must_use]
pub fn signature_path(file: &Path) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(".sig");
    path.into()
}

/// Signs the file as it is on the disk and writes the signature beside it.
///
/// # Errors
/// [`SignedFileError::Store`].
pub fn sign_file(file: &Path, identity: &Identity, domain: Domain) -> Result<(), SignedFileError> {
    let signature = identity.sign(domain, &read(file)?);
    let encoded = STANDARD.encode(signature.to_bytes());
    let path = signature_path(file);
    let text = format!("{}\n{encoded}\n", identity.id());
    Ok(disk::replace(&path, text.as_bytes())?)
}

/// Who signed the file, if the signature beside it holds.
///
/// # Errors
/// [`SignedFileError`]: there is none, it is no signature, or it is not over these bytes.
pub fn verify_file(file: &Path, domain: Domain) -> Result<PublicId, SignedFileError> {
    verify_bytes(file, &read(file)?, domain)
}

/// Who signed these bytes, which were read from `file`: for callers that read a file once and then use what was verified.
///
/// # Errors
/// As [`verify_file`].
pub fn verify_bytes(
    file: &Path,
    bytes: &[u8],
    domain: Domain,
) -> Result<PublicId, SignedFileError> {
    let path = signature_path(file);
    let text = match disk::read_text(&path, LONGEST) {
        Ok(Some(text)) => text,
        Ok(None) => {
            return Err(SignedFileError::Unsigned {
                file: file.to_path_buf(),
                signature: path,
            });
        }
        Err(StoreError::Content { .. } | StoreError::TooLong { .. }) => {
            return Err(SignedFileError::Form(path));
        }
        Err(error) => return Err(error.into()),
    };
    let (by, signature) = parse(&text).ok_or(SignedFileError::Form(path))?;
    let wrong = |source| SignedFileError::Wrong {
        file: file.to_path_buf(),
        source,
    };
    by.verify(domain, bytes, &signature).map_err(wrong)?;
    Ok(by)
}

fn read(file: &Path) -> Result<Vec<u8>, StoreError> {
    let open = std::fs::File::open(file).map_err(StoreError::io("open", file))?;
    disk::read_bounded(&open, file, LONGEST_SIGNED)
}

fn parse(text: &str) -> Option<(PublicId, Signature)> {
    let (id, rest) = text.split_once('\n')?;
    let encoded = rest.strip_suffix('\n')?;
    let bytes = STANDARD.decode(encoded).ok()?.try_into().ok()?;
    Some((id.parse().ok()?, Signature::from_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_holds_for_the_file_the_signer_and_the_kind() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("receipt.json");
        std::fs::write(&file, b"{\"epsilon\": 1}").expect("written");
        let unsigned = verify_file(&file, RECEIPT).expect_err("unsigned");
        assert!(matches!(unsigned, SignedFileError::Unsigned { .. }));
        let identity = Identity::from_secret([7; 32].into());
        sign_file(&file, &identity, RECEIPT).expect("signed");
        assert_eq!(verify_file(&file, RECEIPT).expect("signed"), identity.id());
        let other_kind = verify_file(&file, INVITATION).expect_err("another kind");
        assert!(matches!(other_kind, SignedFileError::Wrong { .. }));

        let path = signature_path(&file);
        assert!(path.ends_with("receipt.json.sig"));
        let text = std::fs::read_to_string(&path).expect("readable");
        assert_eq!(text.lines().count(), 2);
        let stranger = Identity::from_secret([8; 32].into()).id().to_string();
        let other = text.replace(&identity.id().to_string(), &stranger);
        let forms = [
            String::new(),
            text.trim_end().to_owned(),
            text.replace('\n', "\r\n"),
            format!("{text}{text}"),
            "x".repeat(10_000),
        ];
        for form in forms {
            std::fs::write(&path, &form).expect("written");
            let error = verify_file(&file, RECEIPT).expect_err("no signature");
            assert!(matches!(error, SignedFileError::Form(_)), "{error}");
        }
        std::fs::write(&path, other).expect("written");
        let error = verify_file(&file, RECEIPT).expect_err("by another");
        assert!(error.to_string().contains(&stranger), "{error}");
        // A flipped bit of either file.
        let mut changed = text.clone().into_bytes();
        for at in 0..changed.len() {
            changed[at] ^= 1;
            std::fs::write(&path, &changed).expect("written");
            assert!(verify_file(&file, RECEIPT).is_err(), "byte {at}");
            changed[at] ^= 1;
        }
        std::fs::write(&path, &text).expect("written");
        assert!(verify_file(&file, RECEIPT).is_ok());
        std::fs::write(&file, b"{\"epsilon\": 2}").expect("written");
        assert!(verify_file(&file, RECEIPT).is_err());
    }
}
