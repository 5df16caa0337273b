//! Files and folders that nobody else can read: how they are made, and what is refused on opening.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use super::defect::Defect;
use super::error::StoreError;

/// Mode of a folder of ours.
const FOLDER: u32 = 0o700;
/// Mode of a secret file.
const SECRET: u32 = 0o600;

/// Refuses a write where the disk of a test has no room.
fn check_room() -> io::Result<()> {
    match Defect::of_process() {
        None => Ok(()),
        Some(defect) => defect.write(),
    }
}

/// Makes a folder that only we can enter.
pub(super) fn make_folder(path: &Path) -> Result<(), StoreError> {
    let mut builder = DirBuilder::new();
    system::private(&mut builder)?;
    builder
        .create(path)
        .map_err(StoreError::io("make the folder", path))
}

/// Refuses a folder that is a link, belongs to somebody else, or lets others in.
pub(super) fn check_folder(path: &Path) -> Result<(), StoreError> {
    let found = fs::symlink_metadata(path).map_err(StoreError::io("find", path))?;
    if found.is_symlink() {
        return Err(StoreError::Link(path.to_path_buf()));
    }
    if !found.is_dir() {
        return Err(StoreError::Kind {
            path: path.to_path_buf(),
            wanted: "folder",
        });
    }
    system::check(path, &found, FOLDER)
}

/// Makes a secret file, which must not be there yet, and writes and syncs it; the caller syncs the folder.
pub(super) fn create_secret(path: &Path, bytes: &[u8]) -> Result<File, StoreError> {
    check_room().map_err(StoreError::io("create", path))?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut file = system::secret(&mut options)?
        .open(path)
        .map_err(StoreError::io("create", path))?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(StoreError::io("write", path))?;
    Ok(file)
}

/// Opens a secret file to read and, if asked, to write; refuses links, other owners and modes that let others in.
pub(super) fn open_secret(path: &Path, writing: Writing) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true);
    match writing {
        Writing::No => {}
        Writing::Over => drop(options.write(true)),
        Writing::Append => drop(options.append(true)),
    }
    let file =
        system::no_link(&mut options)?.open(path).map_err(|error| {
            match fs::symlink_metadata(path) {
                Ok(found) if found.is_symlink() => StoreError::Link(path.to_path_buf()),
                _ => StoreError::io("open", path)(error),
            }
        })?;
    // Of the opened file, so that nothing can be exchanged in between.
    let found = file.metadata().map_err(StoreError::io("find", path))?;
    if !found.is_file() {
        return Err(StoreError::Kind {
            path: path.to_path_buf(),
            wanted: "regular file",
        });
    }
    system::check(path, &found, SECRET)?;
    Ok(file)
}

/// How a file is opened besides reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    /// Not at all.
    No,
    /// Anywhere.
    Over,
    /// At its end.
    Append,
}

/// All of an open file, unless it is longer than `limit` bytes.
pub(super) fn read_bounded(file: &File, path: &Path, limit: u64) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(StoreError::io("read", path))?;
    if bytes.len() as u64 > limit {
        return Err(StoreError::TooLong {
            path: path.to_path_buf(),
            limit,
        });
    }
    Ok(bytes)
}

/// All of a file that is public, as text; `None` if there is none.
pub(super) fn read_text(path: &Path, limit: u64) -> Result<Option<String>, StoreError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("open", path)(error)),
    };
    let bytes = read_bounded(&file, path, limit)?;
    let text = String::from_utf8(bytes).map_err(|_| StoreError::Content {
        path: path.to_path_buf(),
        problem: "this is no text in UTF-8".to_owned(),
    })?;
    Ok(Some(text))
}

/// Forces the names in a folder to the disk.
pub(super) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    File::open(path)
        .and_then(|folder| folder.sync_all())
        .map_err(StoreError::io("sync", path))
}

/// An open file with a lock, which ends with the value, or with the process, however that ends.
#[derive(Debug)]
pub(super) struct Locked(File);

impl Locked {
    /// Locks an open file; another lock on it, of whatever process, is refused at once. `path` is what the error names.
    pub(super) fn take(file: File, path: &Path) -> Result<Self, StoreError> {
        file.try_lock().map_err(|error| match error {
            fs::TryLockError::WouldBlock => StoreError::InUse(path.to_path_buf()),
            fs::TryLockError::Error(error) => StoreError::io("lock", path)(error),
        })?;
        Ok(Self(file))
    }

    /// The file.
    pub(super) fn file(&self) -> &File {
        &self.0
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing alone would leave the lock to a process that another thread is just starting, until that has closed what it inherited.
        let _ = self.0.unlock();
    }
}

/// What only grows: bytes are on the disk when `append` returns, and after a failure nothing is ever added.
pub(super) struct Growing {
    medium: Box<dyn Medium>,
    fenced: bool,
}

/// Where bytes go. A file, or in tests one that fails.
pub(super) trait Medium: Send {
    /// Writes all of it at the end.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Returns once everything written is on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// Why nothing was added.
#[derive(Debug)]
pub(super) enum Refused {
    /// It failed now.
    Failed(io::Error),
    /// It failed before.
    Fenced,
}

impl Growing {
    pub(super) fn new(medium: Box<dyn Medium>) -> Self {
        Self {
            medium,
            fenced: false,
        }
    }

    /// Adds bytes; they are on the disk when it returns.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        if self.fenced {
            return Err(Refused::Fenced);
        }
        let done = check_room()
            .and_then(|()| self.medium.write(bytes))
            .and_then(|()| self.medium.sync());
        self.fenced = done.is_err();
        done.map_err(Refused::Failed)
    }

    /// Whether nothing is ever added.
    pub(super) fn is_fenced(&self) -> bool {
        self.fenced
    }

    /// Adds nothing from now on.
    pub(super) fn fence(&mut self) {
        self.fenced = true;
    }
}

/// A file that was closed, so that it can be opened again.
struct Closed;

impl Medium for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<()> {
        Err(ErrorKind::NotConnected.into())
    }

    fn sync(&mut self) -> io::Result<()> {
        Err(ErrorKind::NotConnected.into())
    }
}

impl Growing {
    /// Closes the file, which gives up its lock; nothing is added from now on.
    pub(super) fn close(&mut self) {
        self.medium = Box::new(Closed);
        self.fenced = true;
    }
}

/// Writes a file whole or not at all; it is on the disk when this returns.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    check_room()
        .and_then(|()| crate::writing::replace(path, bytes))
        .map_err(StoreError::io("write", path))
}

impl std::fmt::Debug for Growing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Growing {{ fenced: {} }}", self.fenced)
    }
}

impl Medium for Locked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_all()
    }
}

/// Owners and modes.
#[cfg(unix)]
mod system {
    use std::fs::{DirBuilder, Metadata, OpenOptions};
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
    use std::path::Path;

    use rustix::fs::OFlags;
    use rustix::process::geteuid;

    use super::super::error::StoreError;
    use super::{FOLDER, SECRET};

    pub(super) fn private(builder: &mut DirBuilder) -> Result<(), StoreError> {
        builder.mode(FOLDER);
        Ok(())
    }

    /// The mode is given to the call that creates the file: it is never wider, whatever the umask.
    pub(super) fn secret(options: &mut OpenOptions) -> Result<&OpenOptions, StoreError> {
        Ok(options.mode(SECRET))
    }

    pub(super) fn no_link(options: &mut OpenOptions) -> Result<&OpenOptions, StoreError> {
        // Without waiting, should it be a pipe.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        Ok(options.custom_flags(flags.bits() as i32))
    }

    /// Refuses other owners, modes wider than `wanted`, and files with several names.
    pub(super) fn check(path: &Path, found: &Metadata, wanted: u32) -> Result<(), StoreError> {
        let path = || path.to_path_buf();
        let me = geteuid().as_raw();
        if found.uid() != me {
            return Err(StoreError::NotOurs {
                path: path(),
                owner: found.uid(),
                me,
            });
        }
        let mode = found.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(StoreError::Exposed {
                path: path(),
                mode,
                wanted,
            });
        }
        if found.is_file() && found.nlink() != 1 {
            return Err(StoreError::Link(path()));
        }
        Ok(())
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::{DirBuilder, Metadata, OpenOptions};
    use std::path::Path;

    use super::super::error::StoreError;

    pub(super) fn private(_: &mut DirBuilder) -> Result<(), StoreError> {
        Err(StoreError::Unsupported)
    }

    pub(super) fn secret(_: &mut OpenOptions) -> Result<&OpenOptions, StoreError> {
        Err(StoreError::Unsupported)
    }

    pub(super) fn no_link(_: &mut OpenOptions) -> Result<&OpenOptions, StoreError> {
        Err(StoreError::Unsupported)
    }

    pub(super) fn check(_: &Path, _: &Metadata, _: u32) -> Result<(), StoreError> {
        Err(StoreError::Unsupported)
    }
}
