use proptest::prelude::*;

use super::*;

fn template(text: &str) -> Template {
    Template::parse(text).unwrap()
}

#[test]
fn what_is_no_uri_is_told() {
    let table = [
        ("", "does not begin with a scheme"),
        ("all", "does not begin with a scheme"),
        ("a:", "does not begin with a scheme"),
        ("://b", "does not begin with a scheme"),
        ("1a:b", "does not begin with a scheme"),
        ("{x}:b", "does not begin with a scheme"),
        ("{+x}", "does not begin with a scheme"),
        ("a{x}:b", "does not begin with a scheme"),
        ("a:b c", "` ` cannot be in a URI"),
        ("a:b\n", "`\\n` cannot be in a URI"),
        ("a:ä", "`ä` cannot be in a URI"),
        ("a:}", "`}` cannot be in a URI"),
        ("a:%2", "`%` cannot be in a URI"),
        ("a:%+1", "`%` cannot be in a URI"),
        ("a:{", "`{` has no `}`"),
        ("a:{x", "`{x` has no `}`"),
        ("a:{}", "`{}` is no variable"),
        ("a:{+}", "`{}` is no variable"),
        ("a:{x-y}", "`{x-y}` is no variable"),
        ("a:{?x}", "`{?x}` is no variable"),
        ("a:{x*}", "`{x*}` is no variable"),
        ("a:{x,y}", "`{x,y}` is no variable"),
        ("a:{x:3}", "`{x:3}` is no variable"),
        ("a:{x{y}}", "`{x{y}` is no variable"),
        ("a:{x}/{x}", "the variable `x` is there twice"),
        ("a:{x}{y}", "nothing tells where `x` ends"),
        ("a:{+x}{y}", "nothing tells where `x` ends"),
    ];
    for (text, expected) in table {
        let told = Template::parse(text).unwrap_err().to_string();
        assert!(told.contains(expected), "{text}: {told}");
    }
}

#[test]
fn variables_are_captured() {
    let table: [(&str, &str, Option<&[&str]>); 24] = [
        ("a:b", "a:b", Some(&[])),
        ("a:b", "a:bc", None),
        ("a:b", "A:b", None),
        ("a:{x}", "a:1", Some(&["1"])),
        ("a:{x}", "a:", None),
        ("a:{x}", "b:1", None),
        ("a:{x}", "a:1/2", None),
        ("a:{x}", "a:1?2", None),
        ("a:{x}", "a:1#2", None),
        ("a:{x}", "a:a%2Fb%20%C3%A4", Some(&["a/b ä"])),
        ("a:{x}", "a:ä b", Some(&["ä b"])),
        ("a:{x}", "a:%ff", None),
        ("a:{x}", "a:%zz", None),
        ("a:{x}", "a:%+1", None),
        ("a:{x}", "a:%2", None),
        ("a:{+x}", "a:1/2?3#4", Some(&["1/2?3#4"])),
        ("a:{+x}/end", "a:1/end/end", Some(&["1/end"])),
        ("a:{+x}/end", "a:/end", None),
        ("a:{x}/b/{y}", "a:1/b/2", Some(&["1", "2"])),
        ("a:{x}/b/{y}", "a:1/c/2", None),
        ("a:{x}.{y}", "a:1.2.3", Some(&["1.2", "3"])),
        ("a:{x}.{y}", "a:..", None),
        ("a:{+x}/{y}/z", "a:1/2/3/z", Some(&["1/2", "3"])),
        ("a://{x}@{y}:1/", "a://me@host:1/", Some(&["me", "host"])),
    ];
    for (text, uri, expected) in table {
        let template = template(text);
        let values = template.captures(uri).map(|found| {
            found
                .into_iter()
                .map(|(_, value)| value)
                .collect::<Vec<_>>()
        });
        let expected = expected.map(|values| values.iter().map(|v| (*v).to_owned()).collect());
        assert_eq!(values, expected, "{text} {uri}");
    }
}

#[test]
fn nothing_takes_long() {
    let many: String = (0..MAX_VARIABLES).map(|n| format!("{{+v{n}}}a")).collect();
    let many = template(&format!("a:{many}b"));
    let uri = format!("a:{}", "a".repeat(MAX_URI_BYTES - 2));
    assert_eq!(many.captures(&uri), None);
    assert!(template("a:{x}").captures(&uri).is_some());
    assert_eq!(template("a:{x}").captures(&format!("{uri}a")), None);
}

#[test]
fn a_template_in_anybodys_words_claims_what_may_be_its_own() {
    let table: [(&str, &[&str], &[&str]); 25] = [
        ("a:{x}", &["a:1", "a:%zz"], &["a:", "a:1/2", "b:1"]),
        ("a:{+x}", &["a:1/2?3#4"], &["a:"]),
        ("a:{x}/{p*}", &["a:1/2/3.txt", "a:1/2"], &["a:1", "a:1/"]),
        ("a:{x}{?l,o}", &["a:1", "a:1?l=5&o=2"], &["a:1/2", "a:"]),
        ("a:{x}?k=1{&l}", &["a:1?k=1", "a:1?k=1&l=2"], &["a:1"]),
        ("a:d{/p}", &["a:d", "a:d/1"], &["a:data"]),
        ("a:d{/p*}/e", &["a:d/e", "a:d/1/2/e"], &["a:d/1"]),
        ("a:d{#f}", &["a:d", "a:d#1"], &["a:d1"]),
        ("a:d{.e}", &["a:d", "a:d.txt"], &["a:d1"]),
        ("a:d{;e}", &["a:d", "a:d;e=1"], &["a:d1"]),
        ("a:{x,y}", &["a:1,2"], &["a:1/2"]),
        ("a:{x}{y}", &["a:12"], &["a:1", "a:1/2"]),
        ("a:{user-id}/{p.q}", &["a:1/2"], &["a:1"]),
        ("a:{x:3}", &["a:123"], &["a:1/2"]),
        ("a:{x}/{x}", &["a:1/2"], &["a:1"]),
        ("a:{größe}", &["a:1"], &["a:1/2"]),
        ("a:ä b/{x}", &["a:ä b/1"], &["a:b/1"]),
        ("items/{x}", &["items/1"], &["items/1/2", "item"]),
        ("a:b", &["a:b"], &["a:bc"]),
        // What nobody here knows.
        ("a:{p:path}/e", &["a:/e", "a:1/2/e"], &["a:1"]),
        ("a:{}", &["a:", "a:1/2"], &["b:"]),
        ("a:{=x}", &["a:", "a:1/2"], &["b:"]),
        ("a:{x{y}}/z", &["a:", "a:1/2"], &["b:"]),
        ("a:{x", &["a:", "a:1/2"], &["b:"]),
        ("a:{x}}", &["a:", "a:1/2"], &["b:"]),
    ];
    for (text, own, others) in table {
        let lenient = Template::lenient(text).unwrap();
        for uri in own {
            assert_eq!(lenient.captures(uri), Some(vec![]), "{text} {uri}");
        }
        for uri in others {
            assert_eq!(lenient.captures(uri), None, "{text} {uri}");
        }
    }
    for text in ["", "{+x}", "{scheme}://x", "{"] {
        assert_eq!(Template::lenient(text), None, "{text}");
    }
    // One that is too large is known by its beginning.
    for text in [
        format!("a:/{}", "{x}/".repeat(MAX_VARIABLES + 1)),
        format!("a:/{{x}}{}", "b".repeat(MAX_TEMPLATE_BYTES)),
    ] {
        let lenient = Template::lenient(&text).unwrap();
        assert!(lenient.captures("a:/").is_some() && lenient.captures("a:").is_none());
    }
}

#[test]
fn hostile_templates_are_matched_in_linear_time() {
    let signs = ["", "+", "?", "/", "=", "x,"];
    for sign in signs {
        let expression = format!("{{{sign}x}}");
        for text in [
            format!("a:{}b", expression.repeat(MAX_VARIABLES)),
            format!("a:{}", format!("{expression}a").repeat(MAX_VARIABLES)),
        ] {
            let lenient = Template::lenient(&text).unwrap();
            let uri = |number: usize| format!("a:{}", "a".repeat(number));
            dormouse_tests::growth::is_linear(&text, 1000, uri, |uri: &String| {
                let _ = std::hint::black_box(lenient.captures(uri));
            });
        }
    }
}

/// The positions at which the parts of a template may begin, as every reading of it says.
fn readings(parts: &[Part], uri: &[u8]) -> Vec<Vec<String>> {
    let Some((part, parts)) = parts.split_first() else {
        return if uri.is_empty() {
            vec![Vec::new()]
        } else {
            Vec::new()
        };
    };
    match part {
        Part::Literal(text) => match uri.strip_prefix(text.as_bytes()) {
            Some(rest) => readings(parts, rest),
            None => Vec::new(),
        },
        Part::Variable { reserved, .. } => {
            let taken = uri.iter().take_while(|byte| is_taken(**byte, *reserved));
            let mut all = Vec::new();
            for end in (1..=taken.count()).rev() {
                for mut values in readings(parts, &uri[end..]) {
                    values.insert(0, String::from_utf8(uri[..end].to_vec()).unwrap());
                    all.push(values);
                }
            }
            all
        }
        Part::Expression(_) => Vec::new(),
    }
}

#[test]
fn what_is_too_large_is_no_template() {
    let variables = |number: usize| -> String {
        let variables = (0..number).map(|n| format!("{{v{n}}}/"));
        format!("a:/{}", variables.collect::<String>())
    };
    assert!(Template::parse(&variables(MAX_VARIABLES)).is_ok());
    let why = Template::parse(&variables(MAX_VARIABLES + 1)).unwrap_err();
    assert_eq!(why.to_string(), "it has more than 32 variables");
    assert!(Template::parse(&format!("a:{}", "b".repeat(2046))).is_ok());
    let why = Template::parse(&format!("a:{}", "b".repeat(2047))).unwrap_err();
    assert_eq!(why.to_string(), "it has 2049 bytes, and 2048 are allowed");
}

#[test]
fn what_begins_or_ends_in_another_way_takes_no_time() {
    let uri = format!("b:{}", "a".repeat(MAX_URI_BYTES - 2));
    assert_eq!(template("a:{+x}").steps(&uri), 3);
    assert_eq!(template("b:{+x}/b").steps(&uri), 3);
    assert_eq!(template("b:{+x}").steps(&uri), 3 * MAX_URI_BYTES);
    assert_eq!(
        template("b:{+x}/c{+y}/d{+z}").steps(&uri),
        MAX_URI_BYTES / 2 + 6
    );
}

/// The same as a percent-encoded text.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_come_back(x in ".+", y in ".+") {
        let template = template("notes://{x}/of/{+y}");
        let uri = format!("notes://{}/of/{}", encoded(&x), encoded(&y));
        prop_assert_eq!(template.captures(&uri), Some(vec![("x", x), ("y", y)]));
    }

    #[test]
    fn the_first_variable_is_as_long_as_can_be(
        text in "a:(\\{\\+?[xyz]\\}[a/]{1,2}){0,3}(\\{w\\})?",
        uri in "a:[a/b]{0,12}",
    ) {
        if let Ok(template) = Template::parse(&text) {
            let first = readings(&template.parts, uri.as_bytes()).into_iter().next();
            let found = template.captures(&uri);
            let found = found.map(|values| values.into_iter().map(|(_, value)| value).collect());
            prop_assert_eq!(found, first, "{} {}", text, uri);
        }
    }

    #[test]
    fn no_text_panics(text in "[a:/{}+%x2ä]{0,20}", uri in "[a:/{}+%x2ä]{0,20}") {
        if let Ok(template) = Template::parse(&text) {
            prop_assert_eq!(template.to_string(), text);
            let _ = template.captures(&uri);
        }
    }

    #[test]
    fn who_reads_leniently_misses_nothing(
        text in "[a:/{}+?*,%x2ä]{0,20}|a:(\\{\\+?[xyz]\\}[a/]{1,2}){0,3}",
        uri in "a:[a/b?%]{0,12}",
    ) {
        let lenient = Template::lenient(&text);
        let _ = lenient.as_ref().map(|lenient| lenient.captures(&uri));
        if let Ok(template) = Template::parse(&text) && template.captures(&uri).is_some() {
            prop_assert!(lenient.unwrap().captures(&uri).is_some(), "{} {}", text, uri);
        }
    }
}
