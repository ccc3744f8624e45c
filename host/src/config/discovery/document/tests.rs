use super::*;

fn written(text: &str, syntax: Syntax) -> String {
    let mut shown = String::new();
    show(&parse(text, syntax).unwrap(), &mut shown);
    shown
}

fn show(node: &Node, shown: &mut String) {
    match &node.value {
        Value::Null => shown.push('-'),
        Value::Bool(boolean) => shown.push_str(&boolean.to_string()),
        Value::Number(number) => shown.push_str(number),
        Value::Text(text) => shown.push_str(&format!("{text:?}")),
        Value::List(items) => {
            shown.push('[');
            for item in items {
                show(item, shown);
                shown.push(' ');
            }
            shown.push(']');
        }
        Value::Table(members) => {
            shown.push('{');
            for member in members {
                shown.push_str(&format!("{}@{}=", member.key, member.at));
                show(&member.node, shown);
                shown.push(' ');
            }
            shown.push('}');
        }
    }
}

#[test]
fn three_languages_are_one_tree() {
    let tree = |a: usize, b: usize| format!("{{a@{a}={{b@{b}=[1 \"x\" true ] }} }}");
    let json = "{ // c\n\"a\": {\"b\": [1, \"x\", true,]}}";
    assert_eq!(written(json, Syntax::Json), tree(7, 13));
    let yaml = "a:\n  b:\n  - 1\n  - 'x'\n  - true\n";
    assert_eq!(written(yaml, Syntax::Yaml), tree(0, 5));
    let toml = "[a]\nb = [1, 'x', true]\n";
    assert_eq!(written(toml, Syntax::Toml), tree(1, 4));
}

#[test]
fn places_are_bytes_behind_any_letters() {
    let yaml = "ä: 日本\nb: &x { c: ~ }\nd: *x\n";
    let tree = "{ä@0=\"日本\" b@11={c@19=- } d@26={c@19=- } }";
    assert_eq!(written(yaml, Syntax::Yaml), tree);
}

#[test]
fn nothing_is_an_empty_table() {
    for syntax in [Syntax::Json, Syntax::Toml, Syntax::Yaml] {
        for text in ["", "\n"] {
            assert_eq!(parse(text, syntax).unwrap(), empty());
        }
    }
}

#[test]
fn the_core_schema() {
    for (text, value) in [
        ("null", "-"),
        ("~", "-"),
        ("True", "true"),
        ("1.5e3", "1.5e3"),
        ("-1", "-1"),
        ("1.0.0", "\"1.0.0\""),
        ("'1'", "\"1\""),
        ("!!str 1", "\"1\""),
        ("yes", "\"yes\""),
        ("nan", "\"nan\""),
        ("|\n  a\n  b\n", "\"a\\nb\\n\""),
    ] {
        assert_eq!(written(text, Syntax::Yaml), value, "{text}");
    }
}
