//! A disk that becomes full, or a clock that jumps, under a process that tests start.
//!
//! Disk and clock belong to the whole process, and so do these defects. Without the feature `testing` a [`Defect`] has no values,
//! [`Defect::of_process`] gives nothing, and every line that asks for one is compiled in every build: what is tested is what ships.

#[cfg(any(test, feature = "testing"))]
#[cfg_attr(
    not(test),
    allow(dead_code, reason = "processes of unit tests alone have a defect")
)]
mod switched_on {
    use std::io::{self, ErrorKind};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicI64, Ordering};

    use time::{Duration, OffsetDateTime};

    static OF_PROCESS: OnceLock<Defect> = OnceLock::new();
    static WRITES: AtomicI64 = AtomicI64::new(0);
    static LINES: AtomicI64 = AtomicI64::new(0);

    /// What is wrong with the disk and the clock of this process.
    #[derive(Clone, Copy, Debug, Default)]
    pub(in crate::node) struct Defect {
        /// The writes that fail.
        pub(in crate::node) room: Option<Room>,
        /// Whether every line of the ledger has another time, years before and after the last.
        pub(in crate::node) jumps: bool,
    }

    /// Writes that find no room on the disk.
    #[derive(Clone, Copy, Debug)]
    pub(in crate::node) struct Room {
        /// How many writes succeed before.
        pub(in crate::node) first: i64,
        /// How many fail.
        pub(in crate::node) count: i64,
        /// Whether the process is killed there in place of being told.
        pub(in crate::node) is_death: bool,
    }

    impl Defect {
        /// That of this process, if it has one.
        pub(in crate::node::store) fn of_process() -> Option<Self> {
            OF_PROCESS.get().copied()
        }

        /// Gives this process the defect, once.
        pub(in crate::node) fn set(self) {
            OF_PROCESS.set(self).expect("one defect per process");
        }

        /// How many writes there have been since the process was given its defect.
        pub(in crate::node) fn writes() -> i64 {
            WRITES.load(Ordering::Relaxed)
        }

        /// Counts a write, and says whether it can be done.
        pub(in crate::node::store) fn write(self) -> io::Result<()> {
            let number = WRITES.fetch_add(1, Ordering::Relaxed);
            match self.room {
                Some(room) if number >= room.first && number - room.first < room.count => {
                    match room.is_death {
                        true => std::process::abort(),
                        false => Err(ErrorKind::StorageFull.into()),
                    }
                }
                _ => Ok(()),
            }
        }

        /// What the clock says at this time.
        pub(in crate::node::store) fn time(self, now: OffsetDateTime) -> OffsetDateTime {
            if !self.jumps {
                return now;
            }
            let line = LINES.fetch_add(1, Ordering::Relaxed);
            let sign = if line % 2 == 0 { 1 } else { -1 };
            now + Duration::days(sign * 300 * (1 + line % 7))
        }
    }
}

#[cfg(not(any(test, feature = "testing")))]
mod switched_off {
    use std::io;

    use time::OffsetDateTime;

    /// Nothing: this build has no defects.
    #[derive(Clone, Copy, Debug)]
    pub(in crate::node) enum Defect {}

    impl Defect {
        pub(in crate::node::store) fn of_process() -> Option<Self> {
            None
        }

        pub(in crate::node::store) fn write(self) -> io::Result<()> {
            match self {}
        }

        pub(in crate::node::store) fn time(self, _: OffsetDateTime) -> OffsetDateTime {
            match self {}
        }
    }

    const _: () = assert!(size_of::<Option<Defect>>() == 0);
}

#[cfg(not(any(test, feature = "testing")))]
pub(in crate::node) use switched_off::Defect;
#[cfg(any(test, feature = "testing"))]
pub(in crate::node) use switched_on::Defect;
#[cfg(test)]
pub(in crate::node) use switched_on::Room;
