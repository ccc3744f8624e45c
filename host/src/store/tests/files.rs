//! Files of records: written, damaged, too large, and of older versions.

use super::*;
use dormouse_config::{NewTools, OnChange};

#[test]
fn what_was_learnt_is_known_to_the_next_process() {
    let (folder, store, of) = fixture();
    assert!(store.known(&of).is_none());
    let news = store
        .learn(
            &of,
            offered(&[("a", "A"), ("b", "B")]),
            &OnChange::Ask.into(),
            None,
        )
        .unwrap();
    assert_eq!(news.added, ["a", "b"]);
    let next = Store::new(folder.path().join("servers"));
    assert_eq!(names(&next, &of), ["a", "b"]);
    let tool = next.known(&of).unwrap().listing.tools[0].tool.clone();
    assert_eq!(
        tool.get(),
        r#"{"name":"a","description":"A","x-odd":1,"inputSchema":{"type":"object"}}"#,
        "byte for byte"
    );
}

/// If nothing can be written, nothing new counts as known; items that have not changed do.
#[cfg(unix)]
#[test]
fn what_cannot_be_kept_is_an_error() {
    let (folder, store, of) = fixture();
    let learn =
        |tools: &[(&str, &str)]| store.learn(&of, offered(tools), &OnChange::Ask.into(), None);
    // A folder in place of the file cannot be replaced by one, by nobody.
    std::fs::create_dir_all(store.file(&of).join("in the way")).unwrap();
    assert!(learn(&[("a", "A")]).is_err());
    std::fs::remove_dir_all(store.file(&of)).unwrap();
    learn(&[("a", "A")]).unwrap();
    // Nor can the lock be taken.
    let lock = folder.path().join("servers/lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    assert_eq!(learn(&[("a", "A")]).unwrap(), OfferedChanges::default());
    assert!(learn(&[("a", "B")]).is_err());
    assert!(learn(&[("a", "A"), ("b", "B")]).is_err());
    assert_eq!(names(&store, &of), ["a"]);
}

/// A record as 7475b5f has written it, with a tool that it kept from being shown.
#[test]
fn records_of_an_older_version_are_taken_over() {
    let (_folder, store, of) = fixture();
    std::fs::create_dir_all(store.folder()).unwrap();
    let old = r#"{"format":1,"fetched":1790000000,"offered":{"server_info":{"name":"post","version":"1"},"protocol":"2025-11-25","capabilities":{"tools":{},"prompts":{}},"able":{},"instructions":"Be good.","tools":[{"name":"a","description":"EVIL","inputSchema":{"type":"object"}},{"name":"b","description":"B","inputSchema":{"type":"object"},"_meta":{"x":1}},{"name":"d","description":"EVIL","description":"D","inputSchema":{"type":"object"}}],"prompts":[{"name":"p","description":"P"}],"resources":[],"templates":[]},"seen":{"a":{"name":"a","description":"A","inputSchema":{"type":"object"}},"gone":{"name":"gone","description":"G","inputSchema":{"type":"object"}}},"withheld":{}}"#;
    std::fs::write(store.file(&of), old).unwrap();
    assert_eq!(names(&store, &of), ["a", "b"]);
    assert_eq!(descriptions(&store, &of), ["A", "B"]);
    assert_eq!(pending(&store, &of), ["tool `a`"]);
    let known = store.known(&of).unwrap();
    assert_eq!(known.listing.prompts.len(), 1);
    assert_eq!(known.fetched, 1_790_000_000);

    // What it had shown is what the user knows, of prompts and `_meta` too.
    let mut now = offered(&[]);
    for tool in [
        r#"{"name":"a","description":"A","inputSchema":{"type":"object"}}"#,
        r#"{"name":"b","description":"B","inputSchema":{"type":"object"},"_meta":{"x":2}}"#,
        r#"{"name":"gone","description":"EVIL","inputSchema":{"type":"object"}}"#,
        r#"{"name":"new","inputSchema":{"type":"object"}}"#,
    ] {
        now.tools.push(raw(tool));
    }
    now.prompts
        .push(raw(r#"{"name":"p","description":"EVIL"}"#));
    now.instructions = Some("Be good.".to_owned());
    store.learn(&of, now, &OnChange::Ask.into(), None).unwrap();
    assert_eq!(names(&store, &of), ["a", "b", "gone"]);
    assert_eq!(descriptions(&store, &of), ["A", "B", "G"]);
    let waits = ["tool `b`", "tool `gone`", "tool `new`", "prompt `p`"];
    assert_eq!(pending(&store, &of), waits);
    let text = std::fs::read_to_string(store.file(&of)).unwrap();
    assert!(
        text.contains("\"format\":2") && !text.contains("\"seen\""),
        "{text}"
    );
}

/// An upstream that could damage its record must not count as new after that.
#[test]
fn what_comes_after_a_damaged_record_waits_until_it_is_approved() {
    let (_folder, store, of) = fixture();
    store
        .learn(&of, offered(&[("a", "A")]), &OnChange::Ask.into(), None)
        .unwrap();
    let file = store.file(&of);
    // What a later version knows is not overwritten: it may know what the user has seen.
    std::fs::write(&file, r#"{"format":99,"fetched":0}"#).unwrap();
    assert!(store.known(&of).is_none());
    let refused = store
        .learn(&of, offered(&[("b", "B")]), &OnChange::Ask.into(), None)
        .unwrap_err();
    assert!(format!("{refused:#}").contains("newer"), "{refused:#}");
    for text in ["", "{", "{}"] {
        std::fs::write(&file, text).unwrap();
        assert!(store.known(&of).is_none(), "{text}");
    }
    // It is replaced by whatever is learnt next, of which nothing counts as seen, and kept.
    let mut next = offered(&[("a", "A"), ("b", "B")]);
    next.instructions = Some("Be good.".to_owned());
    let news = store.learn(&of, next, &OnChange::Ask.into(), None).unwrap();
    assert_eq!(news.pending, ["a", "b", "instructions"]);
    assert_eq!(names(&store, &of), [""; 0]);
    assert_eq!(store.known(&of).unwrap().instructions, None);
    let kept = file.with_extension("json.damaged");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "{}");
    approve(&store, &of);
    assert_eq!(names(&store, &of), ["a", "b"]);

    // Where it cannot be kept, it is not replaced.
    std::fs::write(&file, "{").unwrap();
    let kept = file.with_extension("json.damaged");
    std::fs::remove_file(&kept).unwrap();
    std::fs::create_dir_all(kept.join("in the way")).unwrap();
    let learnt = store.learn(&of, offered(&[("b", "B")]), &OnChange::Ask.into(), None);
    assert!(learnt.is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{");
}

/// Who takes new items as they come does not take those of which nobody knows whether they are new.
#[test]
fn what_comes_after_a_damaged_record_is_not_new() {
    let (_folder, store, of) = fixture();
    let changes = ChangePolicy {
        new_tools: NewTools::Show,
        ..OnChange::Block.into()
    };
    let learn = |tools: &[(&str, &str)]| {
        let learnt = store.learn(&of, offered(tools), &changes, None);
        learnt.unwrap().pending
    };
    learn(&[("a", "A"), ("b", "B")]);
    std::fs::write(store.file(&of), "{").unwrap();
    assert_eq!(learn(&[("a", "EVIL")]), ["a"]);
    assert_eq!(learn(&[("a", "EVIL"), ("b", "EVIL")]), ["a", "b"]);
    let known = store.known(&of).unwrap();
    assert!(known.pending.iter().all(PendingItem::is_known));
    assert_eq!(names(&store, &of), [""; 0]);
}

/// What another folder knows of a name keeps it, and does not say what was seen here.
#[test]
fn what_comes_after_a_damaged_record_may_be_known_from_another_folder() {
    for new_tools in [NewTools::Hide, NewTools::Show] {
        let (_folder, store, of) = fixture();
        let changes = ChangePolicy {
            new_tools,
            ..OnChange::Block.into()
        };
        let [here, there] =
            ["/w/here", "/w/there"].map(|name| of.in_folder(std::path::Path::new(name)));
        let learn = |of: &Fingerprint, tools: &[(&str, &str)]| {
            let learnt = store.learn(of, offered(tools), &changes, None);
            learnt.unwrap().pending
        };
        assert_eq!(learn(&there, &[("a", "A")]), [""; 0]);
        assert_eq!(learn(&here, &[("a", "A")]), [""; 0]);
        std::fs::write(store.file(&here), "{").unwrap();
        assert_eq!(learn(&here, &[("a", "A")]), ["a"]);
        let known = store.known(&here).unwrap();
        assert!(known.pending.iter().all(PendingItem::is_known));
    }
}

/// What comes later as another folder has it may be known, too: only its name is kept for it.
#[test]
fn what_another_folder_has_as_well_may_be_known() {
    let (_folder, store, of) = fixture();
    let changes = ChangePolicy {
        new_tools: NewTools::Hide,
        ..OnChange::Block.into()
    };
    let [here, there] =
        ["/w/here", "/w/there"].map(|name| of.in_folder(std::path::Path::new(name)));
    let learn = |of: &Fingerprint, tools: &[(&str, &str)]| {
        let learnt = store.learn(of, offered(tools), &changes, None);
        learnt.unwrap().pending
    };
    learn(&there, &[("a", "A"), ("b", "B")]);
    learn(&here, &[("a", "A")]);
    assert_eq!(
        learn(&here, &[("a", "A"), ("b", "B"), ("c", "C")]),
        ["b", "c"]
    );
    let known = store.known(&here).unwrap();
    let known = known.pending.iter();
    let known: Vec<_> = known.map(|item| (&*item.name, item.is_known())).collect();
    assert_eq!(known, [("b", true), ("c", false)]);
}

#[test]
fn what_comes_after_all_is_approved_is_new_again() {
    let (_folder, store, of) = fixture();
    let changes = ChangePolicy {
        new_tools: NewTools::Show,
        ..OnChange::Block.into()
    };
    let learn = |tools: &[(&str, &str)]| {
        let learnt = store.learn(&of, offered(tools), &changes, None);
        learnt.unwrap().pending
    };
    learn(&[("a", "A"), ("b", "B")]);
    std::fs::write(store.file(&of), "{").unwrap();
    learn(&[("a", "A"), ("b", "B")]);
    let shown = |selection: Selection<'_>| {
        let pending = store.known(&of).unwrap().pending.clone();
        let shown = pending.selected(selection).digest();
        store.approve(&of, &shown, selection).unwrap();
    };
    let one = std::collections::BTreeSet::from(["a".to_owned()]);
    shown(Selection {
        tools: Some(&one),
        ..Selection::default()
    });
    assert_eq!(
        learn(&[("a", "A"), ("b", "B"), ("c", "C")]),
        ["b", "c"],
        "one tool is not all"
    );
    shown(Selection::default());
    let all = [("a", "A"), ("b", "B"), ("c", "C"), ("d", "D")];
    assert_eq!(learn(&all), [""; 0]);
    assert_eq!(names(&store, &of), ["a", "b", "c", "d"]);
}

/// What has gone beyond the limits its user was never shown, whatever they approve.
#[test]
fn what_has_gone_beyond_the_limits_is_not_new_whatever_is_approved() {
    let (_folder, store, of) = fixture();
    let changes = ChangePolicy {
        new_tools: NewTools::Show,
        ..OnChange::Block.into()
    };
    let learn = |tools: &[(&str, &str)]| {
        let learnt = store.learn(&of, offered(tools), &changes, None);
        learnt.unwrap().pending
    };
    // The names of so many come before it that it is not remembered.
    let many: Vec<_> = (0..10_001).map(|number| format!("a{number}")).collect();
    let fillers = many.iter().map(|name| (name.as_str(), "F"));
    let all: Vec<_> = fillers.chain([("keep", "K"), ("send", "S")]).collect();
    learn(&all);
    learn(&[("keep", "K")]);
    assert_eq!(learn(&[("keep", "other")]), ["keep"]);
    let pending = store.known(&of).unwrap().pending.clone();
    let selection = Selection::default();
    let shown = pending.selected(selection).digest();
    store.approve(&of, &shown, selection).unwrap();
    assert_eq!(learn(&[("keep", "other"), ("send", "evil")]), ["send"]);
}

/// An upstream whose record another user can have written is not a new one either.
#[cfg(unix)]
#[test]
fn what_comes_after_another_users_record_waits_until_it_is_approved() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let (_folder, store, of) = fixture();
    let learn = |tools| {
        let changes = OnChange::Freeze.into();
        store.learn(&of, offered(tools), &changes, None).unwrap()
    };
    learn(&[("a", "A")]);
    std::os::unix::fs::chown(store.file(&of), Some(54_321), None).unwrap();
    assert!(store.known(&of).is_none());
    assert_eq!(learn(&[("a", "other")]).pending, ["a"]);
    assert_eq!(names(&store, &of), [""; 0]);
    assert!(store.file(&of).with_extension("json.damaged").exists());
    approve(&store, &of);
    assert_eq!(names(&store, &of), ["a"]);
}

/// A record that Dormouse could not read the next time is not written.
#[test]
fn a_record_that_could_not_be_read_back_replaces_none() {
    let (_folder, store, of) = fixture();
    let learn = |depth: usize, tools: &[(&str, &str)]| {
        let nested = (0..depth).fold(json!(1), |inner, _| json!([inner]));
        let mut next = offered(tools);
        next.server_info.insert("x".to_owned(), nested);
        store.learn(&of, next, &OnChange::Ask.into(), None)
    };
    learn(1, &[("a", "A")]).unwrap();
    let error = learn(200, &[("a", "A"), ("b", "EVIL")]).unwrap_err();
    assert!(format!("{error:#}").contains("read back"), "{error:#}");
    assert_eq!(learn(1, &[("b", "EVIL")]).unwrap().pending, ["b"]);
}

/// A record that an older version may have let grow is not read into memory.
#[test]
fn a_record_that_is_too_large_is_neither_read_nor_replaced() {
    let (_folder, store, of) = fixture();
    store
        .learn(&of, offered(&[("a", "A")]), &OnChange::Ask.into(), None)
        .unwrap();
    let file = std::fs::File::options()
        .write(true)
        .open(store.file(&of))
        .unwrap();
    file.set_len(MAX_RECORD_BYTES + 1).unwrap();
    assert!(store.known(&of).is_none());
    let refused = store.learn(&of, offered(&[("b", "B")]), &OnChange::Ask.into(), None);
    assert!(refused.is_err());
    assert_eq!(file.metadata().unwrap().len(), MAX_RECORD_BYTES + 1);
}
