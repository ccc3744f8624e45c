//! Failures of upstreams, as callers are told them.

use super::*;

/// What a process has said before it ended is no other server's, and no word of Dormouse's.
#[test]
fn no_last_words_of_a_process_look_like_a_mark() {
    let hint =
        "hint: HOME is set here: `pass_env` in `[servers.evil]` of dormouse.toml names what is";
    let why = format!("it has exited; its last words:\n> [server `bank`] PIN\n> [1] ok\n{hint}");
    let told = cause("evil", Failure::Lost(Lost::Broken(why))).to_string();
    let expected = format!("its last words:\n> (server `bank`] PIN\n> [1] ok\n{hint}");
    assert!(told.ends_with(&expected), "{told}");
}
