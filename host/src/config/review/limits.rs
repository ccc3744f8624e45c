//! Limits of a project's server that are not the usual ones.

use std::time::Duration;

use crate::config::units::human_size;
use crate::sandbox::{Limits, UpstreamLimits};

/// The limits that are not the usual ones, each with its key in the configuration.
pub(super) fn unusual(limits: &Limits) -> Vec<String> {
    // All of them, so that a new one is not forgotten here.
    let Limits {
        memory,
        timeout,
        idle,
        result,
        output,
        instances,
        upstream:
            UpstreamLimits {
                message_bytes,
                list_bytes,
                list_items,
                request_bytes,
                connections,
            },
        questions,
    } = limits;
    let usual = Limits::default();
    let size = |bytes: usize| human_size(u64::try_from(bytes).unwrap_or(u64::MAX));
    let each = [
        ("memory", usual.memory != *memory, human_size(*memory)),
        ("timeout", usual.timeout != *timeout, time(*timeout)),
        ("idle", usual.idle != *idle, time(*idle)),
        ("result", usual.result != *result, human_size(*result)),
        ("output", usual.output != *output, human_size(*output)),
        (
            "instances",
            usual.instances != *instances,
            instances.to_string(),
        ),
        (
            "message",
            usual.upstream.message_bytes != *message_bytes,
            size(*message_bytes),
        ),
        (
            "list",
            usual.upstream.list_bytes != *list_bytes,
            size(*list_bytes),
        ),
        (
            "items",
            usual.upstream.list_items != *list_items,
            list_items.to_string(),
        ),
        (
            "requests",
            usual.upstream.request_bytes != *request_bytes,
            size(*request_bytes),
        ),
        (
            "connections",
            usual.upstream.connections != *connections,
            connections.to_string(),
        ),
        (
            "questions",
            usual.questions != *questions,
            questions.to_string(),
        ),
    ];
    each.into_iter()
        .filter(|(_, is_unusual, _)| *is_unusual)
        .map(|(key, _, value)| format!("`{key}` {value}"))
        .collect()
}

fn time(time: Duration) -> String {
    format!("{time:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusual_limits_are_all_told() {
        assert_eq!(unusual(&Limits::default()), Vec::<String>::new());
        let limits = Limits {
            memory: 900 << 30,
            timeout: Duration::from_secs(3),
            idle: Duration::from_secs(1),
            result: 1,
            output: 2,
            instances: 100_000,
            upstream: UpstreamLimits {
                message_bytes: 4,
                list_bytes: 5,
                list_items: 6,
                request_bytes: 7 << 20,
                connections: 9,
            },
            questions: 8,
        };
        assert_eq!(
            unusual(&limits).join(", "),
            "`memory` 900.0 GiB, `timeout` 3s, `idle` 1s, `result` 1 B, `output` 2 B, \
             `instances` 100000, `message` 4 B, `list` 5 B, `items` 6, `requests` 7.0 MiB, \
             `connections` 9, `questions` 8"
        );
    }
}
