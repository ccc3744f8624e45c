use super::questions::digits;
use super::*;
use crate::variables;

fn translated(text: &str, expansion: ClientExpansion) -> (String, usize) {
    let around = Surroundings {
        home: "/home/u".into(),
        env: [("SET", "1"), ("SAME", "k$")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        ..Surroundings::default()
    };
    let kept = |names: &[&str]| {
        let names = names.iter();
        names
            .map(|name| ((*name).to_owned(), "k$".to_owned()))
            .collect()
    };
    let variables: BTreeMap<_, _> = kept(&["KEPT", "SAME", "given", "ANSWERED"]);
    let of_entry = kept(&["OWN", "SET"]);
    let none = BTreeMap::new();
    let mut own = Own {
        launch: Launch::Stdio(Stdio::default()),
        missing: Vec::new(),
        unanswered: Vec::new(),
        notes: Vec::new(),
        asked: BTreeMap::new(),
    };
    let files = [("~/k".to_owned(), "k$".to_owned())].into();
    let source = TextSources {
        server: "s-1",
        files: &files,
        around: &around,
        expansion,
        variables: &variables,
        of_entry: match expansion.headers_only {
            true => &of_entry,
            false => &none,
        },
        inputs: &Inputs::from([
            ("s-1-ANSWERED".to_owned(), Input::Value(Secret::new("k$"))),
            ("s-1-given".to_owned(), Input::Value(Secret::new("other"))),
            ("given".to_owned(), Input::Value(Secret::new("a$${b}"))),
            ("named".to_owned(), Input::Variable("N".to_owned())),
        ]),
        is_folder_known: true,
        is_env_file_of_project: false,
        is_env_file_unread: false,
    };
    let text = own.translate(text, &source, "args[0]");
    (text, own.missing.len())
}

#[test]
fn every_syntax_becomes_our_own() {
    use expansion::{AMP, CLAUDE, CONTINUE, COPILOT, CURSOR, FORGE, GEMINI, GOOSE, NONE};
    use expansion::{OPENCODE, VSCODE, WINDSURF};
    for (text, expansion, own, missing) in [
        ("a ${X} $Y", NONE, "a $${X} $Y", 0),
        ("a ${X}${Y:-z}", CLAUDE, "a ${X}${Y:-z}", 0),
        ("$X ${Y}", CLAUDE, "$X ${Y}", 0),
        ("pa$$word ${a b}", CLAUDE, "pa$$word $${a b}", 0),
        ("$SET/$UNSET", COPILOT, "${SET}/$UNSET", 0),
        ("$SET/$UNSET", GEMINI, "${SET:-}/${UNSET:-}", 0),
        ("$SET ${X:-y}", AMP, "${SET} $${X:-y}", 0),
        ("${env:X}", VSCODE, "${X:-}", 0),
        ("${env:X}${userHome}${/}a", CURSOR, "${X}/home/u/a", 0),
        ("${workspaceFolder}/a", CURSOR, "${workspaceFolder}/a", 1),
        ("Bearer ${input:token}", VSCODE, "Bearer ${input:token}", 0),
        (
            "${input:given} ${input:named}",
            VSCODE,
            "${input:given} ${input:named}",
            0,
        ),
        ("$${input:given}", VSCODE, "$${input:given}", 1),
        ("${input:a:-b}", VSCODE, "${input:a:-b}", 1),
        ("${{ inputs.named }}", CONTINUE, "${input:named}", 0),
        (
            "{env:X}{file:~/k}",
            OPENCODE,
            "${X:-}${input:s-1-file-k-DIGITS}",
            0,
        ),
        ("{env:X}{file:~/l}", OPENCODE, "${X:-}{file:~/l}", 1),
        ("${env:X}", WINDSURF, "${X}", 0),
        // What is in a client's own file is asked for, and never written down.
        (
            "${{ secrets.X }} ${{secrets.KEPT}}",
            CONTINUE,
            "${X} ${input:s-1-KEPT}",
            0,
        ),
        (
            "${{secrets.SAME}} ${{secrets.ANSWERED}}",
            CONTINUE,
            "${SAME} ${input:s-1-ANSWERED}",
            0,
        ),
        // Somebody has answered another question of that name.
        ("${{secrets.given}}", CONTINUE, "${{secrets.given}}", 1),
        ("{{.env.X}} {{x}}", FORGE, "${X} {{x}}", 0),
        ("${OWN} ${SET} ${X}", GOOSE, "k$ k$ ${X}", 0),
        ("$${X}", CLAUDE, "$${X}", 1),
    ] {
        let own = own.replace("DIGITS", &digits("~/k"));
        assert_eq!(translated(text, expansion), (own, missing), "{text}");
    }
}

#[test]
fn no_two_servers_are_asked_one_question() {
    let around = Surroundings::default();
    let none = BTreeMap::new();
    let inputs = Inputs::new();
    let source = |server| TextSources {
        server,
        around: &around,
        expansion: expansion::NONE,
        variables: &none,
        files: &none,
        of_entry: &none,
        inputs: &inputs,
        is_folder_known: true,
        is_env_file_of_project: false,
        is_env_file_unread: false,
    };
    let servers = [
        "a",
        "a_b",
        "a-b",
        "a b",
        "a.b",
        "検索",
        "翻訳",
        "",
        "_",
        "-",
        "my mail",
        "my_mail",
        "A",
        &"x".repeat(100),
        &"-".repeat(100),
        &"-".repeat(101),
    ];
    let mut ids = std::collections::BTreeSet::new();
    for server in servers {
        for name in ["KEY", "b_KEY", "API_KEY", "mail_KEY", "_b_KEY"] {
            let id = source(server).id_of(name);
            assert!(ids.insert(id.clone()), "{id}");
        }
        for path in ["~/a", "~/b/a", "/a", "~/b_a", "~/検"] {
            let id = source(server).id_of_file(path);
            assert!(ids.insert(id.clone()), "{id}");
        }
    }
    assert!(ids.iter().all(|id| crate::problem::unquoted(id) == *id));
    assert_eq!(source("a").id_of("API_KEY"), "a_API_KEY");
    assert_eq!(source("my-mail").id_of("API_KEY"), "my-mail-API_KEY");
}

proptest::proptest! {
    // What nothing is filled into comes out of `dormouse.toml` as it went in.
    #[test]
    fn a_plain_text_stays_what_it_is(text in "[$a{}]{0,12}") {
        let (own, _) = translated(&text, expansion::NONE);
        let expanded = variables::expand(&own, &|_| None);
        proptest::prop_assert_eq!(expanded.text, text);
        proptest::prop_assert!(expanded.missing.is_empty());
    }
}
