//! `own.key`: the secrets of one session, kept until it ends and then erased.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use zeroize::Zeroizing;

use super::disk::{self, Writing};
use super::error::StoreError;

/// First bytes of the file.
const FORMAT: [u8; 8] = *b"UTOWNKEY";

/// Bytes of the file: format, two secrets, a checksum of both.
const LENGTH: usize = 8 + 64 + 32;

/// What this peer draws for one session from the operating system: what all its noise comes from, and the secret that it agrees on pairwise
/// noise with. `Debug` prints neither.
pub struct OneTimeSecrets {
    /// What all own noise derives from.
    pub noise: Zeroizing<[u8; 32]>,
    /// The X25519 secret.
    pub exchange: Zeroizing<[u8; 32]>,
}

impl fmt::Debug for OneTimeSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OneTimeSecrets(redacted)")
    }
}

/// Writes the secrets, which must not be there yet; they are on the disk when it returns.
pub(super) fn write(path: &Path, secrets: &OneTimeSecrets) -> Result<(), StoreError> {
    let mut bytes = Zeroizing::new([0; LENGTH]);
    bytes[..8].copy_from_slice(&FORMAT);
    bytes[8..40].copy_from_slice(&secrets.noise[..]);
    bytes[40..72].copy_from_slice(&secrets.exchange[..]);
    let sum = blake3::hash(&bytes[..72]);
    bytes[72..].copy_from_slice(sum.as_bytes());
    drop(disk::create_secret(path, &bytes[..])?);
    path.parent().map_or(Ok(()), disk::sync_folder)
}

/// Reads the secrets.
///
/// # Errors
/// Those of opening a secret file, and [`StoreError::Key`] for a file that is torn or damaged: its session cannot go on.
pub(super) fn read(path: &Path) -> Result<OneTimeSecrets, StoreError> {
    let file = disk::open_secret(path, Writing::No)?;
    let bytes = Zeroizing::new(disk::read_bounded(&file, path, LENGTH as u64)?);
    let whole = bytes.len() == LENGTH
        && bytes.starts_with(&FORMAT)
        && blake3::hash(&bytes[..72]).as_bytes() == &bytes[72..];
    if !whole {
        return Err(StoreError::Key {
            path: path.to_path_buf(),
            problem: "it is torn or damaged, or the session has ended",
        });
    }
    let mut secrets = OneTimeSecrets {
        noise: Zeroizing::new([0; 32]),
        exchange: Zeroizing::new([0; 32]),
    };
    secrets.noise.copy_from_slice(&bytes[8..40]);
    secrets.exchange.copy_from_slice(&bytes[40..72]);
    Ok(secrets)
}

/// Overwrites the secrets with zeros, forces that to the disk, empties the file and removes it. Nothing happens if they are gone.
///
/// Flash storage and journalling file systems may keep the old blocks all the same.
pub(super) fn erase(path: &Path) -> Result<(), StoreError> {
    if !path.try_exists().map_err(StoreError::io("find", path))? {
        return Ok(());
    }
    overwrite(disk::open_secret(path, Writing::Over)?)
        .map_err(StoreError::io("overwrite", path))?;
    std::fs::remove_file(path).map_err(StoreError::io("remove", path))?;
    path.parent().map_or(Ok(()), disk::sync_folder)
}

/// Overwrites an open file with zeros, forces that to the disk, and empties it.
pub(super) fn overwrite(mut file: File) -> io::Result<()> {
    let length = file.metadata()?.len();
    file.rewind()?;
    io::copy(&mut io::repeat(0).take(length), &mut file)?;
    file.sync_all()?;
    file.set_len(0)?;
    file.sync_all()
}
