//! A hostile host: it sends one of its neighbours other frames than the others, or all of them values that nobody computes, each rightly signed.

use std::sync::Arc;

use crate::protocol::{Body, Message, Targets};

/// Names the releases, digits next to each other, in whose sums the host of this process sends its last receiver something else.
pub(in crate::node) const EQUIVOCATES: &str = "UNDERTONE_TEST_EQUIVOCATES";

/// What the last of several receivers is sent in place of this message, and its position.
pub(super) fn other(message: &Message, targets: &Targets) -> Option<(usize, Message)> {
    let releases = std::env::var(EQUIVOCATES).ok()?;
    let (Body::Average(values), Targets::Positions(positions)) = (&message.body, targets) else {
        return None;
    };
    let [_, .., last] = **positions else {
        return None;
    };
    let is_meant = releases.contains(&message.release.0.to_string());
    is_meant.then(|| {
        let body = Body::Average(Arc::new(values.iter().map(|x| x + 50.0).collect()));
        let message = Message {
            body,
            ..message.clone()
        };
        (last as usize, message)
    })
}

/// What the host of this process sends as every coordinate of its sums' messages.
pub(in crate::node) const DISTORTS: &str = "UNDERTONE_TEST_DISTORTS";

/// What is sent in place of this message.
pub(super) fn distorted(message: &Message) -> Option<Message> {
    let value: f64 = std::env::var(DISTORTS).ok()?.parse().ok()?;
    let Body::Average(values) = &message.body else {
        return None;
    };
    Some(Message {
        body: Body::Average(Arc::new(vec![value; values.len()])),
        ..message.clone()
    })
}
