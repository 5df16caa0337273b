//! `peer.key`, the secret, and `peer.pub`, what others may know.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::digest::Digest;
use super::disk::{self, Writing};
use super::error::StoreError;
use crate::session::{Identity, PublicId};

/// First line of a key file.
const FORMAT: &str = "undertone-key-v1";

/// No key file is longer.
const LONGEST: u64 = 256;

/// No public file is longer: an id, a raw key, a name.
const LONGEST_PUBLIC: u64 = 1024;

/// Writes a new secret key, which must not be there yet.
pub(super) fn write(path: &Path, identity: &Identity) -> Result<(), StoreError> {
    let secret = identity.secret();
    let encoded = Zeroizing::new(STANDARD.encode(&secret[..]));
    let text = Zeroizing::new(format!("{FORMAT}\n{}\n{}\n", *encoded, identity.id()));
    disk::create_secret(path, text.as_bytes()).map(drop)
}

/// Reads the secret key.
///
/// # Errors
/// A link, another owner, a mode that lets others read it, and whatever is not three lines of ours. No error holds any of its content.
pub(super) fn read(path: &Path) -> Result<Identity, StoreError> {
    let file = disk::open_secret(path, Writing::No)?;
    let bytes = Zeroizing::new(disk::read_bounded(&file, path, LONGEST)?);
    parse(&bytes).map_err(|problem| StoreError::Key {
        path: path.to_path_buf(),
        problem,
    })
}

/// The key in the three lines of a file.
fn parse(bytes: &[u8]) -> Result<Identity, &'static str> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is no text")?;
    let text = text
        .strip_suffix('\n')
        .ok_or("its last line does not end")?;
    let mut lines = text.split('\n');
    let (Some(format), Some(secret), Some(id), None) =
        (lines.next(), lines.next(), lines.next(), lines.next())
    else {
        return Err("it must have three lines");
    };
    if format != FORMAT {
        return Err("its first line must be undertone-key-v1");
    }
    let mut bytes = Zeroizing::new([0; 32]);
    // The decoder wants room for what the longest text of this length could hold.
    let mut room = Zeroizing::new([0; 48]);
    match STANDARD.decode_slice(secret, &mut room[..]) {
        Ok(32) => bytes.copy_from_slice(&room[..32]),
        _ => return Err("its second line must be 32 bytes in base64"),
    }
    let identity = Identity::from_secret(bytes);
    let stated: Result<PublicId, _> = id.parse();
    match stated {
        Ok(stated) if stated == identity.id() => Ok(identity),
        _ => Err("its third line is not the id of its key: it was changed or damaged"),
    }
}

/// The text of `peer.pub`: id, raw key in hexadecimal digits, name.
pub(super) fn public_text(id: &PublicId, name: &str) -> String {
    format!("{id}\n{}\n{name}\n", Digest(*id.bytes()))
}

/// Id and name as `peer.pub` has them.
pub(super) fn read_public(path: &Path) -> Result<(PublicId, String), StoreError> {
    let text = disk::read_text(path, LONGEST_PUBLIC)?.unwrap_or_default();
    let wrong = |problem: &str| StoreError::Content {
        path: path.to_path_buf(),
        problem: problem.to_owned(),
    };
    let mut lines = text.lines();
    let id: PublicId = lines
        .next()
        .unwrap_or_default()
        .parse()
        .map_err(|_| wrong("its first line must be the public id"))?;
    let name = lines.nth(1).unwrap_or_default();
    if text != public_text(&id, name) {
        return Err(wrong("it must be an id, its raw key and a name"));
    }
    Ok((id, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("peer.key");
        write(&path, &Identity::from_secret([9; 32].into())).expect("written");
        std::fs::read_to_string(path).expect("readable")
    }

    #[test]
    fn the_key_that_is_written_is_read() {
        let identity = parse(text().as_bytes()).expect("a key");
        assert_eq!(*identity.secret(), [9; 32]);
        assert_eq!(text().lines().count(), 3);
    }

    #[test]
    fn what_is_no_key_file_is_refused_and_nothing_of_it_is_told() {
        let good = text();
        let secret = good.lines().nth(1).expect("a secret").to_owned();
        let other = Identity::from_secret([8; 32].into()).id().to_string();
        let own = Identity::from_secret([9; 32].into()).id().to_string();
        let cases = [
            String::new(),
            good.replace("v1", "v2"),
            good.replace(&own, &other),
            good.replace(&secret, &secret[1..]),
            good.replace(&secret, &format!("{secret}AAAA")),
            good.replace(&secret, &"A".repeat(120)),
            good.replace(&secret, "????"),
            good.replace('\n', "\r\n"),
            format!("{good}\n"),
            good.trim_end().to_owned(),
        ];
        for case in cases {
            let problem = parse(case.as_bytes()).expect_err(&case);
            assert!(!problem.contains(&secret[..8]));
        }
        // Every flipped bit is noticed.
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bytes = good.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                assert!(parse(&bytes).is_err(), "byte {at}, bit {bit}");
            }
        }
    }
}
