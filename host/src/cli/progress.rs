//! Progress bars on a terminal; nothing is shown elsewhere.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::output;
use super::stderr::shown;

/// Number of steps that a bar is divided into.
const STEPS: u64 = 1000;

/// Progress line on stderr.
pub(super) struct ProgressLine {
    bar: ProgressBar,
}

impl ProgressLine {
    /// Makes a progress line without a known total.
    pub(super) fn new(message: &str) -> Self {
        let bar = ProgressBar::new_spinner();
        *shown() = Some(bar.clone());
        bar.set_message(output::first_line(message, 60));
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar }
    }

    /// Shows the progress, and its part of the total where that is known.
    pub(super) fn at(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        if let Some(message) = message {
            self.bar.set_message(output::first_line(message, 60));
        }
        let part = total.map(|total| progress / total);
        if let Some(part) = part.filter(|part| part.is_finite()) {
            if self.bar.length().is_none() {
                self.bar.set_length(STEPS);
                // The template is ours and right; without it there is a plain bar.
                if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3}% {msg}") {
                    self.bar.set_style(style);
                }
            }
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "it is between 0 and the number of steps"
            )]
            self.bar
                .set_position((part.clamp(0.0, 1.0) * STEPS as f64) as u64);
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        *shown() = None;
        self.bar.finish_and_clear();
    }
}
