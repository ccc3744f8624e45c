//! Tests that learning what takes long is not done more often than it has to be, keeps nobody else
//! waiting, and loses no change that others make meanwhile.

use std::cell::Cell;
use std::fs::File;

use dormouse_config::OnChange;

use super::super::item::{SHOWN, ToldForm, forget_all};
use super::super::record_edit::MAX_ATTEMPTS;
use super::*;

fn readable(record: Recorded) -> Record {
    match record {
        Recorded::Readable(record) => *record,
        Recorded::Missing | Recorded::Damaged => Record::new(),
    }
}

/// Checks whether nobody has the lock for which all others wait.
fn is_free(store: &Store) -> bool {
    let lock = File::options()
        .write(true)
        .open(store.folder().join("lock"));
    lock.unwrap().try_lock().is_ok()
}

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

#[test]
fn nobody_waits_while_a_record_is_worked_out() {
    let (_folder, store, of) = fixture();
    let ask = ChangePolicy::from(OnChange::Ask);
    let other = Fingerprint::of(&Launch::Stdio(Stdio {
        command: "other".to_owned(),
        ..Stdio::default()
    }));
    for text in ["A", "B"] {
        store
            .learn(&of, offered(&[("a", text)]), &ask, None)
            .unwrap();
    }
    let edited = store.edit(&of, |record| {
        assert!(is_free(&store));
        let learnt = store.learn(&other, offered(&[("a", "A")]), &ask, None);
        assert_eq!(learnt.unwrap().added, ["a"]);
        Ok((readable(record), ()))
    });
    edited.unwrap();
    // Nor does its user wait for whoever learns what the same server offers.
    let _turn = store.take_turn(&of).unwrap();
    assert_eq!(approve(&store, &of), ["a"]);
    store.take_note_of_gone(&of).unwrap();
    assert!(store.forget(&of).unwrap());
    let learnt = store.learn(&other, offered(&[("b", "B")]), &ask, None);
    assert_eq!(learnt.unwrap().pending, ["b"]);
}

#[test]
fn a_change_that_is_made_meanwhile_is_not_lost() {
    let (_folder, store, of) = fixture();
    let ask = ChangePolicy::from(OnChange::Ask);
    for text in ["A", "B"] {
        store
            .learn(&of, offered(&[("a", text)]), &ask, None)
            .unwrap();
    }
    let times = Cell::new(0);
    let edited = store.edit(&of, |record| {
        times.set(times.get() + 1);
        if times.get() == 1 {
            assert_eq!(approve(&store, &of), ["a"]);
        }
        Ok((readable(record), ()))
    });
    edited.unwrap();
    assert_eq!(times.get(), 2);
    assert_eq!(pending(&store, &of), [""; 0]);
    assert_eq!(descriptions(&store, &of), ["B"]);

    // Where there is always another one, it is made at last while the others wait.
    times.set(0);
    let edited = store.edit(&of, |record| {
        times.set(times.get() + 1);
        if is_free(&store) {
            let text = format!("C{}", times.get());
            let learnt = store.learn(&of, offered(&[("a", &text)]), &ask, None);
            learnt.unwrap();
        }
        Ok((readable(record), ()))
    });
    edited.unwrap();
    assert_eq!(times.get(), MAX_ATTEMPTS + 1);
    let known = store.known(&of).unwrap();
    let last = format!("C{MAX_ATTEMPTS}");
    let is = known.pending.find(Gated::Tool, "a").unwrap();
    assert!(is.is.get().contains(&last), "{is:?}");
    assert!(is_free(&store));
}

/// Each store has locks of its own, as that of another process has.
#[test]
fn of_changes_at_one_time_none_is_lost() {
    let (folder, store, of) = fixture();
    let accept = ChangePolicy::from(OnChange::Accept);
    let rules = Rules {
        changes: &accept,
        declared: None,
        asker: Asker::Agent,
    };
    let add = |store: &Store, name: &str| {
        store.edit(&of, |record| {
            let mut record = readable(record);
            let tools = record.declaration().tools.into_iter();
            let mut names: Vec<String> = tools.map(|tool| tool.name).collect();
            names.push(name.to_owned());
            let tools: Vec<_> = names.iter().map(|name| (name.as_str(), "A")).collect();
            record.update(offered(&tools), rules, None);
            Ok((record, ()))
        })
    };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (add, folder) = (&add, folder.path().join("servers"));
            scope.spawn(move || {
                let store = Store::new(folder);
                for number in 0..5 {
                    add(&store, &format!("t{thread}_{number}")).unwrap();
                }
            });
        }
    });
    let mut names = names(&store, &of);
    names.sort_unstable();
    let expected = (0..4).flat_map(|thread| (0..5).map(move |n| format!("t{thread}_{n}")));
    assert_eq!(names, expected.collect::<Vec<_>>());
}
