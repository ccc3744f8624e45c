//! A browser behind Dormouse: many processes, images, state from call to call.

use dormouse_tests::web::Web;
use dormouse_tests::{artifacts, processes, upstream};
use serde_json::json;

use crate::pair::{Pair, no_digits};

#[test]
fn is_the_same() {
    let Some(chromium) = artifacts::chromium().unwrap() else {
        return;
    };
    let web = Web::serve(&[(
        "/",
        "text/html",
        // A browser looks for an icon when it pleases, and logs that there is none.
        "<title>Dormouse</title><link rel=icon href='data:,'><h1>Asleep</h1><input aria-label='Name'>\
         <button onclick=\"document.querySelector('h1').textContent = 'Awake'\">Wake</button>",
    )])
    .unwrap();
    let server = |folder: &std::path::Path| upstream::playwright(&chromium, folder);
    let mut pair = Pair::start("playwright", |_| {}, server);
    let tools = pair.same_tools();
    assert!(tools.len() > 15, "{tools:?}");

    // A snapshot lies in a file that is named after the moment.
    pair.alike_call(
        "browser_navigate",
        json!({ "url": web.url("/") }),
        no_digits,
    );
    let page = pair.same_call("browser_snapshot", json!({}));
    let button = page.lines().find(|line| line.contains("button \"Wake\""));
    let button = button.unwrap_or_else(|| panic!("no button in {page}"));
    let (_, reference) = button.split_once("[ref=").unwrap();
    let (reference, _) = reference.split_once(']').unwrap();
    let arguments = json!({ "element": "Wake", "target": reference });
    pair.alike_call("browser_click", arguments, no_digits);
    let page = pair.same_call("browser_snapshot", json!({}));
    assert!(page.contains("heading \"Awake\""), "{page}");
    let arguments = json!({ "function": "() => document.title + ' ' + (1 + 1)" });
    let told = pair.same_call("browser_evaluate", arguments);
    assert!(told.contains("Dormouse 2"), "{told}");

    // An image, as large as it comes.
    let mask = |text: &str| {
        if text.len() > 2000 {
            text.to_owned()
        } else {
            no_digits(text)
        }
    };
    pair.alike_call("browser_take_screenshot", json!({ "type": "png" }), mask);

    pair.same_failure("browser_click", json!({}));
    let nowhere = json!({ "element": "nothing", "target": "e999" });
    pair.same_failure("browser_click", nowhere);

    // Nothing of all that outlives the host.
    let host = pair.through.client;
    let started = processes::descendants(host.pid()).unwrap();
    let browsers = started.iter().filter(|one| one.line.contains("chromium"));
    assert!(browsers.count() > 1, "{started:#?}");
    assert!(
        host.close(dormouse_tests::client::PATIENCE)
            .unwrap()
            .success()
    );
    processes::gone(&started).unwrap();
}
