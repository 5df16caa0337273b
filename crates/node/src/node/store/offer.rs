//! What a session offers, as far as a policy has a say in it, and the refusals.

use serde::Serialize;

use super::policy::{Policy, Publish};
use super::terms::ScopeName;
use crate::privacy::{Adjacency, Budget, Certificate, LifetimeBudget, SquareSum};

/// What one session wants of this peer. Numbers are those that this peer's own planner found, not those that the session file states.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// How many take part.
    pub members: usize,
    /// How many curious members the noise was planned for.
    pub colluders: usize,
    /// ε that the session promises against them.
    pub epsilon: f64,
    /// δ of the same promise.
    pub delta: f64,
    /// What one record is.
    pub adjacency: Adjacency,
    /// How the promise is known.
    pub certificate: Certificate,
    /// Releases that may be repeated.
    pub retries: u32,
    /// How contributions are published.
    pub publish: Publish,
    /// Whose data: a scope of the policy.
    pub scope: ScopeName,
    /// The largest Σ μ² that it may come to, retries and all.
    pub mu_squared: SquareSum,
    /// Whether it is plain ([`Adjacency::square_factor`]).
    pub plain: bool,
    /// Bytes of its longest message.
    pub max_frame: u64,
}

/// Why this peer's policy refuses a session. Each names the key of `policy.toml`, its limit and what was found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// Too few take part.
    #[error("policy: session.min_peers = {limit}, and the session has {found} members")]
    Members {
        /// At least.
        limit: usize,
        /// Members.
        found: usize,
    },
    /// Too few curious members are planned for.
    #[error(
        "policy: session.min_colluders = {limit}, and the session's noise is planned for {found} curious members"
    )]
    Colluders {
        /// At least.
        limit: usize,
        /// Planned for.
        found: usize,
    },
    /// ε is too large, or no number.
    #[error(
        "policy: session.max_epsilon = {limit:?}, and the session may cost epsilon = {found:?}"
    )]
    Epsilon {
        /// At most.
        limit: f64,
        /// Found.
        found: f64,
    },
    /// δ is too large, or no number.
    #[error("policy: session.max_delta = {limit:e}, and the session promises delta = {found:e}")]
    Delta {
        /// At most.
        limit: f64,
        /// Found.
        found: f64,
    },
    /// μ² means more than ε.
    #[error(
        "policy: session.max_epsilon = {limit:?}, and the session's sum of mu^2 = {mu_squared:?} means epsilon = {found:?} at max_delta"
    )]
    Spending {
        /// At most.
        limit: f64,
        /// ε of the sum.
        found: f64,
        /// The sum.
        mu_squared: f64,
    },
    /// Another unit of protection.
    #[error("policy: session.adjacency = [{limit}], and the session protects {found:?}")]
    Adjacency {
        /// Accepted, in quotes.
        limit: String,
        /// Found.
        found: String,
    },
    /// A promise that is known in another way.
    #[error(
        "policy: session.certificates = [{limit}], and the session's promise is known by {found:?}"
    )]
    Certificate {
        /// Accepted, in quotes.
        limit: String,
        /// Found.
        found: String,
    },
    /// Another way to publish.
    #[error("policy: session.publish = [{limit}], and the session publishes {found:?}")]
    Publish {
        /// Accepted, in quotes.
        limit: String,
        /// Found.
        found: String,
    },
    /// Too many retries.
    #[error("policy: session.max_retries = {limit}, and the session allows {found}")]
    Retries {
        /// At most.
        limit: u32,
        /// Found.
        found: u32,
    },
    /// People nobody has set a limit for.
    #[error(
        "policy: there is no [lifetime.\"{scope}\"]: write how much the people of this scope may lose over all sessions, or name one of: {known}"
    )]
    Scope {
        /// Asked for.
        scope: ScopeName,
        /// In the policy.
        known: String,
    },
    /// More than all sessions together may cost.
    #[error(
        "policy: lifetime.\"{scope}\".epsilon = {limit:?} at delta = {delta:e}, and this session alone may cost epsilon = {found:?} there"
    )]
    Lifetime {
        /// Whose data.
        scope: ScopeName,
        /// At most.
        limit: f64,
        /// At this δ.
        delta: f64,
        /// Found.
        found: f64,
    },
    /// Longer messages.
    #[error(
        "policy: network.max_frame = {limit} bytes, and the session's longest message has {found}"
    )]
    Frame {
        /// At most.
        limit: u64,
        /// Found.
        found: u64,
    },
}

impl Policy {
    /// Whether this peer takes part in such a session; the ledger then says whether anything is left for it.
    ///
    /// # Errors
    /// The first [`Refusal`]. Numbers that are none are refused.
    pub fn check(&self, offer: &Offer) -> Result<(), Refusal> {
        let limits = self.session();
        // Written so that what is no number is refused.
        let within = |found: f64, limit: f64| found >= 0.0 && found <= limit;
        let (limit, found) = (limits.min_peers, offer.members);
        if found < limit {
            return Err(Refusal::Members { limit, found });
        }
        let (limit, found) = (limits.min_colluders, offer.colluders);
        if found < limit {
            return Err(Refusal::Colluders { limit, found });
        }
        let (limit, found) = (limits.max_delta.get(), offer.delta);
        if !within(found, limit) {
            return Err(Refusal::Delta { limit, found });
        }
        let (limit, found) = (limits.max_epsilon.get(), offer.epsilon);
        if !within(found, limit) {
            return Err(Refusal::Epsilon { limit, found });
        }
        let one = LifetimeBudget::new(Budget {
            epsilon: limits.max_epsilon,
            delta: limits.max_delta,
        });
        if !one.allows(offer.mu_squared) {
            return Err(Refusal::Spending {
                limit,
                found: one.epsilon_of(offer.mu_squared),
                mu_squared: offer.mu_squared.get(),
            });
        }
        if let Some((limit, found)) = missing(&limits.adjacency, &offer.adjacency) {
            return Err(Refusal::Adjacency { limit, found });
        }
        if let Some((limit, found)) = missing(&limits.certificates, &offer.certificate) {
            return Err(Refusal::Certificate { limit, found });
        }
        if let Some((limit, found)) = missing(&limits.publish, &offer.publish) {
            return Err(Refusal::Publish { limit, found });
        }
        let (limit, found) = (limits.max_retries, offer.retries);
        if found > limit {
            return Err(Refusal::Retries { limit, found });
        }
        let (limit, found) = (self.max_frame(), offer.max_frame);
        if found > limit {
            return Err(Refusal::Frame { limit, found });
        }
        self.check_scope(offer)
    }

    fn check_scope(&self, offer: &Offer) -> Result<(), Refusal> {
        let scope = offer.scope.clone();
        let Some(budget) = self.lifetime(&scope) else {
            let known = self.scopes().map(|scope| format!("\"{scope}\""));
            let known = known.collect::<Vec<_>>().join(", ");
            return Err(Refusal::Scope { scope, known });
        };
        let lifetime = LifetimeBudget::new(budget);
        match lifetime.allows(offer.mu_squared) {
            true => Ok(()),
            false => Err(Refusal::Lifetime {
                scope,
                limit: budget.epsilon.get(),
                delta: budget.delta.get(),
                found: lifetime.epsilon_of(offer.mu_squared),
            }),
        }
    }
}

/// What is accepted and what was found, as the file would write them, where the one does not hold the other.
fn missing<T: PartialEq + Serialize>(accepted: &[T], found: &T) -> Option<(String, String)> {
    let name = |value: &T| match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        other => unreachable!("names are strings: {other:?}"),
    };
    let all = || {
        let names = accepted.iter().map(|value| format!("\"{}\"", name(value)));
        names.collect::<Vec<_>>().join(", ")
    };
    (!accepted.contains(found)).then(|| (all(), name(found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Something that a session wants otherwise.
    type Change<'a> = &'a dyn Fn(&mut Offer);

    fn offer() -> Offer {
        Offer {
            members: 3,
            colluders: 1,
            epsilon: 2.0,
            delta: 1e-5,
            adjacency: Adjacency::User,
            certificate: Certificate::Exact,
            retries: 0,
            publish: Publish::Open,
            scope: "default".parse().expect("a scope"),
            mu_squared: SquareSum::new(0.2).expect("a square"),
            plain: true,
            max_frame: 1 << 26,
        }
    }

    #[test]
    fn the_cautious_policy_takes_a_cautious_session() {
        assert_eq!(Policy::default().check(&offer()), Ok(()));
    }

    #[test]
    fn every_limit_is_kept_and_named() {
        let change = |change: &dyn Fn(&mut Offer)| {
            let mut offer = offer();
            change(&mut offer);
            let refusal = Policy::default().check(&offer).expect_err("refused");
            refusal.to_string()
        };
        let square = |value: f64| SquareSum::new(value).expect("a square");
        let cases: [(&str, Change<'_>, &str); 17] = [
            ("session.min_peers = 3", &|o| o.members = 2, "2 members"),
            ("session.min_colluders = 1", &|o| o.colluders = 0, "for 0"),
            ("session.max_epsilon = 2", &|o| o.epsilon = 2.001, "2.001"),
            ("session.max_epsilon", &|o| o.epsilon = f64::NAN, "NaN"),
            ("session.max_epsilon", &|o| o.epsilon = -1.0, "-1"),
            ("session.max_epsilon", &|o| o.epsilon = f64::INFINITY, "inf"),
            ("session.max_delta = 1e-5", &|o| o.delta = 1.1e-5, "1.1e-5"),
            ("session.max_delta", &|o| o.delta = f64::NAN, "NaN"),
            (
                "session.max_epsilon = 2",
                &|o| o.mu_squared = square(0.3),
                "0.3 means",
            ),
            (
                "session.max_epsilon",
                &|o| o.mu_squared = square(f64::MAX),
                "e307",
            ),
            (
                "session.adjacency = [\"user\"]",
                &|o| o.adjacency = Adjacency::Interaction,
                "\"interaction\"",
            ),
            (
                "session.certificates = [\"exact\", ",
                &|o| o.certificate = Certificate::SecureSum,
                "\"secure-sum\"",
            ),
            (
                "session.certificates",
                &|o| o.certificate = Certificate::LossDistribution,
                "\"loss-distribution\"",
            ),
            ("session.max_retries = 0", &|o| o.retries = 1, "allows 1"),
            (
                "network.max_frame = 67108864",
                &|o| o.max_frame += 1,
                "67108865",
            ),
            (
                "no [lifetime.\"elsewhere\"]",
                &|o| o.scope = "elsewhere".parse().expect("a scope"),
                "\"default\"",
            ),
            (
                "session.min_peers",
                &|o| {
                    // The first of several.
                    o.members = 0;
                    o.colluders = 0;
                },
                "0 members",
            ),
        ];
        for (key, edit, found) in cases {
            let message = change(edit);
            assert!(message.contains(key), "{key}: {message}");
            assert!(message.contains(found), "{found}: {message}");
        }
        // What the defaults cannot show: a list without sealed or open, a lifetime below one session.
        let text = Policy::default_text().replace("[\"sealed\", \"open\"]", "[\"sealed\"]");
        let sealed = Policy::parse(&text).expect("a policy");
        let refusal = sealed.check(&offer()).expect_err("open").to_string();
        assert!(
            refusal.contains("session.publish = [\"sealed\"]"),
            "{refusal}"
        );
        let text = Policy::default_text().replace("epsilon = 4.0", "epsilon = 0.5");
        let little = Policy::parse(&text).expect("a policy");
        let refusal = little.check(&offer()).expect_err("dear").to_string();
        assert!(
            refusal.contains("lifetime.\"default\".epsilon = 0.5"),
            "{refusal}"
        );
    }
}
