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

#[test]
fn a_login_is_as_safe_from_others_as_its_server() {
    for (server, endpoint, wrong) in [
        ("https://1.1.1.1/mcp", "https://8.8.8.8/token", ""),
        (
            "https://1.1.1.1/mcp",
            "http://8.8.8.8/token",
            "http://8.8.8.8",
        ),
        (
            "https://1.1.1.1/mcp",
            "http://a.example/token",
            "http://a.example",
        ),
        ("https://1.1.1.1/mcp", "http://localhost:9/token", ""),
        ("http://1.1.1.1/mcp", "http://8.8.8.8/token", ""),
    ] {
        let http = Http {
            url: server.to_owned(),
            ..Http::default()
        };
        let mut page = AuthorizationMetadata::default();
        page.authorization_endpoint = endpoint.to_owned();
        page.token_endpoint = "https://8.8.8.8/token".to_owned();
        let mut token = page.clone();
        token.authorization_endpoint = page.token_endpoint.clone();
        token.token_endpoint = endpoint.to_owned();
        for metadata in [page, token] {
            let told = check_secure(&http, &metadata).err().unwrap_or_default();
            assert_eq!(
                told.is_empty(),
                wrong.is_empty(),
                "{server} {endpoint}: {told}"
            );
            assert!(told.contains(wrong), "{told}");
        }
    }
}

#[test]
fn what_an_issuer_says_of_itself_is_looked_for_where_it_says_it() {
    let places = |issuer: &str| -> Vec<String> {
        let issuer = Url::parse(issuer).unwrap();
        places_of_metadata(&issuer).map(Into::into).collect()
    };
    assert_eq!(
        places("https://a.example/t/?x"),
        [
            "https://a.example/.well-known/oauth-authorization-server/t",
            "https://a.example/.well-known/openid-configuration/t",
            "https://a.example/t/.well-known/openid-configuration",
        ]
    );
    assert_eq!(
        places("https://a.example")[0],
        "https://a.example/.well-known/oauth-authorization-server"
    );
}
