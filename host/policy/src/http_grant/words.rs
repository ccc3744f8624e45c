//! Grants of HTTP requests in the words that their user is shown.

use super::{HostPattern, HttpGrant};

impl HttpGrant {
    /// Returns the requests in words for a person, such as `GET requests to api.example.com (/v1
    /// and below) over HTTPS`: ASCII alone, and no control characters.
    #[must_use]
    pub fn in_words(&self) -> String {
        let methods = match self.methods.as_slice() {
            [] => String::new(),
            [method] => format!("{method} "),
            [first @ .., last] => format!("{} and {last} ", first.join(", ")),
        };
        let host = match (&self.host, self.is_private) {
            (HostPattern::Exact(name), _) => name.clone(),
            (HostPattern::Below(name), _) => format!("all hosts below {name}"),
            (HostPattern::Any, false) => "every host on the internet".to_owned(),
            (HostPattern::Any, true) => "every host".to_owned(),
        };
        let port = (self.port != self.usual_port()).then(|| format!("port {}", self.port));
        let path = (self.path != "/").then(|| match self.path.strip_suffix('/') {
            Some(folder) => format!("below {folder}"),
            None => format!("{} and below", self.path),
        });
        let place: Vec<_> = port.into_iter().chain(path).collect();
        let place = match place.is_empty() {
            true => String::new(),
            false => format!(" ({})", place.join(", ")),
        };
        let scheme = match self.is_secure {
            true => "HTTPS",
            false => "HTTP, which is not encrypted",
        };
        let private = match (self.is_private, &self.host) {
            (false, _) => "",
            (true, HostPattern::Exact(_)) => ", also where it is in a private network",
            (true, HostPattern::Below(_) | HostPattern::Any) => ", also in private networks",
        };
        format!("{methods}requests to {host}{place} over {scheme}{private}")
    }
}
