//! Large values of good plugins: an image costs the host little more than its text.

use dormouse_tests::http::{Request, Session};
use serde_json::Value;

use super::*;

/// Size of the image, in bytes.
const IMAGE: u64 = 6_000_000;

/// Most memory for it, that of the guest which makes it included, as a multiple of its size.
const MOST_TIMES: u64 = 3;

/// Checks the memory of a host while it answers with a large image, having answered with a small
/// one before.
fn takes_little(what: &str, pid: u32, mut image: impl FnMut(u64) -> Value) {
    image(3);
    let mut taken = Vec::new();
    // Others on the machine may delay who gives memory back: of one kind each has to do once.
    for _ in 0..3 {
        let before = processes::memory(pid).unwrap();
        processes::forget_most_memory(pid).unwrap();
        let result = image(IMAGE);
        let data = result["content"][0]["data"].as_str().unwrap();
        assert_eq!(data.len() as u64, IMAGE.div_ceil(3) * 4);
        let peak = processes::most_memory(pid).unwrap();
        taken.push(peak.saturating_sub(before) * 1024);
    }
    let least = *taken.iter().min().unwrap();
    assert!(
        least > IMAGE && least <= MOST_TIMES * IMAGE,
        "{what}: {taken:?} bytes"
    );
}

#[test]
fn an_image_takes_three_times_its_size_at_most() {
    let home = Home::new().unwrap();
    home.guests(&["blobs"]).unwrap();
    let call = |bytes: u64| json!({ "name": "blobs__image", "arguments": { "bytes": bytes } });

    let mut client = home.serve().unwrap();
    let pid = client.pid();
    takes_little("stdio", pid, |bytes| {
        client.request("tools/call", call(bytes)).unwrap()
    });
    takes_little("stdio, stateless", pid, |bytes| {
        let arguments = json!({ "bytes": bytes });
        client.call_stateless("blobs__image", arguments).unwrap()
    });

    let server = home.serve_http(&[]).unwrap();
    let session = Session::open(&server).unwrap();
    takes_little("HTTP", server.pid(), |bytes| {
        let request = session.request(1, "tools/call", call(bytes));
        server.ask(&request).unwrap().result().unwrap()
    });
    takes_little("HTTP, stateless", server.pid(), |bytes| {
        let request = Request::stateless(1, "tools/call", call(bytes));
        server.ask(&request).unwrap().result().unwrap()
    });
}

/// A list of 240 lists of a million bytes each, which are all the same one.
const REPEATED: &str = r#"(component
    (core module $m
      (memory (export "mem") 20)
      (func (export "f") (result i32) (local $at i32)
        (loop $l
          (i32.store (i32.add (i32.const 1024) (local.get $at)) (i32.const 65536))
          (i32.store (i32.add (i32.const 1028) (local.get $at)) (i32.const 1000000))
          (local.set $at (i32.add (local.get $at) (i32.const 8)))
          (br_if $l (i32.lt_u (local.get $at) (i32.const 1920))))
        (i32.store (i32.const 0) (i32.const 1024))
        (i32.store (i32.const 4) (i32.const 240))
        (i32.const 0)))
    (core instance $i (instantiate $m))
    (func (export "f") (result (list (list u8)))
      (canon lift (core func $i "f") (memory (core memory $i "mem")))))"#;

/// They would take 240 MB, and as a value for each byte forty times that.
#[test]
fn bytes_of_a_result_that_is_too_long_are_not_read() {
    let bad = wat::parse_str(REPEATED).unwrap();
    let mut host = Host::with(&bad, "");
    let pid = host.client.pid();
    // The first call compiles.
    host.fails("bad__f", &["`result` in"]);
    processes::forget_most_memory(pid).unwrap();
    let before = processes::memory(pid).unwrap();
    host.fails("bad__f", &["the result has at least", "`result` in"]);
    let taken = host.peak() - before;
    assert!(taken < 8 << 10, "the host took {taken} KiB more");
    host.stays_well();
}

/// Where a list lies that is none: the call fails, and nothing else.
#[test]
fn bytes_outside_of_the_memory_are_an_error() {
    let far = REPEATED.replace("(i32.const 65536))", "(i32.const -4096))");
    let far = far.replace("(i32.const 1000000)", "(i32.const 8192)");
    let bad = wat::parse_str(far).unwrap();
    let mut host = Host::with(&bad, "");
    host.fails("bad__f", &["out of bounds"]);
    host.stays_well();
}

/// Bytes of each function and each place are what they were, of a component that makes its
/// functions in one within it too, which has a value for each byte.
#[test]
fn bytes_are_the_same_with_and_without_addresses() {
    let code = r#"
        (core module $m
          (memory (export "mem") 1)
          (global $next (mut i32) (i32.const 1024))
          (func (export "realloc") (param i32 i32 i32 i32) (result i32)
            (global.set $next (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
            (global.get $next)
            (global.set $next (i32.add (global.get $next) (local.get 3))))
          (func (export "f") (param i32 i32) (result i32)
            (i32.store (i32.const 16) (local.get 0))
            (i32.store (i32.const 20) (local.get 1))
            (i32.store (i32.const 24) (i32.const 7))
            (i32.const 16)))
        (core instance $i (instantiate $m))"#;
    let function = r#"(func (export "f") (param "data" (list u8))
          (result (tuple (list u8) u32)) (canon lift (core func $i "f")
            (memory (core memory $i "mem")) (realloc (core func $i "realloc"))))"#;
    let inner = format!(
        r#"(component (component $inner {code} {function})
            (instance $made (instantiate $inner)) (export "f" (func $made "f")))"#
    );
    for component in [format!("(component {code} {function})"), inner] {
        let mut host = Host::with(&wat::parse_str(&component).unwrap(), "");
        for data in ["", "AQ==", "AQID", "//79/Pv6+fg="] {
            let call = json!({ "name": "bad__f", "arguments": { "data": data } });
            let result = host.client.request("tools/call", call).unwrap();
            assert_eq!(result["structuredContent"], json!({ "result": [data, 7] }));
        }
        host.stays_well();
    }
}

/// Bytes of a function that is reached by no address, as README.md says.
const BYTES: u64 = 3_000_000;

/// They are a value for each byte, and so take about forty times their number.
#[test]
fn bytes_of_functions_without_addresses_take_forty_times_their_number() {
    let function = format!(
        r#"(core module $m
             (memory (export "mem") 50)
             (func (export "f") (result i32)
               (i32.store (i32.const 0) (i32.const 65536))
               (i32.store (i32.const 4) (i32.const {BYTES}))
               (i32.const 0)))
           (core instance $i (instantiate $m))
           (func (export "f") (result (list u8))
             (canon lift (core func $i "f") (memory (core memory $i "mem"))))"#
    );
    let within = format!(
        r#"(component (component $inner {function})
             (instance $made (instantiate $inner)) (export "f" (func $made "f")))"#
    );
    let concurrent = format!("(component (core func (canon context.get i32 0)) {function})");
    for (what, component, is_addressed) in [
        ("with addresses", format!("(component {function})"), true),
        ("of a component within", within, false),
        ("of a concurrent component", concurrent, false),
    ] {
        let component = wat::parse_str(&component).unwrap();
        let home = host_memory::home("1GiB");
        let mut host = Host::in_home(home, &component, "");
        let call = json!({ "name": "bad__f", "arguments": {} });
        let before = processes::memory(host.client.pid()).unwrap();
        processes::forget_most_memory(host.client.pid()).unwrap();
        let result = host.client.request("tools/call", call).unwrap();
        let said = result["content"][0]["text"].as_str().unwrap();
        assert!(said.len() as u64 > BYTES / 3 * 4, "{what}");
        let times = (host.peak() - before) * 1024 / BYTES;
        assert_eq!(times < 20, is_addressed, "{what}: {times} times");
        assert!(times < 100, "{what}: {times} times");
        host.stays_well();
    }
}
