//! Methods of the control socket.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::wire::RpcError;
use crate::mcp;
use crate::roster::{RevokedAnswers, Roster};

/// Answers requests.
pub(super) trait Methods: Clone + Send + Sync + 'static {
    fn call(
        &self,
        method: &str,
        params: Value,
    ) -> impl Future<Output = Result<Value, RpcError>> + Send;
}

impl Methods for Arc<Roster> {
    async fn call(&self, method: &str, params: Value) -> Result<Value, RpcError> {
        #[derive(Deserialize)]
        struct Whose {
            config: Option<PathBuf>,
        }
        #[derive(Deserialize)]
        struct Restart {
            server: String,
        }
        #[derive(Deserialize)]
        struct AnswersOf {
            server: String,
        }
        #[derive(Deserialize)]
        struct Revoke {
            server: String,
            revoked: RevokedAnswers,
        }
        #[derive(Deserialize)]
        struct Switch {
            server: String,
            on: bool,
        }
        // Whoever changes one configuration asks all hosts, and means its own.
        let whose = match &params {
            Value::Null => None,
            params => read::<Whose>(params.clone())?.config,
        };
        let ours = whose.is_none_or(|config| same_file(&config, self.config_path()));
        match method {
            "status" => {
                let roster = self.clone();
                // It reads files, and looks at all declarations.
                let status = tokio::task::spawn_blocking(move || {
                    let mut status = roster.status();
                    mcp::add_token_costs(&roster, &mut status);
                    serde_json::to_value(status).context("the status cannot be written")
                });
                let status = status.await.context("the status broke off");
                let status = status.and_then(|status| status);
                status.map_err(|error| RpcError::failed(&error))
            }
            "reload" => {
                if !ours {
                    return Ok(json!({ "reloaded": false }));
                }
                let roster = self.clone();
                // It reads files.
                let reloaded = tokio::task::spawn_blocking(move || roster.reload()).await;
                let reloaded = reloaded.context("the reload broke off");
                match reloaded.map_err(|error| RpcError::failed(&error))? {
                    Ok(()) => Ok(json!({ "reloaded": true })),
                    // Of all else it has heard.
                    Err(error) => Ok(json!({ "reloaded": true, "warning": format!("{error:#}") })),
                }
            }
            "switch" => {
                let Switch { server, on } = read(params)?;
                let done = ours && self.switch_once(&server, on);
                Ok(json!({ (if on { "enabled" } else { "disabled" }): done }))
            }
            "revoke" => {
                let Revoke { server, revoked } = read(params)?;
                if !ours {
                    return Ok(json!({ "revoked": false }));
                }
                let answers = self.revoke_session_answers(&server, &revoked);
                if answers == RevokedAnswers::default() {
                    return Ok(json!({ "revoked": false }));
                }
                let answers = serde_json::to_value(answers).context("they cannot be written");
                let answers = answers.map_err(|error| RpcError::failed(&error))?;
                Ok(json!({ "revoked": true, "answers": answers }))
            }
            "session_answers" => {
                let AnswersOf { server } = read(params)?;
                let answers = match ours {
                    true => self.session_answers(&server),
                    false => RevokedAnswers::default(),
                };
                let answers = serde_json::to_value(answers).context("they cannot be written");
                let answers = answers.map_err(|error| RpcError::failed(&error))?;
                Ok(json!({ "answers": answers }))
            }
            "restart" => {
                let Restart { server } = read(params)?;
                Ok(json!({ "restarted": ours && self.restart(&server) }))
            }
            _ => Err(RpcError::unknown_method(method)),
        }
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, RpcError> {
    serde_json::from_value(params).map_err(RpcError::bad_params)
}

/// Checks whether two paths lead to one file, through any links. A file that is gone is compared by
/// its path.
fn same_file(a: &Path, b: &Path) -> bool {
    a == b
        || matches!(
            (a.canonicalize(), b.canonicalize()),
            (Ok(a), Ok(b)) if a == b
        )
}
