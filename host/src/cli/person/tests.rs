use std::cell::RefCell;

use dormouse_protocol::QuestionOrigin;
use futures::FutureExt as _;

use super::*;

thread_local! {
    static SHOWN: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Returns the answer to a question when these lines are typed and then no more, and the text that
/// was shown.
fn asked(capability: Capability, params: Value, typed: &[&str]) -> (Value, String) {
    let Value::Object(params) = params else {
        panic!("{params} are no parameters");
    };
    let question = Question {
        id: "q".into(),
        origin: QuestionOrigin::Server,
        capability,
        params,
        text: None,
    };
    let (sender, lines) = mpsc::channel(typed.len().max(1));
    for line in typed {
        sender.try_send((*line).to_owned()).unwrap();
    }
    drop(sender);
    let mut person = Person {
        lines: Some(lines),
        forgets: false,
        show: |text| SHOWN.with_borrow_mut(|shown| shown.push_str(text)),
    };
    let answer = person.answer(&question).now_or_never().unwrap();
    (
        answer.unwrap().into_value().unwrap(),
        SHOWN.with_borrow_mut(std::mem::take),
    )
}

fn form(fields: &Value, required: &[&str], typed: &[&str]) -> (Value, String) {
    let schema = json!({ "type": "object", "properties": fields, "required": required });
    let params = json!({ "message": "Who are you?", "requestedSchema": schema });
    asked(Capability::ElicitationForm, params, typed)
}

fn filled(field: Value, required: bool, typed: &[&str]) -> (Value, String) {
    let required: &[&str] = if required { &["it"] } else { &[] };
    let typed = [&["y"], typed].concat();
    let (answer, shown) = form(&json!({ "it": field }), required, &typed);
    (answer, shown)
}

fn accepted(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

#[test]
fn nothing_is_accepted_that_nobody_has_agreed_to() {
    let fields = json!({ "name": { "type": "string", "default": "Ada" } });
    for (typed, action) in [
        (&[][..], "cancel"),
        (&["", "", "maybe"], "cancel"),
        (&["n"], "decline"),
        (&["No"], "decline"),
        (&["c"], "cancel"),
        // Ctrl-D in the middle of the form.
        (&["y"], "cancel"),
    ] {
        let (answer, shown) = form(&fields, &[], typed);
        assert_eq!(answer, json!({ "action": action }), "{typed:?}");
        assert!(shown.starts_with("Who are you?\n"), "{shown}");
        let (answer, _) = form(&json!({}), &[], if typed == ["y"] { &[] } else { typed });
        assert_eq!(answer, json!({ "action": action }), "{typed:?}");
    }
    assert_eq!(form(&json!({}), &[], &["yes"]).0, accepted(json!({})));
}

#[test]
fn a_page_is_shown_and_confirmed() {
    let url = "https://example.com/\u{1b}[2J";
    for (typed, action) in [
        (&["", "y"][..], "accept"),
        (&["n"], "decline"),
        (&[], "cancel"),
    ] {
        let params = json!({ "message": "Sign in.", "url": url });
        let (answer, shown) = asked(Capability::ElicitationUrl, params, typed);
        assert_eq!(answer, json!({ "action": action }));
        // Nothing that the server writes moves the cursor.
        assert!(shown.contains("https://example.com/\\u{1b}[2J"), "{shown}");
    }
}

#[test]
fn fields_are_filled_in_one_by_one() {
    let (answer, shown) = form(
        &json!({
            "name": { "type": "string", "title": "Name", "description": "Yours" },
            "age": { "type": "integer" },
            "note": { "type": "string" },
        }),
        &["name", "age"],
        &["y", "Ada Lovelace", "36", ""],
    );
    assert_eq!(
        answer,
        accepted(json!({ "name": "Ada Lovelace", "age": 36 }))
    );
    assert_eq!(
        shown,
        "Who are you?\n  \
         do you want to answer? y = yes, n = no, c = cancel:   \
         Name: Yours\n    a text:   \
         age\n    a whole number:   \
         note\n    a text, or Enter for nothing: "
    );
}

#[test]
fn each_kind_of_field_takes_what_fits_and_asks_again_otherwise() {
    let choices = json!([{ "const": "2", "title": "Two" }, { "const": "1", "title": "One" }]);
    let one = json!({ "type": "string", "oneOf": choices });
    let several = json!({ "type": "array", "items": { "anyOf": choices }, "maxItems": 1 });
    let some = |mut field: Value, more: &[(&str, Value)]| {
        for (name, value) in more {
            field[*name] = value.clone();
        }
        field
    };
    for (field, required, typed, value, said) in [
        (
            json!({ "type": "string", "format": "email" }),
            true,
            &["", "nope", "a@b.c"][..],
            json!("a@b.c"),
            "this does not fit: `nope` is not a `email`",
        ),
        (
            json!({ "type": "string", "default": "x" }),
            true,
            &[""],
            json!("x"),
            "or Enter for `x`",
        ),
        (
            json!({ "type": "number", "maximum": 2 }),
            true,
            &["two", "3", "1.5"],
            json!(1.5),
            "`two` is no number",
        ),
        (
            json!({ "type": "integer" }),
            true,
            &["1.5", "-1"],
            json!(-1),
            "this does not fit: `1.5`",
        ),
        (
            json!({ "type": "boolean" }),
            true,
            &["", "perhaps", "No"],
            json!(false),
            "`perhaps` is neither",
        ),
        (
            json!({ "type": "boolean", "default": true }),
            true,
            &[""],
            json!(true),
            "or Enter for `y`",
        ),
        // A number is the place of a choice, whatever the choices are.
        (
            one.clone(),
            true,
            &["0", "3", "Two", "1"],
            json!("2"),
            "    1  Two\n    2  One\n",
        ),
        (
            some(one, &[("default", json!("1"))]),
            true,
            &[""],
            json!("1"),
            "or Enter for `One`",
        ),
        (
            several.clone(),
            true,
            &["1, 2", "2"],
            json!(["1"]),
            "has more than 1 item",
        ),
        (
            several.clone(),
            true,
            &[""],
            json!([]),
            "with commas between: ",
        ),
        (
            some(several, &[("minItems", json!(1))]),
            true,
            &["", "1"],
            json!(["2"]),
            "this does not fit",
        ),
    ] {
        let (answer, shown) = filled(field.clone(), required, typed);
        assert_eq!(answer, accepted(json!({ "it": value })), "{field} {shown}");
        assert!(shown.contains(said), "{field}: {shown}");
    }
    let optional = json!({ "type": "array", "items": { "type": "string", "enum": ["a"] } });
    assert_eq!(filled(optional, false, &[""]).0, accepted(json!({})));
}

#[test]
fn a_form_that_is_none_is_refused() {
    let question = Question {
        id: "q".into(),
        origin: QuestionOrigin::Server,
        capability: Capability::ElicitationForm,
        params: Map::new(),
        text: None,
    };
    let mut person = Person::new(|_| {});
    let error = person.answer(&question).now_or_never().unwrap();
    assert!(matches!(error, Err(AskError::Invalid(_))), "{error:?}");
}
