//! The connections of one server that are there, or are being made.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dormouse_protocol::{ClientEra, SessionId};
use futures::future::{BoxFuture, Shared};
use tokio::time::Instant;

use super::callers::Callers;
use super::connection::Connection;
use crate::messages::channel::Lost;
use crate::opening::introduction::Introduction;

/// Attempt to connect, whose outcome all who wait for it get.
pub(super) type Connecting = Shared<BoxFuture<'static, Result<Arc<Connection>, Lost>>>;

/// Connection, or an attempt to make one.
pub(super) struct Link {
    /// The session that it is for; none where it is shared.
    pub(super) session: Option<SessionId>,
    pub(super) callers: Arc<Callers>,
    pub(super) stage: LinkStage,
}

#[derive(Clone)]
pub(super) enum LinkStage {
    /// Attempt for a client that introduces itself so.
    Connecting(Introduction, Connecting),
    Open(Arc<Connection>),
}

impl Link {
    /// Whether a client that introduces itself so can use the connection.
    fn suits(&self, introduction: &Introduction) -> bool {
        match &self.stage {
            LinkStage::Connecting(other, _) => other == introduction,
            LinkStage::Open(connection) => {
                let other = connection.introduction();
                // Where each request says what its client can be asked, clients that can be
                // asked different things are no trouble to each other.
                other.era == introduction.era
                    && (connection.is_modern() || other.capabilities == introduction.capabilities)
            }
        }
    }
}

/// Connections of one server, the oldest first.
#[derive(Default)]
pub(super) struct Links {
    /// Number of the newest link. It grows, so that none is taken for one that was ended.
    next: u64,
    all: BTreeMap<u64, Link>,
}

impl Links {
    /// Returns a number that no other link has had.
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(super) fn insert(&mut self, number: u64, link: Link) {
        self.all.insert(number, link);
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Link> {
        self.all.get_mut(&number)
    }

    /// Ends a connection, once no call uses it any more. False where there is none of that number.
    pub(super) fn remove(&mut self, number: u64) -> bool {
        self.all.remove(&number).is_some()
    }

    /// Takes out all connections.
    pub(super) fn take_all(&mut self) -> BTreeMap<u64, Link> {
        std::mem::take(&mut self.all)
    }

    /// Returns the connection of a session, or a shared one, for a client that introduces itself
    /// so.
    pub(super) fn find(
        &self,
        session: Option<SessionId>,
        introduction: &Introduction,
    ) -> Option<&Link> {
        let mut links = self.all.values();
        links.find(|link| link.session == session && link.suits(introduction))
    }

    /// Takes out the connection of a session, or the shared one, for such a client, if no call uses
    /// it.
    pub(super) fn take_idle_of(
        &mut self,
        session: Option<SessionId>,
        introduction: &Introduction,
    ) -> Vec<Link> {
        let is_it = |link: &Link| {
            matches!(link.stage, LinkStage::Open(_))
                && link.session == session
                && link.callers.is_idle()
                && link.suits(introduction)
        };
        let taken = self.all.extract_if(.., |_, link| is_it(link));
        taken.map(|(_, link)| link).collect()
    }

    /// Returns an attempt for another client that may turn out to be a connection for this one as
    /// well: clients of the stateless era can share one where their server knows that era.
    pub(super) fn undecided(
        &self,
        session: Option<SessionId>,
        introduction: &Introduction,
    ) -> Option<Connecting> {
        if introduction.era != ClientEra::Stateless || self.find(session, introduction).is_some() {
            return None;
        }
        let mut links = self.all.values();
        links.find_map(|link| match &link.stage {
            LinkStage::Connecting(other, connecting)
                if link.session == session && other.era == introduction.era =>
            {
                Some(connecting.clone())
            }
            _ => None,
        })
    }

    /// Returns the connections under `key` that a session has a part in.
    pub(super) fn of(&self, key: Option<SessionId>, session: SessionId) -> Vec<LinkStage> {
        let links = self.all.values().filter(|link| link.session == key);
        links
            .filter(|link| key.is_some() || link.callers.sessions().contains(&session))
            .map(|link| link.stage.clone())
            .collect()
    }

    /// Makes all connections that a session has a part in forget its roots.
    pub(super) fn roots_changed(&self, key: Option<SessionId>, session: SessionId) {
        let links = self.all.values().filter(|link| link.session == key);
        for link in links.filter(|link| link.callers.sessions().contains(&session)) {
            link.callers.roots.changed();
        }
    }

    /// Takes out a session's own connections, and removes it from the others.
    pub(super) fn end_session(&mut self, session: SessionId) -> Vec<Link> {
        for link in self.all.values().filter(|link| link.session.is_none()) {
            link.callers.leave(session);
        }
        let own = self
            .all
            .extract_if(.., |_, link| link.session == Some(session));
        own.map(|(_, link)| link).collect()
    }

    /// Takes out the connections of these numbers that no call uses.
    pub(super) fn take_idle(&mut self, numbers: &BTreeSet<u64>) -> Vec<Link> {
        let idle = self.all.extract_if(.., |number, link| {
            numbers.contains(number) && link.callers.is_idle()
        });
        idle.map(|(_, link)| link).collect()
    }

    /// Returns the open connections, by their numbers.
    pub(super) fn open(&self) -> Vec<(u64, Arc<Connection>, Arc<Callers>)> {
        let open = self.all.iter().filter_map(|(number, link)| {
            let LinkStage::Open(connection) = &link.stage else {
                return None;
            };
            Some((*number, Arc::clone(connection), Arc::clone(&link.callers)))
        });
        open.collect()
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&Link) -> bool) {
        self.all.retain(|_, link| keep(link));
    }

    /// Returns the open connections that no call uses, each with its number and since when.
    pub(super) fn idle(&self) -> impl Iterator<Item = (u64, &Link, &Arc<Connection>, Instant)> {
        let links = self.all.iter();
        links.filter_map(|(number, link)| match &link.stage {
            LinkStage::Open(connection) if link.callers.is_idle() => {
                let since = link.callers.last_left().unwrap_or(connection.opened);
                Some((*number, link, connection, since))
            }
            _ => None,
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Link> {
        self.all.values()
    }
}
