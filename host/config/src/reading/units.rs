//! Sizes and durations as people write them: a whole number and its unit.

use std::time::Duration;

/// The longest duration that makes sense here: a month. Beyond it lie typing
/// errors, and the overflow of clocks.
const MAX_DURATION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

const SIZES: &[(&str, u64)] = &[
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

const DURATIONS: &[(&str, u64)] = &[
    ("ms", 1),
    ("s", 1_000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];

/// Reads a size like `256MiB` or `64 KiB`, in bytes.
///
/// # Errors
/// The text is no size; the error says what one looks like.
pub fn size(text: &str) -> Result<u64, &'static str> {
    const HINT: &str =
        "a size is a whole number above 0 with a unit, like `64KiB`, `256MiB` or `1GiB`";
    scaled(text, SIZES).filter(|bytes| *bytes > 0).ok_or(HINT)
}

/// Reads a duration like `500ms`, `60s`, `10m` or `1h`.
///
/// # Errors
/// The text is no duration; the error says what one looks like.
pub fn duration(text: &str) -> Result<Duration, &'static str> {
    const HINT: &str = "a duration is a whole number above 0 with a unit, like `500ms`, `60s`, `10m` or `1h`, and at most `30d`";
    scaled(text, DURATIONS)
        .map(Duration::from_millis)
        .filter(|duration| !duration.is_zero() && *duration <= MAX_DURATION)
        .ok_or(HINT)
}

/// Formats a size in the largest binary unit that shows it in few digits, for people.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "one decimal is shown")]
pub fn human_size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1 << 10 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut shown = UNITS[0];
    for unit in UNITS.iter().skip(1) {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        shown = unit;
    }
    format!("{value:.1} {shown}")
}

fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.trim();
    let (_, scale) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("1B", 1),
            ("64KiB", 65_536),
            ("64 KiB", 65_536),
            ("256MiB", 268_435_456),
            ("1GiB", 1 << 30),
            ("10MB", 10_000_000),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for bad in [
            "",
            "1",
            "MiB",
            "-1MiB",
            "1.5GiB",
            "0B",
            "1 mib",
            "1MiBs",
            " 1MiB",
            "99999999999999999999B",
            "99999999999999999GiB",
            "１MiB",
        ] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations() {
        for (text, ms) in [
            ("500ms", 500),
            ("60s", 60_000),
            ("10m", 600_000),
            ("1h", 3_600_000),
            ("30d", 2_592_000_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for bad in [
            "",
            "60",
            "0s",
            "31d",
            "1h30m",
            "-1s",
            "99999999999999999999d",
        ] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_for_people() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (43_000, "42.0 KiB"),
            (12 << 20, "12.0 MiB"),
        ] {
            assert_eq!(human_size(bytes), text);
        }
    }
}
