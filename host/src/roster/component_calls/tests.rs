use dormouse_protocol::Listener;
use serde_json::{Value, json};

use super::*;
use crate::roster::call_under_rules::tests::{FormUser, call};
use crate::roster::tests::{ADD, Home, component};

const SERVER: &str = "[servers.a]\ncomponent = 'a.wasm'\ncommand = ['not-started']\n";

const CONFIRM: &str = "exposure.confirm = ['destructive']\n";

/// Returns a roster with a server `a` whose component, with a tool `add` of its own, has an upstream.
fn roster(home: &Home, config: &str) -> Arc<Roster> {
    home.write("a.wasm", &component(&[ADD]));
    home.write("dormouse.toml", format!("{config}{SERVER}").as_bytes());
    home.open()
}

fn chosen(answer: &str) -> Value {
    json!({ "action": "accept", "content": { "answer": answer } })
}

/// Makes the component's call of a tool of its upstream. Returns why it was not made, if so.
async fn called(conditions: &UpstreamCallCondition, tool: &str) -> Result<(), String> {
    let condition = conditions(tool, r#"{"path": "/"}"#)?;
    condition.check().await?;
    // It goes on after its upstream has asked something.
    condition.check().await
}

fn conditions(
    roster: &Roster,
    call: Option<&Arc<CallUnderRules>>,
    context: &CallContext,
) -> UpstreamCallCondition {
    let server = roster.server("a").unwrap();
    roster.upstream_condition(&server, call, context).unwrap()
}

fn forms(asked: &FormUser) -> usize {
    asked.forms.load(Ordering::Relaxed)
}

/// A tool that says nothing of itself, or that its user has not approved, may destroy.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_component_calls_is_asked_about_as_if_the_agent_had_called_it() {
    let home = Home::new();
    let roster = roster(&home, CONFIRM);
    for is_for_tool in [true, false] {
        let (outer, asked, context) = call(Some(chosen("once")), false);
        let outer = is_for_tool.then_some(&outer);
        let conditions = conditions(&roster, outer, &context);
        for made in 1..3 {
            called(&conditions, "wipe").await.unwrap();
            assert_eq!(forms(&asked), made);
        }
        // Who closes a form is not shown another one, whatever the component goes on with.
        let (outer, asked, context) = call(Some(json!({ "action": "cancel" })), false);
        let outer = is_for_tool.then_some(&outer);
        let conditions = self::conditions(&roster, outer, &context);
        for (tool, why) in [
            (
                "wipe",
                "tool `wipe` of server `a` was not called: its user was asked, and has closed",
            ),
            ("wipe", "has not agreed to another call"),
            (
                "drop",
                "tool `drop` of server `a` was not called: its user would have to be asked",
            ),
        ] {
            let told = called(&conditions, tool).await.unwrap_err();
            assert!(told.contains(why) && told.contains("\nhint: "), "{told}");
            assert_eq!(forms(&asked), 1);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_its_user_was_not_shown_keeps_no_other_from_being_asked_about() {
    let home = Home::new();
    let roster = roster(&home, CONFIRM);
    let (outer, asked, context) = call(Some(chosen("once")), false);
    let conditions = conditions(&roster, Some(&outer), &context);
    let many: Vec<_> = (0..100).map(|number| format!("\"a{number}\":1")).collect();
    let long = conditions("wipe", &format!("{{{}}}", many.join(","))).unwrap();
    let told = long.check().await.unwrap_err();
    assert!(told.contains("more than fits into a form"), "{told}");
    assert_eq!(forms(&asked), 0);
    called(&conditions, "wipe").await.unwrap();
    assert_eq!(forms(&asked), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_to_a_tool_is_one_to_a_component_that_calls_it_and_a_yes_is_one_to_its_own_call() {
    let home = Home::new();
    let roster = roster(&home, CONFIRM);
    let (outer, asked, context) = call(Some(chosen("once")), false);
    assert!(roster.may_go_on(&outer, &context).await.unwrap().is_ok());
    let conditions = conditions(&roster, Some(&outer), &context);
    called(&conditions, "add").await.unwrap();
    assert_eq!(forms(&asked), 1, "its user has agreed to a call of `add`");
    called(&conditions, "wipe").await.unwrap();
    assert_eq!(forms(&asked), 2);

    let (outer, asked, context) = call(Some(chosen("no")), false);
    assert!(roster.may_go_on(&outer, &context).await.unwrap().is_err());
    let conditions = self::conditions(&roster, None, &context);
    let told = called(&conditions, "add").await.unwrap_err();
    assert!(told.contains("is not asked again"), "{told}");
    assert_eq!(forms(&asked), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_calls_what_its_user_allows_and_nothing_that_they_deny() {
    let not_allowed = Some(
        "`allow` of `[exposure]` does not have it\nhint: the component of that server calls it: \
         write `a__wipe` into `allow`",
    );
    let denied = Some("`deny` of `[exposure]` has `a__w*`");
    let not_in_profile = Some(
        "it is not in the profile that is served\nhint: the component of that server calls it: \
         write `a__wipe` into `tools` of the profile",
    );
    for (rules, why) in [
        ("", None),
        ("exposure.allow = ['a']\n", None),
        ("exposure.allow = ['a__add']\n", not_allowed),
        ("exposure.allow = ['a__add', 'a__wipe']\n", None),
        ("exposure.deny = ['a__w*']\n", denied),
        ("profiles.work.tools = ['a__add']\n", not_in_profile),
    ] {
        let home = Home::new();
        let roster = roster(&home, rules);
        let (outer, asked, mut context) = call(None, false);
        context.profile = rules.starts_with("profiles").then(|| "work".into());
        let of_person = Arc::new(CallUnderRules::of_person(("a", "add"), &context));
        for outer in [Some(&outer), Some(&of_person), None] {
            let conditions = conditions(&roster, outer, &context);
            called(&conditions, "add").await.unwrap();
            // It is refused before the upstream is connected.
            let is_refused = conditions("wipe", "{}").is_err();
            assert_eq!(is_refused, why.is_some());
            match (called(&conditions, "wipe").await, why) {
                (Ok(()), None) => {}
                (Err(told), Some(why)) => assert!(told.contains(why), "{told}"),
                (told, _) => panic!("{rules}: {told:?}"),
            }
        }
        assert_eq!(forms(&asked), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_calls_a_component_at_a_command_line_is_asked_about_nothing_that_it_calls() {
    let home = Home::new();
    let roster = roster(&home, CONFIRM);
    let (_, asked, context) = call(None, false);
    let of_person = Arc::new(CallUnderRules::of_person(("a", "add"), &context));
    called(&conditions(&roster, Some(&of_person), &context), "wipe")
        .await
        .unwrap();
    assert_eq!(forms(&asked), 0);
    // Hidden are its tools, not its prompts and resources, for which it may call what it wants.
    home.write(
        "dormouse.toml",
        format!("{SERVER}expose = 'hidden'\n").as_bytes(),
    );
    roster.reload().unwrap();
    called(&conditions(&roster, None, &context), "wipe")
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_while_a_component_waits_counts_for_its_call() {
    let home = Home::new();
    let roster = roster(&home, "");
    let (outer, _, context) = call(None, false);
    let condition = conditions(&roster, Some(&outer), &context)("wipe", "{}").unwrap();
    condition.check().await.unwrap();
    let config = format!("exposure.deny = ['a__wipe']\n{SERVER}");
    home.write("dormouse.toml", config.as_bytes());
    roster.reload().unwrap();
    let told = condition.check().await.unwrap_err();
    assert!(told.contains("so far is done"), "{told}");
    assert!(
        told.contains("`deny` of `[exposure]` has `a__wipe`"),
        "{told}"
    );
}

/// Client that cannot ask its user.
struct CannotAsk;

impl Listener for CannotAsk {
    fn progress(&self, _: f64, _: Option<f64>, _: Option<String>) {}

    fn log(&self, _: &'static str, _: Option<String>, _: Value) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nobody_can_be_asked_a_component_is_told_so() {
    let home = Home::new();
    let roster = roster(&home, CONFIRM);
    let (outer, _, context) = call(None, false);
    let context = CallContext {
        listener: Arc::new(CannotAsk),
        ..context
    };
    let conditions = conditions(&roster, Some(&outer), &context);
    for tool in ["wipe", "drop"] {
        let told = called(&conditions, tool).await.unwrap_err();
        assert!(told.contains("this client cannot ask\nhint: "), "{told}");
    }
}
