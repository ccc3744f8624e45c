//! Responses of the API, as results and as errors that say what to do about them.

use serde_json::Value;

/// Response to one request.
#[derive(Debug, Clone, Default)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Seconds to wait until more requests are allowed, where there have been too many.
    pub wait: Option<u64>,
    /// Body; a text where it is no JSON.
    pub body: Value,
}

impl Response {
    /// Returns the body of a response that is no error.
    ///
    /// # Errors
    /// It is one, in the words of the reference server.
    pub fn result(self) -> Result<Value, String> {
        let said = self.body.get("message").and_then(Value::as_str);
        let or = |otherwise| said.unwrap_or(otherwise);
        Err(match (self.status, self.wait) {
            (200..=299, _) => return Ok(self.body),
            (429, wait) | (403, wait @ Some(_)) => {
                let until = wait.map_or_else(String::new, |wait| format!("\nResets in {wait} s"));
                format!("Rate Limit Exceeded: {}{until}", or("Rate limit exceeded"))
            }
            (401, _) => format!(
                "Authentication Failed: {}\nhint: the token of this server is missing or no longer good; its user has to give it another one",
                or("Authentication failed")
            ),
            (403, _) => format!("Permission Denied: {}", or("Insufficient permissions")),
            (404, _) => format!("Not Found: Resource not found: {}", or("Resource")),
            (409, _) => format!("Conflict: {}", or("Conflict occurred")),
            (422, _) => format!(
                "Validation Error: {}\nDetails: {}",
                or("Validation failed"),
                self.body
            ),
            (status, _) => format!(
                "GitHub API Error: {} (status code {status})",
                or("GitHub API error")
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Response;

    #[test]
    fn errors_say_what_is_wrong() {
        let told = |status, wait, body: Value| {
            let response = Response { status, wait, body };
            response.result().unwrap_err()
        };
        let said = json!({ "message": "Turtles are slow", "errors": [{ "code": "missing" }] });
        for (status, wait, expected) in [
            (
                401,
                None,
                "Authentication Failed: Turtles are slow\nhint: the token ",
            ),
            (403, None, "Permission Denied: Turtles are slow"),
            (
                403,
                Some(60),
                "Rate Limit Exceeded: Turtles are slow\nResets in 60 s",
            ),
            (404, None, "Not Found: Resource not found: Turtles are slow"),
            (409, None, "Conflict: Turtles are slow"),
            (
                422,
                None,
                "Validation Error: Turtles are slow\nDetails: {\"message\":\"Turtles are slow\",\"errors\":[{\"code\":\"missing\"}]}",
            ),
            (429, None, "Rate Limit Exceeded: Turtles are slow"),
            (
                500,
                None,
                "GitHub API Error: Turtles are slow (status code 500)",
            ),
        ] {
            let told = told(status, wait, said.clone());
            assert!(told.starts_with(expected), "{told}");
        }
        let odd = told(502, None, json!("<html>"));
        assert_eq!(odd, "GitHub API Error: GitHub API error (status code 502)");
        let fine = Response {
            status: 201,
            wait: Some(0),
            body: json!([1]),
        };
        assert_eq!(fine.result(), Ok(json!([1])));
    }
}
