//! Redirects of a browser that are not the answer to the login that waits.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Mutex, mpsc};

use anyhow::ensure;
use dormouse_tests::{oauth, wait};

use crate::hostile_login::Scene;

#[test]
fn only_what_has_the_state_of_a_login_is_its_answer() {
    let scene = Scene::of(|_, _, _| None);
    let login = scene.waiting();
    let (_, redirect) = oauth::once("GET", &login.link).unwrap();
    let redirect = redirect.unwrap();
    let (place, query) = redirect.split_once('?').unwrap();
    let (_, state) = query.split_once("state=").unwrap();
    for wrong in [
        "code=canary-code".to_owned(),
        "code=canary-code&state=".to_owned(),
        "code=canary-code&state=other".to_owned(),
        format!("code=canary-code&state={state}x"),
        format!("code=canary-code&state={}", state.to_ascii_uppercase()),
        format!("code=canary-code&state={state}&state=other"),
        format!("state={state}"),
        "error=access_denied&state=other".to_owned(),
        "error=access_denied".to_owned(),
    ] {
        let page = oauth::get(&format!("{place}?{wrong}")).unwrap();
        assert_eq!(page.status, 400, "{wrong}: {page:?}");
    }
    assert_eq!(scene.site.count("POST", "/token"), 0);
    assert_eq!(oauth::get(&redirect).unwrap().status, 200);
    let (success, said) = login.end();
    assert!(success, "{said}");
    assert_eq!(scene.site.count("POST", "/token"), 1);
}

/// The code comes a second time while it is being exchanged, and a third time after the end.
#[test]
fn a_code_that_comes_three_times_is_sent_once() {
    let (go, gone) = mpsc::channel();
    let gone = Mutex::new(gone);
    let scene = Scene::of(move |_, _, asked| {
        if asked.path == "/token" {
            gone.lock().unwrap().recv().unwrap();
        }
        None
    });
    let login = scene.waiting();
    let (_, redirect) = oauth::once("GET", &login.link).unwrap();
    let redirect = redirect.unwrap();
    let first = std::thread::spawn({
        let redirect = redirect.clone();
        move || oauth::get(&redirect).unwrap()
    });
    wait::until("the code", || {
        ensure!(scene.site.count("POST", "/token") == 1, "it has not come");
        Ok(())
    })
    .unwrap();
    let rest = redirect.strip_prefix("http://").unwrap();
    let (address, target) = rest.split_once('/').unwrap();
    let mut second = TcpStream::connect(address).unwrap();
    write!(second, "GET /{target} HTTP/1.1\r\nhost: {address}\r\n\r\n").unwrap();
    go.send(()).unwrap();
    // A second code would wait for this.
    drop(go);
    assert!(first.join().unwrap().text.contains("You are logged in"));
    let (success, said) = login.end();
    assert!(success, "{said}");
    let mut page = Vec::new();
    // The port is closed by then: that may be an answer, an end or a reset.
    let _ = second.read_to_end(&mut page);
    let second = String::from_utf8_lossy(&page).into_owned();
    let third = oauth::get(&redirect).map_or(String::new(), |page| page.text);
    for page in [second, third] {
        assert!(!page.contains("You are logged in"), "{page}");
    }
    assert_eq!(scene.site.count("POST", "/token"), 1);
}
