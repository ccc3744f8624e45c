//! Running hosts: whether they answer, and are of this version and configuration.

use dormouse_text::visible::visible_path;
use serde_json::Value;

use super::Rows;
use crate::cli::{hosts, status as cli_status};
use crate::control;
use crate::roster::{Places, Status};

impl Rows {
    /// Checks the hosts that run.
    pub(super) fn hosts(&mut self, places: &Places) {
        let answers = match hosts::block_on(control::ask_all("status", Value::Null)) {
            Ok(answers) => answers,
            Err(error) => {
                self.error("hosts", format!("{error:#}"));
                return;
            }
        };
        if answers.is_empty() {
            self.ok("hosts", "none is running");
        }
        for answer in answers {
            let about = format!("host {}", answer.pid);
            let status = answer
                .outcome
                .and_then(|value| Ok(serde_json::from_value::<Status>(value)?));
            match status {
                Err(error) => self.error(
                    about,
                    format!(
                        "{error}\nhint: end the process {}; its agent starts another",
                        answer.pid
                    ),
                ),
                Ok(status) if status.version != env!("CARGO_PKG_VERSION") => self.warning(
                    about,
                    format!(
                        "it is version {}, and this is {}\nhint: restart the agent that started it",
                        status.version,
                        env!("CARGO_PKG_VERSION")
                    ),
                ),
                Ok(status) => {
                    let other = if status.config == places.config {
                        String::new()
                    } else {
                        format!(
                            " of another configuration, {}",
                            visible_path(&status.config)
                        )
                    };
                    let shown = status.shown_to.iter().map(cli_status::shown_to);
                    let shown: String =
                        shown.map(|line| format!("\n{}", line.trim_end())).collect();
                    self.ok(about, format!("running{other}{shown}"));
                }
            }
        }
    }
}
