use std::future::{pending, ready};
use std::sync::atomic::{AtomicUsize, Ordering};

use dormouse_protocol::{Answer, AskError, Capability, Listener, Question};
use dormouse_runtime::Arguments;
use futures::future::{BoxFuture, join};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::roster::tests::{ADD, Home, component};

/// User who closes forms or, without an answer, leaves them open; counts them.
pub(in crate::roster) struct FormUser {
    answer: Option<Value>,
    pub(in crate::roster) forms: AtomicUsize,
}

impl Listener for FormUser {
    fn progress(&self, _: f64, _: Option<f64>, _: Option<String>) {}

    fn log(&self, _: &'static str, _: Option<String>, _: Value) {}

    fn supports(&self, _: Capability) -> bool {
        true
    }

    fn ask(&self, _: Vec<Question>) -> BoxFuture<'static, Result<Vec<Answer>, AskError>> {
        self.forms.fetch_add(1, Ordering::Relaxed);
        match self.answer.clone() {
            Some(answer) => ready(Ok(vec![Answer::Made(answer)])).boxed(),
            None => pending().boxed(),
        }
    }
}

const CONFIRM: &str = "exposure.confirm = ['destructive']\n[servers.a]\ncomponent = 'a.wasm'\n";

/// Returns a roster with a server `a` whose tool `add` may destroy.
fn roster(home: &Home, config: &str) -> Arc<Roster> {
    home.write("a.wasm", &component(&[ADD]));
    home.write("dormouse.toml", config.as_bytes());
    home.open()
}

pub(in crate::roster) fn call(
    answer: Option<Value>,
    is_discover: bool,
) -> (Arc<CallUnderRules>, Arc<FormUser>, CallContext) {
    let asked = Arc::new(FormUser {
        answer,
        forms: AtomicUsize::new(0),
    });
    let context = CallContext {
        session: None,
        profile: None,
        cancel: CancellationToken::new(),
        listener: asked.clone(),
    };
    let call = AgentCall {
        name: "a__add".to_owned(),
        arguments: Arguments::default(),
        called_as: None,
        is_discover,
    };
    let call = Arc::new(CallUnderRules::of_agent(("a", "add"), call, &context));
    (call, asked, context)
}

/// A plugin sends requests one after the other, some at the same time, and goes away from others.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_opens_one_form_however_often_it_goes_on() {
    let home = Home::new();
    let roster = roster(&home, CONFIRM);
    let yes = json!({ "action": "accept", "content": { "answer": "once" } });
    for (answer, goes_on) in [(json!({ "action": "cancel" }), false), (yes, true)] {
        let (call, asked, context) = call(Some(answer), false);
        let may = || async {
            let may = roster.may_go_on(&call, &context).await.unwrap();
            assert_eq!(may.is_ok(), goes_on, "{may:?}");
        };
        join(may(), may()).await;
        may().await;
        assert_eq!(asked.forms.load(Ordering::Relaxed), 1);
    }
    let (call, asked, context) = call(None, false);
    let open = roster.may_go_on(&call, &context);
    assert!(open.now_or_never().is_none(), "the form is open");
    let may = roster.may_go_on(&call, &context).await.unwrap();
    assert!(may.unwrap_err().to_string().contains("no answer"));
    assert_eq!(asked.forms.load(Ordering::Relaxed), 1);
}

/// What has begun is not said to be not done, and nobody is told to do it once more.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_may_have_begun_is_not_said_to_be_not_made() {
    let deny = format!("exposure.deny = ['a__add']\n{CONFIRM}");
    for (config, is_discover, why) in [
        (CONFIRM, false, "has closed the form"),
        (CONFIRM, true, "it has changed"),
        (deny.as_str(), false, "`deny` of `[exposure]` has `a__add`"),
        ("", false, "its server is not there any more"),
    ] {
        let home = Home::new();
        let roster = roster(&home, CONFIRM);
        let (call, _, context) = call(Some(json!({ "action": "cancel" })), is_discover);
        home.write("dormouse.toml", config.as_bytes());
        roster.reload().unwrap();
        let told = roster.condition(&call, &context).check().await.unwrap_err();
        for part in [why, "`add` of server `a` did not go on", "so far is done"] {
            assert!(told.contains(part), "no `{part}` in {told}");
        }
        for part in ["was not called", "call it again"] {
            assert!(!told.contains(part), "`{part}` in {told}");
        }
    }
}

/// Who has waited for another call's form, and was not asked after all, has not agreed to anything.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_asked_about_that_had_waited_while_nobody_was_to_be_asked() {
    let home = Home::new();
    let roster = roster(&home, CONFIRM);
    let (first, _, context) = call(None, false);
    let mut open = Box::pin(roster.may_go_on(&first, &context));
    assert!((&mut open).now_or_never().is_none(), "the form is open");
    let yes = json!({ "action": "accept", "content": { "answer": "once" } });
    let (second, asked, context) = call(Some(yes), false);
    let mut waiting = Box::pin(roster.may_go_on(&second, &context));
    assert!((&mut waiting).now_or_never().is_none(), "it has its turn");
    let rewrite = |config: &str| {
        home.write("dormouse.toml", config.as_bytes());
        roster.reload().unwrap();
    };
    rewrite("[servers.a]\ncomponent = 'a.wasm'\n");
    drop(open);
    assert!(waiting.await.unwrap().is_ok());
    assert_eq!(asked.forms.load(Ordering::Relaxed), 0);
    rewrite(CONFIRM);
    let may = roster.may_go_on(&second, &context).await.unwrap();
    assert!(may.is_ok(), "{may:?}");
    assert_eq!(asked.forms.load(Ordering::Relaxed), 1);
}
