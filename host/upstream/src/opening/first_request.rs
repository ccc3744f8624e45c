//! First request of a connection.
//!
//! Servers of both of MCP's eras behave differently in each, above all in what they ask of a
//! client and when. So a connection begins as its client would have begun it, and goes over
//! to the other era only where a server does not know that of its client.

use std::time::Duration;

use dormouse_protocol::ClientEra;
use serde::{Deserialize, Serialize};

/// Time for which a server may leave its first request unanswered before it is sent that of the
/// other era as well, where nothing else sets that time. Both answers count: the server may only be
/// slow to start.
const MAX_SILENCE: Duration = Duration::from_secs(5);

/// Time as [`MAX_SILENCE`], for a server that has left that request unanswered before while it
/// answered the other one: it may have been slow then, or may always ignore the request.
const SILENCE_ONCE_OVERTAKEN: Duration = Duration::from_secs(1);

/// The request that a connection of an era begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstRequest {
    /// `initialize`, up to 2025-11-25.
    Initialize,
    /// `server/discover`, since 2026-07-28.
    Discover,
}

impl FirstRequest {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Initialize => Self::Discover,
            Self::Discover => Self::Initialize,
        }
    }
}

/// Reaction of a server to a first request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reaction {
    /// The server has not been sent that request.
    #[default]
    Unknown,
    /// A result.
    Answers,
    /// An error.
    Refuses,
    /// The server ends.
    Fails,
}

/// Reactions of a server to the first requests of both eras, as far as they are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reactions {
    /// Reaction to `initialize`.
    #[serde(default)]
    pub initialize: Reaction,
    /// Reaction to `server/discover`.
    #[serde(default)]
    pub discover: Reaction,
    /// Request that had no answer yet when the other one, which was sent later, was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overtaken: Option<FirstRequest>,
}

impl Reactions {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// Returns these reactions, with those known before for requests that were not tried since.
    #[must_use]
    pub fn or(self, before: Self) -> Self {
        let known = |now: Reaction, before: Reaction| match now {
            Reaction::Unknown => before,
            now => now,
        };
        let overtaken = self.overtaken.or(before.overtaken);
        Self {
            initialize: known(self.initialize, before.initialize),
            discover: known(self.discover, before.discover),
            // One that was answered since may be waited for.
            overtaken: overtaken.filter(|request| self.of(*request) == Reaction::Unknown),
        }
    }

    pub(super) fn of(self, request: FirstRequest) -> Reaction {
        match request {
            FirstRequest::Initialize => self.initialize,
            FirstRequest::Discover => self.discover,
        }
    }

    pub(crate) fn set(&mut self, request: FirstRequest, reaction: Reaction) {
        match request {
            FirstRequest::Initialize => self.initialize = reaction,
            FirstRequest::Discover => self.discover = reaction,
        }
    }
}

/// The way in which a connection begins. After an error the server is always sent the first
/// request of the other era.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Beginning {
    /// Request that the server is sent first.
    pub(crate) first: FirstRequest,
    /// Silence after which it is sent the other one as well; never, if none.
    pub(super) silence: Option<Duration>,
}

impl Beginning {
    /// Returns the way for a client of this era with a server of these reactions, which may take
    /// `start_timeout` to start. `may_end` is whether the server can end because of a request: a
    /// process of ours can, and is not sent a request again that it has ended at.
    pub(crate) fn new(
        era: &ClientEra,
        known: Reactions,
        start_timeout: Duration,
        may_end: bool,
    ) -> Self {
        let own = match era {
            ClientEra::Handshake(_) => FirstRequest::Initialize,
            ClientEra::Stateless => FirstRequest::Discover,
        };
        if may_end && known.of(own) == Reaction::Fails {
            return Self::only(own.other());
        }
        let silence = match (own, known.initialize, known.discover) {
            // Some servers end at a request that they do not know, and many are slow to start.
            (FirstRequest::Initialize, Reaction::Answers, _) => None,
            _ if known.overtaken == Some(own) => Some(SILENCE_ONCE_OVERTAKEN),
            (FirstRequest::Initialize, _, Reaction::Answers) => Some(MAX_SILENCE),
            (FirstRequest::Initialize, ..) => Some(start_timeout / 2),
            (FirstRequest::Discover, ..) => Some(MAX_SILENCE),
        };
        Self {
            first: own,
            silence,
        }
    }

    /// Returns another way to begin with a server that has ended after it was sent these requests,
    /// if there is one: it may have ended because of them.
    pub(crate) fn after_end(self, sent: &[FirstRequest], known: Reactions) -> Option<Self> {
        match sent {
            [FirstRequest::Initialize] => {
                let is_sound = known.initialize == Reaction::Answers;
                let is_vain = matches!(known.discover, Reaction::Refuses | Reaction::Fails);
                (!is_sound && !is_vain).then_some(Self::only(FirstRequest::Discover))
            }
            [] => None,
            _ => Some(Self::only(FirstRequest::Initialize)).filter(|other| *other != self),
        }
    }

    fn only(first: FirstRequest) -> Self {
        Self {
            first,
            silence: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use FirstRequest::{Discover, Initialize};
    use Reaction::{Answers, Fails, Refuses, Unknown};

    const START: Duration = Duration::from_secs(60);

    fn known(initialize: Reaction, discover: Reaction) -> Reactions {
        Reactions {
            initialize,
            discover,
            overtaken: None,
        }
    }

    #[test]
    fn a_connection_begins_as_its_client_would() {
        let half = Some(START / 2);
        let handshake = ClientEra::default();
        let table = [
            (&handshake, Unknown, Unknown, Initialize, half),
            (&handshake, Refuses, Unknown, Initialize, half),
            (&handshake, Unknown, Answers, Initialize, Some(MAX_SILENCE)),
            (&handshake, Refuses, Answers, Initialize, Some(MAX_SILENCE)),
            (&handshake, Answers, Unknown, Initialize, None),
            (&handshake, Answers, Answers, Initialize, None),
            (&handshake, Fails, Answers, Discover, None),
        ];
        for (era, initialize, discover, first, silence) in table {
            let began = Beginning::new(era, known(initialize, discover), START, true);
            let expected = Beginning { first, silence };
            assert_eq!(began, expected, "{initialize:?} {discover:?}");
        }
        for initialize in [Unknown, Answers, Refuses, Fails] {
            for discover in [Unknown, Answers, Refuses] {
                let known = known(initialize, discover);
                let began = Beginning::new(&ClientEra::Stateless, known, START, true);
                assert_eq!((began.first, began.silence), (Discover, Some(MAX_SILENCE)));
            }
        }
        // A process that has ended at a request is not sent it again; others cannot end.
        let fatal = known(Answers, Fails);
        for (may_end, first) in [(true, Initialize), (false, Discover)] {
            let began = Beginning::new(&ClientEra::Stateless, fatal, START, may_end);
            assert_eq!(began.first, first);
        }
    }

    #[test]
    fn a_server_that_has_ended_is_begun_with_in_another_way_once() {
        let only = |first| Some(Beginning::only(first));
        let begin = |first| Beginning {
            first,
            silence: Some(START),
        };
        for (began, sent, known, expected) in [
            (
                begin(Discover),
                &[Discover][..],
                known(Unknown, Unknown),
                only(Initialize),
            ),
            (
                begin(Discover),
                &[Discover, Initialize],
                known(Unknown, Unknown),
                only(Initialize),
            ),
            (
                begin(Initialize),
                &[Initialize, Discover],
                known(Unknown, Unknown),
                only(Initialize),
            ),
            (
                begin(Initialize),
                &[Initialize],
                known(Unknown, Unknown),
                only(Discover),
            ),
            (
                begin(Initialize),
                &[Initialize],
                known(Refuses, Answers),
                only(Discover),
            ),
            // It has failed to start, as it could any time.
            (
                begin(Initialize),
                &[Initialize],
                known(Answers, Unknown),
                None,
            ),
            (
                begin(Initialize),
                &[Initialize],
                known(Unknown, Refuses),
                None,
            ),
            (begin(Initialize), &[], known(Unknown, Unknown), None),
            (
                Beginning::only(Initialize),
                &[Initialize, Discover],
                known(Unknown, Unknown),
                None,
            ),
        ] {
            assert_eq!(began.after_end(sent, known), expected, "{sent:?} {known:?}");
        }
    }

    #[test]
    fn what_was_not_tried_again_is_still_known() {
        let before = known(Answers, Fails);
        assert_eq!(Reactions::default().or(before), before);
        let now = known(Unknown, Answers);
        assert_eq!(now.or(before), known(Answers, Answers));
        assert!(Reactions::default().is_unknown() && !before.is_unknown());
    }

    /// A server that was slow once may answer the next time, and is not waited for as long.
    #[test]
    fn a_request_that_was_overtaken_is_sent_again() {
        let handshake = ClientEra::default();
        let overtaken = Reactions {
            overtaken: Some(Initialize),
            ..known(Unknown, Answers)
        };
        let began = Beginning::new(&handshake, overtaken, START, true);
        let soon = Some(SILENCE_ONCE_OVERTAKEN);
        assert_eq!((began.first, began.silence), (Initialize, soon));
        // That says nothing of the other one.
        let began = Beginning::new(&ClientEra::Stateless, overtaken, START, true);
        assert_eq!((began.first, began.silence), (Discover, Some(MAX_SILENCE)));
        assert_eq!(known(Unknown, Answers).or(overtaken), overtaken);
        let answered = known(Answers, Unknown).or(overtaken);
        assert_eq!(answered, known(Answers, Answers));
        let began = Beginning::new(&handshake, answered, START, true);
        assert_eq!((began.first, began.silence), (Initialize, None));
        // It is kept, and not where there is nothing to keep.
        let text = serde_json::to_string(&overtaken).unwrap();
        assert_eq!(serde_json::from_str::<Reactions>(&text).unwrap(), overtaken);
        let text = serde_json::to_string(&answered).unwrap();
        assert!(!text.contains("overtaken"), "{text}");
    }
}
