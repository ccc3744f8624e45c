//! How far the requests of a login may lead: what an upstream and its authorization server
//! name must not reach this machine or its network, unless the user has said so.

use std::net::IpAddr;

use dormouse_launch::Http;
use reqwest::Url;
use rmcp::transport::auth::AuthorizationMetadata;

use crate::Lost;
use crate::http::{AddressKind, Reach, named_hosts_client};

/// Advice of a refusal.
const PRIVATE_NETWORK: &str = "if its logins belong to your own network, \
    write `private_network = true` under `oauth` of the server";

/// How far the requests of one login may lead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoginReach {
    reach: Reach,
    /// Hosts that the user has named for logins, and such of their own network that they use:
    /// they may be anywhere.
    hosts: Vec<String>,
}

impl LoginReach {
    /// How far a login at a server may lead. `issuer` is the authorization server that has
    /// given a login that is kept.
    pub(super) async fn of(http: &Http, issuer: Option<&str>) -> Self {
        // Where another name leads is its owner's to say, anew for each request.
        let server = match Url::parse(&http.url) {
            Ok(url) if is_of_own_network(&url) => Reach::of_configured(&url).await,
            _ => Reach::Public,
        };
        Self::within(server, http, issuer)
    }

    /// The same, where what the server itself may name is known.
    fn within(server: Reach, http: &Http, issuer: Option<&str>) -> Self {
        let oauth = &http.oauth;
        let configured = [
            &oauth.metadata_url,
            &oauth.authorization_url,
            &oauth.token_url,
        ];
        let configured = configured.into_iter().flatten().map(String::as_str);
        let own = [Some(http.url.as_str()), issuer]
            .into_iter()
            .flatten()
            .filter_map(|url| Url::parse(url).ok())
            .filter(is_of_own_network);
        let configured = configured.filter_map(|url| Url::parse(url).ok());
        let urls: Vec<_> = configured.chain(own).collect();
        let mut reach = server;
        // A company's servers are in its private network, and so is what logs its people in,
        // also before a server on this machine.
        let is_local = matches!(
            server,
            Reach::And(AddressKind::Private | AddressKind::Loopback)
        );
        // Somebody who has logged in at such an address has meant it.
        let is_logged_in = issuer
            .and_then(|issuer| Url::parse(issuer).ok())
            .is_some_and(|issuer| kind(&issuer) == Some(AddressKind::Private));
        if oauth.private_network || is_local || is_logged_in {
            reach = Reach::Local {
                loopback: server == Reach::And(AddressKind::Loopback),
                benchmarking: oauth.private_network,
            };
        }
        Self {
            reach,
            hosts: urls
                .iter()
                .filter_map(|url| Some(url.host_str()?.to_ascii_lowercase()))
                .collect(),
        }
    }

    /// Whether a document may name addresses of a private network.
    pub(super) fn allows_private(&self) -> bool {
        self.reach
            .allows(std::net::Ipv4Addr::new(10, 0, 0, 1).into())
    }

    /// The client for all requests of the login. It follows no redirect.
    ///
    /// # Errors
    /// The system has no root certificates.
    pub(super) fn client(&self) -> Result<reqwest::Client, Lost> {
        named_hosts_client(self.reach, &self.hosts, PRIVATE_NETWORK)
    }

    /// Sees that all that is asked of an authorization server, by what it says of itself, is
    /// within reach, as far as that shows before names are resolved.
    ///
    /// # Errors
    /// It is not. The error is for people.
    pub(super) fn check(&self, metadata: &AuthorizationMetadata) -> Result<(), String> {
        let revocation = metadata.additional_fields.get("revocation_endpoint");
        let asked = [
            ("token_endpoint", Some(metadata.token_endpoint.as_str())),
            (
                "registration_endpoint",
                metadata.registration_endpoint.as_deref(),
            ),
            (
                "revocation_endpoint",
                revocation.and_then(serde_json::Value::as_str),
            ),
        ];
        for (name, url) in asked {
            let Some(url) = url.and_then(|url| Url::parse(url).ok()) else {
                continue;
            };
            if !self.allows_url(&url) {
                let host = url.host_str().unwrap_or_default();
                let kind = kind(&url).unwrap_or(AddressKind::Loopback);
                return Err(format!(
                    "its `{name}` is at `{host}`, which is {kind}\nhint: {PRIVATE_NETWORK}"
                ));
            }
        }
        Ok(())
    }

    /// Whether a URL is within reach, as far as that shows before its name is resolved.
    pub(super) fn allows_url(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        self.hosts.iter().any(|named| named == host) || self.reach.allows_url(url)
    }
}

/// Ends of names that nobody on the internet can have.
const OWN_NETWORK_SUFFIXES: [&str; 9] = [
    ".corp",
    ".home",
    ".home.arpa",
    ".internal",
    ".intranet",
    ".lan",
    ".local",
    ".localhost",
    ".private",
];

/// Whether a URL is one of this machine or its network by what it says: an address, or a name
/// that nobody on the internet can have.
fn is_of_own_network(url: &Url) -> bool {
    if let Some(kind) = kind(url) {
        return matches!(kind, AddressKind::Private | AddressKind::Loopback);
    }
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    let host = host.to_ascii_lowercase();
    let is_one_word = !host.contains('.');
    is_one_word
        || OWN_NETWORK_SUFFIXES
            .iter()
            .any(|suffix| host.ends_with(suffix))
}

/// The kind of address that a URL has instead of a name.
fn kind(url: &Url) -> Option<AddressKind> {
    let host = url.host_str()?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.parse::<IpAddr>().ok().map(AddressKind::of)
}

#[cfg(test)]
mod tests {
    use dormouse_launch::OAuth;

    use super::*;

    fn oauth(change: impl FnOnce(&mut OAuth)) -> OAuth {
        let mut oauth = OAuth::default();
        change(&mut oauth);
        oauth
    }

    #[tokio::test]
    async fn logins_reach_a_private_network_where_their_user_has_said_so() {
        let public = "https://1.1.1.1/mcp";
        let metadata = "https://10.0.0.9/metadata";
        let url = |url: &str| Some(url.to_owned());
        for (server, oauth, issuer, target, allowed) in [
            // Whatever a server on the internet names is on the internet.
            (public, oauth(|_| {}), None, "https://10.0.0.9/token", false),
            (
                public,
                oauth(|_| {}),
                None,
                "https://198.18.0.9/token",
                false,
            ),
            (public, oauth(|_| {}), None, "https://8.8.8.8/token", true),
            // Unless its user has named that very host.
            (
                public,
                oauth(|it| it.metadata_url = url(metadata)),
                None,
                "https://10.0.0.9/token",
                true,
            ),
            (
                public,
                oauth(|it| it.metadata_url = url(metadata)),
                None,
                "https://10.0.0.8/token",
                false,
            ),
            (
                public,
                oauth(|it| it.token_url = url("https://192.168.1.1/token")),
                None,
                "https://192.168.1.1/token",
                true,
            ),
            // Or is logged in there.
            (
                public,
                oauth(|_| {}),
                Some("https://10.0.0.9/realm"),
                "https://10.0.0.9/token",
                true,
            ),
            // Or has said it of the network.
            (
                public,
                oauth(|it| it.private_network = true),
                None,
                "https://100.64.0.1/token",
                true,
            ),
            (
                public,
                oauth(|it| it.private_network = true),
                None,
                "https://198.18.0.9/token",
                true,
            ),
            (
                public,
                oauth(|it| it.private_network = true),
                None,
                "http://127.0.0.1:6379/",
                false,
            ),
            (
                public,
                oauth(|it| it.private_network = true),
                None,
                "http://169.254.169.254/latest",
                false,
            ),
            // A server that is there names others that are.
            (
                "http://127.0.0.1:3000/mcp",
                oauth(|_| {}),
                None,
                "https://10.0.0.9/token",
                true,
            ),
            (
                "http://127.0.0.1:3000/mcp",
                oauth(|_| {}),
                None,
                "http://127.0.0.1:4000/token",
                true,
            ),
            (
                "http://10.0.0.4/mcp",
                oauth(|_| {}),
                None,
                "https://192.168.0.9/token",
                true,
            ),
            (
                "http://10.0.0.4/mcp",
                oauth(|_| {}),
                None,
                "http://127.0.0.1:4000/token",
                false,
            ),
        ] {
            let http = Http {
                url: server.to_owned(),
                oauth,
                ..Http::default()
            };
            let reach = LoginReach::of(&http, issuer).await;
            let target_url = Url::parse(target).unwrap();
            assert_eq!(reach.allows_url(&target_url), allowed, "{http:?} {target}");
            let mut metadata = AuthorizationMetadata::default();
            metadata.token_endpoint = target.to_owned();
            let told = reach.check(&metadata).err().unwrap_or_default();
            assert_eq!(
                told.contains("`private_network = true`"),
                !allowed,
                "{told}"
            );
        }
    }

    #[test]
    fn names_of_the_own_network_are_such_as_nobody_else_can_have() {
        for (url, expected) in [
            ("http://127.0.0.1:3000/mcp", true),
            ("http://[::1]/mcp", true),
            ("http://10.0.0.4/mcp", true),
            ("http://localhost/mcp", true),
            ("http://mcp/", true),
            ("https://MCP.corp./", true),
            ("https://mcp.internal/", true),
            ("https://mcp.example.com/", false),
            ("https://1.1.1.1/", false),
            ("https://localhost.example.com/", false),
            ("https://mylan/", true),
            ("https://example.mylan/", false),
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!(is_of_own_network(&url), expected, "{url}");
        }
    }

    /// Names that lead to this machine stand for those that lead to a private network.
    #[tokio::test]
    async fn names_are_resolved_where_their_user_has_named_them() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = [0; 4096];
                let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut request).await;
                let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
                let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, answer).await;
            }
        });
        let target = format!("http://localhost:{port}/token");
        let http = |oauth| Http {
            url: "https://1.1.1.1/mcp".to_owned(),
            oauth,
            ..Http::default()
        };
        let named = http(oauth(|it| it.token_url = Some(target.clone())));
        let named = LoginReach::of(&named, None).await.client().unwrap();
        assert!(named.get(&target).send().await.is_ok());
        let other = LoginReach::of(&http(OAuth::default()), None).await;
        let error = other
            .client()
            .unwrap()
            .get(&target)
            .send()
            .await
            .unwrap_err();
        let why = super::super::server::causes(&error);
        for part in [
            "`localhost` leads to",
            "this machine",
            "`private_network = true`",
        ] {
            assert!(why.contains(part), "no `{part}` in {why}");
        }
    }
}
