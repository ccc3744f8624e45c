//! Servers with templates that are expensive to match with a URI: they take little memory and
//! little time all the same.

use dormouse_tests::client::PATIENCE;
use dormouse_tests::{Client, processes};
use serde_json::json;

use crate::hostile::Hostile;
use crate::hostile::floods::cpu_time;

/// Returns a host in front of a server of that kind, after a look for a resource.
fn looked(kind: &str, uri: &str) -> (Hostile, Client) {
    let all = Hostile::new()
        .and("good", "nothing", "tools = [\"echo\"]\n")
        .and("odd", kind, "");
    all.0.synced("odd").unwrap();
    let mut host = all.0.serve().unwrap();
    assert_eq!(host.text("good__echo", json!({})).unwrap(), "echo");
    let before = processes::memory(host.pid()).unwrap();
    for _ in 0..3 {
        let outcome = host.outcome("resources/read", json!({ "uri": uri }));
        assert!(outcome.unwrap()["error"].is_object());
    }
    assert_eq!(host.text("good__echo", json!({})).unwrap(), "echo");
    processes::gives_back(host.pid(), before).unwrap();
    (all, host)
}

#[test]
fn a_template_of_very_many_variables_takes_little_memory() {
    let uri = format!("a:{}", "/x".repeat(4_000));
    let (_all, host) = looked("a long template", &uri);
    let memory = processes::most_memory(host.pid()).unwrap();
    assert!(memory < 256 << 10, "{memory} KiB");
    assert!(host.close(PATIENCE).unwrap().success());
}

#[test]
fn very_many_templates_take_little_time() {
    let uri = format!("a:{}y", "x/".repeat(30_000));
    let [control, cpu] = ["few templates", "many templates"].map(|kind| {
        let (_all, host) = looked(kind, &uri);
        let cpu = cpu_time(host.pid());
        assert!(host.close(PATIENCE).unwrap().success());
        cpu
    });
    // Five hundred times as many templates, each of which a URI of 60 KB has to be held
    // against to its last byte. The control is over before a host begins to watch its files.
    assert!(cpu < 60 * control, "{cpu} ticks instead of {control}");
}
