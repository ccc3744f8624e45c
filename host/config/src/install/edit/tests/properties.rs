//! Random entries and texts.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,3}",
        "[a-zA-Z0-9 ./@_-]{1,6}",
        Just("ä\"\\".to_owned())
    ]
}

fn value() -> impl Strategy<Value = Json> {
    let text = prop_oneof!["[a-z]{0,4}", "[ -~]{0,8}", Just("é\n\t#: - {".to_owned())];
    let leaf = prop_oneof![
        text.prop_map(Json::from),
        any::<bool>().prop_map(Json::from),
        any::<i32>().prop_map(Json::from),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Json::from),
            vec((name(), inner), 0..3)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

fn entries() -> impl Strategy<Value = Vec<(String, Json)>> {
    let entry = vec((name(), value()), 1..4)
        .prop_map(|members| Json::Object(members.into_iter().collect()));
    vec((name(), entry), 0..4)
}

/// A file with some entries, made by adding one after the other, and with blank
/// lines and comments strewn over it.
fn file(shape: &FileShape, head: &str, entries: &[(String, Json)], comment: &str) -> String {
    let mut text = head.to_owned();
    for (name, entry) in entries {
        text = add(&text, shape, name, entry).unwrap();
        if text.ends_with('\n') && shape.syntax != Syntax::Json {
            text.push_str(comment);
        }
    }
    text
}

/// Whether one text is what is left of another when bytes are taken out.
fn is_within(part: &str, whole: &str) -> bool {
    let mut whole = whole.bytes();
    part.bytes().all(|byte| whole.any(|other| other == byte))
}

fn shapes() -> [(FileShape, &'static str, &'static str); 5] {
    [
        (
            shape(Syntax::Json, &["mcpServers"], false),
            "// a\n{\n\t\"b\": [1] // c\n}\n",
            "",
        ),
        (
            shape(Syntax::Json, &["a", "b.c"], false),
            "{\"a\": {}, \"z\": 0}",
            "",
        ),
        (
            shape(Syntax::Toml, &["mcp_servers"], false),
            "a = 1 # b\r\n",
            "\r\n# c\r\n",
        ),
        (
            shape(Syntax::Yaml, &["extensions"], false),
            "a: 1 # b\n",
            "\n# c\n",
        ),
        (
            shape(Syntax::Yaml, &["mcpServers"], true),
            "a: 1\r\n",
            "\r\n# c\r\n",
        ),
    ]
}

proptest! {
    // That everything else is what it was, each edit sees to itself; so here it
    // is that no edit is refused, and that each byte which stays is the same.
    #[test]
    fn entries_come_and_go(entries in entries(), name in name(), entry in value(), which in 0..5usize) {
        let (shape, head, comment) = &shapes()[which];
        let entry = json!({ "command": "x", "y": entry });
        let before = file(shape, head, &entries, comment);
        prop_assume!(!entries.iter().any(|(other, _)| *other == name));
        let added = add(&before, shape, &name, &entry).unwrap();
        prop_assert_eq!(
            get(&added, shape, &name).unwrap().map(|found| found["y"].clone()),
            get(&file(shape, "", &[(name.clone(), entry.clone())], ""), shape, &name)
                .unwrap()
                .map(|found| found["y"].clone())
        );
        prop_assert_eq!(&add(&added, shape, &name, &entry).unwrap(), &added);
        // Each byte that was there is still there, in its place among the others.
        prop_assert!(is_within(&before, &added), "{} is not in {}", before, added);
        let removed = remove(&added, shape, &name).unwrap();
        // The last of a YAML table leaves `{}` or `[]`.
        let emptied = shape.syntax == Syntax::Yaml && entries.is_empty();
        prop_assert!(emptied || is_within(&removed, &added), "{} is not in {}", removed, added);
        prop_assert_eq!(get(&removed, shape, &name).unwrap(), None);
        for (other, _) in &entries {
            prop_assert_eq!(
                get(&removed, shape, other).unwrap(),
                get(&before, shape, other).unwrap()
            );
        }
    }

    #[test]
    fn any_text_is_edited_or_left_alone(text in "[\\[\\]{}\":, \nab#/-]{0,24}", which in 0..5usize) {
        let (shape, ..) = &shapes()[which];
        if let Ok(added) = add(&text, shape, "x", &entry()) {
            prop_assert!(get(&added, shape, "x").unwrap().is_some());
        }
        let _ = remove(&text, shape, "x");
    }
}
