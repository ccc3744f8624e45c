//! Asking an upstream what it offers, and nothing else.

use std::sync::Arc;
use std::time::Duration;

use super::channel::Lost;
use super::connection::Opening;
use super::handshake::Manner;
use super::launch::Launch;
use super::{Hub, Offered};

/// Connects to an upstream, asks what it offers, and disconnects.
///
/// # Errors
/// Why it cannot be asked.
pub async fn discover(
    hub: &Arc<Hub>,
    server: &str,
    launch: &Launch,
    start_timeout: Duration,
) -> Result<Offered, Lost> {
    let opening = Opening {
        hub,
        server,
        launch,
        patience: start_timeout,
        callers: Arc::default(),
        gate: None,
    };
    let (connection, offered) = opening.open(&mut Manner::Either).await?;
    connection.close().await;
    Ok(offered)
}
