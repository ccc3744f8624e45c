//! Grants that are given and taken away.

use dormouse_policy::FsGrant;

use super::*;

fn folder(path: &str, mode: FsMode) -> FsGrant {
    FsGrant {
        path: path.into(),
        real: None,
        mode,
    }
}

fn http(texts: &[&str]) -> Vec<dormouse_policy::HttpGrant> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn more_is_granted_beside_what_is_there() {
    let more = Grants {
        fs: vec![
            folder("/a", FsMode::ReadWrite),
            folder("/b", FsMode::ReadOnly),
        ],
        env: vec!["TZ".to_owned()],
        http: http(&["GET https://a.example"]),
    };
    for (before, after) in [
        (
            "[servers.x]\ncomponent = \"/x.wasm\" # mine\n\n[servers.y]\ncommand = \"y\"\n",
            "[servers.x]\ncomponent = \"/x.wasm\" # mine\n\n[servers.x.grants]\nfs = [{ path = \"/a\", mode = \"rw\" }, { path = \"/b\", mode = \"ro\" }]\nenv = [\"TZ\"]\nhttp = [\"GET https://a.example\"]\n\n[servers.y]\ncommand = \"y\"\n",
        ),
        (
            "[servers.x]\ncomponent = \"/x.wasm\"\ngrants = { fs = [{ path = \"/c\", mode = \"ro\" }, { path = \"/a\", mode = \"ro\" }], env = [\"TZ\"], http = [\"GET https://A.example:443/\", \"https://a.example/v1\"] }\n",
            "[servers.x]\ncomponent = \"/x.wasm\"\ngrants = { fs = [{ path = \"/c\", mode = \"ro\" }, { path = \"/a\", mode = \"rw\" }, { path = \"/b\", mode = \"ro\" }], env = [\"TZ\"], http = [\"https://a.example/v1\", \"GET https://a.example\"] }\n",
        ),
    ] {
        let f = fixture(before);
        assert!(f.editor.grant("x", &more).unwrap());
        assert_eq!(f.text(), after);
        assert!(f.editor.grant("none", &more).is_err());
        let (config, problems) = file::parse(&f.editor.file, &f.text());
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(config.servers["x"].grants.env, ["TZ"]);
    }
}

/// A folder may be written in tables with headers, and by a path that counts from somewhere.
#[test]
fn more_is_granted_however_the_rest_is_written() {
    let f = fixture(
        "[servers.x]\ncomponent = \"/x.wasm\"\n\n# one\n[[servers.x.grants.fs]]\npath = \"/c\"\n\n\
         # two\n[[servers.x.grants.fs]]\npath = \"notes\"\n\n[servers.y]\ncommand = \"y\"\n",
    );
    let notes = f.folder.path().join("notes");
    let more = Grants {
        fs: vec![folder(notes.to_str().unwrap(), FsMode::ReadWrite)],
        ..Grants::default()
    };
    assert!(f.editor.grant("x", &more).unwrap());
    let (config, problems) = file::parse(&f.editor.file, &f.text());
    assert_eq!(problems, [], "{}", f.text());
    let granted = &config.servers["x"].grants.fs;
    assert_eq!(
        *granted,
        [folder("/c", FsMode::ReadOnly), more.fs[0].clone()]
    );
    assert!(f.text().contains("# one\n"), "{}", f.text());
}

#[test]
fn what_is_revoked_goes_and_comments_stay() {
    let less = Grants {
        fs: vec![folder("/a", FsMode::ReadOnly)],
        env: vec!["TZ".to_owned()],
        http: http(&["https://a.example"]),
    };
    const HEAD: &str = "[servers.x]\ncomponent = \"/x.wasm\" # mine\n";
    for (before, after) in [
        (
            "\n[servers.x.grants] \nfs = [{ path = \"/a\" }]\nenv = [\"TZ\"]\nhttp = [\"https://A.example:443/\"]\n\n[servers.y]\ncommand = \"y\"\n",
            "\n[servers.y]\ncommand = \"y\"\n",
        ),
        (
            "\n# What it may.\n[servers.x.grants]\nfs = [{ path = \"/a\" }]\n",
            "\n# What it may.\n[servers.x.grants]\n",
        ),
        (
            "\n[servers.x.grants]\n# folders\nfs = [{ path = \"/a\" }]\nenv = [\"TZ\"] # the zone\n",
            "\n[servers.x.grants]\n# folders\nfs = []\nenv = [] # the zone\n",
        ),
        (
            "grants = { fs = [{ path = \"/a\" }], env = [\"TZ\", \"LANG\"] }\n",
            "grants = { env = [\"LANG\"] }\n",
        ),
        ("grants.env = [\"TZ\"]\n", ""),
        (
            "grants.env = [\n  \"A\", # a\n  \"TZ\", # z\n  # and\n  \"B\",\n]\n",
            "grants.env = [\n  \"A\", # a # z\n  # and\n  \"B\",\n]\n",
        ),
        (
            "grants.env = [\n  \"A\", # a\n  \"TZ\"\n]\n",
            "grants.env = [\n  \"A\" # a\n]\n",
        ),
        (
            "grants.env = [\n  \"TZ\",\n  \"A\", # a\n  \"B\", # b\n]\n",
            "grants.env = [\n  \"A\", # a\n  \"B\", # b\n]\n",
        ),
        (
            "grants.env = [\n  # z\n  \"TZ\",\n]\n",
            "grants.env = [\n  # z\n]\n",
        ),
        (
            "\n# one\n[[servers.x.grants.fs]]\npath = \"/a\"\n\n# two\n[[servers.x.grants.fs]]\npath = \"/b\"\n",
            "\n# two\n[[servers.x.grants.fs]]\npath = \"/b\"\n",
        ),
        (
            "\n# apart\n\n[[servers.x.grants.fs]]\npath = \"/a\"\n\n[servers.y]\ncommand = \"y\"\n",
            "\n# apart\n\n[servers.y]\ncommand = \"y\"\n",
        ),
    ] {
        let f = fixture(&format!("{HEAD}{before}"));
        assert!(f.editor.revoke("x", &less).unwrap(), "{before}");
        assert_eq!(f.text(), format!("{HEAD}{after}"), "{before}");
        let (config, problems) = file::parse(&f.editor.file, &f.text());
        assert_eq!(problems, [], "{}", f.text());
        let left = &config.servers["x"].grants;
        assert!(left.fs.iter().all(|grant| grant.path != Path::new("/a")));
        assert!(!left.env.contains(&"TZ".to_owned()) && left.http.is_empty());
        assert!(!f.editor.revoke("x", &less).unwrap(), "{before}");
        assert!(f.editor.revoke("none", &less).is_err());
    }
}

/// A server's table that is wrong is not read any more: its plugin would have lost all that it had.
#[test]
fn a_grant_that_would_make_the_table_wrong_is_not_written() {
    let text = "[servers.web]\ncomponent = \"web.wasm\"\ngrants.env = [\"TZ\"]\n\n\
                [servers.web.secrets]\n\
                token = { env = \"TOKEN\", hosts = [\"api.example\"], header = \"X-Key\" }\n\n\
                [servers.odd]\nnothing = 1\n";
    let fixture = fixture(text);
    let variable = |name: &str| Grants {
        env: [name.to_owned()].into(),
        ..Grants::default()
    };
    let error = fixture.editor.grant("web", &variable("TOKEN")).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("nothing is changed: ") && error.contains("the variable `TOKEN`"),
        "{error}"
    );
    assert_eq!(fixture.text(), text);
    // What was wrong before keeps nobody from changing the rest.
    assert!(fixture.editor.grant("web", &variable("LANG")).unwrap());
    assert!(fixture.text().contains("\"LANG\""), "{}", fixture.text());
}
