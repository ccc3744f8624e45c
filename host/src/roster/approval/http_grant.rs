//! Questions for HTTP requests that a plugin asks for and is not granted, while it runs.

use std::path::Path;
use std::sync::{Arc, Weak};

use dormouse_catalog::Stamp;
use dormouse_config::Scope;
use dormouse_config::edit::Editor;
use dormouse_policy::{Grants, HttpGrant};
use dormouse_protocol::Listener;
use dormouse_runtime::{GrantAnswer, GrantAsker, SecretAnswer, SecretError, SessionGrants};
use dormouse_text::visible::authors_reason;
use dormouse_upstream::without_blocking;
use dormouse_wit::GrantRequest;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::Value;

use super::asked_plugin::AskedPlugin;
use super::code_block::code_block;
use super::confirm::{accepted_field, allowing, answer_to, can_ask};
use crate::roster::{Roster, requested_http, secrets_in_words};
use crate::store::{DecidedBy, Decision};

/// Most reasons of a plugin's author that a form shows.
const MAX_REASONS: usize = 3;

/// Answers of the form: each with the words by which it is shown.
const ANSWERS: [(&str, &str); 4] = [
    ("no", "No, and do not ask again"),
    ("once", "For this call"),
    ("session", "For this session"),
    ("always", "Always"),
];

/// Grants that a user has given one plugin for as long as this host runs.
pub(in crate::roster) struct PluginGrants {
    /// None where nobody knows which one it is: that may be another one each time.
    plugin: Option<AskedPlugin>,
    /// Requests that the configuration grants it.
    configured: Vec<HttpGrant>,
    session: Arc<SessionGrants>,
}

impl PluginGrants {
    /// Makes those of a plugin, with the answers that were given before, as far as they are not taken
    /// back: not where it is another plugin by now.
    pub(in crate::roster) fn of(
        plugin: Option<AskedPlugin>,
        configured: &[HttpGrant],
        before: Option<&Self>,
    ) -> Self {
        let before = before.filter(|before| plugin.is_some() && before.plugin == plugin);
        // Whoever starts a server late may still have an older configuration.
        let configured = before.map_or(configured, |before| &before.configured);
        Self {
            plugin,
            configured: configured.to_vec(),
            session: before.map_or_else(Arc::default, |before| Arc::clone(&before.session)),
        }
    }

    /// Whether they are those of a component whose file has that stamp; none where it cannot be read,
    /// and may be that one again.
    pub(super) fn is_of(&self, component: Option<&Path>, stamp: Option<Stamp>) -> bool {
        let plugin = self.plugin.as_ref();
        plugin.is_some_and(|plugin| {
            component == Some(plugin.component.as_path())
                && stamp.is_none_or(|stamp| plugin.stamp == stamp)
        })
    }

    /// Takes what the configuration grants the plugin now, and takes back what was given of that which
    /// it does not grant any more. Returns whether there was any of that.
    pub(super) fn configure(&mut self, configured: &[HttpGrant]) -> bool {
        let is_less = self.take_back_missing(configured);
        self.configured = configured.to_vec();
        is_less
    }

    /// Takes back what was given of grants that the configuration had and has no more: what a user
    /// always allows ends with its line. What they have refused stays refused.
    fn take_back_missing(&self, configured: &[HttpGrant]) -> bool {
        let before = self.configured.iter();
        let missing: Vec<_> = before.filter(|old| !configured.contains(old)).collect();
        self.session.take_back(|given| {
            missing.iter().any(|old| {
                let (one, other) = (std::slice::from_ref(*old), std::slice::from_ref(given));
                given.is_within(one) || old.is_within(other)
            })
        })
    }

    /// Returns the requests that were granted for the session, and that the configuration does not grant.
    pub(super) fn of_session(&self) -> Vec<HttpGrant> {
        let mut granted = self.session.granted();
        granted.retain(|grant| !grant.is_within(&self.configured));
        granted
    }

    pub(in crate::roster) fn session(&self) -> Arc<SessionGrants> {
        Arc::clone(&self.session)
    }
}

/// Asks users for a roster, about one plugin.
pub(in crate::roster) struct RosterGrantAsker {
    pub(in crate::roster) roster: Weak<Roster>,
    /// None where nobody knows which one it is: then nobody is asked.
    pub(in crate::roster) plugin: Option<AskedPlugin>,
}

impl GrantAsker for RosterGrantAsker {
    fn ask<'a>(
        &'a self,
        server: &'a str,
        wanted: &'a HttpGrant,
        caller: &'a Arc<dyn Listener>,
    ) -> BoxFuture<'a, GrantAnswer> {
        let asked = async move {
            match (self.roster.upgrade(), &self.plugin) {
                (Some(roster), Some(plugin)) => {
                    roster.ask_for_http(server, plugin, wanted, caller).await
                }
                _ => GrantAnswer::NotAsked,
            }
        };
        asked.boxed()
    }

    fn ask_for_secret<'a>(
        &'a self,
        server: &'a str,
        missing: &'a SecretError,
        caller: &'a Arc<dyn Listener>,
    ) -> BoxFuture<'a, SecretAnswer> {
        let asked = async move {
            let (Some(roster), Some(plugin)) = (self.roster.upgrade(), &self.plugin) else {
                return SecretAnswer::NotAsked;
            };
            if !roster.has_plugin(server, plugin) {
                return SecretAnswer::NotAsked;
            }
            let answer = roster.ask_for_secret(server, missing, caller).await;
            match roster.has_plugin(server, plugin) {
                true => answer,
                false => SecretAnswer::NotAsked,
            }
        };
        asked.boxed()
    }
}

impl Roster {
    async fn ask_for_http(
        &self,
        server: &str,
        plugin: &AskedPlugin,
        wanted: &HttpGrant,
        caller: &Arc<dyn Listener>,
    ) -> GrantAnswer {
        let found = self.server(server).ok();
        // Of a plugin that was replaced a call may still run.
        let Some(found) = found.filter(|found| plugin.is_of(found)) else {
            return GrantAnswer::NotAsked;
        };
        let listing = found.listing();
        let requests = listing.map(|listing| listing.grants.as_slice());
        let along = secrets_in_words(wanted, &found.config().secrets);
        let shown = shown(server, wanted, &along, requests.unwrap_or_default());
        let message = format!("{}\nMay it?", code_block(&shown));
        if can_ask(caller, &message).is_err() {
            return GrantAnswer::NotAsked;
        }
        // What a project's plugin is granted, its file says.
        let is_lasting = !matches!(found.config().origin.scope, Scope::Project(_));
        let Some(answer) = answer_to(caller, message, allowing(&ANSWERS, is_lasting)).await else {
            return GrantAnswer::NotAsked;
        };
        if !self.has_plugin(server, plugin) {
            tracing::warn!("server `{server}`: nothing is granted, as its plugin is another one");
            return GrantAnswer::NotAsked;
        }
        // A no to a later form about the host, which was opened as this one had no answer, is the no to both.
        let is_refused = self
            .plugin_grants
            .lock()
            .get(server)
            .is_some_and(|grants| grants.session.is_refused(wanted));
        if is_refused {
            return GrantAnswer::NotAsked;
        }
        let chosen = accepted_field(&answer, "answer");
        match chosen.as_ref().and_then(Value::as_str) {
            Some("once") => GrantAnswer::Once,
            Some("session") => GrantAnswer::Session,
            Some("always") if is_lasting => {
                let kept = without_blocking(usize::MAX, || self.keep_grant(server, wanted, &shown));
                if let Err(error) = kept {
                    tracing::warn!("what server `{server}` was granted cannot be kept: {error:#}");
                }
                GrantAnswer::Session
            }
            _ => GrantAnswer::Refused,
        }
    }

    /// Writes a grant into the configuration.
    fn keep_grant(&self, server: &str, granted: &HttpGrant, shown: &str) -> anyhow::Result<()> {
        self.decisions.note(&Decision {
            what: "grant",
            subject: server,
            shown: &blake3::hash(shown.as_bytes()).to_hex(),
            by: DecidedBy::Client,
        })?;
        let more = Grants {
            http: vec![granted.clone()],
            ..Grants::default()
        };
        if Editor::new(&self.places.config)?.grant(server, &more)? {
            self.call_decisions.add_http_grant(server, granted);
        }
        self.reload()
    }
}

/// Returns the text that the user is shown: a plugin's author has written some of it.
fn shown(server: &str, wanted: &HttpGrant, along: &str, requests: &[GrantRequest]) -> String {
    let mut text = format!(
        "The plugin `{server}` wants to send {}{along}.\n",
        wanted.in_words()
    );
    let reasons = requested_http(requests)
        .filter_map(|(request, why)| wanted.is_within(&[request]).then(|| authors_reason(why)));
    for why in reasons.filter(|why| !why.is_empty()).take(MAX_REASONS) {
        text.push_str(&format!("Its author says why: {why}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_forgotten_where_another_plugin_is_there() {
        let grants = |texts: &[&str]| -> Vec<HttpGrant> {
            texts.iter().map(|text| text.parse().unwrap()).collect()
        };
        let (one, two) = (
            grants(&["https://a.example"]),
            grants(&["https://a.example", "https://*"]),
        );
        let plugin = |path: &str, size| {
            Some(AskedPlugin {
                component: path.into(),
                stamp: Stamp {
                    size,
                    mtime: 1,
                    ctime: 1,
                    inode: 1,
                },
                requests: Vec::new(),
            })
        };
        let before = PluginGrants::of(plugin("/a.wasm", 1), &one, None);
        before.session.grant(one[0].clone());
        let same = |plugin, configured: &[HttpGrant]| {
            let now = PluginGrants::of(plugin, configured, Some(&before));
            Arc::ptr_eq(&now.session, &before.session)
        };
        let path = || plugin("/a.wasm", 1);
        assert!(same(path(), &one) && same(path(), &two));
        assert!(!same(plugin("/b.wasm", 1), &one));
        assert!(!same(plugin("/a.wasm", 2), &one), "another file");
        // Nor does a server take back what its configuration lacks, which may be an older one.
        assert!(same(path(), &[]));
        let mut now = PluginGrants::of(path(), &[], Some(&before));
        assert!(before.session.take_back(|_| true), "it was taken back");
        before.session.grant(one[0].clone());
        assert!(now.configure(&[]), "the line was there before");
    }

    #[test]
    fn what_the_configuration_grants_no_more_takes_back_what_was_given_of_it_and_nothing_else() {
        let grant = |text: &str| -> HttpGrant { text.parse().unwrap() };
        let all = ["https://a.example", "GET https://b.example/one"].map(grant);
        for (left, given, is_taken) in [
            (&all[..], "https://a.example", false),
            (&all[1..], "https://a.example", true),
            (&all[1..], "GET https://a.example/below", true),
            (&all[1..], "GET https://b.example/one", false),
            (&all[1..], "GET https://c.example", false),
            (&all[..1], "https://b.example", true),
            (&all[..1], "POST https://b.example/one", false),
        ] {
            let mut grants = PluginGrants::of(None, &all, None);
            grants.session.grant(grant(given));
            assert_eq!(grants.configure(left), is_taken, "{given} of {left:?}");
            assert!(!grants.configure(left), "{given} of {left:?}");
            let is_left = grants.session.take_back(|_| true);
            assert_eq!(is_left, !is_taken, "{given} of {left:?}");
        }
    }

    #[test]
    fn what_is_granted_by_the_configuration_is_taken_as_it_is_now() {
        let grant: HttpGrant = "https://a.example".parse().unwrap();
        let stamp = Stamp {
            size: 1,
            mtime: 1,
            ctime: 1,
            inode: 1,
        };
        let plugin = AskedPlugin {
            component: "/a.wasm".into(),
            stamp,
            requests: Vec::new(),
        };
        let mut grants = PluginGrants::of(Some(plugin), &[], None);
        assert!(!grants.configure(std::slice::from_ref(&grant)));
        grants.session.grant(grant);
        assert!(grants.configure(&[]), "the line was there meanwhile");
        let is_of = |path: Option<&str>, stamp| grants.is_of(path.map(Path::new), stamp);
        assert!(is_of(Some("/a.wasm"), Some(stamp)) && is_of(Some("/a.wasm"), None));
        // Also where no file is read, as of a URL.
        assert!(!is_of(None, None) && !is_of(Some("/b.wasm"), None));
        assert!(!is_of(Some("/a.wasm"), Some(Stamp { size: 2, ..stamp })));
    }

    #[test]
    fn what_an_author_says_is_one_line_of_the_question() {
        let requests = [
            GrantRequest::Http {
                origin: "https://*".to_owned(),
                why: "to read\n\u{1b}[2Jpages".to_owned(),
            },
            GrantRequest::Http {
                origin: "https://b.example".to_owned(),
                why: "something else".to_owned(),
            },
        ];
        let wanted = "GET https://a.example".parse().unwrap();
        let text = shown("fetch", &wanted, "", &requests);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(
            text.contains("GET requests to a.example over HTTPS.\n"),
            "{text}"
        );
        assert!(
            !text.contains('\u{1b}') && !text.contains("something else"),
            "{text}"
        );
    }
}
