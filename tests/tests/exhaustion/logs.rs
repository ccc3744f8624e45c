//! Floods of log messages that are long elsewhere than in their text.

use super::*;

/// Returns a component that logs so many times, with a logger of that many bytes and data of that
/// many.
fn flood(times: u32, logger: u32, data: u32) -> Vec<u8> {
    wat::parse_str(flood_text(times, logger, data, "")).unwrap()
}

/// Returns the same as text, which has that in its module, too.
fn flood_text(times: u32, logger: u32, data: u32, more: &str) -> String {
    format!(
        r#"(component
          (import "dormouse:plugin/call@0.1.0" (instance $call
            (type $level (enum "debug" "info" "notice" "warning" "error" "critical" "alert" "emergency"))
            (export "log-level" (type $l (eq $level)))
            (export "log" (func (param "level" $l) (param "logger" (option string)) (param "data" string)))))
          (alias export $call "log" (func $log))
          (core module $mem (memory (export "mem") 1100)
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable))
          (core instance $mem (instantiate $mem))
          (alias core export $mem "mem" (core memory $memory))
          (core func $log (canon lower (func $log) (memory $memory) string-encoding=utf8))
          (core module $m
            (import "" "mem" (memory 1))
            (import "" "log" (func $log (param i32 i32 i32 i32 i32 i32)))
            (func $flood (export "flood") (local $n i32)
              (memory.fill (i32.const 0) (i32.const 120) (i32.const 67108864))
              (loop $l
                (call $log (i32.const 4) (i32.const 1) (i32.const 0) (i32.const {logger})
                  (i32.const 0) (i32.const {data}))
                (local.set $n (i32.add (local.get $n) (i32.const 1)))
                (br_if $l (i32.lt_u (local.get $n) (i32.const {times})))))
            {more})
          (core instance $i (instantiate $m (with "" (instance
            (export "mem" (memory $memory)) (export "log" (func $log))))))
          (func (export "flood") (canon lift (core func $i "flood"))))"#
    )
}

/// Calls such a component, and returns the number of bytes that it has logged.
fn logged(component: &[u8]) -> usize {
    let home = Home::new().unwrap();
    let file = home.plugin_file("bad.wasm", component).unwrap();
    home.server("bad", &file).unwrap();
    home.guests(&["echo"]).unwrap();
    let output = home.run(&["-vv", "call", "bad", "flood"]).unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    let told = said.matches("the rest is dropped").count();
    assert_eq!(told, 1, "{} bytes", said.len());
    // Beside the log, the command shows its user what the call tells its client.
    let is_of_log = |line: &&str| line.contains(" dormouse::") && line.contains("bad");
    let lines = said.lines().filter(is_of_log);
    lines.map(str::len).sum()
}

#[test]
fn long_names_of_loggers_count_and_are_cut() {
    let bytes = logged(&flood(2000, 1 << 20, 1));
    assert!(bytes < 256 << 10, "{bytes} bytes");
}

#[test]
fn messages_without_text_count() {
    let bytes = logged(&flood(200_000, 4, 0));
    assert!(bytes < 256 << 10, "{bytes} bytes");
}

/// What an instance logs as it is made and what it logs in its function is that of one call.
#[test]
fn what_start_functions_log_counts_as_their_calls() {
    let component = wat::parse_str(flood_text(2000, 4, 1000, "(start $flood)")).unwrap();
    let bytes = logged(&component);
    assert!(bytes < 256 << 10, "{bytes} bytes");
}

/// Messages that wait for an agent are the host's memory.
#[test]
fn what_an_agent_is_sent_is_short_and_takes_little_memory() {
    let mut host = Host::with(&flood(100, 32 << 20, 60 << 10), "");
    host.client
        .request("logging/setLevel", json!({ "level": "debug" }))
        .unwrap();
    host.client.call("bad__flood", json!({})).unwrap();
    let messages: Vec<_> = host
        .client
        .notifications
        .iter()
        .filter(|note| note["method"] == "notifications/message")
        .collect();
    assert!(!messages.is_empty());
    for message in messages {
        let logger = message["params"]["logger"].as_str().unwrap();
        assert!(logger.len() <= 128, "{} bytes", logger.len());
    }
    let peak = host.peak();
    assert!(peak < 500 << 10, "the host took {peak} KiB");
    host.stays_well();
}
