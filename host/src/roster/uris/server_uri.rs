//! URIs of resources that include the name of their server, for those that several servers have.
//!
//! A server does not know of others, so two of one kind may list the same URIs. Agents are shown
//! each of these, and each page, with the server's name at its end, where it makes no difference to
//! servers and clients that look at a scheme, an authority or a path. The name is removed before
//! the request goes to the server.

use super::own_uri::is_own;

/// Text before the name of the server.
const MARK: &str = "dormouse-server=";

/// Text before the URI of a server whose scheme is Dormouse's own: it is another scheme then.
const FOREIGN: &str = "server+";

/// Returns a URI, or a URI template, with the name of its server. None is left that begins as
/// Dormouse's own do, which no server has.
pub(in super::super) fn with_server(uri: &str, server: &str) -> String {
    let foreign = if is_own(uri) { FOREIGN } else { "" };
    // A fragment begins once.
    let before = if uri.contains('#') { '&' } else { '#' };
    format!("{foreign}{uri}{before}{MARK}{server}")
}

/// Checks whether a URI in an answer of a server gets the name of that server in any case: that of a
/// page, and what would else be taken for another server's or for Dormouse's own.
pub(in super::super) fn is_always_named(uri: &str) -> bool {
    is_page(uri) || is_own(uri) || split(uri).is_some()
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
        // Nobody reads these, and nobody takes them for what they are not.
        for (uri, shown) in [
            (
                "dormouse://status",
                "server+dormouse://status#dormouse-server=a-1",
            ),
            ("DORMOUSE:x#y", "server+DORMOUSE:x#y&dormouse-server=a-1"),
        ] {
            assert!(is_always_named(uri), "{uri}");
            assert_eq!(with_server(uri, "a-1"), shown);
            assert!(!is_own(shown), "{shown}");
        }
        for (uri, is_always) in [
            ("ui://page", true),
            ("x:#dormouse-server=b", true),
            ("memo://insights", false),
        ] {
            assert_eq!(is_always_named(uri), is_always, "{uri}");
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
