//! Which authorization server a login is at, and what it may say of itself.

use super::*;

#[tokio::test]
async fn an_authorization_server_that_its_user_names() {
    let mut user = User::of(&["--no-metadata", "--client", "mine"]);
    let base = user.server.url().trim_end_matches("/mcp").to_owned();
    user.oauth.client_id = Some("mine".into());
    user.oauth.scopes = vec!["notes".into()];

    user.oauth.metadata_url = Some(format!("{base}/nothing"));
    let error = user.auth().begin(None).await.err().unwrap().to_string();
    assert!(error.contains("/nothing` (`metadata_url`)"), "{error}");
    assert!(error.contains("404"), "{error}");

    user.oauth.metadata_url = Some(format!("{base}/hidden"));
    let announced = user.logged_in().await;
    let login = user.store().read().unwrap().unwrap();
    assert_eq!(login.credentials.issuer, Some(format!("{base}/")));
    user.server.make("expire").unwrap();
    ask(&announced).await.unwrap();
    assert_eq!(user.count("refreshes"), 1);

    // Who names another authorization server does not send it the old one's tokens.
    user.oauth.metadata_url = None;
    user.oauth.authorization_url = Some(format!("{base}/authorize"));
    user.oauth.token_url = Some(format!("{base}/token"));
    assert!(user.store().read().unwrap().is_none());
    let named = user.logged_in().await;
    user.server.make("expire").unwrap();
    ask(&named).await.unwrap();
    assert_eq!(user.count("refreshes"), 2);
}

/// Metadata that an upstream has led to name the issuer or page of another server, which a user
/// knows, and their own endpoints for the code and all secrets.
#[tokio::test]
async fn nobody_takes_the_name_of_another_authorization_server() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    for (issuer_is, expected) in [
        ("another", "`HONEST`, which does not say the same of itself"),
        ("itself", "`HONEST/`, which has its tokens elsewhere"),
        ("nobody", "does not say who the authorization server is"),
    ] {
        let user = User::of(&[]);
        let honest = Url::parse(user.server.url()).unwrap();
        let honest = honest.origin().ascii_serialization();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let evil = format!("http://{}", listener.local_addr().unwrap());
        let url = format!("{evil}/mcp");
        let resource = json!({
            "resource": url, "authorization_servers": [format!("{evil}/x/.well-known/y")],
        });
        let mut metadata = json!({
            "authorization_endpoint": format!("{honest}/authorize"),
            "token_endpoint": format!("{evil}/token"),
            "registration_endpoint": format!("{evil}/register"),
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
        });
        match issuer_is {
            "another" => metadata["issuer"] = json!(honest),
            "itself" => metadata["issuer"] = json!(evil),
            _ => {}
        }
        let challenge =
            format!("www-authenticate: Bearer resource_metadata=\"{evil}/resource\"\r\n");
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 4096];
                let length = stream.read(&mut request).await.unwrap_or(0);
                let request = String::from_utf8_lossy(&request[..length]).into_owned();
                let (status, headers, body) = match request.split(' ').nth(1) {
                    Some("/resource") => ("200 OK", "", resource.to_string()),
                    Some("/x/.well-known/y" | "/.well-known/oauth-authorization-server") => {
                        ("200 OK", "", metadata.to_string())
                    }
                    Some("/mcp") => ("401 Unauthorized", challenge.as_str(), String::new()),
                    _ => ("404 Not Found", "", String::new()),
                };
                let answer = format!(
                    "HTTP/1.1 {status}\r\n{headers}content-type: application/json\r\n\
                     content-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        let http = Http {
            url,
            ..Http::default()
        };
        let data = tempfile::tempdir().unwrap();
        let auth = Auth::new("notes", &http, data.path());
        let error = auth.begin(None).await.err().unwrap().to_string();
        let expected = expected.replace("HONEST", &honest);
        assert!(error.contains(&expected), "{error}");
        assert_eq!(user.count("registrations"), 0);
    }
}

/// The size of metadata is limited, also where the user has named their URL.
#[tokio::test]
async fn metadata_of_two_megabytes_are_not_read() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let length = 2 << 20;
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut request).await;
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
        let answer = [head.as_bytes(), &vec![b' '; length]].concat();
        // Whoever has read enough hangs up.
        let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, &answer).await;
    });
    let mut user = User::of(&["--no-metadata", "--client", "mine"]);
    user.oauth.client_id = Some("mine".into());
    user.oauth.metadata_url = Some(format!("http://{address}/metadata"));
    let error = user.auth().begin(None).await.err().unwrap().to_string();
    assert!(error.contains("larger than 1024 KiB"), "{error}");
    serving.await.unwrap();
}
