//! Tests that learning what takes long is not done more often than it has to be.

use dormouse_config::OnChange;

use super::super::item::{SHOWN, ToldForm, forget_all};
use super::*;

#[test]
fn the_form_of_an_object_is_worked_out_once() {
    let (folder, store, of) = fixture();
    let changes = ChangePolicy::from(OnChange::Ask);
    let count = |work: &dyn Fn()| {
        let before = SHOWN.get();
        work();
        SHOWN.get() - before
    };
    let learn = |text: &str| {
        let names: Vec<_> = (0..10).map(|number| format!("counted{number}")).collect();
        let tools: Vec<_> = names.iter().map(|name| (name.as_str(), text)).collect();
        count(&|| {
            let learnt = store.learn(&of, offered(&tools), &changes, None);
            learnt.unwrap();
            assert!(store.known(&of).is_some());
        })
    };
    assert_eq!(learn("A"), 10);
    // What there was is compared with what there is.
    assert_eq!(learn("B"), 20);
    assert_eq!(learn("C"), 10);
    assert_eq!(learn("C"), 0);
    // A process that starts looks once whether each can be shown as it is. As it was, it is listed.
    forget_all();
    let next = Store::new(folder.path().join("servers"));
    let start = || assert_eq!(next.known(&of).unwrap().pending.len(), 10);
    assert_eq!(count(&start), 10);
}

/// What can be shown at all can be compared, and nothing else can.
#[test]
fn what_can_be_shown_has_a_form() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let tool = |member: &str| format!(r#"{{"name":"t","inputSchema":{{}},"x":{member}}}"#);
    let odd = [
        tool("1"),
        tool("1e400"),
        tool(r#"{"a":1,"a":2}"#),
        tool(r#"{"a":1,"\u0061":2}"#),
        tool(r#""\ud800""#),
        tool(r#"{"\ud800":1}"#),
        tool(&deep(98)),
        tool(&deep(99)),
        tool(&deep(100)),
        tool(&deep(120)),
        r#"{"name":"t"}"#.to_owned(),
        r#"{"name":"t","inputSchema":null,"Name":1,"_meta":7}"#.to_owned(),
        r#"{"uriTemplate":"x:{a}"}"#.to_owned(),
        r#""text""#.to_owned(),
        r#""\ud800""#.to_owned(),
        "7".to_owned(),
    ];
    for kind in Gated::ALL {
        for text in &odd {
            let object = raw(text);
            forget_all();
            let is_told = kind.is_told("t", &object);
            assert_eq!(is_told, kind.told("t", &object).is_some(), "{kind} {text}");
            let form = ToldForm::of(kind, "t", &object);
            assert_eq!(form.is_some(), is_told, "{kind} {text}");
            assert_eq!(kind.is_told("t", &object), is_told, "{kind} {text}");
        }
    }
}
