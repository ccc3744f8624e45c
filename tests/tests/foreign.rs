//! Components that other toolchains have built, with WIT for their only contract and with the
//! toolchains' own defaults.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

use dormouse_tests::compressed::gzip;
use dormouse_tests::recording_host::{RecordingHost, http};
use dormouse_tests::{Home, artifacts};
use serde_json::json;

/// Runs a command that has to succeed.
fn succeeds(home: &Home, words: &[&str]) {
    let output = home.run(words).unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
}

/// Packs the component with a section for what people wrote in its WIT.
fn packed(home: &Home, component: &Path, wit: &str) -> PathBuf {
    let wit = artifacts::workspace().join("tests/foreign").join(wit);
    let packed = home.path().join("packed.wasm");
    let words = [
        component,
        Path::new("--wit"),
        &wit,
        Path::new("--output"),
        &packed,
    ];
    let words = words.map(|word| word.to_str().unwrap());
    succeeds(home, &[&["pack"], &words[..]].concat());
    packed
}

/// Checks all greeters: they are listed as they are, and listed, added and called when they are
/// packed. The added one is compiled, and no later process compiles it again.
fn greets(language: &str, name: &str, wit: &str) -> Home {
    let home = Home::new().unwrap();
    let plain = artifacts::foreign(name).unwrap();
    let packed = packed(&home, &plain, wit);
    for component in [&plain, &packed] {
        succeeds(&home, &["check", component.to_str().unwrap()]);
    }
    succeeds(&home, &["add", "packed", packed.to_str().unwrap()]);
    home.server("plain", &plain).unwrap();
    let mut client = home.serve().unwrap();
    let tools = client.tools().unwrap();
    let find = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();

    // The types are in the component itself; what people wrote is in the section.
    for server in ["plain", "packed"] {
        let greet = find(&format!("{server}__greet"));
        assert_eq!(greet["inputSchema"]["required"], json!(["name"]));
        assert_eq!(greet["outputSchema"]["required"], json!(["text", "length"]));
        assert_eq!(
            find(&format!("{server}__sum"))["inputSchema"]["properties"]["numbers"]["type"],
            "array"
        );
    }
    assert_eq!(find("plain__greet").get("description"), None);
    let greet = find("packed__greet");
    assert_eq!(greet["description"], "Greets someone by name.");
    assert_eq!(greet["annotations"]["readOnlyHint"], true);
    assert_eq!(
        greet["inputSchema"]["properties"]["name"]["description"],
        "Who is greeted."
    );

    let greet = json!({ "name": "Ada 😀" });
    let result = client.call("packed__greet", greet).unwrap();
    let text = format!("Hello, Ada 😀, from {language}");
    assert_eq!(
        result["structuredContent"],
        json!({ "text": text, "length": text.chars().count() })
    );
    let numbers = json!({ "numbers": [1, 2, -4] });
    let result = client.call("packed__sum", numbers).unwrap();
    assert_eq!(result["structuredContent"]["result"], -1);
    let nobody = json!({ "name": "" });
    let error = client.error("packed__greet", nobody).unwrap();
    assert!(error.contains("whom should I greet?"), "{error}");
    assert_eq!(home.status().unwrap()["compiled"], 0);

    // What a toolchain exports for its own use is no tool.
    let functions = match wit {
        "wit-web" => 3,
        _ => 2,
    };
    assert_eq!(tools.len(), 2 * functions, "{tools:?}");
    home
}

#[test]
fn heavy_javascript_by_jco() {
    let home = greets("JavaScript", "js", "wit-web");
    let url = r#"{"url": "https://api.example.com/x"}"#;
    let fetch = home.run(&["call", "packed", "fetch_text", url]).unwrap();
    let said = String::from_utf8(fetch.stderr).unwrap();
    let expected = "server `packed`: an HTTP request to `https://api.example.com` was refused";
    assert!(said.contains(expected), "{said}");
    assert!(!fetch.status.success(), "{said}");
    // Its `fetch` is that of its toolchain, and works as it is where that is granted.
    let web = RecordingHost::start(|request| match request.starts_with("GET /x ") {
        true => http("200 OK", "", "it is well"),
        false => http(
            "200 OK",
            "content-encoding: gzip\r\n",
            &gzip(b"it is well, packed").unwrap(),
        ),
    })
    .unwrap();
    let origin = format!("http://{}", web.authority());
    succeeds(
        &home,
        &["grant", "packed", "--grant-http", &origin, "--yes"],
    );
    let url = json!({ "url": format!("{origin}/x") }).to_string();
    let fetch = home.run(&["call", "packed", "fetch_text", &url]).unwrap();
    let said = String::from_utf8(fetch.stdout).unwrap();
    assert!(said.contains("it is well"), "{said} {:?}", fetch.stderr);
    assert!(web.received()[0].starts_with("GET /x HTTP/1.1\r\n"));
    // What is compressed arrives as it was sent.
    let url = json!({ "url": format!("{origin}/packed") }).to_string();
    let fetch = home.run(&["call", "packed", "fetch_text", &url]).unwrap();
    let said = String::from_utf8(fetch.stdout).unwrap();
    assert!(
        said.contains("it is well, packed"),
        "{said} {:?}",
        fetch.stderr
    );
}

#[test]
fn heavy_javascript_by_jco_with_quickjs() {
    greets("JavaScript", "js_quickjs", "wit");
}

#[test]
fn heavy_python_by_componentize_py() {
    greets("Python", "py", "wit");
}

#[test]
fn heavy_python_by_componentize_py_without_wasi() {
    greets("Python", "py_stubbed", "wit");
}

#[test]
fn heavy_zig() {
    greets("Zig", "zig", "wit");
}

#[test]
fn heavy_go() {
    greets("Go", "go", "wit");
}

/// `dormouse wit` prints the file that toolchains look for in `wit/deps`.
#[test]
fn the_contract_is_a_dependency_that_toolchains_find() {
    const WORLD: &str = "package people:greeter;

world greeter {
    import dormouse:plugin/settings@0.1.0;
    export dormouse:plugin/prompts@0.1.0;
    export greet: func(name: string) -> string;
}
";
    let home = Home::new().unwrap();
    let (wit, bindings) = (home.path().join("wit"), home.path().join("bindings"));
    std::fs::create_dir_all(wit.join("deps")).unwrap();
    let printed = home.run(&["wit"]).unwrap();
    std::fs::write(wit.join("deps/dormouse-plugin.wit"), printed.stdout).unwrap();
    std::fs::write(wit.join("greeter.wit"), WORLD).unwrap();
    let toolchain = artifacts::python("clients", "componentize-py").unwrap();
    let mut command = Command::new(toolchain);
    command.args(["--world", "greeter", "--wit-path"]).arg(&wit);
    let output = command.arg("bindings").arg(&bindings).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    for module in ["imports/settings.py", "exports/__init__.py"] {
        let text = std::fs::read_to_string(bindings.join("wit_world").join(module));
        assert!(text.unwrap().contains("def get"), "{module}");
    }
}
