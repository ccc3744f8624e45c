//! Calls of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dormouse_catalog::ListedTool;
use dormouse_protocol::Answer;
use dormouse_protocol::attribution::remark;
use dormouse_runtime::{
    Arguments, Call, CallCondition, CallError, Callable, Cause, ENDED, GuestRequest, Schemas, Slot,
    ToolRequest, UpstreamCallCondition,
};
use serde_json::{Map, Value, json};

use super::{DISCOVER, Server, bridge};
use crate::roster::error::tool_error;
use crate::roster::{CallContext, NoSuchTool, OfferRefusal, Roster, names};
use crate::store::Gated;

/// Counts of a server, kept as long as its host runs.
#[derive(Debug, Default)]
pub(in super::super) struct Tally {
    pub(in super::super) calls: AtomicU64,
    pub(in super::super) running: AtomicU64,
}

impl Server {
    /// Calls one of its tools, on a condition for each request of the call to its upstream, and on another for each
    /// tool that its component calls there.
    ///
    /// # Errors
    /// There is no such tool, the server is none that may be called, or its upstream refuses.
    pub(in super::super) async fn call(
        &self,
        roster: &Roster,
        tool: &str,
        arguments: Arguments,
        context: CallContext,
        condition: Option<Arc<dyn CallCondition>>,
        of_upstream: Option<UpstreamCallCondition>,
    ) -> Result<Answer, OfferRefusal> {
        let name = &self.config.name;
        let listing = self.available()?;
        let tools = &listing.tools;
        let mut places = tools.iter().enumerate();
        let Some((index, listed)) = places.find(|(_, listed)| listed.name == tool) else {
            let nearest = names::nearest(tool, tools.iter().map(|listed| listed.name.as_str()))
                .map(str::to_owned);
            return Err(self.no_tool(tool, nearest).into());
        };
        let failed = |why: &str| {
            Ok(Answer::Made(tool_error(format!(
                "tool `{tool}` of server `{name}` could not be called: {why}"
            ))))
        };
        let callable = match self.callable(index, listed) {
            Ok(callable) => callable,
            Err(error) => return failed(&format!("its declaration cannot be read: {error}")),
        };
        let slot = match self.started(roster, listing) {
            Ok(slot) => slot,
            Err(why) => return failed(&why),
        };
        let wanted = GuestRequest::Tool(ToolRequest {
            name: tool.to_owned(),
            callable,
            arguments,
        });
        match self
            .run(slot, wanted, context, condition, of_upstream)
            .await
        {
            Ok(result) => Ok(result),
            // What the upstream refuses, it refuses to the agent.
            Err(error) if matches!(error.cause, Cause::Upstream { .. }) => Err(error.into()),
            Err(error) => Ok(error.to_result().into()),
        }
    }

    /// Answers a request for something else than a tool, on a condition, and on another for each tool that
    /// its component calls at its upstream.
    pub(in super::super) async fn ask(
        &self,
        roster: &Roster,
        wanted: GuestRequest,
        context: CallContext,
        condition: Option<Arc<dyn CallCondition>>,
        of_upstream: Option<UpstreamCallCondition>,
    ) -> Result<Answer, OfferRefusal> {
        let failed = |why: String| OfferRefusal::Failed(why);
        let listing = self.available().map_err(|why| failed(why.to_string()))?;
        let slot = self.started(roster, listing).map_err(failed)?;
        Ok(self
            .run(slot, wanted, context, condition, of_upstream)
            .await?)
    }

    async fn run(
        &self,
        slot: &Arc<Slot>,
        wanted: GuestRequest,
        context: CallContext,
        condition: Option<Arc<dyn CallCondition>>,
        of_upstream: Option<UpstreamCallCondition>,
    ) -> Result<Answer, CallError> {
        let _running = CountedCall::begin(&self.tally);
        let call = Call {
            wanted,
            session: context.session,
            cancel: context.cancel,
            listener: context.listener,
            condition,
            upstream_condition: of_upstream,
        };
        slot.call(call).await
    }

    /// Returns a line on the last start of an upstream that nobody knows, where that has failed.
    #[must_use]
    pub fn last_failure(&self) -> String {
        let why = self
            .failed_start()
            .and_then(|failed| failed.why.lines().next());
        why.map(remark).map_or_else(String::new, |why| {
            format!("its last start has failed: {why}\n")
        })
    }

    /// Checks whether it has a tool that connects it while nothing is known of its upstream. No tool of
    /// the upstream's has the name of that, also when it is known: what an agent takes for the one must
    /// not be the other.
    fn has_discover(&self) -> bool {
        let upstream = self.config.bridge();
        upstream.is_some_and(|upstream| !bridge::has_stubs(upstream))
            && self.config.component().is_none()
    }

    /// Checks whether a tool of its is the one that connects it while nothing is known of its upstream.
    pub(in super::super) fn is_discover(&self, tool: &str) -> bool {
        tool == DISCOVER && self.has_discover()
    }

    /// Returns the name under which agents see the tool that connects it while nothing is known of its
    /// upstream. None where it has no such tool.
    pub(in super::super) fn discover_name(&self) -> Option<String> {
        let config = &self.config;
        let name = || names::shown(&config.name, config.prefix.as_deref(), DISCOVER);
        self.has_discover().then(name)
    }

    /// Checks whether nothing is known of its upstream, not even by name.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.known.is_none() && self.has_discover()
    }

    /// Returns a hint at what finds out what a server offers of which nothing is known.
    #[must_use]
    pub fn how_to_discover(&self) -> String {
        let config = &self.config;
        let tool = names::shown(&config.name, config.prefix.as_deref(), DISCOVER);
        format!(
            "hint: `dormouse sync {}` finds out, and so does its tool `{tool}`",
            config.name
        )
    }

    fn no_tool(&self, tool: &str, nearest: Option<String>) -> NoSuchTool {
        if self.is_unknown() {
            let name = &self.config.name;
            let hint = match self.reachable() {
                Ok(_) => format!("{}{}", self.last_failure(), self.how_to_discover()),
                Err(why) => why,
            };
            return NoSuchTool::NotKnown {
                server: name.clone(),
                tool: tool.to_owned(),
                hint,
            };
        }
        let (server, tool) = (self.config.name.clone(), tool.to_owned());
        if self.gone().any(|gone| gone == (Gated::Tool, &tool)) {
            return NoSuchTool::Gone { server, tool };
        }
        if self.left_out().any(|left_out| left_out == tool) {
            let why = self.why_left_out(&tool);
            return NoSuchTool::LeftOut { server, why };
        }
        NoSuchTool::Tool {
            server,
            tool,
            nearest,
        }
    }

    fn callable(&self, index: usize, listed: &ListedTool) -> serde_json::Result<Arc<Callable>> {
        let known = || self.prepared.callable.lock();
        if let Some(callable) = known().get(&index) {
            return Ok(callable.clone());
        }
        let function = listed.function()?;
        let upstream = self.config.bridge().is_some();
        let schemas = (function.is_some() || !upstream).then(|| {
            let mut tool: Map<String, Value> = serde_json::from_str(listed.tool.get())?;
            let input = tool.remove("inputSchema").unwrap_or_else(|| json!({}));
            // What a function returns is what its schema says by itself.
            let output = tool.remove("outputSchema").filter(|_| function.is_none());
            Ok(Schemas::new(input, output))
        });
        let callable = Arc::new(Callable {
            schemas: schemas.transpose()?,
            function,
        });
        known().insert(index, callable.clone());
        Ok(callable)
    }

    /// Connects its upstream, if it is not connected already, and waits until its tools are known as of
    /// all changes that it has announced, and `tool`, if there is one, as the caller's connection is told
    /// it.
    ///
    /// # Errors
    /// It cannot be connected: why.
    pub(in super::super) async fn connect(
        &self,
        roster: &Roster,
        tool: Option<&str>,
        context: CallContext,
    ) -> Result<(), String> {
        let listing = self.available().map_err(|why| why.to_string())?;
        let slot = self.started(roster, listing)?;
        let Some(upstream) = slot.upstream() else {
            return Ok(());
        };
        let call = async {
            let connected = upstream.connect(context.session, &context.listener).await;
            connected?.tools_known(tool).await
        };
        let connected = tokio::select! {
            connected = call => connected.map_err(|failure| failure.to_string()),
            () = context.cancel.cancelled() => Err("the call was cancelled".to_owned()),
            () = slot.ended() => Err(ENDED.to_owned()),
        };
        // No call has loaded the adapter, and what runs is to be stopped all the same.
        slot.stop_when_idle();
        connected
    }

    pub(in super::super) fn tally(&self) -> &Tally {
        &self.tally
    }
}

/// Counts a call while it runs, however it ends.
struct CountedCall<'a>(&'a Tally);

impl<'a> CountedCall<'a> {
    fn begin(tally: &'a Tally) -> Self {
        tally.calls.fetch_add(1, Ordering::Relaxed);
        tally.running.fetch_add(1, Ordering::Relaxed);
        Self(tally)
    }
}

impl Drop for CountedCall<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}
