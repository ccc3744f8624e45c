//! Keys that are written into tables which do not know them.

use super::*;

/// TOML takes a key that is written after a table for one of that table.
#[test]
fn rules_below_other_tables_allow_nothing() {
    const DENY: &str = "deny = ['s__*']\n";
    const INTO: &str = "write it into `[exposure]`";
    for (table, hint) in [
        ("[discovery]\nfetch = 'background'\n", Some(INTO)),
        ("[limits]\nconnections = 4\n", Some(INTO)),
        (
            "[providers.x]\nissuer = 'https://login.example'\nclient_id = 'c'\n",
            Some(INTO),
        ),
        ("[profiles.w]\nservers = ['s']\n", Some(INTO)),
        ("[servers.t]\ncommand = ['t']\n", Some(INTO)),
        ("[servers.t.limits]\ntimeout = '5s'\n", Some(INTO)),
        ("[servers.exposure]\n", Some(INTO)),
        ("[profiles]\n", None),
        ("[providers]\n", None),
        ("[servers.t.env]\n", None),
    ] {
        let text = format!("[servers.s]\ncommand = ['x']\n{table}{DENY}");
        let (config, problems) = parse(Path::new(FILE), &text);
        assert_eq!(config.exposure.allow, Some(Vec::new()), "{text}");
        let mut hints = problems.iter().map(|problem| problem.hint.as_deref());
        assert!(
            hint.is_none() || hints.any(|told| told == hint),
            "{text}: {problems:?}"
        );
        assert!(!problems.is_empty(), "{text}");
    }
    // In `[servers]` and `[profiles]`, any name may be a key.
    let (config, _) = parse(
        Path::new(FILE),
        "[servers]\nclients = []\ns.url = 'https://s.example'\n",
    );
    assert_eq!(config.discovery.clients, Some(Vec::new()));
    assert_eq!(config.exposure.allow, None);
    // What is only misspelt in its own table closes no other.
    for table in [
        "[servers.t]\ncommand = ['t']\nexclude_tool = ['x']\n",
        "[servers.t]\ncommand = ['t']\nexpos = 'hidden'\n",
        "[profiles.w]\ntool = ['s__*']\n",
        "[limits]\nconection = 4\n",
        "[servers.t]\ncommand = 't'\nargs = 5\n",
    ] {
        let (config, problems) = parse(Path::new(FILE), table);
        assert!(!problems.is_empty(), "{table}");
        assert_eq!(config.exposure.allow, None, "{table}");
        assert_eq!(config.discovery.clients, None, "{table}");
    }
}
