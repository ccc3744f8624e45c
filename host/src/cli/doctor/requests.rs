//! Checks of what plugins ask for, and of their settings and secrets.

use std::path::Path;

use dormouse_config::ServerConfig;
use dormouse_text::shell_word::shell_word;
use dormouse_text::visible::visible_line;
use dormouse_wit::GrantRequest;

use super::Rows;
use crate::cli::plugin_inputs::missing_text;
use crate::cli::{describe, secret_hosts};
use crate::roster::{HeldByPlugin, requested_settings};

impl Rows {
    /// Checks that a plugin has what it asks for, but for settings and secrets that it does not need.
    pub(super) fn requests(
        &mut self,
        server: &ServerConfig,
        requests: &[GrantRequest],
        data: &Path,
    ) {
        let about = format!("server {}", server.name);
        let held = HeldByPlugin::of(server);
        for setting in requested_settings(requests) {
            if let Some(why) = held.wrong_setting(setting) {
                let name = &setting.name;
                let message = format!(
                    "its setting `{name}` is wrong: {}\n\
                     hint: see `settings` of `[servers.{}]`",
                    visible_line(&why),
                    server.name
                );
                self.error(&about, message);
            }
        }
        let is_input = |request: &GrantRequest| {
            matches!(request, GrantRequest::Setting(_) | GrantRequest::Secret(_))
        };
        let needed = requests.iter();
        let needed = needed.filter(|request| !is_input(request) || held.needs(request));
        let needed: Vec<_> = needed.cloned().collect();
        match describe::missing(&server.name, &needed, held) {
            Ok(missing) if missing.is_empty() => {}
            Ok(missing) => self.warning(&about, missing.trim_end()),
            Err(error) => self.error(&about, format!("{error:#}")),
        }
        for told in secret_hosts::left_behind(server, &server.settings, requests) {
            self.warning(&about, told);
        }
        for secret in &server.secrets {
            if let Some(missing) = missing_text(secret, data) {
                self.warning(&about, missing);
            }
            let grants = &server.grants.http;
            let mut hosts = secret.hosts.iter();
            let lost = hosts.find(|host| !grants.iter().any(|grant| grant.reaches(host)));
            if let Some(host) = lost {
                let message = format!(
                    "its secret `{}` is for `{host}`, and no request there is granted\n\
                     hint: `dormouse grant {} --grant-http {}`",
                    secret.name,
                    server.name,
                    shell_word(host.origin())
                );
                self.warning(&about, message);
            }
        }
    }
}
