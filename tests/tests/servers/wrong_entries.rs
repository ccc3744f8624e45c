//! Entries that are wrong, and have a secret where it does not belong: errors do not repeat it.

use serde_json::json;

use crate::scripted::{Scripted, write};

/// What each command says that shows the configuration, or tries to use it.
fn said(all: &Scripted) -> String {
    let commands: [&[&str]; 5] = [
        &["list"],
        &["doctor"],
        &["sync"],
        &["status", "--json"],
        &["adapt", "wrong", "-o", "x.wasm"],
    ];
    commands
        .map(|words| all.run_in(all.home.path(), words).1)
        .concat()
}

#[test]
fn errors_of_wrong_urls_and_names_of_headers_repeat_no_secret() {
    let ok = "https://127.0.0.1:1/mcp";
    for (url, header, told) in [
        (
            r"https://u:hunter-two\x@h/mcp",
            "A",
            "has a backslash in it",
        ),
        ("//u:hunter-two@h", "A", "is no URL of a server"),
        ("https://u:hunter two@h/", "A", "has a space in it"),
        ("htp://u:hunter-two@h/", "A", "is no URL of a server"),
        (
            ok,
            "Authorization: Bearer hunter-two",
            "what begins with `Authorization` cannot be the name",
        ),
    ] {
        let all = Scripted::new();
        let table = format!(
            "url = {}\nheaders = {{ {} = 'x' }}\n",
            json!(url),
            json!(header)
        );
        all.home.table("wrong", &table).unwrap();
        let of_own_file = said(&all);
        let all = Scripted::new();
        let server = json!({ "url": url, "headers": { header: "x" } });
        write(
            &all.cursor(),
            &json!({ "mcpServers": { "wrong": server } }).to_string(),
        );
        for said in [of_own_file, said(&all)] {
            assert!(said.contains(told), "{url} {header}: {said}");
            for secret in ["hunter-two", "hunter two"] {
                assert!(!said.contains(secret), "{url} {header}: {said}");
            }
        }
    }
}
