//! A login at a site that misbehaves in one way, beside a stranger that must learn nothing of it.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use dormouse_tests::Home;
use dormouse_tests::oauth::{self, Page};

use crate::hostile_site::{Answer, Asked, CANARY, CANARY_BASE64, Site};
use crate::{Waiting, logins};

/// Function that gives a site's answer instead of an honest one, by its own address, the
/// stranger's, and the request.
pub(crate) type Says = fn(&str, &str, &Asked) -> Option<Answer>;

/// Case: a description of a site's fault, its answers, and parts of the error that its user sees.
pub(crate) type Case = (&'static str, Says, &'static [&'static str]);

/// Answers a request for one path; all others are answered honestly.
pub(crate) fn at(asked: &Asked, path: &str, answer: impl FnOnce() -> Answer) -> Option<Answer> {
    (asked.path == path).then(answer)
}

/// A hostile site, a stranger, and the home of a user of that site as the server `notes`.
pub(crate) struct Scene {
    pub(crate) site: Site,
    pub(crate) stranger: Site,
    pub(crate) home: Home,
}

impl Scene {
    pub(crate) fn of(
        says: impl Fn(&str, &str, &Asked) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        // It takes whatever it is sent, as if that were meant for it.
        Self::with_stranger(Site::serve(|_, _| None), says)
    }

    /// Makes a scene with another stranger.
    pub(crate) fn with_stranger(
        stranger: Site,
        says: impl Fn(&str, &str, &Asked) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        let other = stranger.base.clone();
        let site = Site::serve(move |own, asked| says(own, &other, asked));
        let home = Home::new().unwrap();
        let table = format!("url = \"{}/mcp\"", site.base);
        home.table("notes", &table).unwrap();
        Self {
            site,
            stranger,
            home,
        }
    }

    /// Starts a login, which waits for its link to be followed.
    pub(crate) fn waiting(&self) -> Waiting {
        Waiting::start(&mut self.home.command(&["login", "notes"]))
    }

    /// Checks that a login ends before there is a link, and returns its error.
    pub(crate) fn refused(&self) -> String {
        let mut command = self.home.command(&["login", "notes"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut link = String::new();
        let stdout = child.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut link).unwrap();
        if !link.is_empty() {
            child.kill().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(link, "", "there is a link");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        self.plain(String::from_utf8(output.stderr).unwrap())
    }

    /// Checks that a login fails after its link was followed, and returns the page and the error.
    pub(crate) fn failed(&self) -> (Page, String) {
        let login = self.waiting();
        let page = oauth::get(&login.link).unwrap();
        // Else the login goes on waiting.
        assert_eq!(page.status, 200, "{page:?}");
        assert!(!page.text.contains("You are logged in"), "{page:?}");
        assert!(!page.text.contains(CANARY), "{page:?}");
        let (code, said) = login.end_with_code();
        assert_eq!(code, Some(1), "{said}");
        (page, self.plain(said))
    }

    /// Checks that an error is short, names the server, and changes nothing on a terminal.
    fn plain(&self, said: String) -> String {
        let server = format!("{}/mcp", self.site.base);
        assert!(said.contains(&server), "the server is not named: {said}");
        assert!(!said.contains("panicked"), "{said}");
        assert!(!said.contains(CANARY), "a secret is said: {said}");
        assert!(said.len() < 2000, "{} bytes are said", said.len());
        let moves = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{200b}".contains(c));
        assert!(!said.contains(moves), "{said:?}");
        self.untold();
        assert_eq!(logins(&self.home).len(), 0, "a login is kept: {said}");
        said
    }

    /// Checks that the stranger has only got requests that anybody may make.
    pub(crate) fn untold(&self) {
        for asked in self.stranger.asked() {
            let head = asked.head.to_ascii_lowercase();
            assert_eq!(asked.method, "GET", "{asked:?}");
            assert!(asked.query.is_empty(), "{asked:?}");
            assert!(!head.contains("authorization:"), "{asked:?}");
            for secret in [CANARY, CANARY_BASE64, "code_verifier"] {
                assert!(!asked.head.contains(secret), "{asked:?}");
                assert!(!asked.body.contains(secret), "{asked:?}");
            }
        }
    }
}

/// Tries each case.
pub(crate) fn each(cases: &[Case], outcome: impl Fn(&Scene) -> String) {
    for &(wrong, says, told) in cases {
        eprintln!("with {wrong}:");
        let said = outcome(&Scene::of(says));
        for words in told {
            assert!(said.contains(words), "no `{words}` in {said}");
        }
    }
}
