//! OAuth settings in a client's entry.
//!
//! Clients mean the same few things and call each by another name, so that the names are data. A
//! setting that only its client can use is reported, not passed over.

use dormouse_launch::{OAuth, Secret};

use super::entry::ServerEntry;
use crate::discovery::document::{DocumentValue, Node};
use crate::problem::within;

/// Dialect of a client's OAuth settings.
#[derive(Debug, Clone, Copy)]
pub(in crate::discovery) struct OAuthDialect {
    /// Key of the table. In place of the table may stand `false`: no login at all.
    pub(in crate::discovery) table: &'static str,
    /// Meanings of the keys, those of the table with its name before a dot.
    pub(in crate::discovery) keys: &'static [(&'static str, OAuthKey)],
}

/// Meaning of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::discovery) enum OAuthKey {
    ClientId,
    ClientSecret,
    /// A list, or one text with spaces between them.
    Scopes,
    /// The port of a redirect URI, which is this with the number in place of `PORT`.
    CallbackPort(&'static str),
    RedirectUri,
    MetadataUrl,
    AuthorizationUrl,
    TokenUrl,
    /// Whether anybody is to log in.
    Enabled,
    /// Something that Dormouse does of itself, or has no use for.
    Nothing,
    /// Something that has no counterpart, where it is another value than this.
    Foreign(&'static str),
}

/// Dialect without OAuth settings.
pub(in crate::discovery) const NONE: OAuthDialect = OAuthDialect {
    table: "oauth",
    keys: &[],
};

impl OAuthDialect {
    /// Reads the settings, and notes those that are not carried over. No part of a value is in a
    /// note.
    pub(in crate::discovery) fn read(
        &self,
        entry: &mut ServerEntry<'_, '_>,
        notes: &mut Vec<String>,
    ) -> OAuth {
        let mut oauth = OAuth::default();
        if self.keys.is_empty() {
            return oauth;
        }
        match entry.node.get(self.table).map(|node| &node.value) {
            Some(DocumentValue::Bool(on)) => {
                oauth.off = !on;
                return oauth;
            }
            // One word for a kind of login, which is found out without it.
            Some(DocumentValue::Text(_)) => {}
            _ => self.strangers(entry, notes),
        }
        for (key, means) in self.keys {
            if entry.has(key) {
                self.key(key, *means, entry, &mut oauth, notes);
            }
        }
        oauth
    }

    fn key(
        &self,
        key: &str,
        means: OAuthKey,
        entry: &mut ServerEntry<'_, '_>,
        oauth: &mut OAuth,
        notes: &mut Vec<String>,
    ) {
        let place = match means {
            OAuthKey::ClientId => &mut oauth.client_id,
            OAuthKey::MetadataUrl => &mut oauth.metadata_url,
            OAuthKey::AuthorizationUrl => &mut oauth.authorization_url,
            OAuthKey::TokenUrl => &mut oauth.token_url,
            OAuthKey::RedirectUri => &mut oauth.redirect_uri,
            OAuthKey::ClientSecret => {
                oauth.client_secret = entry.text(key).map(Secret::new);
                return;
            }
            OAuthKey::Scopes => {
                let scopes = entry.names(key).unwrap_or_default();
                let scopes = scopes.iter().flat_map(|scope| scope.split_whitespace());
                oauth.scopes = scopes.map(str::to_owned).collect();
                return;
            }
            OAuthKey::CallbackPort(uri) => {
                if let Some(port) = entry.port(key) {
                    let uri = uri.replace("PORT", &port.to_string());
                    oauth.redirect_uri.get_or_insert(uri);
                }
                return;
            }
            OAuthKey::Enabled => {
                oauth.off |= entry.boolean(key) == Some(false);
                return;
            }
            OAuthKey::Nothing => return,
            OAuthKey::Foreign(usual) => {
                if entry.node.get(key).and_then(Node::text) != Some(usual) {
                    notes.push(foreign(key));
                }
                return;
            }
        };
        // An empty text is how examples leave a place for one.
        *place = entry.text(key).filter(|text| !text.is_empty());
    }

    /// Notes the keys of the table that are not known.
    fn strangers(&self, entry: &ServerEntry<'_, '_>, notes: &mut Vec<String>) {
        let members = entry.node.get(self.table).map(Node::members);
        for member in members.unwrap_or_default() {
            let key = within(self.table, &member.key);
            if !self.keys.iter().any(|(known, _)| *known == key) {
                notes.push(foreign(&key));
            }
        }
    }
}

fn foreign(key: &str) -> String {
    let key: String = key.chars().filter(|c| !c.is_control()).take(60).collect();
    format!("its `{key}` is not carried over: Dormouse logs in without it")
}

/// Returns a note on what may keep a user from logging in once everything is filled in. That does
/// not keep a server from being used, which may want no login.
pub(in crate::discovery) fn doubt(oauth: &OAuth) -> Option<String> {
    if let Err(wrong) = oauth.check() {
        return Some(format!(
            "nobody can log in to it as it is written: `oauth.{}` {}",
            wrong.key, wrong.why
        ));
    }
    let registered = oauth.client_id.is_some() && oauth.redirect_uri.is_none();
    registered.then(|| {
        "its OAuth client has to be registered for the redirect URI `http://127.0.0.1/callback` at any port; \
         if it is for another one of this machine, `dormouse import` the server and set `redirect_uri` under its `oauth`"
            .to_owned()
    })
}
