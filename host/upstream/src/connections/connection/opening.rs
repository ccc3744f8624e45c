//! Opening of a connection: the start of what is behind it, its first request and its lists.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use dormouse_launch::Launch;
use dormouse_policy::UpstreamLimits;
use dormouse_protocol::QuestionLimit;
use tokio::time::Instant;

use super::Connection;
use crate::connections::callers::Callers;
use crate::connections::connection_room::ConnectionPermit;
use crate::listing::fetch_turns::{FetchTurn, FetchTurns};
use crate::listing::lists;
use crate::messages::channel::Lost;
use crate::messages::level::ToldLogLevel;
use crate::messages::peer::{AskableClients, Peer, PeerPolicy};
use crate::opening::first_request::{Beginning, FirstRequest, Reaction, Reactions};
use crate::opening::handshake;
use crate::opening::handshake::ServerIntroduction;
use crate::opening::introduction::Introduction;
use crate::server_secrets::ServerSecrets;
use crate::stdio::descendants::StartOrder;
use crate::{Connector, Failure, Offered, UpstreamPolicy};

/// Parameters of a new connection.
pub(crate) struct Opening<'a> {
    pub(crate) connector: &'a Arc<Connector>,
    pub(crate) server: &'a str,
    pub(crate) launch: &'a Launch,
    /// Longest time that opening may take.
    pub(crate) patience: Duration,
    pub(crate) callers: Arc<Callers>,
    pub(crate) questions: QuestionLimit,
    pub(crate) policy: Option<Arc<dyn UpstreamPolicy>>,
    /// Introduction of the client that the connection is made for.
    pub(crate) introduction: Introduction,
    /// Reactions of the upstream to first requests before, as far as they are known.
    pub(crate) known: Reactions,
    /// Limits of what the upstream may send.
    pub(crate) limits: UpstreamLimits,
    /// Place among the connections of its server; none where it is made to look only.
    pub(crate) permit: Option<Arc<ConnectionPermit>>,
    pub(crate) fetch_turns: FetchTurns,
}

/// Connection that has been made, and what is offered over it.
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    pub(crate) offered: Offered,
    /// Kept until what is offered has been compared with what is known.
    pub(crate) fetch_turn: FetchTurn,
}

/// Reason for which a connection could not be made.
struct Unopened {
    lost: Lost,
    /// First requests that the upstream had taken when it was lost: it may have been lost because
    /// of them.
    sent: Vec<FirstRequest>,
}

impl From<Lost> for Unopened {
    fn from(lost: Lost) -> Self {
        Self {
            lost,
            sent: Vec::new(),
        }
    }
}

impl Opening<'_> {
    /// Connects, sends the first request, and asks for all lists.
    ///
    /// A server may end at the first request of an era that it does not know, and is then started
    /// once more with that of the other era. Nobody wants to see a start that fails for another
    /// reason twice, with all that it does before, so this is done only where the server has taken
    /// the request before it ended. Later connections do not send it that request again.
    pub(crate) async fn open(self) -> Result<Opened, Lost> {
        let end = Instant::now() + self.patience;
        let may_end = matches!(self.launch, Launch::Stdio(_));
        let era = &self.introduction.era;
        let mut beginning = Beginning::new(era, self.known, self.patience, may_end);
        let secrets = self.connector.secrets(self.server, self.launch);
        let mut failed: Option<(FirstRequest, Lost)> = None;
        loop {
            let unopened = match self.attempt(beginning, end, &secrets).await {
                Ok(mut opened) => {
                    if let Some((request, _)) = failed {
                        opened.offered.reactions.set(request, Reaction::Fails);
                    }
                    return Ok(opened);
                }
                Err(unopened) => unopened,
            };
            // Then it was ended by that.
            if self.connector.is_closing() {
                return Err(Lost::HostEnds);
            }
            let Unopened { lost, sent } = unopened;
            // What refuses a start may say what it was started with.
            let lost = match lost {
                Lost::Broken(why) => Lost::Broken(secrets.redact(&why)),
                lost => lost,
            };
            let other = beginning.after_end(&sent, self.known);
            let other = other.filter(|_| failed.is_none() && matches!(lost, Lost::Broken(_)));
            let Some(other) = other else {
                return Err(match failed {
                    // The handshake is what its other clients know it by.
                    Some((FirstRequest::Initialize, first)) => first,
                    _ => lost,
                });
            };
            tracing::debug!(
                "server `{}` is begun with in another way ({:?}): {lost}",
                self.server,
                other.first
            );
            failed = Some((other.first.other(), lost));
            beginning = other;
        }
    }

    async fn attempt(
        &self,
        beginning: Beginning,
        end: Instant,
        secrets: &Arc<ServerSecrets>,
    ) -> Result<Opened, Unopened> {
        let limit = self.patience.as_secs_f64();
        let late = |what: &str| {
            let hint = "`start_timeout` in its table says how long a start may take";
            Lost::Broken(format!(
                "it did not answer within {limit} s: {what}\nhint: {hint}"
            ))
        };
        let late_peer = |peer: &Peer| match peer.open_question() {
            // It may only wait for that.
            Some(question) => Lost::Broken(format!(
                "it asked its client `{question}` and had no answer within {limit} s\n\
                 hint: a client that is answered `input_required` has to call again with its \
                 answers; call it again"
            )),
            None => late(&peer.end_reason()),
        };
        let opening = self
            .connector
            .open(self.server, self.launch, secrets, &self.limits);
        // Whoever cannot even be started is not started another way.
        let channel = tokio::time::timeout_at(end, opening)
            .await
            .map_err(|_| late("it cannot be reached"))??;
        let (sender, incoming) = (channel.sender, channel.incoming);
        let asking = AskableClients {
            callers: Arc::clone(&self.callers),
            introduction: self.introduction.clone(),
            questions: self.questions.clone(),
        };
        let policy = self.policy.clone();
        let policy = PeerPolicy {
            policy,
            limits: self.limits,
            secrets: Arc::clone(secrets),
            log: self.connector.log_budget(self.server, &self.limits),
            fetch_turns: self.fetch_turns.clone(),
            patience: self.patience,
        };
        let peer = Peer::new(self.server, Arc::clone(&sender), incoming, asking, policy);
        let mut connection = Connection {
            connector: Arc::clone(self.connector),
            sender,
            peer,
            server_introduction: ServerIntroduction::default(),
            level: ToldLogLevel::default(),
            since: SystemTime::now(),
            opened: Instant::now(),
            opened_after: None,
            permit: self.permit.clone(),
        };
        let peer = Arc::clone(&connection.peer);
        let greeting = handshake::greet(&peer, beginning, &self.introduction);
        let server_introduction = tokio::time::timeout_at(end, greeting)
            .await
            .map_err(|_| late_peer(&peer))?
            .map_err(|unmet| {
                let mut sent = unmet.sent;
                if connection.sender.has_unread() {
                    sent.clear();
                }
                Unopened {
                    lost: unmet.failure.into_lost(),
                    sent,
                }
            })?;
        connection.server_introduction = server_introduction;
        // It is not late as long as others have the turns.
        let asked = Instant::now();
        let fetch_turn = self.fetch_turns.first().await;
        let listing = lists::all(&peer, &connection.server_introduction);
        let offered = tokio::time::timeout_at(end + asked.elapsed(), listing)
            .await
            .map_err(|_| late_peer(&peer))?
            .map_err(Failure::into_lost)?;
        connection.opened = Instant::now();
        connection.opened_after = StartOrder::now();
        Ok(Opened {
            connection,
            offered,
            fetch_turn,
        })
    }
}
