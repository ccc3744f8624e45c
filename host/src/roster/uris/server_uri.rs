//! URIs of resources that include the name of their server, for those that several servers have.
//!
//! A server does not know of others, so two of one kind may list the same URIs. Agents are shown
//! each of these, and each page, with the server's name at its end, where it makes no difference to
//! servers and clients that look at a scheme, an authority or a path. The name is removed before
//! the request goes to the server.

/// Text before the name of the server.
const MARK: &str = "dormouse-server=";

/// Returns a URI, or a URI template, with the name of its server.
pub(in super::super) fn with_server(uri: &str, server: &str) -> String {
    // A fragment begins once.
    let before = if uri.contains('#') { '&' } else { '#' };
    format!("{uri}{before}{MARK}{server}")
}

/// Returns the URI as its server knows it, and the name of the server. None if it has no server
/// name.
pub(in super::super) fn split(uri: &str) -> Option<(&str, &str)> {
    let (before, server) = uri.rsplit_once(MARK)?;
    let uri = before.strip_suffix(['#', '&'])?;
    Some((uri, server))
}

/// Checks whether a URI is that of a page which clients show for tools (MCP Apps). The actions of a
/// page count as its server's, so its server is always named.
#[must_use]
pub fn is_page(uri: &str) -> bool {
    let scheme = uri.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.trim().eq_ignore_ascii_case("ui"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_together_comes_apart_as_it_was() {
        for (uri, shown) in [
            ("memo://insights", "memo://insights#dormouse-server=a-1"),
            ("file:///x?y=1", "file:///x?y=1#dormouse-server=a-1"),
            ("x:#part", "x:#part&dormouse-server=a-1"),
            ("db://{id}", "db://{id}#dormouse-server=a-1"),
            ("db://x{#part}", "db://x{#part}&dormouse-server=a-1"),
            ("", "#dormouse-server=a-1"),
        ] {
            assert_eq!(with_server(uri, "a-1"), shown);
            assert_eq!(split(shown), Some((uri, "a-1")));
            // Also what somebody else has made of it before.
            let twice = with_server(shown, "b");
            assert_eq!(split(&twice), Some((shown, "b")));
        }
        for none in [
            "memo://insights",
            "dormouse-server=a",
            "x:dormouse-server=a",
            "",
        ] {
            assert_eq!(split(none), None, "{none}");
        }
    }
}
