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
        let (asked, caller) = (ConfirmationSubject::Trust, &context.listener);
        let decided = tokio::select! {
            decided = self.decided_before(&asked, caller) => decided,
            () = context.cancel.cancelled() => Some(Err(Unconfirmed::NoAnswer)),
        };
        match decided {
            // It opens all that the project's files name.
            None => {}
            Some(Ok(())) => return trusted(),
            Some(Err(why)) => return not_trusted(why),
        }
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
        let confirmed = tokio::select! {
            confirmed = self.confirm(asked, caller, message, what) => confirmed,
            // Others are to be asked anew.
            () = context.cancel.cancelled() => Err(Unconfirmed::NoAnswer),
        };
        match confirmed {
            Err(why) => not_trusted(why),
            Ok(AgreedForm::WithAnother) => trusted(),
            Ok(AgreedForm::Now(form)) => {
                let trust = || self.trust(&review, DecidedBy::Client);
                let outcome = without_blocking(usize::MAX, trust);
                form.done(outcome.is_ok());
                match outcome {
                    Ok(()) => trusted(),
                    Err(error) => tool_error(format!("{error:#}")),
                }
            }
        }
    }
}

fn trusted() -> Value {
    let text = "The project is trusted now. The list of tools has those of its servers.";
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn not_trusted(why: Unconfirmed) -> Value {
    tool_error(format!(
        "the project is not trusted: {why}\n\
         hint: `dormouse trust` in its folder shows what its servers are, and allows them"
    ))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use dormouse_config::discovery::Surroundings;
    use dormouse_protocol::{Answer, AskError, Capability, Listener, Question};
    use dormouse_tests::telltale_links::TelltaleLinks;
    use futures::FutureExt as _;
    use futures::future::{BoxFuture, ready};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::roster::Places;
    use crate::roster::tests::Home;

    /// User who declines all forms, where their client has any.
    struct DecliningUser {
        has_forms: bool,
    }

    impl Listener for DecliningUser {
        fn progress(&self, _: f64, _: Option<f64>, _: Option<String>) {}

        fn log(&self, _: &'static str, _: Option<String>, _: Value) {}

        fn supports(&self, _: Capability) -> bool {
            self.has_forms
        }

        fn may_decide(&self) -> bool {
            true
        }

        fn ask(&self, _: Vec<Question>) -> BoxFuture<'static, Result<Vec<Answer>, AskError>> {
            let declined = Answer::Made(json!({ "action": "decline" }));
            ready(Ok(vec![declined])).boxed()
        }
    }

    /// Each review opens what the project's files name, however often a model asks for one.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_project_is_reviewed_only_where_its_user_is_asked() {
        let home = Home::new();
        for folder in ["project/.git", "project/.cursor"] {
            fs::create_dir_all(home.path(folder)).unwrap();
        }
        fs::create_dir(home.path("outside")).unwrap();
        let mut links = TelltaleLinks::new(&home.path("outside")).unwrap();
        let project = home.path("project");
        let around = Surroundings::new(home.path(""), [].into(), Some(&project));
        let places = Places {
            around: Some(around),
            ..home.places()
        };
        let roster = Roster::open(places).unwrap();
        for (number, has_forms, is_reviewed) in
            [(0, false, false), (1, true, true), (2, true, false)]
        {
            let named = links
                .to_file(&format!("file-{number}"), "KEY=value\n")
                .unwrap();
            let server = json!({ "command": "x", "envFile": named });
            let servers = json!({ "mcpServers": { "a": server } });
            fs::write(project.join(".cursor/mcp.json"), servers.to_string()).unwrap();
            let context = CallContext {
                session: None,
                profile: None,
                cancel: CancellationToken::new(),
                listener: Arc::new(DecliningUser { has_forms }),
            };
            let told = roster.ask_to_trust(context).await.to_string();
            assert!(told.contains("the project is not trusted"), "{told}");
            let is_followed = links.followed().unwrap().contains(&named.as_path());
            assert_eq!(is_followed, is_reviewed, "{number}: {told}");
        }
    }
}
