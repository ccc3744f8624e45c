//! Components that take long to read, and that no host has read yet.

use anyhow::{Context as _, ensure};
use dormouse_tests::{component, wait};

use super::*;

/// Component of some hundred bytes, whose schemas take longer to make than a process may that reads
/// one.
const SLOW: &str = r#"(component
    (core module $m (memory (export "m") 1) (func (export "f") (result i32) (i32.const 0)))
    (core instance $i (instantiate $m))
    (type $one (result)) (type $many (tuple MANY)) (type $all (tuple ALL))
    (func $f (result $all) (canon lift (core func $i "f") (memory (core memory $i "m"))))
    EXPORTS)"#;

/// Number of them: more than are read before a host answers.
const COUNT: usize = 10;

fn slow() -> Vec<u8> {
    let exports = (0..10).map(|number| format!("(export \"f{number}\" (func $f))"));
    let text = SLOW
        .replace("MANY", &"$one ".repeat(40))
        .replace("ALL", &"$many ".repeat(100))
        .replace("EXPORTS", &exports.collect::<String>());
    wat::parse_str(text).unwrap()
}

/// Returns the number of servers whose components have not been read yet.
fn unread(home: &Home) -> anyhow::Result<usize> {
    let status = home.status()?;
    let servers = status["servers"].as_array().context("no servers")?;
    let unread = servers.iter();
    let unread = unread.filter(|server| server.to_string().contains("it is not read yet"));
    Ok(unread.count())
}

#[test]
fn a_host_answers_while_it_reads_what_takes_long() {
    let home = Home::new().unwrap();
    let bytes = slow();
    for number in 0..COUNT {
        let name = format!("slow{number}");
        let distinct = component::with_section(&bytes, "distinct", name.as_bytes());
        let file = home
            .plugin_file(&format!("{name}.wasm"), &distinct)
            .unwrap();
        home.server(&name, &file).unwrap();
    }
    home.server("good", &artifacts::guest("echo").unwrap())
        .unwrap();
    let mut client = home.serve().unwrap();
    assert!(unread(&home).unwrap() > 0);
    let told = client
        .text("good__echo", json!({ "text": "well" }))
        .unwrap();
    assert!(told.contains("well"), "{told}");
    let two_minutes = Duration::from_secs(110);
    wait::until_within(two_minutes, "all components are read", || {
        let left = unread(&home)?;
        ensure!(left == 0, "{left} are not");
        Ok(())
    })
    .unwrap();
    drop(client);
    // None of that is done again.
    let _client = home.serve().unwrap();
    assert_eq!(unread(&home).unwrap(), 0);
}
