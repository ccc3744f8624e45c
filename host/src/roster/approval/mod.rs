//! Approval of a server's pending items, by a user who has been shown them.

mod asked_plugin;
mod call_confirmation;
mod call_decisions;
mod called_arguments;
mod changed_items;
mod code_block;
mod confirm;
mod difference;
mod http_grant;
mod indented_json;
mod judged_tool;
mod line_diff;
mod missing_inputs;
mod missing_secret;
mod revoked_answers;
mod session_answers;
mod trust;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_protocol::Listener;
use dormouse_upstream::without_blocking;

pub(super) use asked_plugin::AskedPlugin;
pub(super) use call_confirmation::{CallToConfirm, unanswered};
pub(super) use call_decisions::CallDecisions;
pub use changed_items::{Gone, counts, gone_told};
use code_block::judged_block;
pub(super) use confirm::{AgreedForm, Questions};
use confirm::{ConfirmationSubject, MAX_QUESTION_BYTES, Unconfirmed};
pub use difference::difference;
pub(super) use http_grant::{PluginGrants, RosterGrantAsker};
pub(super) use judged_tool::{CallTarget, JudgedTool};
pub(super) use missing_inputs::AnsweredInputs;
pub use revoked_answers::{RevokedAnswers, RevokedFolder};

use super::{CallContext, Roster};
use crate::store::{DecidedBy, Decision, Pending, Selection};

/// Outcome of asking a user to approve the pending items of a server.
#[derive(Debug, PartialEq, Eq)]
pub enum ApprovalOutcome {
    /// Nothing is pending.
    NothingWaits,
    /// They have approved this number of items.
    Approved(usize),
    /// They have not approved them.
    Waits {
        /// Number of items that stay pending.
        count: usize,
        /// Reason, in words of Dormouse's own.
        why: String,
    },
}

impl Roster {
    /// Asks the user of a call's client to approve all pending items of a server.
    ///
    /// # Errors
    /// There is no such server, it offers something else by now than what they were shown, or that
    /// cannot be kept.
    pub async fn ask_to_approve(
        &self,
        server: &str,
        context: &CallContext,
    ) -> anyhow::Result<ApprovalOutcome> {
        let found = self.server(server)?;
        let pending = found.pending();
        if pending.is_empty() {
            return Ok(ApprovalOutcome::NothingWaits);
        }
        let confirmed = tokio::select! {
            confirmed = self.confirm_approval(server, pending, &context.listener) => confirmed,
            // Others are to be asked anew.
            () = context.cancel.cancelled() => Err(Unconfirmed::NoAnswer),
        };
        let form = match confirmed {
            Ok(AgreedForm::Now(form)) => form,
            Ok(AgreedForm::WithAnother) => return Ok(ApprovalOutcome::Approved(pending.len())),
            Err(why) => {
                return Ok(ApprovalOutcome::Waits {
                    count: pending.len(),
                    why: why.to_string(),
                });
            }
        };
        let approved = without_blocking(usize::MAX, || {
            self.approve(server, &pending.digest(), None, DecidedBy::Client)
        });
        form.done(approved.is_ok());
        Ok(ApprovalOutcome::Approved(approved?.len()))
    }

    /// Asks the user of a client whether they approve the pending items of a server.
    ///
    /// # Errors
    /// They do not, or nobody can be asked whose answer is the user's.
    pub(super) async fn confirm_approval(
        &self,
        server: &str,
        pending: &Pending,
        caller: &Arc<dyn Listener>,
    ) -> Result<AgreedForm<'_>, Unconfirmed> {
        let found = self.server(server).ok();
        let gone = found.as_deref().and_then(Gone::of);
        let message = judged_block(&shown(server, pending, gone.as_ref()));
        let what = "Allow all of this as it is now";
        let asked = ConfirmationSubject::Approval(server.to_owned());
        self.confirm(asked, caller, message, what).await
    }

    /// Returns the folders, other than this one, in which items of a server are pending.
    #[must_use]
    pub fn folders_that_wait(&self, server: &str) -> Vec<PathBuf> {
        let server = self.server(server).ok();
        let upstream = server.as_ref().and_then(|server| server.config().bridge());
        upstream.map_or_else(Vec::new, |of| self.store.folders_that_wait(&of.fingerprint))
    }

    /// Records that a user was shown the items of a server that are gone.
    ///
    /// # Errors
    /// There is no such server, or that cannot be kept.
    pub fn take_note_of_gone(&self, server: &str) -> anyhow::Result<()> {
        let found = self.server(server)?;
        if let Some(upstream) = found.config().bridge() {
            self.store.take_note_of_gone(&upstream.fingerprint)?;
            self.refresh(None);
        }
        Ok(())
    }

    /// Approves the pending items of a server that its user was shown, which have the digest
    /// `shown`: all, or the tools that are named. Returns those that they had not seen before.
    ///
    /// # Errors
    /// There is no such server, it offers something else by now, or the approval cannot be
    /// recorded.
    pub fn approve(
        &self,
        server: &str,
        shown: &str,
        tools: Option<&BTreeSet<String>>,
        by: DecidedBy,
    ) -> anyhow::Result<Pending> {
        let found = self.server(server)?;
        let Some(upstream) = found.config().bridge() else {
            return Ok(Pending::default());
        };
        self.decisions.note(&Decision {
            what: "approve",
            subject: server,
            shown,
            by,
        })?;
        let selection = Selection {
            tools,
            ..found.selection()
        };
        let approved = self
            .store
            .approve(&upstream.fingerprint, shown, selection)?;
        self.refresh(None);
        Ok(approved)
    }
}

/// Returns the text of the form in which a user is asked to approve the pending items of a server.
fn shown(server: &str, pending: &Pending, gone: Option<&Gone>) -> String {
    let counts = counts(pending, gone);
    let mut message = format!("What `{server}` offers is not what you have approved ({counts}):\n");
    for item in pending.iter() {
        // Nobody is asked with more than that.
        if message.len() > MAX_QUESTION_BYTES {
            break;
        }
        message.push('\n');
        message.push_str(&difference(item));
    }
    if let Some(gone) = gone {
        message.push('\n');
        message.push_str(&gone.list());
    }
    message
}
