//! `control.sock`: where a running node says how far it is, to its own user alone.
//!
//! A request is one line of JSON, `{"cmd":"status"}` or `{"cmd":"members"}`, and so is the answer. The socket has mode 0600 in a directory of mode 0700. Whatever is on
//! the line, the node answers or hangs up within seconds, and holds at most one line of 4 KiB.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream as Blocking;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

use super::error::StoreError;

/// Bytes of the longest request.
const LONGEST: u64 = 4096;

/// Bytes of the longest answer.
const LONGEST_ANSWER: u64 = 1 << 20;

/// How long either side waits for the other.
const PATIENCE: Duration = Duration::from_secs(2);

/// After how long a node that has no descriptor left for a caller looks again.
const AGAIN: Duration = Duration::from_millis(200);

/// What a running node is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cmd", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Asked {
    /// How far the node is.
    Status {},
    /// Who takes part in its session, and who exchanges values with whom.
    Members {},
}

/// The listening end. When it is dropped, the socket is gone.
#[derive(Debug)]
pub struct ControlServer {
    path: PathBuf,
    task: JoinHandle<()>,
}

impl ControlServer {
    /// Listens at `path` and answers with what `answering` returns; called within an asynchronous runtime, by the process that holds the state directory's lock,
    /// so that a socket that is there already is a dead one.
    ///
    /// # Errors
    /// [`StoreError::Io`], among others where the path is longer than a socket's may be (about 100 bytes).
    pub fn start(
        path: &Path,
        answering: impl Fn(Asked) -> Value + Send + Sync + 'static,
    ) -> Result<Self, StoreError> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(StoreError::io("remove the old socket", path)(error));
            }
            _ => {}
        }
        let listener = UnixListener::bind(path).map_err(StoreError::io("listen at", path))?;
        let mode = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, mode).map_err(StoreError::io("change the mode of", path))?;
        // One at a time: callers are this user's own commands.
        let task = tokio::spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((stream, _)) => {
                        // Whoever hangs up or is too slow gets no answer.
                        let _ = tokio::time::timeout(PATIENCE, answer(stream, &answering)).await;
                    }
                    // Out of descriptors, say: later, then.
                    Err(_) => tokio::time::sleep(AGAIN).await,
                }
            }
        });
        Ok(Self {
            path: path.to_path_buf(),
            task,
        })
    }
}

impl Drop for ControlServer {
    fn drop(&mut self) {
        self.task.abort();
        // A socket that stays is removed by the next start.
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn answer(
    stream: UnixStream,
    answering: &(impl Fn(Asked) -> Value + Sync),
) -> std::io::Result<()> {
    let (reading, mut writing) = stream.into_split();
    let mut line = Vec::new();
    BufReader::new(reading.take(LONGEST))
        .read_until(b'\n', &mut line)
        .await?;
    let answer = match serde_json::from_slice(&line) {
        Ok(asked) => answering(asked),
        Err(_) => {
            json!({ "error": "expected one line: {\"cmd\":\"status\"} or {\"cmd\":\"members\"}" })
        }
    };
    let mut text = answer.to_string();
    text.push('\n');
    writing.write_all(text.as_bytes()).await?;
    writing.shutdown().await
}

/// Asks the node that runs on a state directory; `None` if none runs.
///
/// # Errors
/// [`StoreError::Io`] where a node is there and does not answer, [`StoreError::Content`] where the answer is none.
pub fn ask(path: &Path, asked: Asked) -> Result<Option<Value>, StoreError> {
    let mut stream = match Blocking::connect(path) {
        Ok(stream) => stream,
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::ConnectionRefused
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(StoreError::io("connect to", path)(error)),
    };
    let mut exchange = || -> std::io::Result<Vec<u8>> {
        // The node may first wait out somebody else.
        stream.set_read_timeout(Some(2 * PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut line = serde_json::to_vec(&asked)?;
        line.push(b'\n');
        stream.write_all(&line)?;
        let mut answer = Vec::new();
        Read::by_ref(&mut stream)
            .take(LONGEST_ANSWER)
            .read_to_end(&mut answer)?;
        Ok(answer)
    };
    let answer = exchange().map_err(StoreError::io("ask the node at", path))?;
    let value = serde_json::from_slice(&answer).map_err(|error| StoreError::Content {
        path: path.to_path_buf(),
        problem: format!("the node's answer is no JSON: {error}"),
    })?;
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// What the node says to this line.
    fn said(path: &Path, line: &[u8]) -> Vec<u8> {
        let mut stream = Blocking::connect(path).expect("it listens");
        stream
            .set_read_timeout(Some(3 * PATIENCE))
            .expect("a socket");
        // It may hang up before it has read everything.
        let _ = stream.write_all(line);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    #[test]
    fn a_running_node_answers_its_own_user_and_nothing_else_disturbs_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("control.sock");
        assert!(
            ask(&path, Asked::Status {})
                .expect("nobody there")
                .is_none()
        );
        // A dead one.
        drop(std::os::unix::net::UnixListener::bind(&path).expect("bound"));
        assert!(
            ask(&path, Asked::Status {})
                .expect("nobody there")
                .is_none()
        );
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let asked = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&asked);
        let server = runtime.block_on(async {
            ControlServer::start(&path, move |what| match what {
                Asked::Status {} => json!({ "release": count.fetch_add(1, Ordering::Relaxed) }),
                Asked::Members {} => json!({ "members": [] }),
            })
        });
        let server = server.expect("it listens");
        let mode = std::fs::metadata(&path)
            .expect("there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(
            ask(&path, Asked::Status {}).expect("there"),
            Some(json!({ "release": 0 }))
        );
        let wrong: [&[u8]; 6] = [
            b"\n",
            b"{\"cmd\":\"stop\"}\n",
            b"{\"cmd\":\"status\",\"more\":1}\n",
            b"\xff\xfe\n",
            &[b'x'; 100_000],
            &[b'['; 100_000],
        ];
        for line in wrong {
            let answer = said(&path, line);
            assert!(!String::from_utf8_lossy(&answer).contains("release"));
        }
        // Somebody who says nothing is waited for, and not for ever.
        let silent = Blocking::connect(&path).expect("it listens");
        assert_eq!(
            ask(&path, Asked::Status {}).expect("there"),
            Some(json!({ "release": 1 }))
        );
        drop(silent);
        assert_eq!(
            ask(&path, Asked::Members {}).expect("there"),
            Some(json!({ "members": [] }))
        );
        drop(server);
        assert!(!path.exists());
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }
}
