//! Command lines as programs write them.

use super::super::redacted_arguments;

#[track_caller]
fn shown(program: &str, args: &[&str]) -> String {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    redacted_arguments(program, &args).join(" ")
}

#[test]
fn secrets_in_arguments() {
    for (args, expected) in [
        (&["--api-key", "abc", "x"][..], "--api-key … x"),
        (&["--token=abc"], "--token=…"),
        (&["--pass", "abc"], "--pass …"),
        (&["--password", "-abc"], "--password …"),
        (&["--token", "${TOKEN}"], "--token ${TOKEN}"),
        (&["GITHUB_TOKEN=abc"], "GITHUB_TOKEN=…"),
        (
            &["/x/ghp_16C7e42F292c6912", "--dir=a/ghp_16C7e42F292c6912/b"],
            "/x/… --dir=a/…/b",
        ),
        (&["-eGITHUB_TOKEN=abc"], "-eGITHUB_TOKEN=…"),
        (&["--env=GITHUB_TOKEN=abc"], "--env=GITHUB_TOKEN=…"),
        (&["--token", "--verbose", "x"], "--token --verbose x"),
        (
            &["--header", "Authorization:Bearer abc"],
            "--header Authorization:Bearer …",
        ),
        (
            &["--header", "Authorization: Bearer ${T}"],
            "--header Authorization: Bearer ${T}",
        ),
        (&["--header=X-Api-Key: abc"], "--header=X-Api-Key: …"),
        (&["-H", "X-Any: abc"], "-H X-Any: …"),
        (&["Authorization: abc def"], "Authorization: …"),
        (&["/token:abc"], "/token:…"),
        (&["--cookie", "sid=abc"], "--cookie …"),
        (&["-u", "me:abc"], "-u me:…"),
        (&["--login=me:abc"], "--login=me:…"),
        (
            &[
                "--connection-string",
                "Server=db;User=me;Password=a b c;X=1",
            ],
            "--connection-string Server=db;User=me;Password=…;X=1",
        ),
        (&["me:abc@tcp(db)/x"], "me:…@tcp(db)/x"),
        (&["me:abc@10.0.0.1"], "me:…@10.0.0.1"),
        (&["https://u:abc@e.com/?k=abc"], "https://…@e.com/?k=…"),
        (&["--url=postgres://u:abc@db/x"], "--url=postgres://…@db/x"),
        (
            &["https://e.com/s/aB3dE5gH7jK9mN1pQ3sT/mcp"],
            "https://e.com/s/…/mcp",
        ),
        (
            &["https://e.com/x;jsessionid=abc"],
            "https://e.com/x;jsessionid=…",
        ),
        (
            &["-c", "TOKEN=abc curl -H 'Authorization: Bearer abc' x"],
            "-c TOKEN=… curl -H 'Authorization: Bearer …' x",
        ),
        (
            &["-c", "run --password 'my abc' x; A_KEY=\"b c\" run"],
            "-c run --password '…' x; A_KEY=\"…\" run",
        ),
        (&["Authorization=Bearer abc"], "Authorization=Bearer …"),
        (&["PASSPHRASE=correct horse battery"], "PASSPHRASE=…"),
        (&["--token", "$ecret"], "--token …"),
        (&["--api-key=${X}abc"], "--api-key=…"),
        (&["--secret", "{{abc"], "--secret …"),
        (&["--token", "--ABC16"], "--token …"),
        (&["--header", "Cookie", "sid=abc"], "--header Cookie …"),
        (
            &["--header", "Authorization:", "Bearer", "abc", "x"],
            "--header Authorization: Bearer … x",
        ),
        (&["--pw", "abc"], "--pw …"),
        (&["--env", "DB_PW=abc"], "--env DB_PW=…"),
        (&["--accesskeyid=abc"], "--accesskeyid=…"),
        (&["sbp_canary13abcdef0123"], "…"),
        (&["https://e.com/?k=$abc"], "https://e.com/?k=…"),
        (
            &["https://hooks.slack.com/services/T00ABC/B00ABC/abcdefghijklmnopqrstuvwx"],
            "https://hooks.slack.com/services/…/…/…",
        ),
        (&["  {\"apiKey\":\"abc\"}"], "…"),
        (&["ghp_0123456789abcdef"], "…"),
    ] {
        assert_eq!(shown("run", args), expected);
    }
    assert_eq!(shown("/usr/bin/mysql", &["-p", "abc"]), "-p …");
    assert_eq!(shown("mysql", &["-pabc"]), "-p…");
}

#[test]
fn what_is_no_secret_is_shown() {
    for args in [
        "-y @scope/server@1.2.3",
        "-y -p @upstash/context7-mcp context7",
        "-p 3.12 tool",
        "run --rm -i -p 127.0.0.1:8080:80/tcp -u 1000:1000 image:1.0@sha256:00ff",
        "run jsr:@scope/server@1.0 npm:server@1.0 github:me/x@v1 pkg:x@1",
        "run auth:login --auth none --auth-mode oauth",
        r"C:\Users\me@work\server.js",
        "--max-tokens 4096 --token-file /x/y --key-path ./k --sort-key name",
        "--token --log-level=debug --apiKey --verbose x",
        "-c it's-all-Bob's-code",
        "--path /x {x} --port 8080 2026-11-22",
    ] {
        let words: Vec<&str> = args.split(' ').collect();
        assert_eq!(shown("npx", &words), args);
    }
}

#[test]
fn secrets_are_found_in_linear_time() {
    let parts = [
        "--token ",
        "--token=",
        "-H ",
        "bearer ",
        "a=b=",
        "A_TOKEN=x;",
        "https://u:p@h/?k=v&",
        "x://",
        "://a@",
        "u:p@",
        "'--auth \"",
        "A_KEY='b c\" ",
        "{\"a",
        ";=",
        "&=:",
        "-",
        ":",
    ];
    for part in parts {
        let text = |size: usize| part.repeat(size);
        dormouse_tests::growth::is_linear(part, 1_000, text, |text: &String| {
            std::hint::black_box(super::secrets_in_line(text));
            let words: Vec<_> = text.split(' ').collect();
            std::hint::black_box(super::secrets_in_arguments("mysql", &words));
            // One word, which has spaces in it.
            std::hint::black_box(super::secrets_in_arguments("x", &[text]));
        });
    }
}

#[test]
fn a_setting_in_a_url_is_not_known_as_a_secret() {
    let arg = "https://e.com/?mode=http&key=http&q=aB3-x";
    let secrets = super::secrets_in_arguments("run", &[arg]).remove(0);
    let known: Vec<_> = secrets.iter().map(|part| part.known_in(arg)).collect();
    assert_eq!(known, [None, Some("http"), Some("aB3-x")]);
}

#[test]
fn a_program_is_given_the_first_word_of_a_line() {
    let arg = "API_TOKEN=abcd run it";
    let secrets = super::secrets_in_arguments("ssh", &[arg]).remove(0);
    let known: Vec<_> = secrets
        .iter()
        .filter_map(|part| part.known_in(arg))
        .collect();
    assert_eq!(known, ["abcd run it", "abcd"]);
}
