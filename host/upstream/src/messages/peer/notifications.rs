//! Notifications of an upstream.

use dormouse_jsonrpc::member;
use dormouse_protocol::{LEVELS, attribution};
use dormouse_text::log_text::{escaped, logger_name};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tracing::Level;

use super::Peer;
use crate::messages::oddity::Oddity;

/// The longest text of a message that is passed on, in bytes.
const TEXT: usize = 64 << 10;

impl Peer {
    /// Handles a notification of the upstream.
    pub(super) fn told(&self, method: &str, params: Option<&str>, about: Option<u64>) {
        let params = params.unwrap_or("{}");
        match method {
            "notifications/progress" => self.progress(params),
            "notifications/message" => self.log(params, about),
            "notifications/cancelled" => {
                if let Some(id) = member(params, "requestId") {
                    self.asked.lock().cancel(id);
                }
            }
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed" => self.list_changes.note(),
            "notifications/subscriptions/acknowledged" => self.acknowledged.notify_one(),
            "notifications/resources/updated" => {
                let uri = member(params, "uri");
                let uri = uri.and_then(|uri| serde_json::from_str::<String>(uri).ok());
                if let (Some(policy), Some(uri)) = (&self.policy, uri) {
                    policy.updated(&uri);
                }
            }
            "notifications/elicitation/complete" => self.page_done(params),
            _ => {}
        }
    }

    /// Tells whoever was asked to open a page that it is done: the call that still waits, or the
    /// client of its session.
    fn page_done(&self, params: &str) {
        let params = self.secrets.redact_learnt_json(params);
        let id = member(&params, "elicitationId");
        let id = id.and_then(|id| serde_json::from_str::<String>(id).ok());
        let Some(id) = id else {
            return self.odd(Oddity::NoMessage);
        };
        let id = attribution::page_id(&self.server, &id);
        let pages = self.pages.lock().take(&id);
        for page in pages {
            let waiting = page.listener.upgrade();
            let waiting = waiting.filter(|listener| self.callers.has(listener));
            let client = || self.client(page.session?);
            if !waiting.is_some_and(|listener| listener.page_done(&page.id))
                && let Some(client) = client()
            {
                client.page_done(&page.id);
            }
        }
    }

    fn progress(&self, params: &str) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Progress<'t> {
            // Values take many times the memory of their text.
            #[serde(borrow)]
            progress_token: &'t RawValue,
            progress: f64,
            #[serde(default)]
            total: Option<f64>,
            #[serde(default)]
            message: Option<String>,
        }
        let Ok(told) = serde_json::from_str::<Progress<'_>>(params) else {
            return self.odd(Oddity::NoMessage);
        };
        let token = told.progress_token.get();
        let written = token
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let token = written.unwrap_or(token).parse().ok();
        if let Some(listener) = token.and_then(|token| self.listener(token)) {
            let message = told
                .message
                .map(|text| self.secrets.texts().redact_beginning(&text, TEXT))
                .map(|text| attribution::progress_message(&text));
            listener.progress(told.progress, told.total, message);
        }
    }

    fn log(&self, params: &str, about: Option<u64>) {
        #[derive(Deserialize)]
        struct Told {
            #[serde(default)]
            level: String,
            #[serde(default)]
            logger: Option<String>,
            #[serde(default)]
            data: Value,
        }
        if params.len() > TEXT {
            return self.odd(Oddity::NoMessage);
        }
        // Like what a program prints: it goes into logs that are shown to others.
        let params = self.secrets.texts().redact_json(params);
        let Ok(told) = serde_json::from_str::<Told>(&params) else {
            return self.odd(Oddity::NoMessage);
        };
        let level = LEVELS.into_iter().find(|level| *level == told.level);
        // Besides its level, a message may have none that is known.
        let level = level.unwrap_or("info");
        let logger = told.logger.as_deref().map(logger_name);
        let logger = attribution::logger(&self.server, logger.as_deref());
        if let Ok(listener) = self.whom(about, |_| true) {
            return listener.log(level, Some(logger), attribution::log_data(told.data));
        }
        // It may be about any of the calls that run, and some may be another agent's.
        let clients = match self.callers.is_idle() {
            true => self.clients(),
            false => Vec::new(),
        };
        // In the stateless era a log belongs to a request, and one that comes between
        // two of them has nobody to hear it but whoever reads ours.
        if clients.is_empty() && tracing::enabled!(Level::INFO) {
            let data = escaped(&told.data.to_string());
            if let Some(data) = self.log.take(&data) {
                tracing::info!(server = %self.server, "{data}");
            }
        }
        let data = attribution::log_data(told.data);
        for client in clients {
            client.log(level, Some(logger.clone()), data.clone());
        }
    }
}
