//! What rules of exposure hide, as commands say it and hold to it.

use crate::commands::streams;
use crate::scripted::Scripted;

#[test]
fn what_a_rule_hides_no_command_calls_and_all_say_so() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds."), ("drop", "Drops.")]);
    all.configure(&all.cursor(), &["notes"]);
    all.run(&["sync"]);
    let started = all.starts("notes");
    let rules = |text: &str| std::fs::write(all.home.config(), text).unwrap();
    rules("[exposure]\ndeny = ['notes__dr*', 'note__x']\n");
    let refused = all.fails(&["call", "notes", "drop", "{}"]);
    assert!(
        refused.contains("`deny` of `[exposure]` has `notes__dr*`\nhint: "),
        "{refused}"
    );
    assert_eq!(all.starts("notes"), started);
    all.run(&["call", "notes", "add", "{}"]);
    let hidden = "one of its tools is hidden from agents: `deny` of `[exposure]` has `notes__dr*`";
    for words in [&["list"][..], &["tools"], &["tools", "notes"], &["doctor"]] {
        let (_, stdout, stderr) = streams(&all, words);
        assert!((stdout + &stderr).contains(hidden), "{words:?}");
    }
    let (_, doctor, _) = streams(&all, &["doctor"]);
    assert!(
        doctor.contains("has `note__x`, and no tool that is known")
            && doctor.contains("did you mean `notes__x`?"),
        "{doctor}"
    );

    rules("[exposure]\nallow = ['post']\n");
    for words in [&["tools"][..], &["search", "drop"], &["doctor"]] {
        let (_, stdout, stderr) = streams(&all, words);
        let said = stdout + &stderr;
        assert!(
            said.contains("2 of its tools are hidden from agents: `allow` of"),
            "{words:?}: {said}"
        );
        assert!(!said.contains("no tools yet"), "{words:?}: {said}");
    }
    let (output, ..) = streams(&all, &["search", "--limit", "0", "x"]);
    assert_eq!(output.status.code(), Some(2));
    let (output, _, said) = streams(&all, &["tokens", "--client", "cursr"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("did you mean `cursor`?"), "{said}");
}

/// What `list` has counted is what `tokens` calls mapped.
#[test]
fn the_costs_in_a_list_are_those_that_were_counted() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds."), ("drop", "Drops.")]);
    all.configure(&all.cursor(), &["notes"]);
    all.run(&["sync"]);
    let listed = || all.home.json(&["list", "--json"]).unwrap()[0].clone();
    assert_eq!(listed()["is_estimate"], true);
    let counted = all.home.json(&["tokens", "--json"]).unwrap();
    let listed = listed();
    assert_eq!(listed["is_estimate"], false);
    assert_eq!(
        listed["tokens"], counted["servers"][0]["tokens"]["mapped"],
        "{counted}"
    );
}
