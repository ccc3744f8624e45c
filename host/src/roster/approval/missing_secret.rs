//! Questions for secrets of a plugin's HTTP requests that have no text, while it runs.
//!
//! A client sees what is typed into its forms, and so may its model: a secret is given in a terminal, and
//! the form only asks whether that is done.

use std::sync::Arc;

use dormouse_config::{Scope, ServerConfig};
use dormouse_protocol::Listener;
use dormouse_runtime::{SecretAnswer, SecretError};
use dormouse_text::visible::visible_line;
use dormouse_upstream::without_blocking;
use dormouse_wit::GrantRequest;
use serde_json::{Value, json};

use super::code_block::code_block;
use super::confirm::{accepted_field, answer_to, can_ask, choice};
use crate::roster::{Roster, requested_secrets, secret_option};

/// Answers to the question whether a secret is given: each with the words by which it is shown.
const ANSWERS: [(&str, &str); 2] = [
    ("done", "Yes, it is done"),
    ("no", "No, and do not ask again"),
];

impl Roster {
    /// Asks the user whether a secret has a text by now.
    pub(super) async fn ask_for_secret(
        &self,
        server: &str,
        missing: &SecretError,
        caller: &Arc<dyn Listener>,
    ) -> SecretAnswer {
        let Ok(found) = self.server(server) else {
            return SecretAnswer::NotAsked;
        };
        let listing = found.listing();
        let requests = listing.map(|listing| listing.grants.as_slice());
        let shown = shown(found.config(), missing, requests.unwrap_or_default());
        let message = format!("{}\nIs it given now?", code_block(&shown));
        if can_ask(caller, &message).is_err() {
            return SecretAnswer::NotAsked;
        }
        let Some(answer) = answer_to(caller, message, schema()).await else {
            return SecretAnswer::NotAsked;
        };
        if accepted_field(&answer, "answer") != Some(json!("done")) {
            return SecretAnswer::Refused;
        }
        if let Err(error) = without_blocking(usize::MAX, || self.reload()) {
            tracing::warn!("the configuration cannot be read again: {error:#}");
        }
        let found = self.server(server).ok();
        let mut secrets = found.iter().flat_map(|found| &found.config().secrets);
        let now = secrets.find(|secret| secret.name == missing.secret());
        SecretAnswer::Done(now.cloned().map(Box::new))
    }
}

/// Returns the text that the user is shown, with the commands that give the secret.
fn shown(server: &ServerConfig, missing: &SecretError, requests: &[GrantRequest]) -> String {
    let (name, secret) = (&server.name, missing.secret());
    let hosts = server.secrets.iter().filter(|one| one.name == secret);
    let hosts: Vec<_> = hosts.flat_map(|one| &one.hosts).collect();
    let hosts: Vec<_> = hosts.iter().map(|host| format!("`{host}`")).collect();
    let mut text = format!(
        "A request of the plugin `{name}` is to have your secret `{secret}`, which goes to {} and \
         which the plugin never sees.\nIt {}.\n\
         Give it in a terminal, never here: {}\n",
        hosts.join(", "),
        visible_line(missing.why()),
        visible_line(missing.hint()),
    );
    let mut requested = requested_secrets(requests);
    let is_changeable = !matches!(server.origin.scope, Scope::Project(_));
    if let Some(requested) = requested.find(|one| is_changeable && one.name == secret) {
        let option = secret_option(requested);
        text.push_str(&format!(
            "Or have it come from elsewhere: `dormouse grant {name} {option}`\n"
        ));
    }
    text
}

/// Returns the form in which a user says whether a secret is given.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "answer": choice("It is given", ANSWERS) },
        "required": ["answer"],
    })
}
