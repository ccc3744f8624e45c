//! Logins at a provider, for a plugin: the host has the token, puts it into the plugin's requests,
//! renews it, and asks for a new login when it is revoked.

use std::fs::File;
use std::time::Duration;

use dormouse_tests::{Client, artifacts, client, oauth};
use serde_json::{Value, json};

use crate::provider_user::{User, authorization};
use crate::{Waiting, logins, run};

fn list(host: &mut Client) -> Value {
    host.call("calendar__list_calendars", json!({})).unwrap()
}

fn is_listed(result: &Value) -> bool {
    result["isError"] != json!(true) && result.to_string().contains("primary")
}

#[test]
fn a_plugin_works_with_a_token_that_it_never_sees() {
    let user = User::of(&[]);
    for (command, words) in [
        ("status", "`dormouse login calendar`"),
        ("doctor", "`dormouse login calendar`"),
        ("list", "`dormouse login calendar`"),
    ] {
        let (_, told) = run(&user.home, &[command]);
        assert!(told.contains(words), "{command}: {told}");
    }
    user.log_in();
    assert_eq!(user.count("tokens for a resource"), 0);
    assert!(!run(&user.home, &["status"]).1.contains("dormouse login"));
    assert!(run(&user.home, &["doctor"]).1.contains("a login is kept"));
    let (_, kept) = user.kept();
    let tokens = &kept["credentials"]["token_response"];
    let tokens = ["access_token", "refresh_token"].map(|name| tokens[name].as_str().unwrap());

    let log = user.home.path().join("log");
    let mut serve = user.home.command(&["serve", "-vv"]);
    serve.env("DORMOUSE_LOG", "trace");
    let mut host = Client::start(serve.stderr(File::create(&log).unwrap())).unwrap();
    let mut said = vec![list(&mut host).to_string()];
    assert!(said[0].contains("primary"), "{}", said[0]);
    // The API repeats the header: the plugin sees none of it.
    assert!(
        said[0].contains("authorization: Bearer ****"),
        "{}",
        said[0]
    );
    for (tool, arguments, expected) in [
        (
            "list_events",
            json!({ "calendarId": "a@b", "timeMin": "2026-01-01T00:00:00Z", "query": "tea & cake" }),
            "singleEvents=true&orderBy=startTime&timeMin=2026-01-01T00%3A00%3A00Z&q=tea%20%26%20cake",
        ),
        (
            "create_event",
            json!({
                "calendarId": "primary", "summary": "Tea", "start": "2026-01-01T10:00:00",
                "end": "2026-01-01T11:00:00", "timeZone": "Europe/Berlin",
                "attendees": [{ "email": "hatter@example.com" }], "sendUpdates": "none",
            }),
            "hatter@example.com",
        ),
        (
            "update_event",
            json!({ "calendarId": "primary", "eventId": "e1", "start": "2026-01-02" }),
            "2026-01-02",
        ),
        (
            "delete_event",
            json!({ "calendarId": "primary", "eventId": "e1" }),
            "success",
        ),
    ] {
        let name = format!("calendar__{tool}");
        let text = host.text(&name, arguments).unwrap();
        assert!(text.contains(expected), "{tool}: {text}");
        said.push(text);
    }
    let gone = json!({ "calendarId": "primary", "eventId": "none" });
    let error = host.error("calendar__delete_event", gone).unwrap();
    assert!(
        error.contains("Google Calendar says 404: Not Found"),
        "{error}"
    );
    said.push(run(&user.home, &["status", "--json"]).1);
    assert!(host.close(Duration::from_secs(6)).unwrap().success());
    said.push(std::fs::read_to_string(&log).unwrap());
    for words in [
        &["doctor", "--json"][..],
        &["list", "--json"],
        &["call", "calendar", "list_calendars", "--json"],
        &["logout", "calendar"],
    ] {
        said.push(run(&user.home, words).1);
    }
    for token in tokens {
        for said in &said {
            assert!(!said.contains(token), "`{token}` was said: {said}");
        }
    }
    let received = user.api.received();
    assert!(received.len() >= 6, "{received:?}");
    for request in received {
        assert_eq!(authorization(&request), format!("Bearer {}", tokens[0]));
        assert!(!request.contains(tokens[1]), "{request}");
    }
    assert_eq!(user.count("revocations"), 1);
    assert_eq!(logins(&user.home).len(), 0);
}

#[test]
fn a_token_goes_to_no_other_host() {
    let user = User::of(&[]);
    user.log_in();
    let other = format!("settings.api = 'http://{}/v3'", user.other.authority());
    let config = std::fs::read_to_string(user.home.config()).unwrap();
    let own = format!("settings.api = 'http://{}/v3'", user.api.authority());
    std::fs::write(user.home.config(), config.replace(&own, &other)).unwrap();
    let answer = list(&mut user.home.serve().unwrap());
    assert_eq!(client::text(&answer), Some("{}"), "{answer}");
    let received = user.other.received();
    assert_eq!(received.len(), 1);
    assert_eq!(authorization(&received[0]), "", "{received:?}");
    let (_, kept) = user.kept();
    let token = &kept["credentials"]["token_response"]["access_token"];
    assert!(!received[0].contains(token.as_str().unwrap()));
    assert_eq!(user.api.received(), [""; 0]);
}

#[test]
fn a_call_without_a_login_has_its_link_and_works_when_that_was_followed() {
    let user = User::of(&[]);
    // Of a process that ends with the call, the link would lead nowhere.
    let (success, said) = run(&user.home, &["call", "calendar", "list_calendars"]);
    assert!(!success, "{said}");
    assert!(
        said.contains("`dormouse login calendar` gives a link"),
        "{said}"
    );
    assert!(!said.contains("redirect_uri"), "{said}");
    let mut host = user.home.serve().unwrap();
    let refused = list(&mut host);
    assert_eq!(refused["isError"], json!(true), "{refused}");
    let text = client::text(&refused).unwrap();
    assert!(text.contains("hint: "), "{text}");
    let link = text.lines().find(|line| line.starts_with("http://"));
    // Nothing was sent without the token.
    assert_eq!(user.api.received(), [""; 0]);
    oauth::get(link.unwrap()).unwrap();
    let answer = list(&mut host);
    assert!(is_listed(&answer), "{answer}");
}

#[test]
fn a_plugin_is_not_given_the_link_of_a_login() {
    let user = User::of(&[]);
    let api = user.api.authority();
    let more = format!(
        "grants.http = ['http://{api}']\n\
         secrets.token = {{ login = 'work', hosts = ['http://{api}'], header = 'Authorization' }}"
    );
    let guest = artifacts::hostile_guest("late_answers").unwrap();
    user.home.server_with("guest", &guest, &more).unwrap();
    let mut host = user.home.serve().unwrap();
    let arguments = json!({ "granted": api, "other": api });
    // It answers with the error that its request had.
    let told = host.text("guest__attempt", arguments).unwrap();
    assert!(
        told.contains("was not sent") && told.contains("`dormouse login guest`"),
        "{told}"
    );
    assert!(!told.contains(user.provider.base()), "{told}");
    assert_eq!(user.api.received(), [""; 0]);
}

#[test]
fn a_call_waits_for_its_user_where_the_client_shows_them_a_page() {
    let user = User::of(&[]);
    let mut serve = user.home.command(&["serve"]);
    let able = json!({ "elicitation": { "form": {}, "url": {} } });
    let mut host = Client::start_able(&mut serve, able).unwrap();
    let call = json!({ "name": "calendar__list_calendars", "arguments": {} });
    let id = host.send("tools/call", call).unwrap();
    let accepted = json!({ "action": "accept" });
    let question = host.answers("elicitation/create", accepted).unwrap();
    let message = question["message"].as_str().unwrap();
    assert!(
        message.contains("The server `calendar` wants you to log in at"),
        "{message}"
    );
    oauth::get(question["url"].as_str().unwrap()).unwrap();
    let answer = host.answer(id).unwrap()["result"].take();
    assert!(is_listed(&answer), "{answer}");

    // One who says no is asked again only by the next call.
    user.provider.make("forget").unwrap();
    let refused = list(&mut host);
    assert_eq!(refused["isError"], json!(true), "{refused}");
    let call = json!({ "name": "calendar__list_calendars", "arguments": {} });
    let id = host.send("tools/call", call).unwrap();
    host.answers("elicitation/create", json!({ "action": "decline" }))
        .unwrap();
    let answer = host.answer(id).unwrap()["result"].take();
    let text = client::text(&answer).unwrap();
    assert!(text.contains("you have declined to log in"), "{text}");
}

/// However many requests its plugin makes, and whatever it is told of them.
#[test]
fn who_declines_to_log_in_is_asked_once_in_a_call() {
    let user = User::of(&[]);
    let api = user.api.authority();
    let more = format!(
        "grants.http = ['http://{api}']\n\
         secrets.token = {{ login = 'work', hosts = ['http://{api}'], header = 'Authorization' }}"
    );
    let guest = artifacts::hostile_guest("redirects").unwrap();
    user.home.server_with("guest", &guest, &more).unwrap();
    let mut serve = user.home.command(&["serve"]);
    let able = json!({ "elicitation": { "form": {}, "url": {} } });
    let mut host = Client::start_able(&mut serve, able).unwrap();
    // It sends a request for each of these.
    let arguments = json!({ "granted": api, "other": "a,b,c" });
    let call = json!({ "name": "guest__attempt", "arguments": arguments });
    let id = host.send("tools/call", call).unwrap();
    let declined = json!({ "action": "decline" });
    host.answers("elicitation/create", declined.clone())
        .unwrap();
    // An unanswered question would keep the call from its end.
    let answer = host.answer(id).unwrap()["result"].take();
    let told = client::text(&answer).unwrap();
    assert_eq!(told.matches("you have declined").count(), 3, "{told}");
    assert_eq!(user.api.received(), [""; 0]);
    // The next call asks again.
    let arguments = json!({ "granted": api, "other": "a" });
    let call = json!({ "name": "guest__attempt", "arguments": arguments });
    host.send("tools/call", call).unwrap();
    host.answers("elicitation/create", declined).unwrap();
}

#[test]
fn a_token_is_renewed_before_its_end_and_once_it_is_refused() {
    let user = User::of(&[]);
    user.log_in();
    let mut host = user.home.serve().unwrap();
    assert!(is_listed(&list(&mut host)));
    user.end_token();
    let answer = list(&mut host);
    assert!(is_listed(&answer), "{answer}");
    assert_eq!(user.count("refreshes"), 1);
    // What was renewed a moment ago is not renewed at once for those that are late.
    std::thread::sleep(Duration::from_secs(6));
    let before = user.api.received().len();
    user.provider.make("expire").unwrap();
    let answer = list(&mut host);
    assert!(is_listed(&answer), "{answer}");
    assert_eq!(user.count("refreshes"), 2);
    // Asking is done again by the host; a change is not.
    assert_eq!(user.api.received().len(), before + 2);
    std::thread::sleep(Duration::from_secs(6));
    user.provider.make("expire").unwrap();
    let event = json!({ "calendarId": "primary", "eventId": "e1", "summary": "Tea" });
    let error = host.error("calendar__update_event", event.clone()).unwrap();
    assert!(error.contains("401"), "{error}");
    assert_eq!(user.api.received().len(), before + 3);
    assert!(host.text("calendar__update_event", event).is_ok());
    assert_eq!(user.count("refreshes"), 3);
}

/// What the host sends again is a request like others.
#[test]
fn a_request_is_sent_again_as_far_as_its_call_may_send_more() {
    let user = User::of(&[]);
    user.configure("", "limits.http_requests = 1");
    user.log_in();
    let mut host = user.home.serve().unwrap();
    assert!(is_listed(&list(&mut host)));
    std::thread::sleep(Duration::from_secs(6));
    user.provider.make("expire").unwrap();
    let answer = list(&mut host);
    assert!(answer.to_string().contains("401"), "{answer}");
    assert_eq!(user.count("refreshes"), 1);
    assert_eq!(user.api.received().len(), 2);
    // The next call has the new token.
    assert!(is_listed(&list(&mut host)));
}

#[test]
fn a_login_that_was_revoked_is_told_with_what_to_do() {
    let user = User::of(&[]);
    user.log_in();
    let mut host = user.home.serve().unwrap();
    assert!(is_listed(&list(&mut host)));
    user.provider.make("forget").unwrap();
    let refused = list(&mut host);
    let text = client::text(&refused).unwrap();
    assert_eq!(refused["isError"], json!(true), "{refused}");
    assert!(text.contains("you are not logged in at `work`"), "{text}");
    assert!(text.contains("hint: `dormouse login calendar`"), "{text}");
    let status = user.home.server_status("calendar").unwrap();
    assert_eq!(status["state"], "needs-auth", "{status}");
    assert_eq!(status["client_state"], "needs-auth", "{status}");
    assert_eq!(logins(&user.home).len(), 0);
    user.log_in();
    let answer = list(&mut host);
    assert!(is_listed(&answer), "{answer}");
    assert_ne!(
        user.home.server_status("calendar").unwrap()["state"],
        "needs-auth"
    );
}

#[test]
fn two_hosts_at_once_renew_the_token_of_a_plugin_once() {
    let user = User::of(&[]);
    user.log_in();
    let mut hosts = [0, 1].map(|_| user.home.serve().unwrap());
    for host in &mut hosts {
        assert!(is_listed(&list(host)));
    }
    user.end_token();
    let call = || json!({ "name": "calendar__list_calendars", "arguments": {} });
    let ids = hosts
        .each_mut()
        .map(|host| host.send("tools/call", call()).unwrap());
    for (host, id) in hosts.iter_mut().zip(ids) {
        let answer = host.answer(id).unwrap()["result"].take();
        assert!(is_listed(&answer), "{answer}");
    }
    assert_eq!(user.count("refreshes"), 1);
    assert_eq!(user.count("refused refreshes"), 0);
}

/// The secret of a client comes from where its user says, and nobody else has the login.
#[test]
fn a_login_is_of_one_client_for_one_server() {
    const SECRET: &str = "hush-hush-hush";
    let user = User::of(&["--client-secret", SECRET]);
    user.configure("client_secret = { env = 'WORK_SECRET' }", "");
    let (success, said) = run(&user.home, &["login", "calendar"]);
    assert!(!success, "{said}");
    assert!(said.contains("`WORK_SECRET` is not set"), "{said}");
    let mut command = user.home.command(&["login", "calendar", "-vvv"]);
    command
        .env("WORK_SECRET", SECRET)
        .env("DORMOUSE_LOG", "trace");
    let login = Waiting::start(&mut command);
    oauth::get(&login.link).unwrap();
    let (success, said) = login.end();
    assert!(success, "{said}");
    assert!(said.contains("DEBUG") && !said.contains(SECRET), "{said}");
    let (_, kept) = user.kept();
    assert!(!kept.to_string().contains(SECRET), "{kept}");

    let config = std::fs::read_to_string(user.home.config()).unwrap();
    std::fs::write(
        user.home.config(),
        config
            .replace("calendar]", "other]")
            .replace("servers.calendar.secrets", "servers.other.secrets"),
    )
    .unwrap();
    let status = run(&user.home, &["status"]).1;
    assert!(status.contains("`dormouse login other`"), "{status}");
    let config = config.replace("scopes = ['notes']", "scopes = ['admin']");
    std::fs::write(user.home.config(), config).unwrap();
    let status = run(&user.home, &["status"]).1;
    assert!(status.contains("`dormouse login calendar`"), "{status}");
}
