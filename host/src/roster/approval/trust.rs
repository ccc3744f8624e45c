//! Trust in the project that the host works in. Before it is trusted, the roster has no server of
//! it that could be listed, called or started.

use std::path::Path;

use anyhow::Context as _;
use dormouse_config::ProjectReview;
use dormouse_policy::real_path;
use dormouse_upstream::without_blocking;
use serde_json::{Value, json};

use super::code_block::judged_block;
use super::confirm::{AgreedForm, ConfirmationSubject, Unconfirmed};
use crate::roster::error::tool_error;
use crate::roster::{CallContext, Roster};
use crate::store::{DecidedBy, Decision, RecordedFolders};

impl Roster {
    /// Returns the review of the project that is not trusted yet, as it is now.
    ///
    /// # Errors
    /// There is none, or the configuration cannot be read.
    pub fn review_project(&self) -> anyhow::Result<ProjectReview> {
        let configured = self.configured()?;
        let untrusted = configured.untrusted.as_ref();
        let folder = untrusted.and_then(|project| project.folder.as_deref());
        let folder = folder.context("there is no project here that is not trusted")?;
        self.review(folder)
    }

    /// Returns the review of a project, trusted or not, as it is now.
    ///
    /// # Errors
    /// It has no servers, or the configuration cannot be read.
    pub fn review(&self, project: &Path) -> anyhow::Result<ProjectReview> {
        self.configured_for_review(project)?.review(project)
    }

    /// Trusts a project with the content that its user was shown.
    ///
    /// # Errors
    /// It is no longer what was shown, or that cannot be kept.
    pub fn trust(&self, shown: &ProjectReview, by: DecidedBy) -> anyhow::Result<()> {
        shown.check_usable()?;
        RecordedFolders::check_project(&shown.folder, &shown.real_paths)?;
        let configured = self.configured_for_review(&shown.folder)?;
        configured.check(shown)?;
        self.decisions.note(&Decision {
            what: "trust",
            subject: &shown.folder.to_string_lossy(),
            shown: &shown.content,
            by,
        })?;
        // Folders and files of secrets are where they were shown to be, wherever links lead by now.
        let recorded = RecordedFolders::new(&self.places.data);
        recorded.record_project(&shown.folder, &shown.real_paths)?;
        let secrets = configured.files_of_project_secrets().map(|file| {
            let real = shown.real_paths.get(file).cloned();
            real.unwrap_or_else(|| real_path(file))
        });
        recorded.record_secrets(&shown.folder, &secrets.collect())?;
        // To the hash of what was shown, whatever the files say by now.
        self.trust.grant(&shown.folder, &shown.content)?;
        self.reload()
    }

    /// Asks the user of a call's client to trust the project: an MCP `CallToolResult`.
    pub async fn ask_to_trust(&self, context: CallContext) -> Value {
        // The project's files decide how much there is to read.
        let review = match without_blocking(usize::MAX, || self.review_project()) {
            Ok(review) => review,
            Err(error) => return tool_error(format!("{error:#}")),
        };
        if let Err(error) = review.check_usable() {
            return tool_error(format!(
                "{error:#}\nhint: `dormouse trust` in its folder says what is wrong with them"
            ));
        }
        let message = format!(
            "{}\nTrust this project, and let all of these servers be started?",
            judged_block(&review.text)
        );
        let what = "Trust this project";
        let caller = &context.listener;
        let confirmed = tokio::select! {
            confirmed = self.confirm(ConfirmationSubject::Trust, caller, message, what) => confirmed,
            // Others are to be asked anew.
            () = context.cancel.cancelled() => Err(Unconfirmed::NoAnswer),
        };
        let trusted = match confirmed {
            Err(why) => {
                return tool_error(format!(
                    "the project is not trusted: {why}\n\
                     hint: `dormouse trust` in its folder shows what its servers are, and allows \
                     them"
                ));
            }
            Ok(AgreedForm::WithAnother) => Ok(()),
            Ok(AgreedForm::Now(form)) => {
                let trust = || self.trust(&review, DecidedBy::Client);
                let trusted = without_blocking(usize::MAX, trust);
                form.done(trusted.is_ok());
                trusted
            }
        };
        match trusted {
            Err(error) => tool_error(format!("{error:#}")),
            Ok(()) => {
                let text =
                    "The project is trusted now. The list of tools has those of its servers.";
                json!({ "content": [{ "type": "text", "text": text }] })
            }
        }
    }
}
