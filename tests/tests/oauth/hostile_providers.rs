//! Providers of logins that misbehave: what their user has not named gets nothing, and the error is
//! plain. All that comes after the metadata is code that logins of bridges share.

use std::process::Stdio;

use dormouse_tests::{Home, artifacts, oauth};
use serde_json::json;

use crate::hostile_site::{Answer, CANARY, METADATA, Site, changed, metadata};
use crate::{Waiting, logins};

/// Path of a provider's metadata by OpenID Connect Discovery.
const OPENID: &str = "/.well-known/openid-configuration";

/// Makes the home of a user of a plugin that logs in at a provider.
fn home(provider: &str) -> Home {
    let home = Home::new().unwrap();
    let table = format!("[providers.work]\nclient_id = \"mine\"\n{provider}\n");
    std::fs::write(home.config(), table).unwrap();
    let secret =
        "secrets.token = { login = 'work', hosts = ['api.example'], header = 'Authorization' }";
    home.server_with("calendar", &artifacts::plugin("calendar").unwrap(), secret)
        .unwrap();
    home
}

fn refused(home: &Home) -> String {
    let mut command = home.command(&["login", "calendar"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stdout.is_empty(), "there is a link: {output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains("panicked") && said.len() < 2000, "{said}");
    said
}

#[test]
fn metadata_that_are_not_the_providers_own_are_not_used() {
    type Says = fn(&str, &str) -> Answer;
    let cases: [(&str, Says, &str); 6] = [
        (
            "the issuer of another",
            |own, other| Answer::json(&changed(metadata(own), &json!({ "issuer": other }))),
            "are of the issuer",
        ),
        (
            "no issuer",
            |own, _| Answer::json(&changed(metadata(own), &json!({ "issuer": null }))),
            "are of the issuer nobody",
        ),
        (
            "metadata of another host",
            |_, other| Answer::redirect(302, &format!("{other}{METADATA}")),
            "are of the issuer",
        ),
        (
            "metadata that lead to themselves",
            |_, _| Answer::redirect(302, METADATA),
            "redirects",
        ),
        (
            "no metadata",
            |_, _| Answer::text(404, ""),
            "hint: name its `authorization_url` and `token_url`",
        ),
        (
            "no S256",
            |own, _| {
                let plain = json!({ "code_challenge_methods_supported": ["plain"] });
                Answer::json(&changed(metadata(own), &plain))
            },
            "PKCE code challenge method (S256)",
        ),
    ];
    for (wrong, says, told) in cases {
        eprintln!("with {wrong}:");
        let other = Site::serve(|_, _| None);
        let stranger = other.base.clone();
        let site = Site::serve(move |own, asked| {
            let is_metadata = [METADATA, OPENID].contains(&asked.path.as_str());
            is_metadata.then(|| says(own, &stranger))
        });
        let home = home(&format!("issuer = \"{}\"", site.base));
        let said = refused(&home);
        assert!(said.contains(told), "no `{told}` in {said}");
        assert!(said.contains(&site.base), "{said}");
        // It has been asked for no more than what everybody may read.
        for asked in other.asked() {
            assert_eq!(
                (asked.method.as_str(), asked.path.as_str()),
                ("GET", METADATA)
            );
        }
        assert_eq!(site.count("POST", "/token"), 0);
        assert_eq!(logins(&home).len(), 0);
    }
}

#[test]
fn a_provider_without_tls_is_refused_but_on_this_machine() {
    for provider in [
        "issuer = \"http://login.example\"",
        "authorization_url = \"https://login.example/a\"\ntoken_url = \"http://login.example/t\"",
    ] {
        let said = refused(&home(provider));
        assert!(said.contains("has to be an `https` URL"), "{said}");
    }
}

#[test]
fn a_redirect_that_another_issuer_has_sent_is_not_taken() {
    let site = Site::serve(|own, asked| match asked.path.as_str() {
        METADATA => {
            let named = json!({ "authorization_response_iss_parameter_supported": true });
            Some(Answer::json(&changed(metadata(own), &named)))
        }
        "/authorize" => Some(Answer::back(
            asked,
            "code=canary-code&iss=http://other.example",
        )),
        _ => None,
    });
    let home = home(&format!("issuer = \"{}\"", site.base));
    let login = Waiting::start(&mut home.command(&["login", "calendar"]));
    let page = oauth::get(&login.link).unwrap();
    assert_eq!(page.status, 400, "{page:?}");
    assert_eq!(site.count("POST", "/token"), 0);
    assert_eq!(logins(&home).len(), 0);
}

/// A code goes where the user was told, and no secret is repeated to them.
#[test]
fn a_token_endpoint_that_leads_elsewhere_gets_nothing_there() {
    let other = Site::serve(|_, _| None);
    let stranger = other.base.clone();
    let site = Site::serve(move |_, asked| {
        (asked.path == "/token").then(|| Answer::redirect(307, &format!("{stranger}/token")))
    });
    for provider in [
        format!("issuer = \"{}\"", site.base),
        format!(
            "authorization_url = \"{0}/authorize\"\ntoken_url = \"{0}/token\"",
            site.base
        ),
    ] {
        let home = home(&provider);
        let login = Waiting::start(&mut home.command(&["login", "calendar"]));
        let page = oauth::get(&login.link).unwrap();
        assert!(!page.text.contains("You are logged in"), "{page:?}");
        let (success, said) = login.end();
        assert!(!success && !said.contains(CANARY), "{said}");
        assert_eq!(other.asked().len(), 0);
        assert_eq!(logins(&home).len(), 0);
    }
}
