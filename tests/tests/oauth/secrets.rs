//! Secrets of logins.

use dormouse_tests::client;
use dormouse_tests::oauth::{self, Server};
use serde_json::json;

use crate::{Waiting, home};

#[test]
fn no_secret_of_a_login_is_said_wherever_a_server_repeats_it() {
    for wrong in ["code", "refresh", "call", "status", "list", "log"] {
        let server = Server::repeating(wrong).unwrap();
        let home = home(&server);
        let command = |words: &[&str]| {
            let mut command = home.command(words);
            command.env("DORMOUSE_LOG", "trace");
            command
        };
        let mut said = Vec::new();
        let login = Waiting::start(&mut command(&["login", "notes"]));
        let (_, redirect) = oauth::once("GET", &login.link).unwrap();
        let page = oauth::get(&redirect.unwrap()).unwrap();
        said.push(page.text);
        said.push(login.end().1);
        // A token that lives for a second has ended.
        std::thread::sleep(std::time::Duration::from_millis(1500));
        let log = home.path().join("log");
        let mut serve = command(&["serve"]);
        let mut host =
            client::Client::start(serve.stderr(std::fs::File::create(&log).unwrap())).unwrap();
        host.request("logging/setLevel", json!({ "level": "debug" }))
            .unwrap();
        for name in ["notes__discover", "notes__x"] {
            let params = json!({ "name": name, "arguments": {}, "_meta": { "progressToken": 7 } });
            let outcome = host.outcome("tools/call", params).unwrap();
            said.push(outcome.to_string());
        }
        if wrong == "log" {
            for method in ["notifications/message", "notifications/progress"] {
                let told = host.notification(method, client::PATIENCE).unwrap();
                said.push(told.to_string());
            }
        }
        for words in [
            &["status", "--json"][..],
            &["sync", "notes"],
            &["doctor", "--connect"],
            &["call", "notes", "x", "{}"],
            &["logout", "notes"],
        ] {
            let output = command(words).output().unwrap();
            said.push(String::from_utf8_lossy(&output.stdout).into_owned());
            said.push(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        drop(host);
        said.push(std::fs::read_to_string(log).unwrap());
        let all = said.join("\n").to_lowercase();
        assert!(all.contains('…'), "{wrong}: nothing was repeated: {all}");
        for secret in SECRETS_OF_A_LOGIN {
            let at = all.find(&secret.to_lowercase());
            let around = at.map(|at| {
                let from = all.floor_char_boundary(at.saturating_sub(300));
                &all[from..all.ceil_char_boundary((at + 100).min(all.len()))]
            });
            assert_eq!(around, None, "{wrong}: `{secret}` is said");
        }
        for verifier in all.split("code_verifier=").skip(1) {
            assert!(verifier.starts_with('…'), "{wrong}: {verifier}");
        }
    }
}

/// Beginnings of the secrets of a login at `repeating_oauth.py`, as they are and in Base64.
const SECRETS_OF_A_LOGIN: [&str; 4] = ["canary-", "Y2FuYXJ5", "NhbmFyeS", "jYW5hcn"];
