//! Requests over HTTP, natively: what those of plugins are compared with.

use std::io::Write as _;
use std::time::Instant;

use anyhow::{Context as _, Result};
use serde_json::json;
use tokio::task::JoinSet;

/// Sends so many GET requests, that many of them at once, reads what is answered, and prints the
/// times in milliseconds: of each request by itself, and of all together.
///
/// # Errors
/// One of them is not answered.
pub(crate) async fn time(mut arguments: impl Iterator<Item = String>) -> Result<()> {
    let usage = "hint: dormouse-floor --gets AUTHORITY COUNT IN_FLIGHT";
    let authority = arguments.next().context(usage)?;
    let mut number = || arguments.next()?.parse::<usize>().ok();
    let count = number().context(usage)?;
    let in_flight = number().context(usage)?;
    // The error means that a choice has been made.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .tls_certs_only([])
        .no_proxy()
        .tcp_nodelay(true)
        .build()?;
    let url = format!("http://{authority}/");
    let milliseconds = |start: Instant| start.elapsed().as_secs_f64() * 1e3;
    let begun = Instant::now();
    let (mut each, mut left, mut open) = (Vec::new(), count, JoinSet::new());
    loop {
        while left > 0 && open.len() < in_flight {
            let request = client.get(&url);
            open.spawn(async move {
                let start = Instant::now();
                request.send().await?.bytes().await?;
                reqwest::Result::Ok(milliseconds(start))
            });
            left -= 1;
        }
        match open.join_next().await {
            Some(time) => each.push(time??),
            None => break,
        }
    }
    let times = json!({ "each": each, "total": milliseconds(begun) });
    Ok(writeln!(std::io::stdout(), "{times}")?)
}
