//! Secrets of launches, which are replaced while the upstream stays what it is.

use dormouse_launch::{Http, Secret};

use super::*;

fn of_env(command: &str, name: &str, value: &str) -> Fingerprint {
    Fingerprint::of(&Launch::Stdio(Stdio {
        command: command.to_owned(),
        env: [(name.to_owned(), Secret::new(value.to_owned()))].into(),
        ..Stdio::default()
    }))
}

fn of_url(query: &str, header: &str) -> Fingerprint {
    of_place("https://a.example/mcp", query, header)
}

fn of_place(place: &str, query: &str, header: &str) -> Fingerprint {
    Fingerprint::of(&Launch::Http(Http {
        url: format!("{place}?{query}"),
        headers: [("Authorization".to_owned(), Secret::new(header.to_owned()))].into(),
        ..Http::default()
    }))
}

fn in_folder(of: &Fingerprint) -> Fingerprint {
    of.in_folder(Path::new("/f"))
}

fn learn(store: &Store, of: &Fingerprint, tools: &[(&str, &str)]) {
    let changes = ChangePolicy::default();
    store.learn(of, offered(tools), &changes, None).unwrap();
}

/// A first record would be one whose offers count as approved.
#[test]
fn what_is_approved_stays_approved_where_a_secret_is_replaced() {
    for (first, other) in [
        (of_env("a", "TOKEN", "1"), of_env("a", "TOKEN", "2")),
        (of_url("", "Bearer one"), of_url("", "Bearer another")),
        (
            of_url("api_key=a8sd7f6a8sd7f6", "x"),
            of_url("api_key=99f8s7df98s7df", "x"),
        ),
    ] {
        for scope in [
            Fingerprint::clone as fn(&Fingerprint) -> Fingerprint,
            |of| of.in_project(Path::new("/p")),
            in_folder,
        ] {
            let (_folder, store, _) = fixture();
            let (first, other) = (scope(&first), scope(&other));
            learn(&store, &first, &[("x", "A")]);
            store.note_secrets("s", &first);
            assert!(store.known(&other).is_none());
            assert!(!store.carry_over_secrets("another", &other));
            assert!(store.carry_over_secrets("s", &other));
            assert_eq!(names(&store, &other), ["x"]);
            learn(&store, &other, &[("x", "B"), ("y", "")]);
            assert_eq!(pending(&store, &other).len(), 2);
            assert_eq!(descriptions(&store, &other).first().unwrap(), "A");
            // The other record is what it was.
            assert!(pending(&store, &first).is_empty());
        }
    }
}

#[test]
fn another_launch_is_not_known_by_it_and_what_is_forgotten_stays_so() {
    let (_folder, store, _) = fixture();
    for (first, others) in [
        (
            of_env("a", "TOKEN", "1"),
            vec![
                of_env("b", "TOKEN", "1"),
                of_env("a", "TOKEN", "2").in_project(Path::new("/p")),
                of_env("a", "OTHER_TOKEN", "1"),
            ],
        ),
        (
            // It may decide which tools there are.
            of_env("a", "TOOLSETS", "read"),
            vec![of_env("a", "TOOLSETS", "all")],
        ),
        (of_url("features=a", "x"), vec![of_url("features=b", "x")]),
        // What leads to it is no parameter, whatever its words say.
        (
            of_place("https://keys.a.example/team=a/mcp", "", "x"),
            vec![of_place("https://keys.a.example/team=b/mcp", "", "x")],
        ),
    ] {
        learn(&store, &first, &[("x", "A")]);
        store.note_secrets("s", &first);
        for other in others {
            assert!(!store.carry_over_secrets("s", &other));
            assert!(store.known(&other).is_none());
        }
    }
    // What has been damaged has approved nothing.
    let [first, other] = ["1", "2"].map(|token| of_env("a", "TOKEN", token));
    let stem = other.file_stem_without_secrets("s");
    let file = store.folder().join(format!("{stem}.launch"));
    let digits = std::fs::read_to_string(&file).unwrap();
    for text in ["", "../../x", &digits[1..], &"g".repeat(digits.len())] {
        std::fs::write(&file, text).unwrap();
        assert!(!store.carry_over_secrets("s", &other), "{text}");
    }
    store.note_secrets("s", &first);
    store.forget(&first).unwrap();
    assert!(store.carry_over_secrets("s", &other));
    assert!(store.is_forgotten(&other));
}

/// Two clients may have a server of one name, each with a token of its own.
#[test]
fn what_is_known_with_other_secrets_replaces_no_record() {
    let (_folder, store, _) = fixture();
    let [first, other] = ["1", "2"].map(|token| of_env("a", "TOKEN", token));
    learn(&store, &in_folder(&other), &[("x", "A")]);
    learn(&store, &in_folder(&other), &[("x", "A"), ("drop", "")]);
    assert_eq!(pending(&store, &in_folder(&other)).len(), 1);
    learn(&store, &in_folder(&first), &[("x", "A"), ("drop", "")]);
    store.note_secrets("s", &first);
    // Nothing is known of it in this one.
    let elsewhere = other.in_folder(Path::new("/g"));
    assert!(!store.carry_over_secrets("s", &elsewhere));
    assert_eq!(pending(&store, &in_folder(&other)).len(), 1);
}

/// Also where a secret is replaced by a wrong one first, with which the upstream never starts.
#[test]
fn what_is_decided_between_two_secrets_is_kept() {
    let (_folder, store, _) = fixture();
    let [first, wrong, last] = ["1", "2", "3"].map(|token| of_env("a", "TOKEN", token));
    learn(&store, &first, &[("x", "A")]);
    store.note_secrets("s", &first);
    assert!(store.carry_over_secrets("s", &wrong));
    store.forget(&wrong).unwrap();
    assert!(store.carry_over_secrets("s", &last));
    assert!(store.is_forgotten(&last));
}
