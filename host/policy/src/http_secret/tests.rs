use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[test]
fn a_host_is_written_as_it_is_read() {
    for (text, written) in [
        ("api.example.com", "api.example.com"),
        ("API.Example.com.", "api.example.com"),
        ("api.example.com:443", "api.example.com"),
        ("https://api.example.com", "api.example.com"),
        ("api.example.com:8443", "api.example.com:8443"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("192.0.2.7:8443", "192.0.2.7:8443"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("http://localhost", "http://localhost:80"),
    ] {
        let host: SecretHost = text.parse().unwrap();
        assert_eq!(host.to_string(), written, "{text}");
        assert_eq!(written.parse(), Ok(host), "{text}");
    }
}

#[test]
fn a_secret_goes_to_no_pattern_no_path_and_to_no_other_machine_without_tls() {
    use SecretHostError::{Part, Pattern, Unprotected};
    for (text, why) in [
        ("*", Pattern),
        ("*.example.com", Pattern),
        ("api.*.com", Pattern),
        ("api.example.com/v1", Part("a path")),
        ("https://api.example.com/", Part("a path")),
        ("api.example.com\\v1", Part("a path")),
        ("api.example.com?x", Part("a query or a fragment")),
        ("me@api.example.com", Part("a user name")),
        ("http://api.example.com", Unprotected),
        ("http://127.0.0.2:8080", Unprotected),
        ("http://a.localhost:8080", Unprotected),
        ("http://localhost.example.com", Unprotected),
        ("ftp://api.example.com", Unprotected),
    ] {
        assert_eq!(text.parse::<SecretHost>(), Err(why), "{text}");
    }
    for text in [
        "",
        ":8080",
        "api.example.com:x",
        "a b",
        "api.example.com:70000",
        "api.example.com..",
        "api..example.com",
        "api'.example.com",
    ] {
        let refused = text.parse::<SecretHost>().unwrap_err();
        assert!(
            matches!(refused, SecretHostError::Host(_)),
            "{text}: {refused:?}"
        );
        assert!(refused.hint().contains("api.example.com"), "{text}");
    }
}

#[test]
fn the_host_of_a_url_is_one_where_a_secret_may_go() {
    for (text, host) in [
        ("https://api.example.com/v1?x", Some("api.example.com")),
        ("https://api.example.com:8443", Some("api.example.com:8443")),
        ("http://127.0.0.1:80/", Some("http://127.0.0.1:80")),
        ("http://api.example.com/", None),
        ("api.example.com", None),
        ("file:///x", None),
        ("y", None),
    ] {
        let found = SecretHost::of_url(text).map(|host| host.to_string());
        assert_eq!(found.as_deref(), host, "{text}");
    }
}

#[test]
fn a_secret_goes_to_its_hosts_alone() {
    let secret = HttpSecret {
        name: "token".to_owned(),
        source: SecretSource::Variable("TOKEN".to_owned()),
        hosts: ["api.example.com", "b.example:8443", "http://127.0.0.1:80"]
            .map(|host| host.parse().unwrap())
            .to_vec(),
        placement: SecretPlacement::Query("key".to_owned()),
    };
    for (to, expected) in [
        ("https://api.example.com/x?y", true),
        ("https://API.example.com.:443/", true),
        ("https://b.example:8443/", true),
        ("http://127.0.0.1/", true),
        ("http://127.1:80/", true),
        ("http://api.example.com/", false),
        ("http://api.example.com:443/", false),
        ("https://api.example.com:8443/", false),
        ("https://b.example/", false),
        ("https://127.0.0.1:80/", false),
        ("http://localhost/", false),
        ("https://x.api.example.com/", false),
        ("https://api.example.com.evil.example/", false),
        ("https://api.example.com@evil.example/", false),
        ("https://evil.example/api.example.com", false),
    ] {
        assert_eq!(secret.goes_to(&url(to)), expected, "{to}");
    }
}

#[test]
fn a_value_has_one_place_for_its_secret() {
    use ValueTemplateError::{Characters, Places};
    for (text, filled) in [
        ("{}", Ok("s3cret")),
        ("Bearer {}", Ok("Bearer s3cret")),
        ("key={};", Ok("key=s3cret;")),
        ("{{}}", Ok("{s3cret}")),
        ("", Err(Places)),
        ("Bearer", Err(Places)),
        ("{}{}", Err(Places)),
        ("a\r\nb: {}", Err(Characters)),
        ("ü{}", Err(Characters)),
    ] {
        let read = text.parse::<ValueTemplate>();
        let with = read.clone().map(|template| template.with("s3cret"));
        assert_eq!(with, filled.map(str::to_owned), "{text}");
        if let Ok(template) = read {
            assert_eq!(template.to_string(), text);
        }
    }
}

#[test]
fn a_source_is_named_without_what_a_command_is_given() {
    let command = SecretSource::Command {
        program: "pass".to_owned(),
        arguments: vec!["--key=hush".to_owned()],
        folder: "/".into(),
        is_confined: false,
    };
    for (source, words) in [
        (
            SecretSource::Variable("TO\nKEN".to_owned()),
            "the environment variable `TO\\nKEN`",
        ),
        (SecretSource::File("/a/b".into()), "the file `/a/b`"),
        (command, "the command `pass`"),
    ] {
        assert_eq!(source.to_string(), words);
    }
}
