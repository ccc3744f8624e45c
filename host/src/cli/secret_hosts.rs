//! Secrets of plugins that stay behind where a setting has moved the plugin's requests to another host.

use dormouse_config::ServerConfig;
use dormouse_policy::{HttpGrant, SecretHost};
use dormouse_wit::{GrantRequest, SettingRequest};
use serde_json::{Map, Value};

use crate::roster::requested_settings;

/// Returns sentences on settings of a plugin that name another host than their defaults, and to which no
/// secret goes that goes to the default's. `settings` are those that its user has set.
pub(super) fn left_behind(
    server: &ServerConfig,
    settings: &Map<String, Value>,
    requests: &[GrantRequest],
) -> Vec<String> {
    let host = |value: &Value| SecretHost::of_url(value.as_str()?);
    let moved = requested_settings(requests).filter_map(|setting| {
        let usual = host(setting.default.as_ref()?)?;
        let now = host(settings.get(&setting.name)?)?;
        (now != usual).then_some((setting, now))
    });
    let mut told = Vec::new();
    for (setting, host) in moved {
        for secret in server
            .secrets
            .iter()
            .filter(|secret| !secret.hosts.contains(&host))
        {
            let hosts: Vec<_> = secret.hosts.iter().map(ToString::to_string).collect();
            told.push(format!(
                "its setting `{setting}` is of `{host}`, and its secret `{name}` goes to `{hosts}` alone\n\
                 hint: write `hosts = [\"{host}\"]` for `{name}` in `[servers.{server}.secrets]` of \
                 dormouse.toml",
                setting = setting.name,
                name = secret.name,
                hosts = hosts.join("`, `"),
                server = server.name
            ));
        }
    }
    told
}

/// Whether the value that a setting has by default is a URL.
pub(super) fn is_usually_url(setting: &SettingRequest) -> bool {
    let usual = setting.default.as_ref().and_then(Value::as_str);
    usual.is_some_and(is_url)
}

/// Whether a text is a URL of HTTP.
pub(super) fn is_url(text: &str) -> bool {
    text.starts_with("http") && text.contains("://") && text.parse::<HttpGrant>().is_ok()
}

#[cfg(test)]
mod tests {
    use dormouse_config::file;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_token_that_stays_behind_is_said_with_what_to_write() {
        let requests: Vec<GrantRequest> = serde_json::from_value(json!([
            { "kind": "setting", "name": "api", "default": "https://api.github.com" },
            { "kind": "setting", "name": "unit", "default": "metric" },
        ]))
        .unwrap();
        let told = |api: &str, hosts: &str| {
            let text = format!(
                "[servers.gh]\ncomponent = 'a.wasm'\n\
                 settings = {{ api = '{api}', unit = 'https://x.example' }}\n\
                 secrets.token = {{ env = 'T', hosts = [{hosts}], header = 'Authorization' }}\n"
            );
            let path = std::path::Path::new("/x/dormouse.toml");
            let config = file::parse_usable(path, &text).unwrap();
            let server = &config.servers["gh"];
            left_behind(server, &server.settings, &requests)
        };
        let enterprise = "https://ghe.example:8443/api/v3";
        let warned = told(enterprise, "'api.github.com'");
        assert_eq!(warned.len(), 1, "{warned:?}");
        assert!(
            warned[0].contains("goes to `api.github.com` alone")
                && warned[0].contains("write `hosts = [\"ghe.example:8443\"]` for `token`"),
            "{warned:?}"
        );
        for (api, hosts) in [
            (enterprise, "'api.github.com', 'ghe.example:8443'"),
            ("https://api.github.com/", "'elsewhere.example'"),
            ("y", "'api.github.com'"),
        ] {
            assert_eq!(told(api, hosts), [""; 0], "{api} {hosts}");
        }
    }

    #[test]
    fn a_url_is_one_of_http() {
        for (text, is) in [
            ("https://ghe.example/api/v3", true),
            ("http://nas:8080", true),
            ("y", false),
            ("", false),
            ("ghe.example", false),
            ("https://", false),
            ("ftp://ghe.example", false),
        ] {
            assert_eq!(is_url(text), is, "{text}");
        }
    }
}
