//! Reach of the requests of a login: what an upstream and its authorization server name must not be
//! on this machine or its network, unless the user has said so.

use dormouse_launch::Http;
use reqwest::Url;
use rmcp::transport::auth::AuthorizationMetadata;

use super::endpoints::endpoints;
use crate::Lost;
use dormouse_egress::{AddressKind, Reach, is_of_own_network, literal, named_hosts_client};

/// Hint of a refusal, and the same where a provider's user has named it.
const PRIVATE_NETWORK: &str = "if its logins belong to your own network, \
    write `private_network = true` under `oauth` of the server";
const PRIVATE_NETWORK_OF_PROVIDER: &str = "if its logins belong to your own network, \
    write `private_network = true` in the provider's table";

/// Addresses and hosts that the requests of one login may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoginReach {
    reach: Reach,
    /// Hosts that may be anywhere: those that the user has named for logins, and server and issuer
    /// if they are of the user's own network.
    hosts: Vec<String>,
    /// Hint of a refusal.
    hint: &'static str,
    /// Whether all of the login is reached over TLS, as its server is. Not where that is on this
    /// machine, or its user has named something that is not.
    secure: bool,
}

impl LoginReach {
    /// Returns the reach of a login at a server. `issuer` is the authorization server that has
    /// given a login that is kept.
    pub(super) async fn of(http: &Http, issuer: Option<&str>) -> Self {
        // Where another name leads is its owner's to say, anew for each request.
        let server = match Url::parse(&http.url) {
            Ok(url) if is_of_own_network(&url) => Reach::of_configured(&url).await,
            _ => Reach::Public,
        };
        Self::within(server, http, issuer)
    }

    /// Returns the same, where the reach of what the server names is known.
    fn within(server: Reach, http: &Http, issuer: Option<&str>) -> Self {
        let oauth = &http.oauth;
        let provider = oauth.provider.as_ref();
        let named_issuer = provider.and_then(|provider| provider.issuer.clone());
        let configured = [
            &named_issuer,
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
        let configured: Vec<_> = configured.filter_map(|url| Url::parse(url).ok()).collect();
        let is_secure = |url: &Url| url.scheme() == "https";
        let secure = Url::parse(&http.url)
            .is_ok_and(|url| is_secure(&url) && !is_of_own_network(&url))
            && configured.iter().all(is_secure);
        let urls: Vec<_> = configured.into_iter().chain(own).collect();
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
            .is_some_and(|issuer| is_at_private_address(&issuer));
        if oauth.private_network || is_local || is_logged_in {
            reach = Reach::Local {
                loopback: server == Reach::And(AddressKind::Loopback),
                benchmarking: oauth.private_network,
            };
        }
        Self {
            reach,
            hint: match provider {
                Some(_) => PRIVATE_NETWORK_OF_PROVIDER,
                None => PRIVATE_NETWORK,
            },
            hosts: urls
                .iter()
                .filter_map(|url| Some(url.host_str()?.to_ascii_lowercase()))
                .collect(),
            secure,
        }
    }

    /// Whether a document may name addresses of a private network.
    pub(super) fn allows_private(&self) -> bool {
        self.reach
            .allows(std::net::Ipv4Addr::new(10, 0, 0, 1).into())
    }

    /// Creates the client for all requests of the login. It follows no redirect.
    ///
    /// # Errors
    /// The system has no root certificates.
    pub(super) fn client(&self) -> Result<reqwest::Client, Lost> {
        let client = named_hosts_client(self.reach, &self.hosts, self.secure, self.hint)?;
        Ok(client)
    }

    /// Checks that all URLs that are asked of an authorization server, by its metadata, are within
    /// reach, as far as that shows before names are resolved.
    ///
    /// # Errors
    /// One is not. The error is for people.
    pub(super) fn check(&self, metadata: &AuthorizationMetadata) -> Result<(), String> {
        for (name, url) in endpoints(metadata) {
            let Some(url) = url.and_then(|url| Url::parse(url).ok()) else {
                continue;
            };
            if !self.allows_url(&url) {
                let host = url.host_str().unwrap_or_default();
                let kind = AddressKind::of_url(&url);
                return Err(format!(
                    "its `{name}` is at `{host}`, which is {kind}\nhint: {}",
                    self.hint
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

/// Whether a URL has an address of a private network instead of a name.
fn is_at_private_address(url: &Url) -> bool {
    let is_private = |address| AddressKind::of(address) == AddressKind::Private;
    literal(url).is_some_and(is_private)
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
            url: "http://1.1.1.1/mcp".to_owned(),
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
        let why = super::super::error_text::causes(&error);
        for part in [
            "`localhost` leads to",
            "this machine",
            "`private_network = true`",
        ] {
            assert!(why.contains(part), "no `{part}` in {why}");
        }
    }

    /// Whoever can write on the way to metadata chooses where a login goes.
    #[tokio::test]
    async fn what_is_reached_over_tls_has_nothing_read_without() {
        let open = OAuth {
            metadata_url: Some("http://127.0.0.1:1/".to_owned()),
            ..OAuth::default()
        };
        for (server, oauth, is_refused) in [
            ("https://1.1.1.1/mcp", OAuth::default(), true),
            ("https://1.1.1.1/mcp", open, false),
            ("http://1.1.1.1/mcp", OAuth::default(), false),
            ("https://127.0.0.1/mcp", OAuth::default(), false),
        ] {
            let http = Http {
                url: server.to_owned(),
                oauth,
                ..Http::default()
            };
            let client = LoginReach::of(&http, None).await.client().unwrap();
            let asked = client.get("http://127.0.0.1:1/").send().await;
            let why = super::super::error_text::causes(&asked.unwrap_err());
            assert_eq!(why.contains("scheme"), is_refused, "{server}: {why}");
        }
    }
}
