//! The table that a verification fills.

use std::fmt;

use serde::Serialize;

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// Which kind: `algebra`, `peers`, `record`, `law`, `utility` or `spent`; of a run that is made again `again`, `receipt`, `spent` or `named`.
    pub kind: &'static str,
    /// What is checked.
    pub name: String,
    /// The statistic, in the unit the name says.
    pub statistic: f64,
    /// Its p-value, where it is a test.
    pub p_value: Option<f64>,
    /// What the statistic (or the p-value, if there is one) is held against.
    pub threshold: f64,
    /// The verdict.
    pub passed: bool,
}

/// The table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verification {
    /// Every check made.
    pub checks: Vec<Check>,
    /// Checks that do not apply, with the reason.
    pub skipped: Vec<String>,
    /// Repeated runs.
    pub runs: u32,
}

impl Verification {
    /// Whether every check passed. A table without checks has not.
    #[must_use]
    pub fn passed(&self) -> bool {
        !self.checks.is_empty() && self.checks.iter().all(|check| check.passed)
    }

    /// Number of statistical tests: checks with a p-value.
    pub(super) fn tests(&self) -> usize {
        let tests = self.checks.iter().filter(|check| check.p_value.is_some());
        tests.count()
    }

    /// The checks that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.passed)
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.passed { "ok" } else { "FAILED" };
        let (name, kind, threshold) = (&self.name, self.kind, self.threshold);
        match self.p_value {
            Some(p) => write!(
                f,
                "{verdict} {kind}: {name} = {:.4}, p = {p:.3e}, least allowed {threshold:.3e}",
                self.statistic
            ),
            None => write!(
                f,
                "{verdict} {kind}: {name} = {:.4e}, held against {threshold:.4e}",
                self.statistic
            ),
        }
    }
}

/// Failures, one a line; where there are none, how many checks passed. Then what was skipped, with the reason.
impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (checks, runs) = (self.checks.len(), self.runs);
        match self.failures().count() {
            0 if checks == 0 => write!(f, "no checks were made")?,
            0 => write!(f, "all {checks} checks passed over {runs} runs")?,
            failed => write!(f, "{failed} of {checks} checks FAILED over {runs} runs")?,
        }
        for check in self.failures() {
            write!(f, "\n  {check}")?;
        }
        for skipped in &self.skipped {
            write!(f, "\n  skipped: {skipped}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, p_value: Option<f64>, passed: bool) -> Check {
        Check {
            kind: "law",
            name: name.to_owned(),
            statistic: 0.5,
            p_value,
            threshold: 0.125,
            passed,
        }
    }

    fn table(checks: Vec<Check>, skipped: &[&str]) -> Verification {
        Verification {
            checks,
            skipped: skipped.iter().map(ToString::to_string).collect(),
            runs: 20,
        }
    }

    #[test]
    fn a_table_that_passed_is_one_line_and_what_was_skipped() {
        let passed = table(
            vec![check("a", None, true), check("b", Some(0.5), true)],
            &[],
        );
        assert_eq!(passed.to_string(), "all 2 checks passed over 20 runs");
        let skipped = table(vec![check("a", None, true)], &["utility: too few runs"]);
        assert_eq!(
            skipped.to_string(),
            "all 1 checks passed over 20 runs\n  skipped: utility: too few runs"
        );
    }

    #[test]
    fn a_table_that_failed_lists_its_failures_and_no_other_check() {
        let checks = vec![
            check("fine", None, true),
            check("bound", None, false),
            check("law of the sum", Some(0.001), false),
        ];
        assert_eq!(
            table(checks, &["peers: no noise"]).to_string(),
            "2 of 3 checks FAILED over 20 runs\n  \
             FAILED law: bound = 5.0000e-1, held against 1.2500e-1\n  \
             FAILED law: law of the sum = 0.5000, p = 1.000e-3, least allowed 1.250e-1\n  \
             skipped: peers: no noise"
        );
    }

    #[test]
    fn a_table_without_checks_has_not_passed_and_says_so() {
        let empty = table(Vec::new(), &["everything: no engine"]);
        assert!(!empty.passed());
        assert_eq!(
            empty.to_string(),
            "no checks were made\n  skipped: everything: no engine"
        );
    }
}
