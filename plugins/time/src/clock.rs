//! Time in timezones. Every function takes the current time as a parameter.

use chrono::{DateTime, NaiveTime, Offset, SecondsFormat, TimeZone, Utc};
use chrono_tz::{OffsetComponents, Tz};

/// Moment as the clocks of a timezone show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// The timezone, as it was asked for.
    pub timezone: String,
    /// ISO 8601, to the second, with the offset from UTC.
    pub datetime: String,
    /// Name of the day, in English.
    pub day_of_week: String,
    /// Whether daylight saving time is in force.
    pub is_dst: bool,
}

/// A time of day in two timezones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversion {
    /// Time in the timezone that it was asked for.
    pub source: Moment,
    /// Same moment in the target's timezone.
    pub target: Moment,
    /// Time by which the target's clocks are ahead, like `+9.0h` or `-5.75h`.
    pub difference: String,
}

/// Returns the current time in a timezone.
///
/// # Errors
/// There is no such timezone.
pub fn current(timezone: &str, now: DateTime<Utc>) -> Result<Moment, String> {
    let zone = zone("timezone", timezone)?;
    Ok(moment(timezone, &now.with_timezone(&zone)))
}

/// Returns the time in one timezone when the clocks of another show `time`, today.
///
/// # Errors
/// There is no such timezone, or `time` is not a time of day there.
pub fn convert(
    source: &str,
    time: &str,
    target: &str,
    now: DateTime<Utc>,
) -> Result<Conversion, String> {
    let from = zone("source_timezone", source)?;
    let to = zone("target_timezone", target)?;
    let clock = NaiveTime::parse_from_str(time, "%H:%M")
        .map_err(|_| "Invalid time format. Expected HH:MM [24-hour format]".to_owned())?;
    let today = now.with_timezone(&from).date_naive();
    // A time that comes twice when clocks are set back is its first coming.
    let there = from
        .from_local_datetime(&today.and_time(clock))
        .earliest()
        .ok_or_else(|| {
            format!("Invalid time: {time} does not exist in {source} on {today} (skipped by a clock change)")
        })?;
    let here = there.with_timezone(&to);
    let seconds = |moment: &DateTime<Tz>| moment.offset().fix().local_minus_utc();
    Ok(Conversion {
        source: moment(source, &there),
        target: moment(target, &here),
        difference: difference(seconds(&here) - seconds(&there)),
    })
}

fn zone(argument: &str, name: &str) -> Result<Tz, String> {
    if name.is_empty() {
        return Err(format!("Missing required argument: {argument}"));
    }
    name.parse()
        .map_err(|_| format!("Invalid timezone: 'No time zone found with key {name}'"))
}

fn moment(timezone: &str, time: &DateTime<Tz>) -> Moment {
    Moment {
        timezone: timezone.to_owned(),
        datetime: time.to_rfc3339_opts(SecondsFormat::Secs, false),
        day_of_week: time.format("%A").to_string(),
        is_dst: !time.offset().dst_offset().is_zero(),
    }
}

/// Writes hours with one decimal where they are whole, else with as many as they need.
fn difference(seconds: i32) -> String {
    let hours = f64::from(seconds) / 3600.0;
    if seconds % 3600 == 0 {
        return format!("{hours:+.1}h");
    }
    let text = format!("{hours:+.2}");
    format!("{}h", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::{convert, current};

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn now_is_told_with_offset_day_and_season() {
        let summer = current("Europe/Warsaw", at("2024-07-01T12:00:00.9Z")).unwrap();
        assert_eq!(summer.datetime, "2024-07-01T14:00:00+02:00");
        assert_eq!(
            (summer.day_of_week.as_str(), summer.is_dst),
            ("Monday", true)
        );
        let winter = current("Etc/UTC", at("2024-01-01T00:00:00Z")).unwrap();
        assert_eq!(winter.datetime, "2024-01-01T00:00:00+00:00");
        assert!(!winter.is_dst);
    }

    #[test]
    fn differences_are_as_long_as_they_need_to_be() {
        for (from, to, expected) in [
            ("Etc/UTC", "Asia/Tokyo", "+9.0h"),
            ("Etc/UTC", "Asia/Kathmandu", "+5.75h"),
            ("Asia/Kolkata", "Etc/UTC", "-5.5h"),
            ("Etc/UTC", "Etc/UTC", "+0.0h"),
        ] {
            let found = convert(from, "16:30", to, at("2024-01-15T12:00:00Z")).unwrap();
            assert_eq!(found.difference, expected, "{from} {to}");
        }
    }

    #[test]
    fn a_conversion_goes_over_midnight() {
        let found = convert(
            "America/New_York",
            "23:30",
            "Asia/Tokyo",
            at("2024-01-15T12:00:00Z"),
        )
        .unwrap();
        assert_eq!(found.source.datetime, "2024-01-15T23:30:00-05:00");
        assert_eq!(found.target.datetime, "2024-01-16T13:30:00+09:00");
        assert_eq!(found.target.day_of_week, "Tuesday");
    }

    #[test]
    fn what_does_not_exist_is_refused_in_the_words_of_the_reference() {
        let now = at("2024-03-31T12:00:00Z");
        for (from, time, expected) in [
            (
                "Mars/Base",
                "10:00",
                "Invalid timezone: 'No time zone found with key Mars/Base'",
            ),
            (
                "europe/warsaw",
                "10:00",
                "Invalid timezone: 'No time zone found with key europe/warsaw'",
            ),
            ("", "10:00", "Missing required argument: source_timezone"),
            (
                "Etc/UTC",
                "25:00",
                "Invalid time format. Expected HH:MM [24-hour format]",
            ),
            (
                "Etc/UTC",
                "noon",
                "Invalid time format. Expected HH:MM [24-hour format]",
            ),
            (
                "Europe/Warsaw",
                "02:30",
                "Invalid time: 02:30 does not exist in Europe/Warsaw on 2024-03-31 (skipped by a clock change)",
            ),
        ] {
            assert_eq!(convert(from, time, "Etc/UTC", now).unwrap_err(), expected);
        }
    }
}
