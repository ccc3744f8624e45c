//! What nobody is told, however it is encoded.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dormouse_tests::Home;

use crate::CANARY;

/// Text that must not be anywhere.
pub(super) struct Hidden(pub(super) Vec<String>);

impl Hidden {
    /// Returns all secrets that are written here, also where they are within something that is
    /// encoded, in letters or in bytes.
    pub(super) fn written() -> Self {
        let mut hidden = Self(vec![
            CANARY.to_owned(),
            CANARY.to_uppercase(),
            CANARY.bytes().map(|byte| format!("{byte:02x}")).collect(),
            CANARY.bytes().map(|byte| format!("%{byte:02x}")).collect(),
            CANARY.bytes().map(|byte| format!("%{byte:02X}")).collect(),
            CANARY
                .bytes()
                .map(|byte| format!("\\u00{byte:02x}"))
                .collect(),
        ]);
        // Whatever stands before and behind it, in each of the places that a byte can have.
        hidden.0.extend((0..3).map(|before| {
            let text = format!("{}{CANARY}", "_".repeat(before));
            let encoded = STANDARD.encode(&text);
            let (start, end) = ((before * 8).div_ceil(6), text.len() * 8 / 6);
            encoded.get(start..end).unwrap().to_owned()
        }));
        hidden
    }

    /// Adds a secret that was made by chance.
    pub(super) fn and(&mut self, secret: &str) {
        assert!(secret.len() >= 10, "`{secret}` is in any text");
        self.0.push(secret.to_owned());
        self.0.push(STANDARD.encode(secret));
    }

    #[track_caller]
    pub(super) fn are_not_in(&self, what: &str, text: &str) {
        for hidden in &self.0 {
            if let Some(at) = text.find(hidden.as_str()) {
                let from = text.floor_char_boundary(at.saturating_sub(200));
                let to = text.floor_char_boundary((at + 100).min(text.len()));
                panic!("{what}: `{hidden}`: …{}…", &text[from..to]);
            }
        }
    }

    /// Files that Dormouse keeps have none, either, but for the files that are there for them.
    #[track_caller]
    pub(super) fn are_not_kept(&self, home: &Home) {
        for folder in ["cache", "run"] {
            self.are_not_below(&home.path().join(folder));
        }
    }

    #[track_caller]
    pub(super) fn are_not_below(&self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy();
            if ["http-token", "backups"].contains(&&*name) {
                use std::os::unix::fs::PermissionsExt as _;
                let mode = path.metadata().unwrap().permissions().mode();
                assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
            } else if path.is_dir() {
                self.are_not_below(&path);
            } else if path.is_file() {
                let bytes = std::fs::read(&path).unwrap();
                let text = String::from_utf8_lossy(&bytes);
                self.are_not_in(&path.display().to_string(), &text);
            }
        }
    }
}

/// The test would pass if it looked for the wrong things.
#[test]
fn what_is_hidden_is_found_however_it_is_encoded() {
    let hidden = Hidden::written();
    let of = |text: &str| STANDARD.encode(text);
    for text in [
        of("canary-user:canary-password"),
        of("me:canary-password"),
        of("x:canary-password"),
        of("xyz:canary-password"),
        "GET /?q=%63%61%6E%61%72%79%2D%77".to_owned(),
        r"\u0063\u0061\u006e\u0061\u0072\u0079\u002dw".to_owned(),
    ] {
        let found = hidden.0.iter().any(|hidden| text.contains(hidden.as_str()));
        assert!(found, "{text}: {:?}", hidden.0);
    }
    assert!(
        !hidden
            .0
            .iter()
            .any(|hidden| "a canary, Y2FuYXJ5".contains(hidden.as_str()))
    );
}
