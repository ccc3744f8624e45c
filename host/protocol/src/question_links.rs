//! Links in the questions of a server: pages that a person may be sent to, who has to see where
//! they lead.

use dormouse_text::server_url;
use dormouse_text::server_url::WrongUrl;
use dormouse_text::visible::{is_hidden, short_name};
use serde_json::{Map, Value};

use crate::Capability;

/// Checks the links of a question.
///
/// # Errors
/// A link is no page of the web, or could be taken for one of another host. The error is for the
/// server.
pub fn check(capability: Capability, params: &Map<String, Value>) -> Result<(), String> {
    match capability {
        Capability::ElicitationUrl => check_url(params.get("url")),
        Capability::ElicitationForm => {
            // Clients may look for a link rather than for the `mode`.
            if params.contains_key("url") {
                check_url(params.get("url"))?;
            }
            let schema = params.get("requestedSchema");
            let fields = schema.and_then(|schema| schema.get("properties"));
            let fields = fields.and_then(Value::as_object).into_iter().flatten();
            for (name, field) in fields {
                let is_link = is_link(field);
                let default = field.get("default").and_then(Value::as_str);
                if let Some(link) = default.filter(|_| is_link) {
                    check_link(&format!("{}.default", short_name(name)), link)?;
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Whether a link leads to a page of the web, and its text shows to which.
#[must_use]
pub fn is_page(link: &str) -> bool {
    check_link("url", link).is_ok()
}

/// Returns a link with its host as it is connected to, where it is written in other letters, so
/// that letters that look like others are seen.
#[must_use]
pub fn shown(link: &str) -> Option<String> {
    server_url::with_host_in_ascii(link)
}

/// Rewrites the default links of a form so that they show their hosts.
pub fn show_hosts(schema: &mut Value) {
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    for field in fields.into_iter().flat_map(|fields| fields.values_mut()) {
        if !is_link(field) {
            continue;
        }
        let default = field.get("default").and_then(Value::as_str);
        let shown = default.and_then(shown);
        if let (Some(field), Some(link)) = (field.as_object_mut(), shown) {
            field.insert("default".into(), link.into());
        }
    }
}

/// Whether a field of a form is for links. Clients may ignore the case of that.
fn is_link(field: &Value) -> bool {
    let format = field.get("format").and_then(Value::as_str);
    format.is_some_and(|format| format.eq_ignore_ascii_case("uri"))
}

/// Whether a character may be in a host's name or address, as it is connected to.
fn is_of_host(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "-._:[]".contains(letter)
}

fn check_url(url: Option<&Value>) -> Result<(), String> {
    check_link("url", url.and_then(Value::as_str).unwrap_or_default())
}

fn check_link(at: &str, link: &str) -> Result<(), String> {
    let why = match server_url::parse(link) {
        Ok(_) if link.contains(is_hidden) => "it has characters in it that nobody sees".to_owned(),
        // It would end the quotes around it.
        Ok(url) if !url.host_str().unwrap_or_default().chars().all(is_of_host) => {
            "its host has a character in it that no name has".to_owned()
        }
        Ok(url) if url.username().is_empty() && url.password().is_none() => return Ok(()),
        // People take it for the host.
        Ok(_) => "it has a user name in it".to_owned(),
        Err(WrongUrl::Character(wrong)) => {
            format!("it has the character `{}` in it", wrong.escape_unicode())
        }
        Err(WrongUrl::OtherHost) => "its host is not the one that it shows".to_owned(),
        Err(WrongUrl::NoUrl) => {
            "it does not begin with `https://` or `http://`, and a host".to_owned()
        }
    };
    Err(format!(
        "`{at}` is no page of the web that can be shown: {why}"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn links_that_could_be_taken_for_others_are_refused() {
        for (link, fit) in [
            ("https://example.com/login?x=1#y", true),
            ("http://localhost:1", true),
            ("http://[::1]:1/", true),
            ("https://b\u{fc}cher.example/", true),
            ("https://accounts.google.com`.evil.example/", false),
            ("https://example.com@evil.example/", false),
            ("https://example.com:443@evil.example/", false),
            ("https://:secret@evil.example/", false),
            (r"https://evil.example\@example.com/", false),
            ("https:evil.example", false),
            ("https:///evil.example", false),
            ("https://", false),
            ("javascript:alert(1)", false),
            ("file:///etc/passwd", false),
            ("https://example.com/\u{7}", false),
            ("https://exa\nmple.com/", false),
            (" https://example.com", false),
            ("https://example.com/\u{202e}", false),
            ("https://example.com/a\u{fe0f}", false),
        ] {
            let page = json!({ "mode": "url", "url": link });
            let page = check(Capability::ElicitationUrl, page.as_object().unwrap());
            assert_eq!(page.is_ok(), fit, "{link}: {page:?}");
            let field = json!({ "type": "string", "format": "uri", "default": link });
            let form = json!({ "requestedSchema": { "properties": { "site": field } } });
            let form = check(Capability::ElicitationForm, form.as_object().unwrap());
            assert_eq!(form.is_ok(), fit, "{link}: {form:?}");
            let field = json!({ "type": "string", "format": "URI", "default": link });
            let other = json!({ "requestedSchema": { "properties": { "site": field } } });
            let other = check(Capability::ElicitationForm, other.as_object().unwrap());
            assert_eq!(other.is_ok(), fit, "{link}: {other:?}");
            let told = form.err().unwrap_or_default();
            assert!(
                fit || told.starts_with("`site.default` is no page"),
                "{told}"
            );
        }
        assert_eq!(shown("https://example.com/ä"), None);
        let cyrillic = "https://\u{430}\u{440}\u{440}\u{4cf}\u{435}.com/x";
        let punycode = "https://xn--80ak6aa92e.com/x";
        assert_eq!(shown(cyrillic).as_deref(), Some(punycode));
        let field = json!({ "format": "uri", "default": cyrillic });
        let mut form = json!({ "properties": { "site": field, "other": { "default": cyrillic } } });
        show_hosts(&mut form);
        assert_eq!(form.pointer("/properties/site/default").unwrap(), punycode);
        assert_eq!(form.pointer("/properties/other/default").unwrap(), cyrillic);
        // Other texts are what they are.
        let field = json!({ "type": "string", "default": "javascript:alert(1)" });
        let form = json!({ "requestedSchema": { "properties": { "code": field } } });
        assert!(check(Capability::ElicitationForm, form.as_object().unwrap()).is_ok());
    }
}
