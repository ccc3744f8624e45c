//! Counting the tokens of what agents may be shown, while nobody waits for it.

use std::sync::Arc;

use dormouse_policy::exposure::ShownMode;

use super::meta_tools;
use crate::mcp::client::client_table;
use crate::roster::{Numbers, Roster, Snapshot};

/// Returns the texts that decide how tools are shown: those of the tools, and of Dormouse's own that
/// would stand for them.
fn deciding_texts(snapshot: &Snapshot) -> impl Iterator<Item = String> {
    let kept = client_table::description_bytes();
    let modes = [ShownMode::Search, ShownMode::Index];
    let own = modes.into_iter().flat_map(move |mode| {
        let texts = kept.clone().into_iter();
        texts.map(move |bytes| meta_tools::mapped_texts(mode, snapshot, bytes))
    });
    own.chain(snapshot.deciding_texts())
}

/// Counts what decides how tools are shown, where the numbers may decide anything.
///
/// # Errors
/// The process that counts fails, or the numbers cannot be written.
pub fn count_deciding_texts(roster: &Roster) -> anyhow::Result<()> {
    count(roster, &[roster.snapshot()])
}

/// Does the same for each profile that clients may name, too.
fn count_for_all_profiles(roster: &Roster) -> anyhow::Result<()> {
    let mut all = roster.views();
    all.insert(0, roster.snapshot());
    count(roster, &all)
}

fn count(roster: &Roster, snapshots: &[Arc<Snapshot>]) -> anyhow::Result<()> {
    let snapshots = snapshots.iter();
    let mut depending = snapshots
        .filter(|snapshot| snapshot.depends_on_token_counts())
        .peekable();
    if depending.peek().is_some() {
        roster.count_tokens(depending.flat_map(|snapshot| deciding_texts(snapshot)))?;
    }
    Ok(())
}

/// Counts what decides how tools are shown, and again whenever the tools have changed. Without the
/// numbers estimates decide, so that a failure is no more than logged. `profiles` says whether clients
/// may name profiles.
pub async fn keep_counting(roster: Arc<Roster>, profiles: bool) {
    let mut changes = roster.changes().lists();
    loop {
        let counting = Arc::clone(&roster);
        let counted = tokio::task::spawn_blocking(move || match profiles {
            true => count_for_all_profiles(&counting),
            false => count_deciding_texts(&counting),
        });
        let counted = counted.await;
        if let Ok(Err(error)) = counted {
            tracing::warn!("how tools are shown is decided by estimates: {error:#}");
        }
        let counted = |numbers: &Numbers| (numbers.tools, numbers.profiles);
        let known = counted(&changes.borrow_and_update());
        let is_changed = |numbers: &Numbers| counted(numbers) != known;
        if changes.wait_for(is_changed).await.is_err() {
            return;
        }
    }
}
