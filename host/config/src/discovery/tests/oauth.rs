//! OAuth settings of each client, with the examples of its own documentation, and what becomes of
//! them in `dormouse.toml`.

use dormouse_launch::{Http, OAuth};

use super::*;

/// The only server that is found.
fn only(home: &Home, client: Client) -> FoundServer {
    let discovery = discover_all(&home.around(), &[client], &Inputs::new());
    let problems: Vec<_> = discovery.problems().map(ToString::to_string).collect();
    assert_eq!(problems, [""; 0], "{client}");
    assert_eq!(discovery.found.len(), 1, "{client}");
    discovery.found[0].clone()
}

fn http(found: &FoundServer) -> &Http {
    match &found.server.bridge().unwrap().launch {
        Launch::Http(http) => http,
        Launch::Stdio(stdio) => panic!("{stdio:?}"),
    }
}

fn shown(oauth: &OAuth) -> String {
    let mut text = String::new();
    for (key, value) in oauth.texts() {
        write!(text, "{key}={value} ").unwrap();
    }
    for scope in &oauth.scopes {
        write!(text, "+{scope} ").unwrap();
    }
    if oauth.off {
        text.push_str("off");
    }
    text.trim_end().to_owned()
}

/// Clients, the places in which they write a server, the texts, their meanings, and the parts that
/// are noted as not carried over.
const TABLE: &[(Client, &str, &str, &str, &[&str])] = &[
    (
        Client::ClaudeCode,
        "project/.mcp.json",
        r#"{"mcpServers": {"s": {"type": "http", "url": "https://x/mcp", "oauth": {
            "clientId": "me", "callbackPort": 8080, "scopes": "a b",
            "authServerMetadataUrl": "https://auth.x/.well-known/openid-configuration"}}}}"#,
        "client_id=me redirect_uri=http://localhost:8080/callback \
         metadata_url=https://auth.x/.well-known/openid-configuration +a +b",
        &[],
    ),
    (
        Client::Copilot,
        "home/.copilot/mcp-config.json",
        r#"{"mcpServers": {"s": {"type": "http", "url": "https://x/mcp",
            "oauthClientId": "me", "oauthPublicClient": false,
            "oauthGrantType": "client_credentials", "auth": {"redirectPort": 19876}}}}"#,
        "client_id=me redirect_uri=http://127.0.0.1:19876/",
        &["oauthGrantType"],
    ),
    (
        Client::VsCode,
        "project/.vscode/mcp.json",
        r#"{"servers": {"s": {"type": "http", "url": "https://x/mcp", "oauth": {
            "clientId": "me", "clientSecret": "hush"}}}}"#,
        "client_id=me",
        &["oauth.clientSecret", "redirect URI"],
    ),
    (
        Client::Cursor,
        "project/.cursor/mcp.json",
        r#"{"mcpServers": {"s": {"url": "https://x/mcp", "auth": {
            "CLIENT_ID": "me", "CLIENT_SECRET": "${env:API_KEY}", "scopes": ["a", "b"]}}}}"#,
        "client_id=me client_secret=SECRET-KEY +a +b",
        &["redirect URI"],
    ),
    (
        Client::OpenCode,
        "project/opencode.json",
        r#"{"mcp": {"s": {"type": "remote", "url": "https://x/mcp", "oauth": {
            "clientId": "me", "clientSecret": "{env:API_KEY}", "scope": "a b",
            "redirectUri": "http://127.0.0.1:8080/oauth/callback"}}}}"#,
        "client_id=me client_secret=SECRET-KEY \
         redirect_uri=http://127.0.0.1:8080/oauth/callback +a +b",
        &[],
    ),
    (
        Client::OpenCode,
        "project/opencode.json",
        r#"{"mcp": {"s": {"type": "remote", "url": "https://x/mcp", "oauth": {
            "client_id": "me", "client_secret": "hush", "callback_port": 8080}}}}"#,
        "client_id=me client_secret=hush redirect_uri=http://127.0.0.1:8080/mcp/oauth/callback",
        &[],
    ),
    (
        Client::OpenCode,
        "project/opencode.json",
        r#"{"mcp": {"s": {"type": "remote", "url": "https://x/mcp", "oauth": false}}}"#,
        "off",
        &[],
    ),
    (
        Client::OpenCode,
        "project/opencode.json",
        r#"{"mcp": {"s": {"type": "remote", "url": "https://x/mcp", "oauth": {}}}}"#,
        "",
        &[],
    ),
    (
        Client::Codex,
        "home/.codex/config.toml",
        "mcp_oauth_callback_port = 5555\n[mcp_servers.s]\nurl = \"https://x/mcp\"\n\
         scopes = [\"a\"]\noauth_resource = \"https://y\"\noauth.client_id = \"me\"\n",
        "client_id=me redirect_uri=http://127.0.0.1:5555/callback +a",
        &["oauth_resource"],
    ),
    (
        Client::Gemini,
        "project/.gemini/settings.json",
        r#"{"mcpServers": {"s": {"httpUrl": "https://x/mcp", "authProviderType": "google_credentials",
            "oauth": {"enabled": true, "clientId": "me", "clientSecret": "$API_KEY",
            "authorizationUrl": "https://auth.x/authorize", "tokenUrl": "https://auth.x/token",
            "scopes": ["a"], "redirectUri": "http://localhost:7777/oauth/callback",
            "audiences": ["z"]}}}}"#,
        "client_id=me client_secret=SECRET-KEY redirect_uri=http://localhost:7777/oauth/callback \
         authorization_url=https://auth.x/authorize token_url=https://auth.x/token +a",
        &["oauth.audiences", "authProviderType"],
    ),
    (
        Client::Gemini,
        "project/.gemini/settings.json",
        r#"{"mcpServers": {"s": {"httpUrl": "https://x/mcp", "oauth": {"enabled": false}}}}"#,
        "off",
        &[],
    ),
    (
        Client::Gemini,
        "project/.gemini/settings.json",
        r#"{"mcpServers": {"s": {"httpUrl": "https://x/mcp", "oauth": {
            "redirectUri": "https://me.example/oauth/callback"}}}}"#,
        "redirect_uri=https://me.example/oauth/callback",
        &["`oauth.redirect_uri` has to be a URL of this machine"],
    ),
    (
        Client::Zed,
        "project/.zed/settings.json",
        r#"{"context_servers": {"s": {"url": "https://x/mcp", "oauth": {
            "client_id": "me", "client_secret": "hush"}}}}"#,
        "client_id=me client_secret=hush",
        &["redirect URI"],
    ),
];

#[test]
fn each_clients_words_are_understood() {
    for (client, file, text, oauth, notes) in TABLE {
        let home = Home::empty();
        home.write(file, text);
        let found = only(&home, *client);
        assert_eq!(shown(&http(&found).oauth), *oauth, "{client}");
        assert_eq!(
            found.notes.len(),
            notes.len(),
            "{client}: {:?}",
            found.notes
        );
        for (told, note) in found.notes.iter().zip(*notes) {
            assert!(told.contains(note), "{client}: {told}");
            assert!(!told.contains("SECRET"), "{client}: {told}");
        }
    }
}

#[test]
fn what_is_taken_over_means_the_same() {
    for (client, file, text, oauth, _) in TABLE {
        let home = Home::empty();
        home.write(file, text);
        let found = only(&home, *client);
        let Launch::Http(own) = &found.own.launch else {
            panic!("{client}");
        };
        // The values of variables stay where they are.
        assert!(!shown(&own.oauth).contains("SECRET"), "{client}: {own:?}");
        let filled = own.oauth.map(&mut |text, _| {
            let known = |name: &str| home.around().env.get(name).cloned();
            crate::variables::expand(text, &known).text
        });
        assert_eq!(shown(&filled), *oauth, "{client}");
    }
}

#[test]
fn a_wrong_value_is_told_without_it() {
    let home = Home::empty();
    let text = r#"{"mcpServers": {"s": {"url": "https://x/mcp", "auth": {
        "CLIENT_ID": "me", "CLIENT_SECRET": ["hush"]}}}}"#;
    home.write("project/.cursor/mcp.json", text);
    let discovery = discover_all(&home.around(), &[Client::Cursor], &Inputs::new());
    let problems: Vec<_> = discovery.problems().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("`mcpServers.s.auth.CLIENT_SECRET` has to be a string"));
    assert!(!problems[0].contains("hush"), "{problems:?}");
    assert!(discovery.found.is_empty());
}

#[test]
fn a_variable_that_is_missing_has_to_be_set_first() {
    let home = Home::empty();
    let text = r#"{"mcpServers": {"s": {"url": "https://x/mcp", "auth": {
        "CLIENT_ID": "me", "CLIENT_SECRET": "${env:NO_SUCH}"}}}}"#;
    home.write("project/.cursor/mcp.json", text);
    let found = only(&home, Client::Cursor);
    let needs = &found.server.bridge().unwrap().needs;
    let needs: Vec<_> = needs.iter().map(ToString::to_string).collect();
    assert_eq!(
        needs,
        ["set the environment variable `NO_SUCH`, which `oauth.client_secret` is made of"]
    );
}
