//! Reading providers of logins: `[providers.NAME]`.

use dormouse_launch::OAuth;
use dormouse_policy::{ProviderLogin, SecretSource};

use super::http_secrets::SOURCES;
use super::*;

pub(super) const PROVIDER: &[&str] = &[
    "issuer",
    "authorization_url",
    "token_url",
    "client_id",
    "client_secret",
    "scopes",
    "parameters",
    "callback_port",
    "redirect_uri",
    "private_network",
];

/// Most providers of a file.
const MAX_PROVIDERS: usize = 100;

/// Hint where a client has to be registered first.
const REGISTER: &str = "register a client of your own there (for a program on a desktop, with the \
    redirect URI `http://127.0.0.1/callback`), and write its id";

impl DocumentReader<'_> {
    /// Reads the providers that secrets of servers name.
    pub(super) fn providers(&mut self, item: &Item) {
        let Some(table) = self.table(item, "providers") else {
            return;
        };
        if let Some((name, _)) = table.iter().nth(MAX_PROVIDERS) {
            let message = format!("`providers` has more than {MAX_PROVIDERS} of them");
            self.problem(key_span(table, name), message, None);
        }
        for (name, item) in table.iter().take(MAX_PROVIDERS) {
            let before = self.problem_count;
            let login = self.provider(name, item, &within("providers", name));
            let login = login.filter(|_| self.problem_count == before);
            self.providers.insert(name.to_owned(), login);
        }
    }

    fn provider(&mut self, name: &str, item: &Item, at: &str) -> Option<ProviderLogin> {
        let table = self.table(item, at)?;
        let mut oauth = known_providers::oauth(name);
        let mut provider = oauth.provider.take().unwrap_or_default();
        if ["issuer", "authorization_url", "token_url"]
            .iter()
            .any(|key| table.contains_key(key))
        {
            // What its user says takes the place of what is known.
            (provider.issuer, oauth.authorization_url, oauth.token_url) = (None, None, None);
        }
        let mut client_secret = None;
        for (key, item) in table.iter() {
            let here = within(at, key);
            let place = match key {
                "issuer" => &mut provider.issuer,
                "authorization_url" => &mut oauth.authorization_url,
                "token_url" => &mut oauth.token_url,
                "client_id" => &mut oauth.client_id,
                "redirect_uri" => &mut oauth.redirect_uri,
                "client_secret" => {
                    client_secret = self.client_secret(item, &here);
                    continue;
                }
                "scopes" => {
                    oauth.scopes = self.scopes(item, &here);
                    continue;
                }
                "parameters" => {
                    provider.parameters.clear();
                    let table = self.table(item, &here);
                    for (name, item) in table.iter().flat_map(|table| table.iter()) {
                        if let Some(value) = self.string(item, &within(&here, name)) {
                            let value = value.to_owned();
                            provider.parameters.insert(name.to_owned(), value);
                        }
                    }
                    continue;
                }
                "callback_port" => {
                    let port = self.port(item, &here);
                    oauth.redirect_uri = port.map(OAuth::callback).or(oauth.redirect_uri);
                    continue;
                }
                "private_network" => {
                    oauth.private_network = self.boolean(item, &here).unwrap_or_default();
                    continue;
                }
                _ => {
                    self.unknown(table, key, &format!("`[{at}]`"), PROVIDER);
                    continue;
                }
            };
            *place = self.string(item, &here).map(str::to_owned);
        }
        let mut wrong = |message: String, hint: &str| {
            self.problem(item.span(), message, Some(hint.to_owned()));
        };
        if provider.issuer.is_some() && oauth.authorization_url.is_some() {
            let message = format!("`[{at}]` has `issuer` and `authorization_url`");
            wrong(
                message,
                "the metadata of an issuer say it: keep one of them",
            );
        } else if provider.issuer.is_none()
            && oauth.authorization_url.is_none()
            && oauth.token_url.is_none()
        {
            let message = format!("`[{at}]` does not say where to log in");
            wrong(
                message,
                "write its `issuer`, or its `authorization_url` and `token_url`",
            );
        }
        if oauth.client_id.as_deref().is_none_or(str::is_empty) {
            wrong(format!("`[{at}]` has no `client_id`"), REGISTER);
        }
        if table.contains_key("callback_port") && table.contains_key("redirect_uri") {
            let message = format!("`[{at}]` has `callback_port` and `redirect_uri`");
            wrong(message, "keep one of them");
        }
        oauth.provider = Some(provider);
        if let Err(bad) = oauth.check() {
            wrong(format!("`{at}.{}` {}", bad.key, bad.why), "correct it");
        }
        Some(ProviderLogin {
            provider: name.to_owned(),
            oauth,
            client_secret,
        })
    }

    /// Reads where the secret of a client comes from.
    fn client_secret(&mut self, item: &Item, at: &str) -> Option<SecretSource> {
        let Some(table) = item.as_table_like() else {
            // A message must not repeat it.
            let message = format!("`{at}` has to be a table");
            let hint = "say where it is, as `{ env = \"NAME\" }` or `{ file = \"PATH\" }`";
            self.problem(item.span(), message, Some(hint.to_owned()));
            return None;
        };
        for (key, _) in table.iter().filter(|(key, _)| !SOURCES.contains(key)) {
            self.unknown(table, key, &format!("`{at}`"), &SOURCES);
        }
        let what = "where its text comes from";
        let (key, item) = self.one_of(table, &SOURCES, at, item.span(), what)?;
        self.secret_source(key, item, at)
    }

    /// Reads scopes, of which several may stand in one text.
    pub(super) fn scopes(&mut self, item: &Item, at: &str) -> Vec<String> {
        let texts = self.strings(item, at);
        let scopes = texts.iter().flat_map(|text| text.split_whitespace());
        scopes.map(str::to_owned).collect()
    }

    /// Reads the name of a provider, and returns the login there.
    pub(super) fn provider_login(&mut self, item: &Item, at: &str) -> Option<ProviderLogin> {
        let name = self.string(item, at)?;
        let (message, hint) = match self.providers.get(name) {
            Some(Some(login)) => return Some(login.clone()),
            Some(None) => (
                format!(
                    "`{at}` names {}, in whose table something is wrong",
                    quoted(name)
                ),
                format!("correct `[providers.{name}]`"),
            ),
            None => {
                let message = format!("`{at}` names {}, which is no provider here", quoted(name));
                let known: Vec<_> = known_providers::names().collect();
                let own = self.providers.keys().map(String::as_str);
                let hint = match nearest(name, own.chain(known.iter().copied())) {
                    Some(near) if near != name => format!("did you mean `{near}`?"),
                    Some(_) => format!("{REGISTER} as `client_id` in `[providers.{name}]`"),
                    None => format!(
                        "write `[providers.NAME]` with `issuer` and `client_id`; known without an \
                         `issuer` are `{}`",
                        known.join("`, `")
                    ),
                };
                (message, hint)
            }
        };
        self.problem(item.span(), message, Some(hint));
        None
    }
}
