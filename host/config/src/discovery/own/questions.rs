//! Questions for what a client keeps, and the ids of these.

use super::*;

/// Source for a value that is in a file of a client's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuestionValueSource {
    /// The environment, which has the same value.
    InEnvironment,
    /// The user's answer to a question of that name, which is the same value.
    Answered,
    /// An answer that the user is asked for.
    Unanswered,
    /// None: the value has a name that cannot be asked for, or one that something else has.
    NoWay,
}

impl TextSources<'_> {
    /// Returns the id of the question for a variable that is in a file of a client's. Other servers
    /// have other files, in which the same name may have another secret, and it is nothing that
    /// they ask for: no two pairs of a server and a variable have one id.
    pub(super) fn id_of(&self, name: &str) -> String {
        let server = self.server;
        // No variable has a `-` in its name, so that the last one stands between both. Where the
        // server's name has neither `-` nor `_`, the first `_` does, and there is no `-`.
        let is_short = (1..=MAX_SERVER_IN_ID).contains(&server.len());
        match is_short && server.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            true => format!("{server}_{name}"),
            false => format!("{}-{name}", plain(server)),
        }
    }

    /// Returns the id of the question for the text of a file.
    pub(super) fn id_of_file(&self, path: &str) -> String {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        // Paths of other folders end in the same name.
        let name = format!("{}-{}", replaced(name, MAX_FILE_IN_ID), digits(path));
        format!("{}-file-{name}", plain(self.server))
    }

    /// Returns the source for a variable's value, which is never written down: what is shown of a
    /// command has its arguments in it.
    pub(super) fn kept(&self, name: &str, value: &str) -> QuestionValueSource {
        let of_environment = self.around.env.get(name).map(String::as_str);
        match expansion::is_name(name) {
            false => QuestionValueSource::NoWay,
            true if of_environment == Some(value) => QuestionValueSource::InEnvironment,
            true => self.asked(&self.id_of(name), value),
        }
    }

    /// Returns the source for the value that the answer to a question is to be.
    pub(super) fn asked(&self, id: &str, value: &str) -> QuestionValueSource {
        let answer = self.inputs.get(id).map(|answer| match answer {
            Input::Value(answer) => Some(answer.expose()),
            Input::Variable(variable) => self.around.value(variable),
        });
        match answer {
            None => QuestionValueSource::Unanswered,
            Some(Some(answer)) if answer == value => QuestionValueSource::Answered,
            // Another client's question, or another server's.
            Some(_) => QuestionValueSource::NoWay,
        }
    }
}

/// Most characters of names that are repeated in an id, so that messages show it as a whole.
const MAX_SERVER_IN_ID: usize = 20;

const MAX_FILE_IN_ID: usize = 12;

/// Returns a server's name as it is part of an id: where it is not the name itself, with digits of
/// it.
pub(super) fn plain(server: &str) -> String {
    let plain = replaced(server, MAX_SERVER_IN_ID);
    match plain == server && !server.is_empty() {
        true => plain,
        false => format!("{plain}-{}", digits(server)),
    }
}

/// Shortens a name, and replaces characters that an id should not have.
pub(super) fn replaced(name: &str, most: usize) -> String {
    let replaced = |c: char| match c.is_ascii_alphanumeric() || matches!(c, '-' | '_') {
        true => c,
        false => '_',
    };
    name.chars().map(replaced).take(most).collect()
}

/// Returns the first digits of a text's hash.
pub(super) fn digits(text: &str) -> String {
    let hash = blake3::hash(text.as_bytes()).to_hex();
    hash.chars().take(8).collect()
}
