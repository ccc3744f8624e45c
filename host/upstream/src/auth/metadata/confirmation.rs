//! Confirmation that metadata that an upstream has led to are those of the server that they name.

use std::iter;

use futures::future::join_all;
use reqwest::Url;
use rmcp::transport::auth::AuthorizationMetadata;

use super::own_metadata::of_itself;
use super::without_slash;
use crate::auth::endpoints::endpoints;
use crate::auth::reach::LoginReach;

/// Most issuers that the page of a login may be of, where it is at another host than its tokens.
const MAX_ISSUERS: usize = 8;

/// Checks that metadata that an upstream has led to are those of the server that they name: anybody
/// whom an upstream names may have written them, with the issuer or page of another server beside
/// their own endpoints. The error is for people.
pub(super) async fn confirm(
    reach: &LoginReach,
    metadata: &AuthorizationMetadata,
) -> Result<(), String> {
    let page = Url::parse(&metadata.authorization_endpoint)
        .map_err(|_| "its `authorization_endpoint` is no URL".to_owned())?;
    let is_elsewhere = |from: &Url| {
        let endpoints = endpoints(metadata).into_iter();
        let mut urls = endpoints.filter_map(|(_, endpoint)| Url::parse(endpoint?).ok());
        urls.any(|endpoint| endpoint.origin() != from.origin())
    };
    let Some(issuer) = &metadata.issuer else {
        return match is_elsewhere(&page) {
            false => Ok(()),
            true => Err(
                "it does not say who the authorization server is (`issuer`), whose page is at \
                 another host than what it gives goes to"
                    .to_owned(),
            ),
        };
    };
    let issuer_url = Url::parse(issuer).map_err(|_| format!("its issuer `{issuer}` is no URL"))?;
    if is_elsewhere(&issuer_url) {
        let is_same = |own: &AuthorizationMetadata| {
            let is_issuer = own.issuer.as_deref().map(without_slash) == Some(without_slash(issuer));
            is_issuer && endpoints(own) == endpoints(metadata)
        };
        if !of_itself(reach, &issuer_url)
            .await
            .found
            .iter()
            .any(is_same)
        {
            return Err(format!(
                "it names the authorization server `{issuer}`, which does not say the same of \
                 itself, so nothing is sent to the hosts that it names"
            ));
        }
    }
    if page.origin() == issuer_url.origin() || !is_elsewhere(&page) {
        return Ok(());
    }
    // What is none is refused where it would be opened.
    if !matches!(page.scheme(), "http" | "https") {
        return Ok(());
    }
    // Whoever logs in at that page is known there, and what they are given would go elsewhere.
    let host = page.host_str().unwrap_or_default();
    if is_written_oddly(&page) {
        return Err(format!(
            "it has people log in at a page of `{host}` whose path is written so that nobody finds out \
             whose that is"
        ));
    }
    let issuers: Vec<_> = issuers_of_page(&page).take(MAX_ISSUERS + 1).collect();
    if issuers.len() > MAX_ISSUERS {
        return Err(format!(
            "it has people log in at a page of `{host}` that is more than {MAX_ISSUERS} levels deep, \
             and nobody finds out whose that is"
        ));
    }
    let own = join_all(issuers.iter().map(|issuer| of_itself(reach, issuer))).await;
    let token = |metadata: &AuthorizationMetadata| {
        Url::parse(&metadata.token_endpoint).map(|url| url.origin())
    };
    let mut found = own.iter().flat_map(|own| &own.found).peekable();
    let has_none = found.peek().is_none();
    if found.any(|own| token(own) == token(metadata)) {
        return Ok(());
    }
    if !has_none {
        let origin = page.join("/").unwrap_or(page);
        return Err(format!(
            "it has people log in at `{origin}`, which has its tokens elsewhere by what it says of \
             itself, so nothing is sent to the hosts that are named"
        ));
    }
    match own.iter().find_map(|own| own.unknown.as_ref()) {
        None => Ok(()),
        Some(why) => Err(format!(
            "it has people log in at `{host}`, and it cannot be found out whether that has its tokens \
             elsewhere: {why}"
        )),
    }
}

/// Whether servers may take the path of a page for another one: as they read an encoded slash, or
/// what is behind a semicolon.
fn is_written_oddly(page: &Url) -> bool {
    let path = page.path().to_ascii_lowercase();
    let odd = ["%2f", "%5c", "%25", "%00", "%3b", ";", "\\"];
    odd.iter().any(|odd| path.contains(odd))
}

/// Returns the issuers that a page may be of: its host, and what is above it there, as the realms
/// that some hosts have.
fn issuers_of_page(page: &Url) -> impl Iterator<Item = Url> {
    // Most servers take several slashes for one.
    let segments = page.path_segments().into_iter().flatten();
    let mut above = segments.filter(|segment| !segment.is_empty());
    // The page itself.
    above.next_back();
    let mut path = String::new();
    let paths = above.map(move |segment| {
        path.push('/');
        path.push_str(segment);
        path.clone()
    });
    let page = page.clone();
    iter::once(String::new()).chain(paths).map(move |path| {
        let mut issuer = page.clone();
        issuer.set_path(&path);
        issuer
    })
}

#[cfg(test)]
mod tests {
    use dormouse_launch::Http;

    use super::*;

    #[test]
    fn a_page_may_be_of_what_is_above_it() {
        let issuers = |page: &str| -> Vec<String> {
            let page = Url::parse(page).unwrap();
            issuers_of_page(&page).map(Into::into).collect()
        };
        assert_eq!(
            issuers("https://a.example/realms/x/auth?y"),
            [
                "https://a.example/?y",
                "https://a.example/realms?y",
                "https://a.example/realms/x?y",
            ]
        );
        assert_eq!(issuers("https://a.example"), ["https://a.example/"]);
        // Most servers take several slashes for one.
        assert_eq!(
            issuers("https://a.example////////realms//x/auth/"),
            [
                "https://a.example/",
                "https://a.example/realms",
                "https://a.example/realms/x",
            ]
        );
    }

    #[tokio::test]
    async fn nobody_logs_in_at_a_page_that_is_too_deep() {
        let http = Http {
            url: "https://1.1.1.1/mcp".to_owned(),
            ..Http::default()
        };
        let reach = LoginReach::of(&http, None).await;
        let mut metadata = AuthorizationMetadata::default();
        metadata.issuer = Some("https://8.8.8.8".to_owned());
        metadata.token_endpoint = "https://8.8.8.8/token".to_owned();
        for levels in [MAX_ISSUERS + 1, 1000] {
            metadata.authorization_endpoint = format!("https://9.9.9.9{}", "/a".repeat(levels));
            let why = confirm(&reach, &metadata).await.unwrap_err();
            assert!(why.contains("more than 8 levels deep"), "{why}");
        }
        // A server may take each of these for another page.
        for path in [
            "realms%2fx/auth",
            "realms%5Cx/auth",
            "a%252fb/auth",
            "realms;v=1/x/auth",
        ] {
            metadata.authorization_endpoint = format!("https://9.9.9.9/{path}");
            let why = confirm(&reach, &metadata).await.unwrap_err();
            assert!(why.contains("nobody finds out"), "{why}");
        }
    }
}
