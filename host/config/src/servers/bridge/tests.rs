use super::*;

#[test]
fn filters() {
    // `-` for no list, which is something else than an empty one.
    let table = [
        ("-", "", "a", true),
        ("-", "a", "a", false),
        ("-", "a*", "abc", false),
        ("-", "*c", "abc", false),
        ("-", "a*c*e", "abcde", false),
        ("-", "a*c*e", "abcd", true),
        ("-", "a*a", "a", true),
        ("*", "", "a", true),
        ("", "", "a", false),
        ("a b", "", "b", true),
        ("a b", "", "bb", false),
        ("a*", "ab", "ab", false),
        ("-", "a_b", "a.b", false),
        ("-", "a_b", "a/b", false),
        ("-", "*_b", "a:b", false),
        ("-", "a.b", "a.b", false),
        ("-", "a.b", "ab", true),
        ("-", "a-b", "a_b", true),
        ("-", "a__", "a\u{1f600}", false),
        ("a_b", "", "a.b", false),
        ("a.b", "", "a.b", true),
    ];
    for (include, exclude, tool, shown) in table {
        let texts = |all: &str| all.split_whitespace().map(str::to_owned).collect();
        let filter = Filter {
            include: (include != "-").then(|| texts(include)),
            exclude: texts(exclude),
            also: Vec::new(),
        };
        assert_eq!(filter.shows(tool), shown, "{filter:?} {tool}");
        assert_eq!(filter.of_tools().shows(tool), shown, "{filter:?} {tool}");
    }
}

#[test]
fn a_fingerprint_is_of_who_logs_in() {
    use dormouse_launch::{Http, OAuth};

    let of = |change: &dyn Fn(&mut OAuth)| {
        let mut http = Http {
            url: "https://x/mcp".into(),
            ..Http::default()
        };
        change(&mut http.oauth);
        Fingerprint::of(&Launch::Http(http))
    };
    let plain = of(&|_| {});
    assert_eq!(of(&|it| it.off = true), plain);
    assert_eq!(
        of(&|it| it.redirect_uri = Some("http://localhost:1/".into())),
        plain
    );
    let mine = of(&|it| it.client_id = Some("mine".into()));
    let scoped = of(&|it| it.scopes = vec!["mine".into()]);
    let secret = of(&|it| {
        it.client_id = Some("mine".into());
        it.client_secret = Some(Secret::new("hush"));
    });
    assert!(!secret.file_stem().contains("hush"));
    let all = [plain, mine, scoped, secret];
    for (i, one) in all.iter().enumerate() {
        assert_eq!(all.iter().position(|other| other == one), Some(i));
    }
}

/// Records that an older version has written are found by it, and of an upstream whose
/// record is not found all is taken as seen. These are from 7475b5f.
#[test]
fn a_fingerprint_is_what_it_was_in_older_versions() {
    use dormouse_launch::{Http, Stdio};

    let scripted = |home: &str, name: &str, env: &[(&str, &str)]| {
        let files = [
            "scripted.py".into(),
            format!("{name}.starts"),
            format!("{name}.tools"),
        ];
        Launch::Stdio(Stdio {
            command: "python3".into(),
            written: None,
            args: files.map(|file| format!("${{{home}}}/mcp/{file}")).into(),
            env: env
                .iter()
                .map(|(name, value)| ((*name).to_owned(), Secret::new(*value)))
                .collect(),
            cwd: None,
            pass_env: Vec::new(),
            filled_in: Vec::new(),
        })
    };
    let web = Launch::Http(Http {
        url: "http://127.0.0.1:${NOTES_PORT}/mcp".into(),
        ..Http::default()
    });
    for (launch, digits) in [
        (
            scripted("env:HOME", "calendar", &[]),
            "87694e4288b58241106d26bf192a0000a7961ca3931c8ce128cf54c5de181a6a",
        ),
        (
            scripted("HOME", "post", &[("GREETING", "hello")]),
            "94081f9b71195a4a81cfcc19dd4c2e4c989fca7dbfe6d86cd4bdb35844cab305",
        ),
        (
            web,
            "b152d1f1ae647029d00c4d4a2bc94b318c245853cc7cd3d2a629462661c395cd",
        ),
    ] {
        assert_eq!(Fingerprint::of(&launch).file_stem(), digits, "{launch:?}");
    }
}

#[test]
fn a_fingerprint_is_of_every_part() {
    use dormouse_launch::Stdio;

    let launch = |args: &[&str], env: &[(&str, &str)]| {
        Launch::Stdio(Stdio {
            command: "npx".into(),
            written: None,
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: env
                .iter()
                .map(|(name, value)| ((*name).to_owned(), Secret::new(*value)))
                .collect(),
            cwd: None,
            pass_env: Vec::new(),
            filled_in: Vec::new(),
        })
    };
    let all = [
        launch(&[], &[]),
        launch(&["a"], &[]),
        launch(&["a", "b"], &[]),
        launch(&["ab"], &[]),
        launch(&[], &[("a", "b")]),
        launch(&[], &[("a", "${B}")]),
    ]
    .map(|launch| Fingerprint::of(&launch));
    for (i, one) in all.iter().enumerate() {
        assert_eq!(all.iter().position(|other| other == one), Some(i));
    }
}

#[test]
fn filtering_takes_linear_time() {
    let names = |of: &str, size: usize| (0..size).map(|n| format!("{of}{n}")).collect();
    let filters = |size: usize| {
        let filter = |of: &str| Filter {
            include: Some(names("tool", size)),
            exclude: names(of, size),
            also: vec![names("tool", size), vec!["*".to_owned(); size]],
        };
        [filter("a"), filter("b")]
    };
    dormouse_tests::growth::is_linear("filters", 500, filters, |[one, other]| {
        let mut filter = one.clone();
        filter.restrict(other);
        let size = one.exclude.len();
        assert_eq!(filter.exclude.len(), 2 * size);
        let filter = filter.of_tools();
        let shown = (0..size).filter(|n| filter.shows(&format!("tool{n}")));
        assert_eq!(shown.count(), size);
    });
}
