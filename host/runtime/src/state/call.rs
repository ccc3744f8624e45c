//! `dormouse:plugin/call`: progress, logs and the end of the running call.

use dormouse_protocol::{attribution, severity};
use dormouse_text::log_text::logger_name;
use dormouse_upstream::{SHOWING_TIMES, without_blocking};
use serde_json::Value;

use super::InstanceState;
use crate::bindings::dormouse::plugin::call;

/// Longest message of a guest to its agent, in bytes: messages that wait to be sent are memory of
/// the host and not of the guest.
const TEXT: usize = 64 << 10;

impl call::Host for InstanceState {
    fn progress(&mut self, progress: f64, total: Option<f64>, message: Option<String>) {
        if let Some(call) = &self.call {
            let message = message.map(|message| {
                without_blocking(message.len().saturating_mul(SHOWING_TIMES), || {
                    attribution::progress_message(&self.output.redact_beginning(&message, TEXT))
                })
            });
            call.listener.progress(progress, total, message);
        }
    }

    fn log(&mut self, level: call::LogLevel, logger: Option<String>, data: String) {
        let level = match level {
            call::LogLevel::Debug => "debug",
            call::LogLevel::Info => "info",
            call::LogLevel::Notice => "notice",
            call::LogLevel::Warning => "warning",
            call::LogLevel::Error => "error",
            call::LogLevel::Critical => "critical",
            call::LogLevel::Alert => "alert",
            call::LogLevel::Emergency => "emergency",
        };
        let bytes = data.len() + logger.as_ref().map_or(0, String::len);
        without_blocking(bytes.saturating_mul(SHOWING_TIMES), || {
            self.tell_log(level, logger, data);
        });
    }

    fn is_cancelled(&mut self) -> bool {
        self.call
            .as_ref()
            .is_some_and(|call| call.cancel.is_cancelled())
    }
}

impl InstanceState {
    /// Logs a message of the guest, and tells it to the client of the running call.
    fn tell_log(&self, level: &'static str, logger: Option<String>, data: String) {
        let logger = logger.map(|logger| logger_name(&self.output.redact_beginning(&logger, TEXT)));
        // A text is much smaller than the value that it can be parsed to.
        let data = if data.len() > TEXT {
            Value::String(self.output.redact_beginning(&data, TEXT).into_owned())
        } else {
            serde_json::from_str(&data).unwrap_or(Value::String(data))
        };
        let data = self.output.redact_value(data);
        match &data {
            Value::String(text) => self.output.log(level, logger.as_deref(), text),
            data => self.output.log(level, logger.as_deref(), &data.to_string()),
        }
        if let Some(call) = &self.call {
            // Messages below the level that a client has asked for go to the host's own log only,
            // as above.
            let least = call.listener.level();
            if least.is_some_and(|least| severity(level) < severity(least)) {
                return;
            }
            let logger = attribution::logger(&self.server, logger.as_deref());
            let data = attribution::log_data(data);
            call.listener.log(level, Some(logger), data);
        }
    }
}
