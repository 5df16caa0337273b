//! What the kernel says of this process.

/// A figure of `/proc/self/status` in KiB: `VmHWM:` or `VmRSS:`; not a number where there is none.
#[allow(dead_code, reason = "not every benchmark asks")]
pub(crate) fn memory_kib(line: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|l| l.strip_prefix(line))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(f64::NAN)
}

/// CPU seconds of this process so far, user and system, all threads (hundredths; 0 where there is no `/proc`).
#[allow(dead_code, reason = "not every benchmark has threads")]
pub(crate) fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks.filter_map(|t| t.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// CPU seconds of the main thread so far, to the nanosecond; not a number where the kernel does not say.
#[allow(dead_code, reason = "not every benchmark has one thread")]
pub(crate) fn thread_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next();
    nanoseconds
        .and_then(|n| n.parse::<f64>().ok())
        .map_or(f64::NAN, |n| n * 1e-9)
}
