//! Pages that clients were asked to open, until the upstream says that they are done.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use dormouse_protocol::{Listener, SessionId};

/// Most pages that are remembered of one connection; older ones are forgotten first.
const MAX_PAGES: usize = 256;

/// Longest id of one, in bytes.
const MAX_ID_BYTES: usize = 1 << 10;

/// Pages that an upstream has asked clients to open.
#[derive(Default)]
pub(super) struct AskedPages(VecDeque<AskedPage>);

/// Page that a client was asked to open.
pub(super) struct AskedPage {
    /// Id as the client was told it.
    pub(super) id: String,
    /// Listener that was asked: that of a call, which may end before the page is done.
    pub(super) listener: Weak<dyn Listener>,
    /// Session of the call, if any.
    pub(super) session: Option<SessionId>,
}

impl AskedPages {
    pub(super) fn add(
        &mut self,
        id: &str,
        listener: &Arc<dyn Listener>,
        session: Option<SessionId>,
    ) {
        if id.len() > MAX_ID_BYTES {
            return;
        }
        if self.0.len() == MAX_PAGES {
            self.0.pop_front();
        }
        self.0.push_back(AskedPage {
            id: id.to_owned(),
            listener: Arc::downgrade(listener),
            session,
        });
    }

    /// Takes all that have that id: who has been asked twice is told once for each.
    pub(super) fn take(&mut self, id: &str) -> Vec<AskedPage> {
        let (done, open) = std::mem::take(&mut self.0)
            .into_iter()
            .partition(|page| page.id == id);
        self.0 = open;
        Vec::from_iter::<VecDeque<_>>(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::RecordingListener;

    #[test]
    fn pages_are_taken_once_and_have_a_number() {
        let listener: Arc<dyn Listener> = Arc::new(RecordingListener::default());
        let mut pages = AskedPages::default();
        for number in 0..=MAX_PAGES {
            pages.add(&number.to_string(), &listener, None);
        }
        pages.add(&"x".repeat(MAX_ID_BYTES + 1), &listener, None);
        assert_eq!(pages.0.len(), MAX_PAGES);
        assert!(pages.take("0").is_empty());
        assert_eq!(pages.take("1").len(), 1);
        assert!(pages.take("1").is_empty());
    }
}
