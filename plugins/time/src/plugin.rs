//! The tools of `wit/`, each bound to the function behind it.

use chrono::Utc;
use tools::{Conversion, Guest, Moment};

use crate::clock;

struct Time;

dormouse_sdk::plugin!(Time);

impl Guest for Time {
    fn get_current_time(timezone: String) -> Result<Moment, String> {
        clock::current(&timezone, Utc::now()).map(Into::into)
    }

    fn convert_time(source: String, time: String, target: String) -> Result<Conversion, String> {
        let found = clock::convert(&source, &time, &target, Utc::now())?;
        Ok(Conversion {
            source: found.source.into(),
            target: found.target.into(),
            time_difference: found.difference,
        })
    }
}

impl From<clock::Moment> for Moment {
    fn from(moment: clock::Moment) -> Self {
        Self {
            timezone: moment.timezone,
            datetime: moment.datetime,
            day_of_week: moment.day_of_week,
            is_dst: moment.is_dst,
        }
    }
}
