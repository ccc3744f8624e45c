//! Servers that say again and again that a resource has changed, which takes long to hold against
//! all of their templates.

use dormouse_tests::{Home, wait};
use serde_json::{Value, json};

/// Server with thousands of long templates, and one resource that each of them nearly matches. Once
/// its tool was called, it says without a pause that this resource has changed, and a longer one.
const SCRIPT: &str = r#"
import json, sys, threading, time

OUT, LOCK, CALLED = sys.stdout, threading.Lock(), threading.Event()
NAME = sys.argv[1]
URI = NAME + ":" + "a" * 1500
TEMPLATES = [{"uriTemplate": NAME + ":{+w%d}" % n + "a" * 1000, "name": "t%d" % n} for n in range(5000)]
UPDATE = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": URI}}
LONG = {**UPDATE, "params": {"uri": NAME + ":" + "a" * 60000}}
OFFERS = {
    "tools/list": {"tools": [{"name": "begin", "inputSchema": {"type": "object"}}]},
    "resources/list": {"resources": [{"uri": URI, "name": "r"}]},
    "resources/templates/list": {"resourceTemplates": TEMPLATES},
    "resources/subscribe": {},
    "ping": {},
}

def write(message):
    with LOCK:
        OUT.write(json.dumps(message) + "\n")
        OUT.flush()

def flood():
    CALLED.wait()
    while True:
        write([UPDATE] * 150)
        write(LONG)
        time.sleep(0.2)

threading.Thread(target=flood, daemon=True).start()
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    method = message["method"]
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        answer["result"] = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}, "resources": {"subscribe": True}},
            "serverInfo": {"name": "u", "version": "1"},
        }
    elif method == "tools/call":
        CALLED.set()
        answer["result"] = {"content": [{"type": "text", "text": "begun"}]}
    elif method in OFFERS:
        answer["result"] = OFFERS[method]
    else:
        answer["error"] = {"code": -32601, "message": "no"}
    write(answer)
"#;

/// Number of such servers: more than a machine has processors to give away.
const SERVERS: usize = 4;

#[test]
fn many_updates_keep_nobody_waiting() {
    let home = Home::new().unwrap();
    let script = home.path().join("updates.py");
    std::fs::write(&script, SCRIPT).unwrap();
    let names: Vec<_> = (0..SERVERS).map(|n| format!("u{n}")).collect();
    for name in &names {
        let command = json!(["python3", script, name]);
        home.table(name, &format!("command = {command}\n")).unwrap();
        home.synced(name).unwrap();
    }
    let mut host = home.serve().unwrap();
    for name in &names {
        let uri = format!("{name}:{}", "a".repeat(1500));
        let follow = json!({ "uri": uri });
        host.request("resources/subscribe", follow).unwrap();
    }
    for name in names.iter().chain(&names).chain(&names) {
        let begun = host.text(&format!("{name}__begin"), json!({})).unwrap();
        assert_eq!(begun, "begun");
        host.request("ping", json!({})).unwrap();
    }
    // Each of them is told all the same.
    for name in &names {
        let is_told = |message: &Value| {
            message["method"] == "notifications/resources/updated"
                && message["params"]["uri"]
                    .as_str()
                    .is_some_and(|uri| uri.starts_with(name))
        };
        wait::until("its update", || {
            host.request("ping", json!({}))?;
            anyhow::ensure!(host.notifications.iter().any(is_told), "{name}");
            Ok(())
        })
        .unwrap();
    }
}
