//! Session with the servers from the command line: one request, and its answer.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use dormouse_protocol::Answer;
use tokio_util::sync::CancellationToken;

use super::terminal::Terminal;
use crate::roster::{CallContext, OfferRefusal, Places, Roster};

/// Time that the threads of the process may take to end at the end.
const LAST: Duration = Duration::from_millis(100);

/// Session that lasts as long as this process.
pub(super) struct ProcessSession {
    pub(super) roster: Arc<Roster>,
    cancel: CancellationToken,
}

impl ProcessSession {
    /// Sends a request to the servers, and waits for the answer. Ctrl-C cancels it.
    ///
    /// # Errors
    /// The configuration cannot be read, or there is no answer.
    pub(super) fn with<F>(
        places: Places,
        ask: impl FnOnce(Self) -> anyhow::Result<F>,
    ) -> anyhow::Result<Answer>
    where
        F: Future<Output = Result<Answer, OfferRefusal>>,
    {
        let threads = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("the threads for the call could not be started")?;
        let answer = threads.block_on(async {
            let roster = Roster::open(places)?;
            roster.save();
            let cancel = CancellationToken::new();
            let session = Self {
                roster: Arc::clone(&roster),
                cancel: cancel.clone(),
            };
            let answer = patient(ask(session)?, &cancel).await?;
            roster.close().await;
            Ok(answer)
        });
        threads.shutdown_timeout(LAST);
        answer
    }

    /// Returns the context of a request to a server.
    pub(super) fn context(&self) -> CallContext {
        CallContext {
            profile: None,
            session: Some(self.roster.begin_session()),
            cancel: self.cancel.clone(),
            listener: Arc::new(Terminal::new()),
        }
    }
}

async fn patient(
    asking: impl Future<Output = Result<Answer, OfferRefusal>>,
    cancel: &CancellationToken,
) -> anyhow::Result<Answer> {
    tokio::pin!(asking);
    loop {
        tokio::select! {
            answer = &mut asking => return Ok(answer?),
            _ = tokio::signal::ctrl_c() => {
                // Whoever asks twice does not want to wait for a tidy end.
                if cancel.is_cancelled() {
                    bail!("interrupted");
                }
                cancel.cancel();
            }
        }
    }
}
