//! Answers to a login that bring a token which cannot be used, or say more than they should.

use serde_json::{Value, json};

use crate::hostile_login::{Scene, at};
use crate::hostile_site::{Answer, METADATA, changed, metadata, tokens};

/// Starts a server whose authorization server answers with tokens that are changed so.
fn gives(members: Value) -> Scene {
    Scene::of(move |_, _, asked| {
        at(asked, "/token", || {
            Answer::json(&changed(tokens(), &members))
        })
    })
}

#[test]
fn a_token_that_cannot_be_sent_as_one_for_its_bearer_is_no_login() {
    for members in [
        json!({ "access_token": "canary-\r\nx-evil: 1" }),
        json!({ "access_token": "" }),
        json!({ "token_type": "DPoP" }),
        json!({ "token_type": " DPoP\t" }),
        json!({ "token_type": "mac" }),
    ] {
        gives(members).failed();
    }
}

/// A value in a malformed answer may be a token, which is not known to be one yet.
#[test]
fn a_token_in_a_malformed_answer_is_not_said() {
    for answer in [
        "\"canary-access\"",
        "{\"access_token\":\"x\",\"token_type\":\"bearer\",\"expires_in\":\"canary-access\"}",
    ] {
        let scene = Scene::of(move |_, _, asked| at(asked, "/token", || Answer::text(200, answer)));
        scene.failed();
    }
}

/// A page that has parameters of a login in its address would choose which of these count.
#[test]
fn a_page_with_parameters_of_a_login_is_refused() {
    for parameter in ["state", "redirect_uri", "code_challenge"] {
        let scene = Scene::of(move |own, _, asked| {
            at(asked, METADATA, || {
                let page = format!("{own}/authorize?{parameter}=fixed");
                let members = json!({ "authorization_endpoint": page });
                Answer::json(&changed(metadata(own), &members))
            })
        });
        scene.refused();
    }
}
