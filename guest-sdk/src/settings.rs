//! The `[servers.NAME.settings]` table of the user's configuration.

use serde::de::DeserializeOwned;

use crate::bindings::dormouse::plugin::settings;

/// Returns the setting `key`, or none where the user has not set it.
///
/// # Errors
/// It is not what `T` takes. The text names the key and the value, so that
/// a tool can hand it on to the agent as it is.
pub fn get<T: DeserializeOwned>(key: &str) -> Result<Option<T>, String> {
    settings::get(key)
        .map(|json| parse(&format!("setting `{key}`"), &json))
        .transpose()
}

/// Returns all settings as one value, usually a struct with a field for each.
///
/// # Errors
/// They are not what `T` takes.
pub fn all<T: DeserializeOwned>() -> Result<T, String> {
    parse("settings", &settings::all())
}

fn parse<T: DeserializeOwned>(what: &str, json: &str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| format!("{what} is `{json}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_setting_of_the_wrong_type_is_named_with_its_value() {
        assert_eq!(parse::<u8>("setting `depth`", "7"), Ok(7));
        let error = parse::<u8>("setting `depth`", "\"deep\"").unwrap_err();
        assert!(
            error.starts_with("setting `depth` is `\"deep\"`: invalid type"),
            "{error}"
        );
    }
}
