//! Servers that offer other things to each kind of clients, by what these can be asked and by their
//! revision of the protocol.

use std::time::Duration;

use anyhow::ensure;
use dormouse_tests::{Client, wait, wire};
use serde_json::{Value, json};

use crate::announcing::Announcing;
use crate::changes::client_kinds::{ASKED, Kinds, MODERN, OTHERS, PAGES, offer, tool};
use crate::scripted::{asks, tools};

/// All clients are shown one text, the one that was approved last.
#[test]
fn what_waits_of_one_kind_of_clients_is_shown_to_none_and_what_is_approved_is_no_drift() {
    let kinds = Kinds::of(["for asked", "for modern", "for others"]);
    let two = json!(["pay", "prompt `draft`"]);
    // It was known by one who can be asked all.
    kinds.pays(ASKED);
    kinds.all.comes_to_wait(&json!([]));
    kinds.all_see("for asked");
    let mut before = "for asked";
    for (client, words) in [(OTHERS, "for others"), (MODERN, "for modern")] {
        kinds.pays(client);
        kinds.all.comes_to_wait(&two);
        kinds.all_see(before);
        // It goes on waiting when others come.
        kinds.all.0.run(&["restart", "post"]);
        kinds.pays(ASKED);
        kinds.all.comes_to_wait(&two);
        kinds.all_see(before);
        let shown = kinds.all.0.run(&["diff", "post"]);
        assert!(shown.contains(&format!("+ {words}")), "{shown}");
        kinds.all.approve();
        kinds.comes_to(words);
        kinds.all_see(words);
        before = words;
    }
    // What those alone have who show pages is new, and so far nobody has approved it for anybody.
    for client in [PAGES, OTHERS, ASKED] {
        kinds.all.0.run(&["restart", "post"]);
        kinds.pays(client);
        kinds.all.comes_to_wait(&json!(["page"]));
        kinds.all_see("for modern");
    }
    kinds.all.approve();
    kinds.knows_pages.set(true);
    kinds.comes_to("post__page");
    kinds.is_at_rest("for modern");

    // What becomes of one kind's is shown to none before its user has seen it, and what the others
    // are offered is as it was approved.
    kinds
        .all
        .offers(&offer(["EVIL", "for modern", "for others"]));
    kinds.all.0.run(&["restart", "post"]);
    for client in [ASKED, OTHERS, MODERN, ASKED] {
        kinds.pays(client);
        kinds.all.comes_to_wait(&two);
        kinds.all_see("for modern");
    }
    kinds.all.approve();
    kinds.comes_to("EVIL");
    kinds.all_see("EVIL");
    kinds.is_at_rest("EVIL");
    // Approved for one kind is not approved for all.
    kinds.all.offers(&offer(["EVIL", "for modern", "WORSE"]));
    kinds.all.0.run(&["restart", "post"]);
    kinds.pays(OTHERS);
    kinds.all.comes_to_wait(&two);
    kinds.all_see("EVIL");
}

/// A prompt, a template and instructions that are only there for clients that can be asked do not
/// come and go with any connection: no client is told that its lists have changed.
#[test]
fn what_only_some_clients_are_offered_stays_and_nobody_hears_of_a_change() {
    let mut offered = offer(["same", "same", "same"]);
    offered["to"]["elicitation"]["instructions"] = json!("Ask before you pay.");
    let all = Announcing::known(&offered, "");
    let serve =
        |able: Value| Client::start_able(&mut all.0.home.command(&["serve"]), able).unwrap();
    let lists = |host: &mut Client| {
        let lists = [
            ("tools/list", "tools"),
            ("prompts/list", "prompts"),
            ("resources/templates/list", "resourceTemplates"),
        ];
        lists.map(|(method, member)| host.list(method, member).unwrap())
    };
    let mut watching = serve(json!({}));
    let before = lists(&mut watching);
    let shown = json!(before).to_string();
    for part in ["post__confirm", "post__consent", "post://{drawer}"] {
        assert!(shown.contains(part), "no `{part}` in {shown}");
    }
    assert!(
        watching.hello["instructions"]
            .to_string()
            .contains("Ask before you pay.")
    );
    for able in [json!({}), asks(), json!({}), asks()] {
        let mut host = serve(able.clone());
        assert!(
            host.hello["instructions"]
                .to_string()
                .contains("Ask before you pay."),
            "{able}"
        );
        host.text("post__pay", json!({})).unwrap();
        let waits = all.0.run(&["diff", "post"]);
        assert!(
            waits.contains("nothing of `post` has changed"),
            "{able}: {waits}"
        );
        assert_eq!(lists(&mut host), before, "{able}");
        assert_eq!(lists(&mut watching), before, "{able}");
        let told = host.notification("notifications/prompts/list_changed", Duration::ZERO);
        assert!(told.is_err(), "{able}: {told:?}");
    }
    let changed = |method: &str| {
        let told = watching.notifications.iter();
        told.filter(|message| message["method"] == method).count()
    };
    for list in ["tools", "prompts", "resources"] {
        assert_eq!(changed(&format!("notifications/{list}/list_changed")), 0);
    }
    // What the server has for nobody any longer is gone, once that shows.
    all.offers(&json!({ "tools": [tool("pay", "same")] }));
    all.0.home.synced("post").unwrap();
    let [tools, prompts, templates] = lists(&mut serve(json!({})));
    assert_eq!(tools.len(), 1, "{tools:?}");
    assert!(
        prompts
            .iter()
            .all(|prompt| prompt["name"] != "post__consent")
    );
    assert_eq!(templates, [Value::Null; 0]);
}

/// Clients of an older revision of the protocol are another kind, too: their offers are approved
/// once, and take nothing from the others.
#[test]
fn what_one_revision_is_offered_is_no_change_of_what_another_one_is() {
    let newer = [tool("pay", "for newer"), tool("refund", "Pays back.")];
    let older = json!({ "2025-03-26": { "tools": [tool("pay", "for older")] } });
    let all = Announcing::known(&json!({ "tools": newer, "to": older }), "");
    let serve = |revision: &str| {
        let mut host = Client::spawn(&mut all.0.home.command(&["serve"])).unwrap();
        let mut hello = wire::initialize(json!({}));
        hello["protocolVersion"] = json!(revision);
        host.request("initialize", hello).unwrap();
        host.notify("notifications/initialized", json!({})).unwrap();
        host.text("post__pay", json!({})).unwrap();
        host
    };
    let first = serve("2025-03-26");
    all.comes_to_wait(&json!(["pay"]));
    drop(first);
    all.approve();
    for revision in ["2025-11-25", "2025-03-26", "2025-11-25", "2025-03-26"] {
        let mut host = serve(revision);
        all.comes_to_wait(&json!([]));
        let tools = host.tools().unwrap();
        let shown = tools.iter().map(|tool| &tool["description"]);
        assert!(
            shown.eq(&["for older", "Pays back."]),
            "{revision}: {tools:?}"
        );
    }
}

/// Items that wait for one kind of clients are shown as they are: the same items of another kind,
/// in a form that nobody is shown, are not known by that.
#[test]
fn what_nobody_was_shown_hides_nothing_of_what_is_to_be_approved() {
    let evil = |schema: Value| json!({ "name": "a", "description": "EVIL", "inputSchema": schema });
    let (pay, shown) = (tool("pay", "Pays."), json!({ "type": "object" }));
    let all = Announcing::known(&json!({ "tools": [pay] }), "");
    let serve = |able: Value| {
        let mut host = Client::start_able(&mut all.0.home.command(&["serve"]), able).unwrap();
        host.text("post__pay", json!({})).unwrap();
        host
    };
    all.offers(&json!({
        "tools": [pay, evil(shown)],
        "to": { "elicitation": { "tools": [pay, evil(json!(7))] } },
    }));
    for able in [json!({}), asks()] {
        let mut host = serve(able);
        all.comes_to_wait(&json!(["a"]));
        assert_eq!(tools(&mut host), ["post__pay"]);
    }
    for words in [&["diff", "post"][..], &["approve", "post", "--yes"]] {
        let told = all.0.run(words);
        assert!(told.contains("tool `a`, new"), "{told}");
        assert!(told.contains("  + EVIL"), "{told}");
    }
}

/// Returns a tool with hints that it only reads, or that it destroys.
fn hinted(words: &str, reads: bool) -> Value {
    let mut tool = tool("pay", words);
    tool["annotations"] = json!({ "readOnlyHint": reads, "destructiveHint": !reads });
    tool
}

/// The offers to `dormouse sync`, which is no agent, do not falsify the hints of tools that are
/// approved later, though the server does not say that it is another release.
#[test]
fn what_is_approved_after_an_upgrade_is_as_the_server_says() {
    let all = Announcing::known(&json!({ "tools": [hinted("Pays.", false)] }), "");
    let now = hinted("Looks at what is to be paid.", true);
    all.offers(&json!({ "tools": [now] }));
    let mut host = Client::start_able(&mut all.0.home.command(&["serve"]), json!({})).unwrap();
    host.text("post__pay", json!({})).unwrap();
    all.comes_to_wait(&json!(["pay"]));
    let listed = host.tools().unwrap();
    assert_eq!(
        listed[0]["annotations"]["readOnlyHint"], false,
        "{listed:?}"
    );
    all.approve();
    wait::until("the tool as it is", || {
        let listed = host.tools()?;
        ensure!(listed[0]["annotations"] == now["annotations"], "{listed:?}");
        Ok(())
    })
    .unwrap();
}

/// Another kind of clients that had the same text is still offered the tool of that text.
#[test]
fn a_tool_stays_careful_for_clients_that_had_the_same_text_as_others() {
    let old = json!({ "tools": [hinted("Deletes.", false)] });
    let all = Announcing::known(&old, "");
    let serve = |able: Value| {
        let mut host = Client::start_able(&mut all.0.home.command(&["serve"]), able).unwrap();
        host.text("post__pay", json!({})).unwrap();
        host
    };
    drop(serve(json!({})));
    let mut asked = serve(asks());
    let mut offered = json!({ "tools": [hinted("Reads.", true)] });
    offered["to"] = json!({ "elicitation": old });
    all.offers(&offered);
    let mut others = serve(json!({}));
    // Two hosts run: what the new one was offered is known once its call has been answered.
    all.approve();
    for host in [&mut asked, &mut others] {
        wait::until("what is approved", || {
            let listed = host.tools()?;
            ensure!(listed[0]["description"] == "Reads.", "{listed:?}");
            assert_eq!(
                listed[0]["annotations"]["readOnlyHint"], false,
                "{listed:?}"
            );
            Ok(())
        })
        .unwrap();
    }
}

/// Items that are gone since they were approved are told of by every command until their user has
/// been shown that, and by calls of them.
#[test]
fn what_is_gone_is_told_until_it_was_seen() {
    let many: Vec<_> = (0..12)
        .map(|number| tool(&format!("old{number}"), "Is old."))
        .collect();
    let all = Announcing::known(&json!({ "tools": many }), "");
    all.offers(&json!({ "tools": [tool("pay", "Pays.")] }));
    all.0.home.synced("post").unwrap();
    let run = |words: &[&str]| all.0.run(words);
    for words in [&["status"][..], &["list"], &["doctor"]] {
        let told = run(words);
        assert!(
            told.contains("12 of what it offered when you last approved it are gone"),
            "{told}"
        );
        assert!(told.contains("`old0`"), "{told}");
    }
    let told = run(&["diff", "post"]);
    assert!(told.contains("1 new, 12 gone"), "{told}");
    assert!(told.contains("tool `old11`, gone"), "{told}");
    let mut host = Client::start(&mut all.0.home.command(&["serve"])).unwrap();
    let refused = host.text("post__old3", json!({})).unwrap_err().to_string();
    assert!(
        refused.contains("server `post` no longer offers it"),
        "{refused}"
    );
    all.approve();
    let told = run(&["status"]);
    assert!(!told.contains("gone"), "{told}");
    assert!(run(&["diff", "post"]).contains("nothing of `post` has changed"));
    let refused = host.text("post__old3", json!({})).unwrap_err().to_string();
    assert!(
        refused.contains("server `post` offers no tool of that name"),
        "{refused}"
    );
    // Where nothing waits, there is nothing to be asked.
    all.offers(&json!({ "tools": [] }));
    all.0.home.synced("post").unwrap();
    assert!(run(&["approve", "post"]).contains("tool `pay`, gone"));
    assert!(!run(&["status"]).contains("gone"));
}
