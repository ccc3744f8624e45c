//! `[servers.NAME.limits]`: the keys of a server's limits, each with its unit and the limit
//! that it sets.

use std::time::Duration;

use dormouse_catalog::ItemLimits;
use dormouse_policy::{Limits, NEVER};
use toml_edit::Item;

use crate::problem::within;
use crate::reading::reader::DocumentReader;
use crate::reading::units;

/// A limit that a key sets.
enum Limit<'l> {
    Bytes(&'l mut u64),
    /// Bytes of something that is in memory as a whole.
    BytesInMemory(&'l mut usize),
    Time(&'l mut Duration),
    /// A time that may be `never`.
    TimeOrNever(&'l mut Duration),
    Count(&'l mut u32),
    /// Number of things in memory.
    CountInMemory(&'l mut usize),
}

/// A key, and the limit that it sets.
struct LimitKey {
    name: &'static str,
    limit: fn(&mut Limits) -> Limit<'_>,
    /// Largest value; none where the type of the limit is the only bound.
    max: Option<fn() -> usize>,
}

const fn key(name: &'static str, limit: fn(&mut Limits) -> Limit<'_>) -> LimitKey {
    LimitKey {
        name,
        limit,
        max: None,
    }
}

const KEYS: [LimitKey; 18] = [
    key("memory", |limits| Limit::Bytes(&mut limits.memory)),
    key("timeout", |limits| Limit::Time(&mut limits.timeout)),
    key("total_timeout", |limits| {
        Limit::Time(&mut limits.total_timeout)
    }),
    key("idle", |limits| Limit::TimeOrNever(&mut limits.idle)),
    key("result", |limits| Limit::Bytes(&mut limits.result)),
    key("output", |limits| Limit::Bytes(&mut limits.output)),
    key("instances", |limits| Limit::Count(&mut limits.instances)),
    // What its upstream may say.
    key("message", |limits| {
        Limit::BytesInMemory(&mut limits.upstream.message_bytes)
    }),
    key("list", |limits| {
        Limit::BytesInMemory(&mut limits.upstream.list_bytes)
    }),
    LimitKey {
        // What is kept of a list has no more either.
        max: Some(|| ItemLimits::default().items),
        ..key("items", |limits| {
            Limit::CountInMemory(&mut limits.upstream.list_items)
        })
    },
    key("pages", |limits| {
        Limit::CountInMemory(&mut limits.upstream.list_pages)
    }),
    key("batch", |limits| {
        Limit::CountInMemory(&mut limits.upstream.batch_messages)
    }),
    key("requests", |limits| {
        Limit::BytesInMemory(&mut limits.upstream.request_bytes)
    }),
    key("connections", |limits| {
        Limit::CountInMemory(&mut limits.upstream.connections)
    }),
    key("log", |limits| {
        Limit::BytesInMemory(&mut limits.upstream.log_bytes)
    }),
    key("questions", |limits| Limit::Count(&mut limits.questions)),
    key("http_requests", |limits| {
        Limit::Count(&mut limits.http_requests)
    }),
    key("http_bytes", |limits| Limit::Bytes(&mut limits.http_bytes)),
];

/// Limits that a file sets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitSettings(Vec<LimitSetting>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LimitSetting {
    /// Place of the key in `KEYS`.
    key: usize,
    value: LimitValue,
}

/// A limit's value, with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimitValue {
    Bytes(u64),
    Time(Duration),
    Count(u64),
}

impl LimitKey {
    fn value(&self, limits: &mut Limits) -> LimitValue {
        let in_memory = |value: &mut usize| u64::try_from(*value).unwrap_or(u64::MAX);
        match (self.limit)(limits) {
            Limit::Bytes(bytes) => LimitValue::Bytes(*bytes),
            Limit::BytesInMemory(bytes) => LimitValue::Bytes(in_memory(bytes)),
            Limit::Time(time) | Limit::TimeOrNever(time) => LimitValue::Time(*time),
            Limit::Count(count) => LimitValue::Count(u64::from(*count)),
            Limit::CountInMemory(count) => LimitValue::Count(in_memory(count)),
        }
    }

    fn set(&self, limits: &mut Limits, value: LimitValue) {
        let in_memory = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        match ((self.limit)(limits), value) {
            (Limit::Bytes(limit), LimitValue::Bytes(bytes)) => *limit = bytes,
            (Limit::BytesInMemory(limit), LimitValue::Bytes(bytes)) => *limit = in_memory(bytes),
            (Limit::Time(limit) | Limit::TimeOrNever(limit), LimitValue::Time(time)) => {
                *limit = time;
            }
            (Limit::Count(limit), LimitValue::Count(count)) => {
                *limit = u32::try_from(count).unwrap_or(u32::MAX);
            }
            (Limit::CountInMemory(limit), LimitValue::Count(count)) => *limit = in_memory(count),
            // A value is read with the unit of its key.
            (_, LimitValue::Bytes(_) | LimitValue::Time(_) | LimitValue::Count(_)) => {}
        }
    }
}

impl LimitSettings {
    /// Whether no limit is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets these limits, and leaves all others.
    pub fn apply(&self, limits: &mut Limits) {
        for setting in &self.0 {
            if let Some(key) = KEYS.get(setting.key) {
                key.set(limits, setting.value);
            }
        }
    }
}

/// Returns the limits that are not the usual ones of such a server, each with its key in the
/// configuration.
pub(crate) fn unusual(limits: &Limits, usual: &Limits) -> Vec<String> {
    let (mut limits, mut usual) = (limits.clone(), usual.clone());
    let values = KEYS.iter().map(|key| {
        let value = key.value(&mut limits);
        (key, value, key.value(&mut usual))
    });
    let unusual = values.filter(|(_, value, usual)| value != usual);
    unusual
        .map(|(key, value, _)| {
            let value = match value {
                LimitValue::Bytes(bytes) => units::human_size(bytes),
                LimitValue::Time(NEVER) => "never".to_owned(),
                LimitValue::Time(time) => format!("{time:?}"),
                LimitValue::Count(count) => count.to_string(),
            };
            format!("`{}` {value}", key.name)
        })
        .collect()
}

impl DocumentReader<'_> {
    pub(crate) fn limits(&mut self, item: &Item, at: &str) -> LimitSettings {
        let mut settings = LimitSettings::default();
        let Some(table) = self.table(item, at) else {
            return settings;
        };
        for (name, item) in table.iter() {
            let here = within(at, name);
            let Some((index, key)) = KEYS.iter().enumerate().find(|(_, key)| key.name == name)
            else {
                let names = KEYS.map(|key| key.name);
                self.unknown(table, name, &format!("`[{at}]`"), &names);
                continue;
            };
            let value = match (key.limit)(&mut Limits::default()) {
                Limit::Bytes(_) | Limit::BytesInMemory(_) => self
                    .measure(item, &here, units::size)
                    .map(LimitValue::Bytes),
                Limit::Time(_) => self
                    .measure(item, &here, units::duration)
                    .map(LimitValue::Time),
                Limit::TimeOrNever(_) => self
                    .measure(item, &here, |text| match text {
                        "never" => Ok(NEVER),
                        text => units::duration(text),
                    })
                    .map(LimitValue::Time),
                Limit::Count(_) | Limit::CountInMemory(_) => self
                    .count_at_most(item, &here, key.max.map(|max| max()))
                    .map(|count| LimitValue::Count(u64::from(count))),
            };
            let setting = value.map(|value| LimitSetting { key: index, value });
            settings.0.extend(setting);
        }
        settings
    }

    fn count_at_most(&mut self, item: &Item, at: &str, max: Option<usize>) -> Option<u32> {
        let count = self.count(item, at)?;
        let max = max.filter(|max| usize::try_from(count).is_ok_and(|count| count > *max));
        if let Some(max) = max {
            let message = format!("`{at}` cannot be {}", self.shown(item));
            let hint = format!("use a number from 1 to {max}");
            self.problem(item.span(), message, Some(hint));
            return None;
        }
        Some(count)
    }
}

#[cfg(test)]
mod tests {
    use dormouse_policy::UpstreamLimits;

    use super::*;

    /// Limits each of which is another than usual.
    fn all() -> Limits {
        Limits {
            memory: 900 << 30,
            timeout: Duration::from_secs(3),
            total_timeout: Duration::from_secs(4),
            idle: Duration::from_secs(1),
            result: 1,
            output: 2,
            instances: 100_000,
            upstream: UpstreamLimits {
                message_bytes: 4,
                list_bytes: 5,
                list_items: 6,
                list_pages: 10,
                batch_messages: 11,
                request_bytes: 7 << 20,
                connections: 9,
                log_bytes: 12,
            },
            questions: 8,
            http_requests: 13,
            http_bytes: 14,
        }
    }

    #[test]
    fn unusual_limits_are_all_told() {
        assert_eq!(
            unusual(&Limits::default(), &Limits::default()),
            Vec::<String>::new()
        );
        assert_eq!(
            unusual(&all(), &Limits::default()).join(", "),
            "`memory` 900.0 GiB, `timeout` 3s, `total_timeout` 4s, `idle` 1s, `result` 1 B, `output` 2 B, \
             `instances` 100000, `message` 4 B, `list` 5 B, `items` 6, `pages` 10, \
             `batch` 11, `requests` 7.0 MiB, `connections` 9, `log` 12 B, `questions` 8, \
             `http_requests` 13, `http_bytes` 14 B"
        );
    }

    #[test]
    fn only_what_is_said_is_set() {
        let mut limits = Limits::default();
        LimitSettings::default().apply(&mut limits);
        assert_eq!(limits, Limits::default());
        for (index, key) in KEYS.iter().enumerate() {
            let value = key.value(&mut all());
            let settings = LimitSettings(vec![LimitSetting { key: index, value }]);
            let mut limits = Limits::default();
            settings.apply(&mut limits);
            let told = unusual(&limits, &Limits::default());
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].contains(&format!("`{}`", key.name)), "{told:?}");
        }
    }
}
