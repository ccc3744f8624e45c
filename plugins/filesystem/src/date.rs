//! Points in time, written as JavaScript writes a `Date`. The time zone is UTC:
//! a sandbox has no other.

use std::time::{SystemTime, UNIX_EPOCH};

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Writes a time like `Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)`.
pub fn format(time: SystemTime) -> String {
    let seconds = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        // Rounded down, like the seconds of any other time.
        Err(before) => {
            let before = before.duration();
            let partial = i64::from(before.subsec_nanos() > 0);
            i64::try_from(before.as_secs()).map_or(i64::MIN, |seconds| -seconds - partial)
        }
    };
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let name = |names: &[&'static str], index: i64| {
        usize::try_from(index)
            .ok()
            .and_then(|index| names.get(index).copied())
            .unwrap_or("?")
    };
    format!(
        "{} {} {day:02} {year:04} {:02}:{:02}:{:02} GMT+0000 (Coordinated Universal Time)",
        name(&DAYS, days.rem_euclid(7)),
        name(&MONTHS, month),
        second / 3600,
        second / 60 % 60,
        second % 60,
    )
}

/// Returns year, month from 0 and day of a day counted from 1970-01-01. Years are taken to start in
/// March, so that the leap day is a year's last.
fn civil(days: i64) -> (i64, i64, i64) {
    const DAYS_OF_400_YEARS: i64 = 146_097;
    // 1970-01-01 is that many days after 0000-03-01.
    let days = days + 719_468;
    let (era, day) = (
        days.div_euclid(DAYS_OF_400_YEARS),
        days.rem_euclid(DAYS_OF_400_YEARS),
    );
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let first = (153 * month + 2) / 5;
    let next_year = i64::from(month >= 10);
    (
        era * 400 + year + next_year,
        (month + 2) % 12,
        day - first + 1,
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn dates_read_as_in_javascript() {
        for (seconds, text) in [
            (0, "Thu Jan 01 1970 00:00:00"),
            (951_782_400, "Tue Feb 29 2000 00:00:00"),
            (951_868_799, "Tue Feb 29 2000 23:59:59"),
            (951_868_800, "Wed Mar 01 2000 00:00:00"),
            (1_798_761_599, "Thu Dec 31 2026 23:59:59"),
            (4_107_542_400, "Mon Mar 01 2100 00:00:00"),
        ] {
            let date = format(UNIX_EPOCH + Duration::from_secs(seconds));
            assert_eq!(
                date,
                format!("{text} GMT+0000 (Coordinated Universal Time)")
            );
        }
        let before = format(UNIX_EPOCH - Duration::from_millis(500));
        assert!(before.starts_with("Wed Dec 31 1969 23:59:59"), "{before}");
    }
}
