//! Longest times that clients let a call of a tool take.

use std::time::Duration;

use super::entry::Unit;
use crate::Client;
use crate::discovery::Surroundings;
use crate::discovery::formats;

/// Time that Claude Code waits for a call of a program that says nothing.
const CLAUDE_CODE_SILENCE: Duration = Duration::from_secs(30 * 60);

/// Time that VS Code waits for a call: as long as its user does, which is as long as any call may
/// take here, however often its progress puts that off (`mcpServerRequestHandler.ts`).
const VSCODE_WAIT: Duration = Duration::from_secs(6 * 60 * 60);

/// Returns the longest time for calls of a client's servers where its file has none. None where
/// that is no longer than calls of any server may take: a client that is in more of a hurry ends
/// its calls itself.
pub(in crate::discovery) fn usual_call_timeout(
    client: Client,
    around: &Surroundings,
) -> Option<Duration> {
    match client {
        Client::ClaudeCode => {}
        Client::VsCode => return Some(VSCODE_WAIT),
        _ => return None,
    }
    let said = around.value("MCP_TOOL_TIMEOUT");
    let milliseconds = said.and_then(|said| said.trim().parse().ok());
    let milliseconds = milliseconds.filter(|milliseconds| *milliseconds > 0);
    Some(milliseconds.map_or(CLAUDE_CODE_SILENCE, Duration::from_millis))
}

/// Returns the key of a server's entry with which a client is told the longest time for a call, and
/// the value for that time, rounded up. None where a client knows no such key.
#[must_use]
pub fn call_timeout_entry(client: Client, timeout: Duration) -> Option<(&'static str, u64)> {
    let (key, unit) = formats::dialect(client).call_timeout?;
    let milliseconds = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    let value = match unit {
        Unit::Seconds => milliseconds.div_ceil(1000),
        Unit::Milliseconds => milliseconds,
    };
    Some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_waits_for_long_is_waited_for() {
        let around = |value: &str| Surroundings {
            env: [("MCP_TOOL_TIMEOUT".to_owned(), value.to_owned())].into(),
            ..Surroundings::default()
        };
        for (client, said, seconds) in [
            (Client::ClaudeCode, "", Some(1800)),
            (Client::ClaudeCode, "x", Some(1800)),
            (Client::ClaudeCode, "0", Some(1800)),
            (Client::ClaudeCode, "7200000", Some(7200)),
            (Client::Gemini, "7200000", None),
            (Client::VsCode, "", Some(21_600)),
        ] {
            let usual = usual_call_timeout(client, &around(said));
            assert_eq!(
                usual.map(|usual| usual.as_secs()),
                seconds,
                "{client} {said}"
            );
        }
    }

    #[test]
    fn each_client_is_told_in_its_own_unit() {
        let long = Duration::from_millis(90_500);
        for (client, entry) in [
            (Client::Codex, Some(("tool_timeout_sec", 91))),
            (Client::Gemini, Some(("timeout", 90_500))),
            (Client::Goose, Some(("timeout", 91))),
            (Client::Cursor, None),
        ] {
            assert_eq!(call_timeout_entry(client, long), entry, "{client}");
        }
    }
}
