//! Variables of the host's environment that children get.

use std::collections::BTreeMap;

use dormouse_tests::Client;
use serde_json::json;

use crate::hostile::Hostile;
use crate::scripted::{Scripted, comes_to, write};

const SET: [(&str, &str); 7] = [
    ("SSL_CERT_FILE", "/etc/ssl/own.pem"),
    ("https_proxy", "http://proxy.example:3128"),
    ("KUBECONFIG", "/home/me/kube"),
    ("AWS_PROFILE", "work"),
    ("AWS_SECRET_ACCESS_KEY", "CANARY-AWS"),
    ("GITHUB_TOKEN", "CANARY-GITHUB"),
    ("DORMOUSE_TOKEN", "CANARY-OWN-TOKEN-CANARY-OWN-TOKEN"),
];

/// Returns the names of those variables of the host in `SET` that a child has.
fn seen(all: &Scripted, own: &str) -> Vec<&'static str> {
    write(&all.home.config(), own);
    let mut command = all.home.command(&["serve"]);
    let mut host = Client::start(command.envs(SET)).unwrap();
    comes_to(&mut host, &["notes__add"]);
    host.text("notes__add", json!({})).unwrap();
    let status = all.home.server_status("notes").unwrap();
    let pid = status["pids"][0].as_u64().unwrap();
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let environment = String::from_utf8(environment).unwrap();
    let environment: BTreeMap<_, _> = environment
        .split('\0')
        .filter_map(|line| line.split_once('='))
        .collect();
    let set = SET.into_iter();
    let seen = set.filter(|(name, value)| environment.get(name) == Some(value));
    seen.map(|(name, _)| name).collect()
}

#[test]
fn children_see_what_programs_need_and_what_their_user_names() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds a note.")]);
    all.configure(&all.cursor(), &["notes"]);
    all.run(&["sync"]);
    let needed = ["SSL_CERT_FILE", "https_proxy", "KUBECONFIG", "AWS_PROFILE"];
    assert_eq!(seen(&all, ""), needed);
    let named = [&needed[..], &["AWS_SECRET_ACCESS_KEY"]].concat();
    let own = "[servers.notes]\npass_env = ['AWS_*']\n";
    assert_eq!(seen(&all, own), named);
    assert_eq!(seen(&all, "[discovery]\npass_env = ['AWS_*']\n"), named);
    let every = [&named[..], &["GITHUB_TOKEN"]].concat();
    assert_eq!(seen(&all, "[discovery]\npass_env = 'all'\n"), every);
}

#[test]
fn a_variable_that_a_child_misses_and_does_not_get_is_named() {
    let said = |more: &str| {
        let lines = format!("tools = ['echo']\n{more}");
        let all = Hostile::new().and("odd", "wants a variable", &lines);
        let mut command = all.0.command(&["call", "odd", "echo"]);
        let output = command
            .env("CANARY_API_KEY", "CANARY-KEY")
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let missing = said("");
    let hint = "hint: `CANARY_API_KEY` is set here and not passed to it";
    assert!(missing.contains(hint), "{missing}");
    assert!(!missing.contains("`NO_SUCH"), "{missing}");
    // What is passed is a secret like any other.
    let wrong = said("pass_env = ['CANARY_*']");
    assert!(wrong.contains("the key … is wrong"), "{wrong}");
    assert!(!wrong.contains(hint), "{wrong}");
}

/// Variables that all children get may be secrets, too, by their names or their places in URLs.
#[test]
fn a_child_that_tells_what_it_gets_tells_no_secrets() {
    let variables = [
        ("HTTPS_PROXY", "me:CANARY-1@proxy.example:3128"),
        ("ALL_PROXY", "//me:CANARY-2@proxy.example"),
        (
            "UV_DEFAULT_INDEX",
            "https://me:CANARY-3@index.example/simple",
        ),
        ("XDG_API_TOKEN", "CANARY-4"),
        ("XDG_CONFIG_HOME_SECRET", "CANARY-5"),
        ("JAVA_HOME", "CANARY-6"),
        ("TZ", "CANARY-plain"),
    ];
    for pass_env in ["[]", "['XDG_*', 'JAVA_HOME', 'HTTPS_PROXY']", "'all'"] {
        let lines = format!("tools = ['echo']\npass_env = {pass_env}\n");
        let all = Hostile::new().and("odd", "tells what it gets", &lines);
        let mut command = all.0.command(&["call", "odd", "echo"]);
        let output = command.envs(variables).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            told.contains("HTTPS_PROXY=") && told.contains("TZ="),
            "{told}"
        );
        for secret in 1..=5 {
            assert!(!told.contains(&format!("CANARY-{secret}")), "{told}");
        }
        // What is named is hidden, whatever it is.
        let is_named = pass_env.contains("JAVA_HOME") || pass_env.contains("all");
        assert_eq!(told.contains("CANARY-6"), !is_named, "{told}");
        assert_eq!(
            told.contains("CANARY-plain"),
            !pass_env.contains("all"),
            "{told}"
        );
    }
}
