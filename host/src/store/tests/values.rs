//! Values of variables, headers and URLs, which change while the upstream stays what it is.

use dormouse_launch::{Http, Secret};

use super::*;

fn of_env(command: &str, value: &str) -> Fingerprint {
    Fingerprint::of(&Launch::Stdio(Stdio {
        command: command.to_owned(),
        env: [("TOKEN".to_owned(), Secret::new(value.to_owned()))].into(),
        ..Stdio::default()
    }))
}

fn of_url(url: &str) -> Fingerprint {
    Fingerprint::of(&Launch::Http(Http {
        url: url.to_owned(),
        ..Http::default()
    }))
}

/// A first record would be one whose offers count as approved.
#[test]
fn what_is_approved_stays_approved_where_a_value_changes() {
    for (first, other) in [
        (of_env("a", "1"), of_env("a", "2")),
        (
            of_env("a", "1"),
            Fingerprint::of(&Launch::Stdio(Stdio {
                command: "a".to_owned(),
                ..Stdio::default()
            })),
        ),
        (
            of_url("https://a.example/mcp?key=1"),
            of_url("https://a.example/mcp?key=2"),
        ),
    ] {
        for scope in [
            Fingerprint::clone as fn(&Fingerprint) -> Fingerprint,
            |of| of.in_project(Path::new("/p")),
            |of| of.in_folder(Path::new("/f")),
        ] {
            let (_folder, store, _) = fixture();
            let (first, other) = (scope(&first), scope(&other));
            let changes = ChangePolicy::default();
            store
                .learn(&first, offered(&[("x", "A")]), &changes, None)
                .unwrap();
            store.note_values("s", &first);
            assert!(store.known(&other).is_none());
            assert!(!store.carry_over_values("another", &other));
            assert!(store.carry_over_values("s", &other));
            assert_eq!(names(&store, &other), ["x"]);
            store
                .learn(&other, offered(&[("x", "B"), ("y", "")]), &changes, None)
                .unwrap();
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
    let first = of_env("a", "1");
    let changes = ChangePolicy::default();
    store
        .learn(&first, offered(&[("x", "A")]), &changes, None)
        .unwrap();
    store.note_values("s", &first);
    for other in [
        of_env("b", "1"),
        of_env("a", "2").in_project(Path::new("/p")),
    ] {
        assert!(!store.carry_over_values("s", &other));
        assert!(store.known(&other).is_none());
    }
    // Who has damaged that file has approved nothing.
    let other = of_env("a", "2");
    let file = store
        .folder()
        .join(format!("{}.launch", other.file_stem_without_values("s")));
    let digits = std::fs::read_to_string(&file).unwrap();
    for text in ["", "../../x", &digits[1..], &"g".repeat(digits.len())] {
        std::fs::write(&file, text).unwrap();
        assert!(!store.carry_over_values("s", &other), "{text}");
    }
    store.note_values("s", &first);
    store.forget(&first).unwrap();
    assert!(store.carry_over_values("s", &other));
    assert!(store.is_forgotten(&other));
}
