//! What tests do with frames that leave and with records that are written.
//!
//! Without the feature `testing` an [`Interceptor`] has no values. A network holds an `Option` of one, which then takes no room, and every
//! line that reads it is compiled in every build: what is tested is what ships.

#[cfg(any(test, feature = "testing"))]
mod switched_on {
    use std::sync::Arc;

    use crate::protocol::SessionPlan;
    use crate::protocol::regroup::RegroupSetup;
    use crate::protocol::tolerant::{DiskRecord, Format, Frame};

    /// Replaces frames and records.
    pub(in crate::engine::event::faults) trait Interception {
        /// What the second of these peers receives in place of this frame of the first.
        fn frame(&self, ends: (usize, usize), format: &dyn Fn() -> Format, frame: Frame) -> Frame;

        /// What is on the disk in place of this record.
        fn record(&self, format: &dyn Fn() -> Format, record: DiskRecord) -> DiskRecord;
    }

    /// Interception of all frames and records of a run.
    #[cfg_attr(
        not(test),
        allow(dead_code, reason = "unit tests alone intercept anything")
    )]
    #[derive(Clone)]
    pub(in crate::engine::event::faults) struct Interceptor(
        pub(in crate::engine::event::faults) Arc<dyn Interception>,
    );

    impl Interceptor {
        pub(in crate::engine::event::faults) fn frame(
            &self,
            ends: (usize, usize),
            sender: &RegroupSetup,
            plan: &SessionPlan,
            frame: Frame,
        ) -> Frame {
            self.0.frame(ends, &|| Format::new(sender, plan), frame)
        }

        pub(in crate::engine::event::faults) fn record(
            &self,
            writer: &RegroupSetup,
            plan: &SessionPlan,
            record: DiskRecord,
        ) -> DiskRecord {
            self.0.record(&|| Format::new(writer, plan), record)
        }
    }
}

#[cfg(not(any(test, feature = "testing")))]
mod switched_off {
    use crate::protocol::SessionPlan;
    use crate::protocol::regroup::RegroupSetup;
    use crate::protocol::tolerant::{DiskRecord, Frame};

    /// Nothing: this build intercepts nothing.
    #[derive(Clone)]
    pub(in crate::engine::event::faults) enum Interceptor {}

    impl Interceptor {
        pub(in crate::engine::event::faults) fn frame(
            &self,
            _: (usize, usize),
            _: &RegroupSetup,
            _: &SessionPlan,
            _: Frame,
        ) -> Frame {
            match *self {}
        }

        pub(in crate::engine::event::faults) fn record(
            &self,
            _: &RegroupSetup,
            _: &SessionPlan,
            _: DiskRecord,
        ) -> DiskRecord {
            match *self {}
        }
    }

    const _: () = assert!(size_of::<Option<Interceptor>>() == 0);
}

#[cfg(not(any(test, feature = "testing")))]
pub(in crate::engine::event::faults) use switched_off::Interceptor;
#[cfg(test)]
pub(in crate::engine::event::faults) use switched_on::Interception;
#[cfg(any(test, feature = "testing"))]
pub(in crate::engine::event::faults) use switched_on::Interceptor;
