//! A component that takes a compiler minutes and gigabytes.

use std::time::Instant;

use super::*;

/// Returns a component with that many functions of that many statements, which have many locals
/// that depend on one another.
fn bomb(functions: usize, statements: usize) -> Vec<u8> {
    let body = (0..statements).map(|at| {
        let (to, from) = (at % 500, (at * 7 + 3) % 500);
        format!("(local.set {to} (i64.add (local.get {to}) (local.get {from})))\n")
    });
    let body: String = body.collect();
    let locals = " i64".repeat(500);
    let function =
        format!("(func (local{locals}) (loop {body} (br_if 0 (i64.eqz (local.get 1)))))\n");
    let functions = function.repeat(functions);
    let wat = format!(
        r#"(component (core module $m (func (export "f")) {functions})
            (core instance $i (instantiate $m))
            (func (export "f") (canon lift (core func $i "f"))))"#
    );
    wat::parse_str(wat).unwrap()
}

fn home(limits: &str) -> Home {
    let home = Home::with_empty_cache().unwrap();
    std::fs::write(home.config(), format!("[limits]\n{limits}\n\n")).unwrap();
    home
}

#[test]
fn a_compile_ends_in_its_time_while_others_go_on() {
    let mut host = Host::in_home(home("compile_time = \"2s\""), &bomb(60, 20_000), "");
    let params = json!({ "name": "bad__f", "arguments": {} });
    let call = host.client.send("tools/call", params).unwrap();
    let told = host
        .client
        .text("good__echo", json!({ "text": "beside" }))
        .unwrap();
    assert_eq!(told, "beside");
    let answer = host.client.answer(call).unwrap();
    let said = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("`compile_time` in `[limits]`"), "{said}");
    let peak = host.peak();
    assert!(peak < 400 << 10, "the host took {peak} KiB");
    host.stays_well();
}

/// Compiles that take long are ended, or go on beside others, which do not wait for them.
#[test]
fn long_compiles_keep_no_other_component_waiting() {
    let home = home("compile_time = \"60s\"");
    let bomb = bomb(60, 20_000);
    let names = ["a", "b", "c", "d"];
    for name in names {
        // Another content, and the same to compile: a custom section with an empty name.
        let mut bytes = bomb.clone();
        bytes.extend([0, 2, 0, name.as_bytes()[0]]);
        let file = home.plugin_file(&format!("{name}.wasm"), &bytes).unwrap();
        home.server(name, &file).unwrap();
    }
    home.server("good", &artifacts::guest("echo").unwrap())
        .unwrap();
    let mut client = home.serve().unwrap();
    let calls = names.map(|name| {
        let params = json!({ "name": format!("{name}__f"), "arguments": {} });
        client.send("tools/call", params).unwrap()
    });
    // All of them are before it.
    let started = || dormouse_tests::processes::descendants(client.pid()).unwrap();
    let start = Instant::now();
    while started().len() < 2 {
        assert!(start.elapsed() < Duration::from_secs(20), "few compile");
        std::thread::sleep(Duration::from_millis(10));
    }
    let told = client.text("good__echo", json!({ "text": "beside" }));
    assert_eq!(told.unwrap(), "beside");
    let done = calls.map(|call| client.has_answer(call));
    assert_eq!(done, [false; 4], "it has waited for others");
    assert!(client.close(Duration::from_secs(6)).unwrap().success());
}

#[test]
fn a_compile_ends_in_its_memory() {
    // One function alone is too much, however few are compiled at a time.
    let bomb = bomb(2, 200_000);
    let mut host = Host::in_home(home("compile_memory = \"600MiB\""), &bomb, "");
    host.fails("bad__f", &["`compile_memory` in `[limits]`"]);
    host.stays_well();
}

/// A host that is started by naming the loader is not the program of its own process.
#[cfg(target_os = "linux")]
#[test]
fn a_host_that_a_loader_has_started_compiles() {
    let loaders = [
        "/lib64/ld-linux-x86-64.so.2",
        "/lib/ld-linux-aarch64.so.1",
        "/lib/ld-musl-x86_64.so.1",
    ];
    let loader = loaders
        .iter()
        .find(|loader| std::path::Path::new(loader).exists());
    let home = Home::with_empty_cache().unwrap();
    home.server("good", &artifacts::guest("echo").unwrap())
        .unwrap();
    let serve = home.command(&["serve"]);
    let mut command = std::process::Command::new(loader.unwrap());
    command
        .args(["--library-path", "/nowhere"])
        .arg(serve.get_program())
        .args(serve.get_args())
        .envs(
            serve
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(home.path());
    let mut client = Client::start(&mut command).unwrap();
    let told = client.text("good__echo", json!({ "text": "loaded" }));
    assert_eq!(told.unwrap(), "loaded");
}

/// A compile leaves nothing behind when its host has gone.
#[test]
fn a_compile_ends_with_its_host() {
    let mut host = Host::with(&bomb(60, 20_000), "");
    let params = json!({ "name": "bad__f", "arguments": {} });
    host.client.send("tools/call", params).unwrap();
    let pid = host.client.pid();
    let start = Instant::now();
    let compiles = loop {
        let all = dormouse_tests::processes::descendants(pid).unwrap();
        if !all.is_empty() {
            break all;
        }
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "nothing compiles"
        );
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(host.client.close(Duration::from_secs(6)).unwrap().success());
    dormouse_tests::processes::gone(&compiles).unwrap();
}
