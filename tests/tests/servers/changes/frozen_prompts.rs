//! Prompts and resource templates that differ from what their user has approved.

use dormouse_tests::wait;
use serde_json::{Value, json};

use crate::announcing::{Agent, Announcing};
use crate::scripted::{agreed, asks};

fn offer(words: &str, argument: &str) -> Value {
    json!({
        "prompts": [{
            "name": "draft", "description": words,
            "arguments": [{ "name": argument, "description": words }],
        }],
        "resourceTemplates": [{
            "uriTemplate": "post://{box}", "name": "box", "description": words,
        }],
    })
}

/// Makes a server that has changed since its user saw it.
fn changed(more: &str) -> Announcing {
    let all = Announcing::known(&offer("Old.", "to"), more);
    all.offers(&offer("New.", "whom"));
    all
}

/// Changed items that wait for their user.
const WAITS: [&str; 2] = ["prompt `draft`", "resource template `post://{box}`"];

/// Returns the listed items of the server: its prompt and its template.
fn shown(agent: &mut Agent) -> [Vec<Value>; 2] {
    let lists = agent.lists();
    let of = |member: &str, key: &str, wanted: &str| {
        let items = lists[member].as_array().unwrap().iter();
        items.filter(|item| item[key] == wanted).cloned().collect()
    };
    [
        of("prompts", "name", "post__draft"),
        of("resourceTemplates", "uriTemplate", "post://{box}"),
    ]
}

/// Returns the listed items of a server that offers this.
fn listed(offer: &Value) -> [Vec<Value>; 2] {
    let mut prompt = offer["prompts"][0].clone();
    prompt["name"] = json!("post__draft");
    [vec![prompt], vec![offer["resourceTemplates"][0].clone()]]
}

#[track_caller]
fn comes_to_show(agent: &mut Agent, wanted: &[Vec<Value>; 2]) {
    wait::until("the lists", || {
        let now = shown(agent);
        anyhow::ensure!(now == *wanted, "{now:?} instead of {wanted:?}");
        Ok(())
    })
    .unwrap();
}

/// Checks that the argument is sent on, whether it is one of those that are shown or of those that
/// the server has now.
#[track_caller]
fn works(agent: &mut Agent, argument: &str) {
    let got = agent.prompt("post__draft", json!({ argument: "a" }));
    assert_eq!(got, Ok(format!("got draft {{\"{argument}\": \"a\"}}")));
    assert_eq!(agent.read("post://x"), Ok("read post://x".to_owned()));
    let prompt = json!({ "type": "ref/prompt", "name": "post__draft" });
    let template = json!({ "type": "ref/resource", "uri": "post://{box}" });
    for (of, name) in [(prompt, argument), (template, "box")] {
        let asked = json!({ "ref": of, "argument": { "name": name, "value": "" } });
        let outcome = agent.outcome("completion/complete", asked);
        let values = &outcome["result"]["completion"]["values"];
        assert_eq!(*values, json!([name]), "{outcome}");
    }
}

#[test]
fn changed_prompts_and_templates_are_shown_as_they_were_and_used_as_they_are() {
    let [old, new] =
        [("Old.", "to"), ("New.", "whom")].map(|(words, of)| listed(&offer(words, of)));
    for is_stateless in [false, true] {
        let all = changed("");
        // The first host finds out what has changed when it is asked for it, the second one knows.
        for _ in 0..2 {
            let mut agent = all.agent(is_stateless, json!({}));
            for argument in ["to", "whom"] {
                works(&mut agent, argument);
                all.comes_to_wait(&json!(WAITS));
                assert_eq!(shown(&mut agent), old);
            }
        }
        all.approve();
        let mut agent = all.agent(is_stateless, json!({}));
        assert_eq!(shown(&mut agent), new);
        works(&mut agent, "whom");
    }
}

/// The resources of a template are data, and are read by their URIs, whether the template is shown
/// or not.
#[test]
fn changed_prompts_that_are_withheld_are_not_got_and_what_templates_lead_to_is_read() {
    let new = listed(&offer("New.", "whom"));
    for (on_change, is_stateless) in [("ask", false), ("ask", true), ("block", false)] {
        let all = changed(&format!("on_change = \"{on_change}\"\n"));
        let mut agent = all.agent(is_stateless, json!({}));
        let refused = agent.prompt("post__draft", json!({ "to": "a" }));
        let refused = refused.unwrap_err();
        assert!(refused.contains("dormouse approve post"), "{refused}");
        agent.is_told("prompts");
        comes_to_show(&mut agent, &[vec![], vec![]]);
        let refused = agent.prompt("post__draft", json!({})).unwrap_err();
        assert!(refused.contains("Unknown prompt"), "{refused}");
        assert_eq!(agent.read("post://x"), Ok("read post://x".to_owned()));
        let got = all.got();
        assert!(!got.contains(&"prompt draft".to_owned()), "{got:?}");
        all.comes_to_wait(&json!(WAITS));
        all.approve();
        comes_to_show(&mut agent, &new);
        works(&mut agent, "whom");
    }
    // One who can be asked is.
    let all = changed("on_change = \"ask\"\n");
    let mut agent = all.agent(false, asks());
    agent.host.always_answers("elicitation/create", agreed());
    works(&mut agent, "whom");
    let [asked] = agent.host.asked.as_slice() else {
        panic!("not one question but {:?}", agent.host.asked);
    };
    let message = asked["params"]["message"].as_str().unwrap();
    for part in ["prompt `draft`", "Old.", "New.", "template `post://{box}`"] {
        assert!(message.contains(part), "no `{part}` in {message}");
    }
    comes_to_show(&mut agent, &new);
}
