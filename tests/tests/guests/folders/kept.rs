//! Folders of instances that are kept for a session: what is moved away is not theirs any more.

use super::*;

/// A home with a server that is kept for a session, and may write to `notes`.
fn place() -> Granted {
    let place = Granted::new(&["notes/deep"]);
    let more = format!(
        "instance = 'per-session'\n\
         [servers.files.grants]\nfs = [{{ path = '{}', mode = 'rw' }}]\n",
        place.at("notes").display()
    );
    let guest = artifacts::guest("folders").unwrap();
    place.home.server_with("files", &guest, &more).unwrap();
    place
}

#[test]
fn a_folder_that_is_moved_away_is_not_the_one_at_its_path() {
    let place = place();
    let mut client = place.serve();
    let list = step("list", &[&place.at("notes")]);
    assert_eq!(
        run(&mut client, "files", std::slice::from_ref(&list)),
        ["deep"]
    );
    std::fs::rename(place.at("notes"), place.at("private")).unwrap();
    std::fs::create_dir(place.at("notes")).unwrap();
    std::fs::write(place.at("notes/new"), "").unwrap();
    assert_eq!(run(&mut client, "files", &[list]), ["new"]);
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_held_open_and_moved_away_is_not_used() {
    let place = place();
    let mut client = place.serve();
    std::fs::write(place.at("notes/deep/one"), "").unwrap();
    let list = "in-held|list|sub".to_owned();
    let hold = step("hold", &[&place.at("notes/deep")]);
    assert_eq!(run(&mut client, "files", &[hold]), ["ok"]);
    // Moved within the folder, it stays granted, and the instance goes on.
    std::fs::rename(place.at("notes/deep"), place.at("notes/deeper")).unwrap();
    assert_eq!(
        run(&mut client, "files", std::slice::from_ref(&list)),
        ["one"]
    );
    std::fs::rename(place.at("notes/deeper"), place.at("private")).unwrap();
    assert_eq!(run(&mut client, "files", &[list]), ["nothing is held"]);
}

#[cfg(target_os = "linux")]
#[test]
fn nor_is_what_a_stream_holds_open() {
    let place = place();
    let mut client = place.serve();
    std::fs::write(place.at("notes/deep/one"), "").unwrap();
    let hold = step("hold-stream", &[&place.at("notes/deep/one")]);
    assert_eq!(run(&mut client, "files", &[hold]), ["ok"]);
    std::fs::rename(place.at("notes/deep"), place.at("private")).unwrap();
    let send = "send-to-held".to_owned();
    assert_eq!(run(&mut client, "files", &[send]), ["nothing is held"]);
    let text = std::fs::read_to_string(place.at("private/one")).unwrap();
    assert_eq!(text, "");
}
