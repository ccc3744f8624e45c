//! Logins at upstreams.

use super::*;

const OAUTH: &[&str] = &[
    "client_id",
    "client_secret",
    "client_metadata_url",
    "scopes",
    "callback_port",
    "redirect_uri",
    "metadata_url",
    "authorization_url",
    "token_url",
    "private_network",
];

impl DocumentReader<'_> {
    pub(super) fn oauth(&mut self, item: &Item, at: &str) -> OAuth {
        let mut oauth = OAuth::default();
        match item.as_bool() {
            Some(false) => {
                oauth.off = true;
                return oauth;
            }
            Some(true) => {
                self.problem(
                    item.span(),
                    format!("`{at}` cannot be `true`"),
                    Some("leave it out: a server that wants a login gets one".to_owned()),
                );
                return oauth;
            }
            None => {}
        }
        let Some(table) = self.table(item, at) else {
            return oauth;
        };
        for (key, item) in table.iter() {
            let here = within(at, key);
            let place = match key {
                "client_id" => &mut oauth.client_id,
                "client_metadata_url" => &mut oauth.client_metadata_url,
                "redirect_uri" => &mut oauth.redirect_uri,
                "metadata_url" => &mut oauth.metadata_url,
                "authorization_url" => &mut oauth.authorization_url,
                "token_url" => &mut oauth.token_url,
                "client_secret" => {
                    // A message must not repeat it.
                    match item.as_str() {
                        Some(secret) => oauth.client_secret = Some(Secret::new(secret)),
                        None => {
                            let message = format!("`{here}` has to be a string");
                            self.problem(item.span(), message, None);
                        }
                    }
                    continue;
                }
                "scopes" => {
                    oauth.scopes = self.strings(item, &here);
                    continue;
                }
                "private_network" => {
                    oauth.private_network = self.boolean(item, &here).unwrap_or_default();
                    continue;
                }
                "callback_port" => {
                    if let Some(port) = self.port(item, &here) {
                        if table.contains_key("redirect_uri") {
                            self.problem(
                                item.span(),
                                format!("`[{at}]` has `callback_port` and `redirect_uri`"),
                                Some("keep one of them".to_owned()),
                            );
                        }
                        oauth.redirect_uri = Some(OAuth::callback(port));
                    }
                    continue;
                }
                _ => {
                    self.unknown(table, key, &format!("`[{at}]`"), OAUTH);
                    continue;
                }
            };
            *place = self.string(item, &here).map(str::to_owned);
        }
        oauth
    }

    pub(crate) fn port(&mut self, item: &Item, at: &str) -> Option<u16> {
        let port = u16::try_from(self.count(item, at)?).ok();
        if port.is_none() {
            let message = format!("`{at}` cannot be {}", self.shown(item));
            self.problem(
                item.span(),
                message,
                Some(format!("use a number from 1 to {}", u16::MAX)),
            );
        }
        port
    }

    pub(super) fn check_login(
        &mut self,
        at: &str,
        span: Option<Range<usize>>,
        launch: &Launch,
        can_judge: bool,
    ) {
        if let Launch::Http(http) = launch
            && can_judge
            && let Err(wrong) = http.oauth.check()
        {
            let message = format!("`{at}.oauth.{}` {}", wrong.key, wrong.why);
            self.problem(span, message, None);
        }
    }
}
