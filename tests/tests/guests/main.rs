//! The guests of `tests/guests`: the host survives each of them, and tells what has happened. After
//! each, a good call to the same host.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod adapter;
mod asker;
mod blobs;
#[cfg(target_os = "linux")]
mod folder_paths;
mod folder_races;
mod folders;
mod http;
mod library;
mod loud;
mod odd_code;
mod outside;
mod painter;
mod readme;
mod shelf;
#[cfg(unix)]
mod terminal;
mod tidy;

use std::time::{Duration, Instant};

use dormouse_tests::{Client, Home, client, processes};
use serde_json::{Value, json};

/// Host with a guest, and with another one that behaves.
struct Host {
    home: Home,
    client: Client,
}

impl Host {
    fn with(guest: &str) -> Self {
        Self::with_more(guest, "")
    }

    /// Starts a host, with more lines of TOML for the guest.
    fn with_more(guest: &str, more: &str) -> Self {
        let home = Home::new().unwrap();
        home.server_with(
            guest,
            &dormouse_tests::artifacts::guest(guest).unwrap(),
            more,
        )
        .unwrap();
        home.server("good", &dormouse_tests::artifacts::guest("echo").unwrap())
            .unwrap();
        let client = home.serve().unwrap();
        Self { home, client }
    }

    /// Returns the tools of the guest.
    fn tools(&mut self) -> Vec<Value> {
        let mut tools = self.client.tools().unwrap();
        tools.retain(|tool| !tool["name"].as_str().unwrap().starts_with("good__"));
        tools
    }

    /// Checks that the host answers a good call, and ends when it is told to.
    fn stays_well(mut self) {
        assert_eq!(
            self.client
                .text("good__echo", json!({ "text": "well" }))
                .unwrap(),
            "well"
        );
        // Whatever was wrong is not in the way of a tidy end.
        assert!(self.client.close(Duration::from_secs(6)).unwrap().success());
    }

    /// Checks that the error of a call names the server, the tool, and the cause.
    fn fails(&mut self, tool: &str, arguments: Value, cause: &str) -> String {
        let error = self.client.error(tool, arguments).unwrap();
        let (server, name) = tool.split_once("__").unwrap();
        for part in [server, name, cause] {
            assert!(error.contains(part), "no `{part}` in `{error}`");
        }
        error
    }
}

/// Tests of the guest `network` are all in there.
use self::outside as network;
/// Guests that both make HTTP requests.
#[allow(unused_imports, reason = "only to see that their tests are there")]
use self::{http as waki, http as wstd};

/// Does not compile while a guest has no module here.
macro_rules! every_guest_has_a_test {
    ($($name:ident,)*) => {
        $(#[allow(unused_imports, reason = "only to see that it is there")]
        use self::$name as _;)*
    };
}
dormouse_guests::foreach_guest!(every_guest_has_a_test);

mod spin {
    use super::*;

    #[test]
    fn ends_at_the_deadline() {
        let mut host = Host::with_more("spin", "[servers.spin.limits]\ntimeout = \"300ms\"");
        let start = Instant::now();
        host.fails("spin__spin", json!({}), "0.3 s");
        assert!(start.elapsed() < Duration::from_secs(10));
        host.stays_well();
    }

    /// More loops than processors, and all other calls go on.
    #[test]
    fn many_do_not_hold_up_others() {
        let mut host = Host::with("spin");
        // Whoever comes after must not wait for a compiler either.
        host.client
            .text("good__echo", json!({ "text": "" }))
            .unwrap();
        let call = json!({ "name": "spin__spin", "arguments": {} });
        let ids: Vec<_> = (0..16)
            .map(|_| host.client.send("tools/call", call.clone()).unwrap())
            .collect();
        wait_for(|| host.home.server_status("spin").unwrap()["running"] == 16);
        let start = Instant::now();
        for _ in 0..5 {
            host.client
                .text("good__echo", json!({ "text": "well" }))
                .unwrap();
        }
        host.client.tools().unwrap();
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "took {:?}",
            start.elapsed()
        );
        for id in ids {
            host.client
                .notify("notifications/cancelled", json!({ "requestId": id }))
                .unwrap();
        }
        let start = Instant::now();
        wait_for(|| host.home.server_status("spin").unwrap()["running"] == 0);
        assert!(
            start.elapsed() < Duration::from_secs(1),
            "stopped after {:?}",
            start.elapsed()
        );
        host.stays_well();
    }
}

mod c_names {
    use super::*;

    #[test]
    fn every_tool_works_and_so_does_the_standard_library() {
        let mut host = Host::with("c_names");
        let tools = host.tools();
        assert!(tools.len() > 20, "{tools:?}");
        for tool in tools {
            let tool = tool["name"].as_str().unwrap();
            let said = host.client.text(tool, json!({ "text": "so" })).unwrap();
            let (_, name) = tool.split_once("__").unwrap();
            let expected = format!("{name}: so false false false false false 100000");
            assert_eq!(said, expected);
        }
        host.stays_well();
    }
}

mod bomb {
    use super::*;

    #[test]
    fn ends_at_the_memory_limit() {
        let mut host = Host::with_more("bomb", "[servers.bomb.limits]\nmemory = \"32MiB\"");
        host.fails("bomb__grow", json!({}), "memory");
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", host.client.pid())).unwrap();
        let peak = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .unwrap();
        let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(peak < 400 << 10, "the host took {peak} KiB");
        host.stays_well();
    }
}

mod trap {
    use super::*;

    #[test]
    fn is_an_error_each_time() {
        let mut host = Host::with("trap");
        for _ in 0..3 {
            host.fails("trap__trap", json!({}), "unreachable");
        }
        host.stays_well();
    }

    #[test]
    fn gets_a_hint_where_its_stack_has_overflowed() {
        let mut host = Host::with("trap");
        let hint = "does it call itself without end?";
        host.fails("trap__dig", json!({}), hint);
        host.stays_well();
    }
}

mod panics {
    use super::*;

    #[test]
    fn tells_what_it_said() {
        let mut host = Host::with("panics");
        let error = host.fails(
            "panics__panics",
            json!({ "message": "the \"sky\" isn't \\ there" }),
            "; the \"sky\" isn't \\ there",
        );
        assert!(error.contains("thread '"), "{error}");
        assert!(!error.contains("RUST_BACKTRACE"), "{error}");
        host.stays_well();
    }

    #[test]
    fn did_not_say_why() {
        let mut host = Host::with("panics");
        let error = host.client.error("panics__fails", json!({})).unwrap();
        assert_eq!(error, "the plugin failed and did not say why");
        host.stays_well();
    }
}

mod exit {
    use super::*;

    #[test]
    fn ends_the_call_and_not_the_host() {
        let mut host = Host::with("exit");
        for code in [0, 1, 255] {
            host.fails("exit__exit", json!({ "code": code }), "exit");
        }
        host.stays_well();
    }
}

mod flood {
    use super::*;

    #[test]
    fn is_cut_and_stays_out_of_the_protocol() {
        let mut host = Host::with("flood");
        let start = Instant::now();
        host.client
            .text("flood__flood", json!({ "megabytes": 64 }))
            .unwrap();
        assert!(start.elapsed() < Duration::from_secs(20));
        host.stays_well();
    }

    #[test]
    fn is_cut_where_its_user_says() {
        let host = Host::with_more("flood", "[servers.flood.limits]\noutput = '10KiB'");
        let call = ["-v", "call", "flood", "flood", r#"{"megabytes":1}"#];
        let output = host.home.run(&call).unwrap();
        let log = String::from_utf8(output.stderr).unwrap();
        let told = "printed more than 10240 bytes; the rest is dropped";
        assert!(log.contains(told), "{log:.2000}");
        assert!(
            (10 << 10..12 << 10).contains(&log.len()),
            "{} bytes",
            log.len()
        );
        host.stays_well();
    }
}

mod forge {
    use super::*;

    /// The client fails on a line that is no answer of ours, and on an id that is
    /// answered twice.
    #[test]
    fn is_not_believed() {
        let mut host = Host::with("forge");
        let tools = host.client.tools().unwrap();
        assert_eq!(
            host.client
                .text("forge__forge", json!({ "up_to": 100 }))
                .unwrap(),
            "honest"
        );
        assert_eq!(host.client.tools().unwrap(), tools);
        assert!(
            host.client.notifications.is_empty(),
            "{:?}",
            host.client.notifications
        );
        host.stays_well();
    }
}

mod huge {
    use super::*;

    #[test]
    fn is_refused_with_the_limit_in_the_error() {
        let mut host = Host::with("huge");
        let error = host.fails("huge__huge", json!({ "bytes": 64 << 20 }), "8");
        assert!(error.len() < 1000, "{} bytes", error.len());
        assert_eq!(
            host.client
                .text("huge__huge", json!({ "bytes": 1 << 20 }))
                .unwrap()
                .len(),
            1 << 20
        );
        host.stays_well();
    }
}

mod counter {
    use super::*;

    #[test]
    fn forgets_from_call_to_call() {
        let mut host = Host::with("counter");
        for _ in 0..3 {
            let result = host.client.call("counter__count", json!({})).unwrap();
            assert_eq!(result["structuredContent"]["result"], 1);
        }
        host.stays_well();
    }

    #[test]
    fn remembers_where_the_user_says_so() {
        let mut host = Host::with_more("counter", "instance = \"per-session\"");
        for count in 1..4 {
            let result = host.client.call("counter__count", json!({})).unwrap();
            assert_eq!(result["structuredContent"]["result"], count);
        }
        host.stays_well();
    }
}

mod keeper {
    use super::*;

    #[test]
    fn remembers_within_a_session_only() {
        let mut host = Host::with("keeper");
        for count in 1..4 {
            let result = host.client.call("keeper__count", json!({})).unwrap();
            assert_eq!(result["structuredContent"]["result"], count);
        }
        let mut other = host.home.serve().unwrap();
        let result = other.call("keeper__count", json!({})).unwrap();
        assert_eq!(result["structuredContent"]["result"], 1);
        host.stays_well();
    }
}

mod long_name {
    use super::*;

    #[test]
    fn is_shown_short_and_called_by_that() {
        let mut host = Host::with("long_name");
        let tools = host.tools();
        let name = tools[0]["name"].as_str().unwrap().to_owned();
        assert!(
            name.len() <= 48 && name.starts_with("long_name__a_tool"),
            "{name}"
        );
        assert_eq!(host.client.text(&name, json!({})).unwrap(), "called");
        host.stays_well();
    }
}

mod multibyte {
    use super::*;

    #[test]
    fn survives_wherever_text_is_cut() {
        let mut host = Host::with("multibyte");
        let tools = host.tools();
        assert!(
            tools[0]["description"]
                .as_str()
                .unwrap()
                .contains("誰にでも挨拶します 🙋")
        );
        assert!(
            tools[0]["inputSchema"]["properties"]["größe"]["description"]
                .as_str()
                .unwrap()
                .contains("🍎")
        );
        let text = host
            .client
            .text("multibyte__greet", json!({ "größe": 3, "名前": "日本" }))
            .unwrap();
        assert_eq!(text, "Grüß Gott, 日本! 🍎🍎🍎");
        // What the tool itself says is told in its own words alone.
        let arguments = json!({ "größe": 0, "名前": "日本" });
        let error = host.client.error("multibyte__greet", arguments).unwrap();
        assert_eq!(error, "zu klein 😀日本語ß".repeat(200));
        // An argument of the wrong type, and one of a wrong name, to be shown back.
        let long = "日本語".repeat(300);
        host.fails(
            "multibyte__greet",
            json!({ "größe": long, "名前": "" }),
            "größe",
        );
        let mut arguments = json!({ "größe": 1, "名前": "" });
        arguments[&long] = json!(1);
        host.client.error("multibyte__greet", arguments).unwrap();
        host.stays_well();
    }
}

mod reporter {
    use super::*;

    #[test]
    fn is_heard_before_the_answer() {
        let mut host = Host::with("reporter");
        let params = json!({
            "name": "reporter__work",
            "arguments": { "steps": 3 },
            "_meta": { "progressToken": "token" }
        });
        let result = host.client.request("tools/call", params).unwrap();
        assert_eq!(client::text(&result), Some("did 3 steps"));
        let heard: Vec<_> = host
            .client
            .notifications
            .iter()
            .map(|it| it["params"].clone())
            .collect();
        for step in 1..4 {
            let message = format!("step {step}");
            let told = heard.iter().find(|it| it["message"] == message.as_str());
            assert_eq!(told.unwrap()["progressToken"], "token");
            let logged = heard
                .iter()
                .find(|it| it["data"] == format!("did step {step}"));
            assert_eq!(logged.unwrap()["level"], "info");
        }
        host.stays_well();
    }

    /// A progress bar on a terminal does not break log lines, and is not there without a terminal.
    #[test]
    fn is_shown_on_a_terminal() {
        let host = Host::with("reporter");
        let words = ["call", "reporter", "work", r#"{"steps":3}"#];
        let script =
            dormouse_tests::artifacts::workspace().join("tests/clients/python/terminal.py");
        let run = host.home.command(&words);
        let mut command = std::process::Command::new("python3");
        command.arg(script).arg("[]");
        command.arg(run.get_program()).args(run.get_args());
        let output = command.envs(host.home.environment()).output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        for part in [
            " 67% step 2 ",
            "\r\u{1b}[2Kinfo reporter: did step 2\r\n",
            "\r\u{1b}[2Kdid 3 steps\r\n",
        ] {
            assert!(shown.contains(part), "no {part:?} in {shown:?}");
        }
        let output = host.home.run(&words).unwrap();
        assert_eq!(output.stdout, b"did 3 steps\n");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("info reporter: did step 2\n"), "{said}");
        assert!(!said.contains('%') && !said.contains('\u{1b}'), "{said}");
    }

    #[test]
    fn logs_at_every_level_and_under_a_name() {
        let mut host = Host::with("reporter");
        let level = json!({ "level": "debug" });
        host.client.request("logging/setLevel", level).unwrap();
        host.client.call("reporter__chatter", json!({})).unwrap();
        let heard = host.client.notifications.iter();
        let heard = heard.filter(|it| it["method"] == "notifications/message");
        let heard: Vec<_> = heard
            .map(|it| {
                let params = &it["params"];
                (params["level"].as_str().unwrap(), params["data"].clone())
            })
            .collect();
        assert_eq!(
            heard,
            [
                ("debug", json!("d")),
                ("info", json!("i")),
                ("notice", json!([1, 2])),
                ("warning", json!("w")),
                ("error", json!("e")),
                ("critical", json!("c")),
                ("alert", json!("a")),
                ("emergency", json!("!")),
                ("error", json!("slow")),
            ]
        );
        let last = host.client.notifications.last().unwrap();
        let logger = last["params"]["logger"].as_str().unwrap();
        assert!(
            logger.starts_with("reporter/") && logger.contains("db"),
            "{logger}"
        );
        host.stays_well();
    }
}

mod sleep {
    use super::*;

    /// A guest that sleeps holds up no other, and can be ended while it does.
    #[test]
    fn sleeps_alone() {
        let mut host = Host::with("sleep");
        host.client
            .text("sleep__sleep", json!({ "milliseconds": 0 }))
            .unwrap();
        let start = Instant::now();
        let call = json!({ "name": "sleep__sleep", "arguments": { "milliseconds": 500 } });
        let ids: Vec<_> = (0..20)
            .map(|_| host.client.send("tools/call", call.clone()).unwrap())
            .collect();
        for id in ids {
            host.client.answer(id).unwrap();
        }
        assert!(
            start.elapsed() < Duration::from_secs(4),
            "took {:?}",
            start.elapsed()
        );
        host.stays_well();
    }

    #[test]
    fn ends_at_the_deadline() {
        let mut host = Host::with_more("sleep", "[servers.sleep.limits]\ntimeout = \"200ms\"");
        let start = Instant::now();
        host.fails("sleep__sleep", json!({ "milliseconds": 60_000 }), "0.2 s");
        assert!(start.elapsed() < Duration::from_secs(10));
        host.stays_well();
    }
}

mod echo {
    use super::*;

    #[test]
    fn gives_back_what_it_gets() {
        let mut host = Host::with("echo");
        for text in ["", "a", "\"\\\n\u{1}\u{2028}😀", &"y".repeat(100_000)] {
            assert_eq!(
                host.client
                    .text("echo__echo", json!({ "text": text }))
                    .unwrap(),
                text
            );
        }
        host.stays_well();
    }

    /// A whole number is one in each notation; outside its range it is none.
    #[test]
    fn takes_numbers_as_they_are_written() {
        let mut host = Host::with("echo");
        let sum = |client: &mut Client, a: Value| {
            client.call("echo__add", json!({ "a": a, "b": 1 })).unwrap()
        };
        assert_eq!(
            sum(&mut host.client, json!(5.0))["structuredContent"]["result"],
            6
        );
        for bad in [json!(5.5), json!("5"), json!(1_u64 << 31), json!(null)] {
            let result = sum(&mut host.client, bad);
            assert_eq!(result["isError"], true, "{result}");
        }
        host.stays_well();
    }
}

mod bench {
    use super::*;

    #[test]
    fn lists_twenty_tools_in_their_order() {
        let mut host = Host::with("bench");
        let tools = host.tools();
        let names: Vec<_> = tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert_eq!(names[0], "bench__echo");
        assert_eq!(names[19], "bench__filler19");
        assert_eq!(
            host.client
                .text("bench__filler19", json!({ "text": "a", "times": 3 }))
                .unwrap(),
            "aaa"
        );
        host.stays_well();
    }
}

/// Waits until something is so, for as long as a slow machine may need.
fn wait_for(so: impl Fn() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < client::PATIENCE, "still not so");
        std::thread::sleep(Duration::from_millis(20));
    }
}
