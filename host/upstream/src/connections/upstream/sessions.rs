//! Sessions of an upstream's callers, and the connections that they have a part in.

use dormouse_protocol::SessionId;

use super::Upstream;
use crate::connections::links::LinkStage;

impl Upstream {
    /// Tells a session's connections that the session wants to hear other logs. One that is being
    /// made is told when it is there.
    pub async fn level_changed(&self, session: SessionId) {
        let stages = self.state.lock().links.of(self.key(Some(session)), session);
        for stage in stages {
            if let LinkStage::Open(connection) = stage {
                connection.set_level().await;
            }
        }
    }

    /// Tells a session's connections that the session has other roots. Has to be called inside of a
    /// tokio runtime.
    pub fn roots_changed(&self, session: SessionId) {
        let key = self.key(Some(session));
        let stages = {
            let state = self.state.lock();
            state.links.roots_changed(key, session);
            state.links.of(key, session)
        };
        for stage in stages {
            tokio::spawn(async move {
                let connected = match stage {
                    LinkStage::Connecting(_, connecting) => connecting.await,
                    LinkStage::Open(connection) => Ok(connection),
                };
                if let Ok(connection) = connected {
                    connection.roots_changed().await;
                }
            });
        }
    }

    /// Whether the connections of a session are done with all that it has asked.
    pub fn is_settled(&self, session: SessionId) -> bool {
        let state = self.state.lock();
        let mut links = state.links.iter();
        let key = self.key(Some(session));
        links.all(|link| link.session != key || link.callers.is_settled())
    }

    /// Whether there is a connection that is a session's own.
    pub fn is_connected(&self, session: SessionId) -> bool {
        let state = self.state.lock();
        let own = Some(session);
        let mut links = state.links.iter().filter(|link| link.session == own);
        links.any(|link| is_there(&link.stage))
    }

    /// Whether there is a connection that a session has a part in: its own, or one that is shared.
    pub fn has_part(&self, session: SessionId) -> bool {
        let stages = self.state.lock().links.of(self.key(Some(session)), session);
        stages.iter().any(is_there)
    }

    /// Whether processes run that the upstream has started since it was connected, over a
    /// connection that a session has a part in. Takes some milliseconds.
    pub fn has_new_processes(&self, session: SessionId) -> bool {
        let stages = self.state.lock().links.of(self.key(Some(session)), session);
        stages.iter().any(|stage| match stage {
            LinkStage::Open(connection) => connection.has_new_processes(),
            LinkStage::Connecting(..) => false,
        })
    }

    /// Ends the connections of a session, once no call uses them any more.
    pub fn end_session(&self, session: SessionId) {
        let ended = self.state.lock().links.end_session(session);
        drop(ended);
    }

    pub(super) fn key(&self, session: Option<SessionId>) -> Option<SessionId> {
        session.filter(|_| !self.setup.share)
    }
}

/// Whether a connection is there, or is being made.
fn is_there(stage: &LinkStage) -> bool {
    match stage {
        LinkStage::Open(connection) => connection.ended().is_none(),
        LinkStage::Connecting(..) => true,
    }
}
