//! Providers of logins.

use dormouse_launch::OAuthProvider;
use dormouse_policy::{ProviderLogin, SecretSource};

use super::*;

fn login(more: &str, secret: &str) -> ProviderLogin {
    let (config, problems) = parse(Path::new(FILE), &text(more, secret));
    assert_eq!(problems, [], "{more}");
    let login = config.servers["t"].provider_logins().next();
    login.unwrap().clone()
}

fn text(more: &str, secret: &str) -> String {
    format!(
        "{more}\n[servers.t]\ncomponent = \"t.wasm\"\n[servers.t.secrets]\n\
         token = {{ {secret}, hosts = [\"a.example\"], header = \"Authorization\" }}\n"
    )
}

#[test]
fn a_known_provider_needs_a_client_alone() {
    let google = login(
        "[providers.google]\nclient_id = \"mine\"\nscopes = [\"email\"]",
        "login = \"google\", scopes = [\"calendar drive\"]",
    );
    let provider = google.oauth.provider.unwrap();
    assert_eq!(google.provider, "google");
    assert_eq!(
        provider.issuer.as_deref(),
        Some("https://accounts.google.com")
    );
    assert_eq!(provider.parameters["access_type"], "offline");
    assert_eq!(google.oauth.client_id.as_deref(), Some("mine"));
    assert_eq!(google.oauth.scopes, ["calendar", "drive"]);
    assert_eq!(google.client_secret, None);
    let github = login(
        "[providers.github]\nclient_id = \"mine\"\nclient_secret = { env = \"GITHUB_SECRET\" }\n\
         scopes = [\"repo\"]\ncallback_port = 8123",
        "login = \"github\"",
    );
    assert_eq!(github.url(), "https://github.com/login/oauth/authorize");
    assert_eq!(github.oauth.scopes, ["repo"]);
    assert_eq!(
        github.client_secret,
        Some(SecretSource::Variable("GITHUB_SECRET".to_owned()))
    );
    let redirect = github.oauth.redirect_uri.as_deref();
    assert_eq!(redirect, Some("http://localhost:8123/callback"));
}

#[test]
fn what_its_user_says_takes_the_place_of_what_is_known() {
    let own = login(
        "[providers.google]\nclient_id = \"mine\"\nauthorization_url = \"https://b.example/auth\"\n\
         token_url = \"https://b.example/token\"\nparameters = { audience = \"x\" }",
        "login = \"google\"",
    );
    let expected = OAuthProvider {
        parameters: [("audience".to_owned(), "x".to_owned())].into(),
        ..OAuthProvider::default()
    };
    assert_eq!(own.oauth.provider, Some(Box::new(expected)));
    assert_eq!(own.url(), "https://b.example/auth");
    let local = login(
        "[providers.work]\nclient_id = \"mine\"\nissuer = \"http://127.0.0.1:9\"\nprivate_network = true",
        "login = \"work\"",
    );
    assert!(local.oauth.private_network);
    assert_eq!(local.url(), "http://127.0.0.1:9");
}

#[test]
fn mistakes_are_told() {
    const OWN: &str = "[providers.own]\nclient_id = \"mine\"\n";
    let client = |more: &str| format!("{OWN}{more}");
    for (more, secret, expected) in [
        (
            String::new(),
            "login = \"google\"",
            "write its id as `client_id` in `[providers.google]`",
        ),
        (String::new(), "login = \"gogle\"", "did you mean `google`?"),
        (
            String::new(),
            "login = \"example\"",
            "known without an `issuer` are `github`, `google`",
        ),
        (
            "[providers.google]\n".to_owned(),
            "login = \"google\"",
            "`[providers.google]` has no `client_id`",
        ),
        (
            client(""),
            "login = \"own\"",
            "`[providers.own]` does not say where to log in",
        ),
        (
            client("issuer = \"http://login.example\""),
            "login = \"own\"",
            "`providers.own.issuer` has to be an `https` URL",
        ),
        (
            client("authorization_url = \"https://login.example/auth\""),
            "login = \"own\"",
            "`providers.own.authorization_url` needs a `token_url`",
        ),
        (
            client(
                "issuer = \"https://login.example\"\nauthorization_url = \"https://a.example\"\n\
                 token_url = \"https://a.example/t\"",
            ),
            "login = \"own\"",
            "keep one of them",
        ),
        (
            client("issuer = \"https://login.example\"\nparameters = { state = \"1\" }"),
            "login = \"own\"",
            "`providers.own.parameters` cannot have `state`, which each login sets itself",
        ),
        (
            client("issuer = \"https://login.example\"\nclient_secret = \"hush-hush\""),
            "login = \"own\"",
            "say where it is, as `{ env = \"NAME\" }`",
        ),
        (
            client("issuer = \"https://login.example\"\nclient_secret = { login = \"own\" }"),
            "login = \"own\"",
            "`login` is no key of `providers.own.client_secret`",
        ),
        (
            client("issuer = \"https://login.example\"\nscope = [\"x\"]"),
            "login = \"own\"",
            "did you mean `scopes`?",
        ),
        (
            client("issuer = \"https://login.example\"\nissuer_url = 7"),
            "login = \"own\"",
            "names `own`, in whose table something is wrong",
        ),
        (
            client("issuer = \"https://login.example\""),
            "env = \"X\", scopes = [\"x\"]",
            "has `scopes`, and no `login`",
        ),
    ] {
        let (config, problems) = parse(Path::new(FILE), &text(&more, secret));
        let told: Vec<_> = problems.iter().map(ToString::to_string).collect();
        let told = told.join("\n");
        assert!(told.contains(expected), "no `{expected}` in {told}");
        assert!(!told.contains("hush"), "{told}");
        assert!(config.servers.is_empty(), "{told}");
    }
}

/// A login is for what it was allowed, and a server has one at each provider.
#[test]
fn a_server_logs_in_once_at_a_provider() {
    let both = |scopes: &str| {
        let text = text(
            "[providers.google]\nclient_id = \"mine\"",
            "login = \"google\", scopes = [\"a\"]",
        );
        let more = format!(
            "other = {{ login = \"google\", scopes = [\"{scopes}\"], hosts = [\"b.example\"], \
             header = \"Authorization\" }}\n"
        );
        parse(Path::new(FILE), &(text + &more))
    };
    let (config, problems) = both("a");
    assert_eq!(problems, []);
    assert_eq!(config.servers["t"].provider_logins().count(), 1);
    let (_, problems) = both("b");
    let told = problems[0].to_string();
    assert!(
        told.contains("logs in at `google` for the scopes"),
        "{told}"
    );
}
