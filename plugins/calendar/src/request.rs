//! Requests to the API, made of the arguments of tools.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

/// Characters that are escaped in a URL: all but those that never have a meaning there.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Request to the API.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Method of HTTP.
    pub method: &'static str,
    /// Path from the API's base on, with its query.
    pub target: String,
    /// Body, if there is any.
    pub body: Option<Value>,
}

impl Request {
    /// Makes a request to a path.
    ///
    /// # Errors
    /// A part of the path is empty, or leads to another path.
    pub fn new(method: &'static str, path: &[&str]) -> Result<Self, String> {
        let mut target = String::new();
        for part in path {
            if matches!(*part, "" | "." | "..") {
                return Err(format!("`{part}` is no ID"));
            }
            target.push('/');
            target.extend(utf8_percent_encode(part, ESCAPED));
        }
        Ok(Self {
            method,
            target,
            body: None,
        })
    }

    /// Adds a parameter to the query, if it has a value.
    pub fn add_parameter(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            let sign = if self.target.contains('?') { '&' } else { '?' };
            let value = utf8_percent_encode(value, ESCAPED);
            self.target.push_str(&format!("{sign}{name}={value}"));
        }
    }

    /// Makes the other arguments of a tool the event in its body, as the API has it: what stands in
    /// its path or query is left out.
    #[must_use]
    pub fn with_event(mut self, arguments: Value) -> Self {
        let Value::Object(mut event) = arguments else {
            return self;
        };
        let told = event.remove("sendUpdates");
        self.add_parameter("sendUpdates", told.as_ref().and_then(Value::as_str));
        event.remove("calendarId");
        event.remove("eventId");
        let zone = event.remove("timeZone");
        for moment in ["start", "end"] {
            if let Some(Value::String(text)) = event.remove(moment) {
                event.insert(moment.to_owned(), time(&text, zone.as_ref()));
            }
        }
        self.body = (!event.is_empty()).then_some(Value::Object(event));
        self
    }
}

/// Returns a time as the API has it: a whole day has no hour. What an event had of the other kind goes,
/// where it is changed.
fn time(text: &str, zone: Option<&Value>) -> Value {
    match text.contains(['T', 't', ' ']) {
        false => json!({ "date": text, "dateTime": null, "timeZone": null }),
        true => {
            let mut time = Map::from_iter([
                ("date".to_owned(), Value::Null),
                ("dateTime".to_owned(), text.into()),
            ]);
            time.extend(zone.map(|zone| ("timeZone".to_owned(), zone.clone())));
            Value::Object(time)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_part_of_no_other_path() {
        let path = ["calendars", "a/b@c?d#e", "events", "é"];
        let request = Request::new("GET", &path).unwrap();
        assert_eq!(request.target, "/calendars/a%2Fb%40c%3Fd%23e/events/%C3%A9");
        for id in ["", ".", ".."] {
            let error = Request::new("GET", &["calendars", id]).unwrap_err();
            assert!(error.contains(&format!("`{id}`")), "{error}");
        }
    }

    #[test]
    fn an_event_has_what_is_not_in_its_path_or_query() {
        let mut request = Request::new("POST", &["calendars", "primary", "events"]).unwrap();
        request.add_parameter("q", None);
        let request = request.with_event(json!({
            "calendarId": "primary", "summary": "Tea", "start": "2026-01-01T10:00:00",
            "end": "2026-01-02", "timeZone": "Europe/Berlin", "sendUpdates": "none",
        }));
        assert_eq!(request.target, "/calendars/primary/events?sendUpdates=none");
        assert_eq!(
            request.body.unwrap(),
            json!({
                "summary": "Tea",
                "start": {
                    "date": null, "dateTime": "2026-01-01T10:00:00", "timeZone": "Europe/Berlin",
                },
                "end": { "date": "2026-01-02", "dateTime": null, "timeZone": null },
            })
        );
        let deleted = Request::new("DELETE", &["x"]).unwrap();
        let deleted = deleted.with_event(json!({ "calendarId": "c", "eventId": "e" }));
        assert_eq!((deleted.target.as_str(), deleted.body), ("/x", None));
    }
}
