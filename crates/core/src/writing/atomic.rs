//! Writes files whole or not at all: beside the final name, forced to the disk, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Tells the temporary files of one process apart.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A file that is written and waits for its name; without [`Self::commit`] it disappears.
#[derive(Debug)]
#[must_use = "without commit the file disappears"]
pub struct Staged {
    partial: PathBuf,
    target: PathBuf,
    renamed: bool,
}

impl Staged {
    /// Gives the file its name, replacing what was there, and forces the folder to the disk.
    ///
    /// # Errors
    /// Those of the system. If renaming fails, what was there is still there.
    pub fn commit(mut self) -> io::Result<()> {
        fs::rename(&self.partial, &self.target)?;
        self.renamed = true;
        sync_folder(&folder_of(&self.target))
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.renamed {
            // Nothing more can be done about a file that cannot be removed.
            let _ = fs::remove_file(&self.partial);
        }
    }
}

/// Writes a file so that whoever opens `path` at any time, also after a crash, a full disk or a size limit, finds
/// the old content or the new, never half of it.
///
/// What is no regular file, such as a pipe or a terminal, is written to as it is; a link stays, and what it points
/// to is replaced.
///
/// # Errors
/// Those of the system; then nothing has changed and no temporary file is left.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, |out| out.write_all(bytes))
}

/// [`replace`] with what `write` writes.
///
/// # Errors
/// As [`replace`], and those of `write`.
pub fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        let mut out = BufWriter::new(OpenOptions::new().write(true).open(path)?);
        write(&mut out)?;
        return out.flush();
    }
    stage(path, write)?.commit()
}

/// Writes what is to stand at `path` into a file beside it and forces it to the disk; [`Staged::commit`] puts it
/// in its place. So several files can be written before the first of them changes.
///
/// # Errors
/// Those of the system and of `write`; then no temporary file is left.
pub fn stage(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<Staged> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let before = fs::metadata(&target).ok();
    if before.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(ErrorKind::IsADirectory.into());
    }
    let (file, partial) = create_beside(&target)?;
    let staged = Staged {
        partial,
        target,
        renamed: false,
    };
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(before) = before {
        file.set_permissions(before.permissions())?;
    }
    file.sync_all()?;
    Ok(staged)
}

/// Gives a folder that was filled, or a file that is on the disk, its name, beside it in the same file system, and forces that to the disk. An empty folder or a file of this
/// name is replaced.
///
/// # Errors
/// Those of the system, among others where a folder of this name holds anything.
pub fn rename(made: &Path, path: &Path) -> io::Result<()> {
    fs::rename(made, path)?;
    sync_folder(&folder_of(path))
}

/// A new file in the folder of `target`, hidden, with a name of its own.
fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    let name = target
        .file_name()
        .ok_or_else(|| io::Error::from(ErrorKind::InvalidInput))?
        .to_string_lossy();
    let process = std::process::id();
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let partial = target.with_file_name(format!(".{name}.{process}-{number}.partial"));
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&partial)
        {
            Ok(file) => return Ok((file, partial)),
            // Left by a process that was killed and had the same number.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// Forces the names in a folder to the disk, on systems where folders can be opened.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> = entries
            .map(|entry| name(entry).to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Fails after some of the bytes have gone to the file.
    fn fail_in_the_middle(out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&vec![7; 100_000])?;
        out.flush()?;
        Err(ErrorKind::StorageFull.into())
    }

    #[test]
    fn a_writer_that_fails_in_the_middle_leaves_nothing_new() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("result");
        let error = replace_with(&path, fail_in_the_middle).expect_err("it fails");
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert!(names(folder.path()).is_empty());
        replace(&path, b"old").expect("writable");
        replace_with(&path, fail_in_the_middle).expect_err("it fails");
        assert_eq!(fs::read(&path).expect("there"), b"old");
        assert_eq!(names(folder.path()), ["result"]);
        replace(&path, b"new").expect("writable");
        assert_eq!(fs::read(&path).expect("there"), b"new");
        assert_eq!(names(folder.path()), ["result"]);
    }

    #[test]
    fn a_writer_that_panics_leaves_nothing_new() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("result");
        let outcome = std::panic::catch_unwind(|| {
            let _ = replace_with(&path, |_| panic!("in the middle"));
        });
        assert!(outcome.is_err());
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn staged_files_appear_together_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        let stage_one = |path: &PathBuf| stage(path, |out| out.write_all(b"x"));
        let staged = paths
            .each_ref()
            .map(|path| stage_one(path).expect("writable"));
        assert!(paths.iter().all(|path| !path.exists()));
        drop(staged);
        assert!(names(folder.path()).is_empty());
        for staged in paths
            .each_ref()
            .map(|path| stage_one(path).expect("writable"))
        {
            staged.commit().expect("renamed");
        }
        assert_eq!(names(folder.path()), ["a", "b"]);
    }

    #[test]
    fn a_folder_a_missing_folder_and_no_name_are_errors() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(replace(folder.path(), b"x").is_err());
        assert!(replace(&folder.path().join("gone/x"), b"x").is_err());
        assert!(replace(Path::new("/"), b"x").is_err());
        assert!(names(folder.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn links_modes_and_devices_stay_what_they_are() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, b"old").expect("writable");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).expect("ours");
        symlink(&real, &link).expect("a link");
        replace(&link, b"new").expect("writable");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read(&real).expect("there"), b"new");
        let mode = fs::metadata(&real).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        replace(Path::new("/dev/null"), b"x").expect("taken");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
    }
}
