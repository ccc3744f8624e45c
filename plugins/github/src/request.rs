//! Requests to the API, made of a route and of a tool's arguments.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::{Map, Number, Value};

/// Characters that stand for themselves nowhere in a URL.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The same, where a slash is one between the names of a path.
const RESERVED_IN_PATHS: &AsciiSet = &RESERVED.remove(b'/');

/// Request to the API.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Method of HTTP.
    pub method: &'static str,
    /// Path from the API's base on, with its query.
    pub path: String,
    /// Body, if there is any.
    pub body: Option<Value>,
}

impl Request {
    /// Makes a request of a route (`/repos/{owner}/contents/{+path}`) and an object: its variables
    /// are members of that object, `{+name}` with slashes. The other members are the query of a
    /// `GET`, and the body of any other request; what is null is left out.
    ///
    /// # Errors
    /// A variable has no value, or one that leads to another route.
    pub fn new(
        method: &'static str,
        route: &str,
        arguments: impl Serialize,
    ) -> Result<Self, String> {
        let mut rest = members(arguments)?;
        let mut parts = route.split(['{', '}']);
        let mut path = parts.next().unwrap_or_default().to_owned();
        while let (Some(variable), Some(text)) = (parts.next(), parts.next()) {
            path += &segment(variable, &mut rest)?;
            path += text;
        }
        let is_get = method == "GET";
        for (name, value) in rest.iter().filter(|_| is_get) {
            path.push(if path.contains('?') { '&' } else { '?' });
            path += &format!("{name}={}", utf8_percent_encode(&text(value), RESERVED));
        }
        let has_body = !is_get && !rest.is_empty();
        Ok(Self {
            method,
            path,
            body: has_body.then_some(Value::Object(rest)),
        })
    }
}

/// Takes a variable of a route out of the members, as it stands in a path.
fn segment(variable: &str, members: &mut Map<String, Value>) -> Result<String, String> {
    let (name, reserved) = match variable.strip_prefix('+') {
        Some(name) => (name, RESERVED_IN_PATHS),
        None => (variable, RESERVED),
    };
    let value = members.shift_remove(name).as_ref().map(text);
    let value = value.filter(|value| !value.is_empty() || variable != name);
    let value = value.ok_or_else(|| format!("`{name}` is empty"))?;
    if value.split('/').any(|part| matches!(part, "." | "..")) {
        return Err(format!("`{name}` has `.` or `..` in it: `{value}`"));
    }
    let value = value.trim_start_matches('/');
    Ok(utf8_percent_encode(value, reserved).to_string())
}

/// Returns the members of an object, by the names that the API has for them.
fn members(arguments: impl Serialize) -> Result<Map<String, Value>, String> {
    let arguments = serde_json::to_value(arguments).map_err(|error| error.to_string())?;
    let Value::Object(members) = as_whole_numbers(arguments) else {
        return Ok(Map::new());
    };
    let members = members.into_iter().filter(|(_, value)| !value.is_null());
    Ok(members
        .map(|(name, value)| (snake_case(&name), value))
        .collect())
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// Writes 5.0 as 5: JSON has one kind of numbers, the API two.
fn as_whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(whole(&number).unwrap_or(number)),
        Value::Array(items) => items.into_iter().map(as_whole_numbers).collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            members
                .map(|(name, value)| (name, as_whole_numbers(value)))
                .collect()
        }
        value => value,
    }
}

fn whole(number: &Number) -> Option<Number> {
    /// Numbers up to this one are exact.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    let number = number.as_f64()?;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "it has no fraction, and is not large"
    )]
    (number.fract() == 0.0 && number.abs() <= MAX_EXACT).then_some((number as i64).into())
}

/// Returns a value as it stands in a URL.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Request;

    fn request(method: &'static str, route: &str, arguments: Value) -> Request {
        Request::new(method, route, arguments).unwrap()
    }

    #[test]
    fn arguments_stand_in_the_path_and_the_query() {
        for (route, arguments, expected) in [
            (
                "/repos/{owner}/{repo}/issues/{issue_number}",
                json!({ "owner": "turtle", "repo": "a/b", "issue_number": 7.0 }),
                "/repos/turtle/a%2Fb/issues/7",
            ),
            (
                "/repos/{owner}/contents/{+path}",
                json!({ "path": "/docs/a b?.md", "owner": "żółw", "ref": "x&y=z" }),
                "/repos/%C5%BC%C3%B3%C5%82w/contents/docs/a%20b%3F.md?ref=x%26y%3Dz",
            ),
            (
                "/c/{+path}",
                json!({ "path": "", "perPage": 30.0, "labels": ["a b", "c"], "since": null }),
                "/c/?per_page=30&labels=a%20b%2Cc",
            ),
            (
                "/all",
                json!({ "more": 0.5, "many": 1e300 }),
                "/all?more=0.5&many=1e%2B300",
            ),
            ("/all", Value::Null, "/all"),
        ] {
            let made = request("GET", route, arguments);
            assert_eq!((made.path.as_str(), made.body), (expected, None));
        }
    }

    #[test]
    fn other_arguments_are_the_body() {
        let arguments = json!({
            "owner": "turtle", "autoInit": true, "milestone": null,
            "comments": [{ "line": 3.0, "body": "2.0" }],
        });
        let made = request("POST", "/of/{owner}", arguments);
        let body = json!({ "auto_init": true, "comments": [{ "line": 3, "body": "2.0" }] });
        assert_eq!((made.path.as_str(), made.body), ("/of/turtle", Some(body)));
        let made = request(
            "PUT",
            "/of/{owner}",
            json!({ "owner": "turtle", "sha": null }),
        );
        assert_eq!(made.body, None);
    }

    #[test]
    fn no_value_leads_to_another_route() {
        for (route, value, expected) in [
            ("/a/{of}", json!(null), "`of` is empty"),
            ("/a/{of}", json!(""), "`of` is empty"),
            ("/a/{+of}", json!(null), "`of` is empty"),
            ("/a/{of}", json!(".."), "`of` has `.` or `..` in it: `..`"),
            (
                "/a/{+of}",
                json!("b/../../c"),
                "`of` has `.` or `..` in it: `b/../../c`",
            ),
            ("/a/{of}", json!("./x"), "`of` has `.` or `..` in it: `./x`"),
        ] {
            let error = Request::new("GET", route, json!({ "of": value })).unwrap_err();
            assert_eq!(error, expected);
        }
        let made = request("GET", "/a/{of}/b", json!({ "of": "%2e%2e?x#y\\z" }));
        assert_eq!(made.path, "/a/%252e%252e%3Fx%23y%5Cz/b");
    }
}
