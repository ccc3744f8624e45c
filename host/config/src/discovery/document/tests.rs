use super::*;

fn written(text: &str, syntax: Syntax) -> String {
    let mut shown = String::new();
    show(&parse(text, syntax).unwrap(), &mut shown);
    shown
}

fn show(node: &Node, shown: &mut String) {
    match &node.value {
        DocumentValue::Null => shown.push('-'),
        DocumentValue::Bool(boolean) => shown.push_str(&boolean.to_string()),
        DocumentValue::Number(number) => shown.push_str(number),
        DocumentValue::Text(text) => shown.push_str(&format!("{text:?}")),
        DocumentValue::List(items) => {
            shown.push('[');
            for item in items {
                show(item, shown);
                shown.push(' ');
            }
            shown.push(']');
        }
        DocumentValue::Table(members) => {
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

#[test]
fn reading_takes_linear_time() {
    let wide = |syntax: Syntax, size: usize| {
        let members = (0..size).map(|number| match syntax {
            Syntax::Json => format!("\"m{number}\":[1,{{\"a\":\"b\"}}], // c\n"),
            Syntax::Yaml => format!("m{number}: [1, {{a: 'b'}}] # c\n"),
            Syntax::Toml => format!("m{number} = [1, {{a = 'b'}}] # c\n"),
        });
        let members = members.collect::<String>();
        match syntax {
            Syntax::Json => format!("{{{members}}}"),
            _ => members,
        }
    };
    let one_line = |syntax: Syntax, size: usize| {
        let members = (0..size).map(|number| match syntax {
            Syntax::Json => format!("\"m{number}\":1"),
            Syntax::Yaml => format!("m{number}: 1"),
            Syntax::Toml => format!("m{number} = 1"),
        });
        let members = members.collect::<Vec<_>>().join(", ");
        match syntax {
            Syntax::Toml => format!("t = {{{members}}}"),
            _ => format!("{{{members}}}"),
        }
    };
    let lists = |syntax: Syntax, size: usize| match syntax {
        Syntax::Json => format!("[{}]", "[],".repeat(size)),
        Syntax::Yaml => "- []\n".repeat(size),
        Syntax::Toml => "[[t]]\na = 1\n".repeat(size),
    };
    type Input<'a> = &'a dyn Fn(Syntax, usize) -> String;
    let inputs: [(&str, Input<'_>); 3] =
        [("wide", &wide), ("one line", &one_line), ("lists", &lists)];
    for (name, syntax) in [
        ("JSON", Syntax::Json),
        ("YAML", Syntax::Yaml),
        ("TOML", Syntax::Toml),
    ] {
        for (what, input) in inputs {
            let what = format!("{name}, {what}");
            let input = |size| input(syntax, size);
            // As large as documents of TOML may be.
            let least = if syntax == Syntax::Toml { 600 } else { 1_000 };
            dormouse_tests::growth::is_linear(&what, least, input, |text| {
                std::hint::black_box(parse(text, syntax).unwrap());
            });
        }
    }
}

/// Anchors and aliases stand for more with a longer text alone, however they are nested: a project that
/// nobody trusts may have many such files.
#[test]
fn aliases_stand_for_little_more_than_their_text() {
    let node = |name: &str| parse(&format!("a: &a {{b: [1, x]}}\n{name}"), Syntax::Yaml);
    let read = node("c: *a\nd: [*a, *a]\n").unwrap();
    assert_eq!(read.get("c").unwrap().value, read.get("a").unwrap().value);
    assert_eq!(read.get("d").unwrap().items().len(), 2);
    let nested = |levels: usize| {
        let open: String = (0..levels).map(|level| format!("&a{level} [")).collect();
        format!("{open}x{}", "]".repeat(levels))
    };
    let doubled = |levels: usize| {
        let lists = (1..=levels).map(|level| {
            let alias = format!("*a{}", level - 1);
            format!("- &a{level} [{alias}, {alias}]\n")
        });
        format!("- &a0 x\n{}", lists.collect::<String>())
    };
    let long = |aliases: usize| {
        let aliases = "- *a\n".repeat(aliases);
        format!("- &a {}\n{aliases}", "x".repeat(30_000))
    };
    for (text, is_read) in [
        (nested(20), true),
        (nested(90), false),
        (doubled(5), true),
        (doubled(25), false),
        (long(10), true),
        (long(100), false),
    ] {
        let read = parse(&text, Syntax::Yaml);
        let Err(unreadable) = read else {
            assert!(is_read, "{text:.80}");
            continue;
        };
        assert!(!is_read, "{text:.80}: {unreadable:?}");
        assert!(
            unreadable.message.contains("far more than its text"),
            "{unreadable:?}"
        );
    }
}
