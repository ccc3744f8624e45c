//! Inputs that a plugin has, of those that it may ask for.

use dormouse_config::ServerConfig;
use dormouse_launch::redaction::redacted_setting;
use dormouse_policy::{FsGrant, FsMode, Grants, HttpGrant, HttpSecret};
use dormouse_wit::{FolderAccess, GrantRequest, SecretRequest, SettingRequest};
use serde_json::{Map, Value};

/// Inputs that a plugin has, of those that it may ask for.
#[derive(Debug, Clone, Copy)]
pub struct HeldByPlugin<'a> {
    /// Its grants.
    pub grants: &'a Grants,
    /// Settings that its user has set.
    pub settings: &'a Map<String, Value>,
    /// Its secrets.
    pub secrets: &'a [HttpSecret],
    /// Whether it stands in front of an upstream.
    pub has_upstream: bool,
}

impl<'a> HeldByPlugin<'a> {
    /// Returns what a server has.
    #[must_use]
    pub fn of(server: &'a ServerConfig) -> Self {
        Self {
            grants: &server.grants,
            settings: &server.settings,
            secrets: &server.secrets,
            has_upstream: server.bridge().is_some(),
        }
    }

    /// Returns what a plugin has that was granted this and set these settings alone.
    #[must_use]
    pub fn new(grants: &'a Grants, settings: &'a Map<String, Value>) -> Self {
        Self {
            grants,
            settings,
            secrets: &[],
            has_upstream: false,
        }
    }

    /// Whether it has what is requested.
    #[must_use]
    pub fn has(&self, request: &GrantRequest) -> bool {
        match request {
            GrantRequest::Fs { write, .. } => {
                let is_enough = |grant: &FsGrant| !write || grant.mode == FsMode::ReadWrite;
                self.grants.fs.iter().any(is_enough)
            }
            GrantRequest::Env { name, .. } => self.grants.env.contains(name),
            GrantRequest::Upstream { .. } => self.has_upstream,
            GrantRequest::Http { origin, .. } => {
                let requests = origin.parse();
                requests.is_ok_and(|requests| self.has_requests(&requests))
            }
            GrantRequest::Setting(setting) => self.has_setting(setting),
            GrantRequest::Secret(secret) => self.has_secret(secret),
            GrantRequest::Unusable { .. } => false,
            GrantRequest::Other => true,
        }
    }

    /// Whether it lacks what is requested and does not work without.
    #[must_use]
    pub fn needs(&self, request: &GrantRequest) -> bool {
        match request {
            GrantRequest::Setting(setting) => setting.is_required && !self.has_setting(setting),
            GrantRequest::Secret(secret) => secret.is_required && !self.has_secret(secret),
            _ => false,
        }
    }

    /// Returns what is wrong with the value that its user has set, without the secrets in it; none where
    /// nothing is, or where they have set none.
    #[must_use]
    pub fn wrong_setting(&self, setting: &SettingRequest) -> Option<String> {
        let value = self.settings.get(&setting.name)?;
        let why = setting.check(value).err()?;
        let shown = redacted_setting(&setting.name, value);
        if shown == *value {
            return Some(why);
        }
        let why = setting.check(&shown).err();
        Some(why.unwrap_or_else(|| format!("its value is no {}", setting.format)))
    }

    fn has_setting(&self, setting: &SettingRequest) -> bool {
        let value = self
            .settings
            .get(&setting.name)
            .or(setting.default.as_ref());
        value.is_some_and(|value| {
            setting.check(value).is_ok() && self.has_folder(setting.grant, value)
        })
    }

    /// Whether it is granted the folder that a setting names.
    fn has_folder(&self, access: Option<FolderAccess>, value: &Value) -> bool {
        let (Some(access), Some(path)) = (access, value.as_str()) else {
            return true;
        };
        let is_meant = |grant: &&FsGrant| grant.path.as_os_str() == path;
        let mut folders = self.grants.fs.iter().filter(is_meant);
        folders.any(|grant| access == FolderAccess::ReadOnly || grant.mode == FsMode::ReadWrite)
    }

    fn has_secret(&self, secret: &SecretRequest) -> bool {
        self.secrets.iter().any(|own| own.name == secret.name)
    }

    /// Whether all of these HTTP requests are granted.
    fn has_requests(&self, requests: &HttpGrant) -> bool {
        let is_near = |grant: &&HttpGrant| grant.is_private() || !requests.is_private();
        let grants = self.grants.http.iter().filter(is_near).cloned();
        requests.is_within(&grants.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_setting_is_there_when_it_has_a_value_of_its_own() {
        let folder = |mode| FsGrant {
            path: "/n".into(),
            real: None,
            mode,
        };
        for (request, settings, mode, has, needs) in [
            (json!({}), json!({}), None, false, false),
            (json!({ "isRequired": true }), json!({}), None, false, true),
            (
                json!({ "isRequired": true, "default": "m" }),
                json!({}),
                None,
                true,
                false,
            ),
            (
                json!({ "isRequired": true }),
                json!({ "x": "m" }),
                None,
                true,
                false,
            ),
            (
                json!({ "isRequired": true }),
                json!({ "x": 1 }),
                None,
                false,
                true,
            ),
            (
                json!({ "choices": ["m"] }),
                json!({ "x": "ft" }),
                None,
                false,
                false,
            ),
            (
                json!({ "format": "directory", "grant": "rw" }),
                json!({ "x": "/n" }),
                None,
                false,
                false,
            ),
            (
                json!({ "format": "directory", "grant": "rw" }),
                json!({ "x": "/n" }),
                Some(FsMode::ReadOnly),
                false,
                false,
            ),
            (
                json!({ "format": "directory", "grant": "rw" }),
                json!({ "x": "/n" }),
                Some(FsMode::ReadWrite),
                true,
                false,
            ),
            (
                json!({ "format": "directory", "grant": "ro" }),
                json!({ "x": "/n" }),
                Some(FsMode::ReadWrite),
                true,
                false,
            ),
            (
                json!({ "format": "directory", "grant": "ro" }),
                json!({ "x": "/m" }),
                Some(FsMode::ReadOnly),
                false,
                false,
            ),
        ] {
            let mut request = request;
            request["kind"] = json!("setting");
            request["name"] = json!("x");
            let wanted: GrantRequest = serde_json::from_value(request.clone()).unwrap();
            let grants = Grants {
                fs: mode.map(folder).into_iter().collect(),
                ..Grants::default()
            };
            let held = HeldByPlugin::new(&grants, settings.as_object().unwrap());
            assert_eq!(
                (held.has(&wanted), held.needs(&wanted)),
                (has, needs),
                "{request}"
            );
        }
    }

    #[test]
    fn what_is_wrong_with_a_setting_says_no_secret() {
        for (name, value, format, told) in [
            ("port", json!("seven"), "number", "`seven` is no number"),
            ("api_key", json!("s3cret"), "number", "`…` is no number"),
            (
                "api_key",
                json!(["s3cret"]),
                "string",
                "its value is no text",
            ),
        ] {
            let request = json!({ "kind": "setting", "name": name, "format": format });
            let GrantRequest::Setting(request) = serde_json::from_value(request).unwrap() else {
                panic!("no setting");
            };
            let settings = Map::from_iter([(name.to_owned(), value)]);
            let grants = Grants::default();
            let held = HeldByPlugin::new(&grants, &settings);
            assert_eq!(
                held.wrong_setting(&request).as_deref(),
                Some(told),
                "{name}"
            );
        }
    }
}
