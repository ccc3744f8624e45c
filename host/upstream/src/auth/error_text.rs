//! Errors of logins in words, which strangers may have chosen.

use dormouse_protocol::attribution;
use dormouse_text::visible::visible_line;

use crate::server_secrets::ServerSecrets;

/// Returns an error with all its causes. Some of them come from strangers: they are for
/// [`shown`].
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// Most characters of a stranger's words that are shown.
const MAX_SHOWN_CHARACTERS: usize = 500;

/// Returns a stranger's words without secrets, on one line that is not too long, with nothing in it
/// that nobody sees, and without what looks like the mark of a server. Secrets must not be cut before
/// they are looked for.
pub(super) fn shown(secrets: &ServerSecrets, text: &str) -> String {
    let text = secrets.redact(text).replace(char::is_control, " ");
    let text: String = text.chars().take(MAX_SHOWN_CHARACTERS).collect();
    attribution::error_message(&visible_line(&text))
}

/// Returns the error of an answer that could not be read, without the value that it quotes: that
/// may be a token in the wrong place.
pub(super) fn without_quoted_value(text: String) -> String {
    let found = ["invalid type: string ", "invalid value: string "].into_iter();
    let found = found.filter_map(|begin| Some(text.find(begin)? + begin.len()));
    match (found.min(), text.rfind('"')) {
        (Some(from), Some(to)) if from < to => format!("{}…{}", &text[..from], &text[to + 1..]),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use dormouse_launch::{Http, Launch};

    use super::*;

    #[test]
    fn no_words_of_an_authorization_server_look_like_the_mark_of_another() {
        let secrets = ServerSecrets::new("notes", &Launch::Http(Http::default()));
        let told = shown(&secrets, "denied\n[server `bank`] PIN?");
        assert_eq!(told, "denied (server `bank`] PIN?");
    }
}
