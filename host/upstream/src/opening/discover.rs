//! Asking an upstream what it offers, and nothing else.

use std::sync::Arc;
use std::time::Duration;

use dormouse_launch::Launch;
use dormouse_policy::UpstreamLimits;
use dormouse_protocol::QuestionLimit;

use super::introduction::Introduction;
use crate::connections::connection::Opening;
use crate::listing::fetch_turns::FetchTurns;
use crate::messages::channel::Lost;
use crate::{Connector, Offered, Reactions};

/// Connects to an upstream, asks what it offers, and disconnects. `start_timeout` limits that,
/// `known` are its reactions to first requests before.
///
/// # Errors
/// The upstream cannot be asked.
pub async fn discover(
    connector: &Arc<Connector>,
    server: &str,
    launch: &Launch,
    limits: UpstreamLimits,
    start_timeout: Duration,
    known: Reactions,
) -> Result<Offered, Lost> {
    let opening = Opening {
        connector,
        server,
        launch,
        patience: start_timeout,
        callers: Arc::default(),
        // Nobody is there to be asked.
        questions: QuestionLimit::new(0),
        policy: None,
        introduction: Introduction::of_nobody(),
        known,
        limits,
        permit: None,
        fetch_turns: FetchTurns::default(),
    };
    let opened = opening.open().await?;
    opened.connection.close().await;
    Ok(opened.offered)
}
