//! One configured server.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dormouse_catalog::error::Problem;
use dormouse_catalog::{Entry, ListedItem, ListedTool, Listing, ReadError, Stamp};
use dormouse_wit::Function;
use serde_json::{Map, Value, json};

use super::{Context, NoSuchTool, Refusal, names};
use crate::config::ServerConfig;
use crate::runtime::{Call, CallError, Callable, Runtime, Slot, Target, Tool, Wanted};

/// One configured server, with what is known of it at that moment: a plugin at one
/// content of its file, or an upstream as it was when it was last seen.
#[derive(Debug)]
pub struct Server {
    config: ServerConfig,
    listing: Option<Arc<Listing>>,
    /// What the plugin's file looked like.
    stamp: Option<Stamp>,
    problem: Option<String>,
    /// Made by the first call. The next one of this server shares it if all that
    /// matters to it is still the same.
    slot: Arc<OnceLock<Arc<Slot>>>,
    /// What the tools that have been called need to be called, by their place among
    /// all of them: parsed once.
    callable: Mutex<HashMap<usize, Arc<Callable>>>,
    tally: Arc<Tally>,
}

/// What is counted of a server as long as its host runs.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) calls: AtomicU64,
    pub(super) running: AtomicU64,
}

impl Server {
    /// The server as it is configured now, and as its file was read now (not at
    /// all, if it is disabled). Where nothing is new, the old one.
    pub(super) fn next(
        old: Option<&Arc<Self>>,
        config: ServerConfig,
        read: Option<Result<Arc<Entry>, ReadError>>,
    ) -> Arc<Self> {
        let same_file = |old: &&Arc<Self>| old.config.adapter == config.adapter;
        let (known, problem) = match read {
            None => (None, None),
            Some(Ok(entry)) => (Some((entry.listing.clone(), entry.stamp)), None),
            // A file that is damaged may be one that is being written: what it
            // declared until now stays in the list, so that agents do not lose
            // it for a moment. A file that is gone has nothing in the list.
            Some(Err(error)) => {
                let kept = match error.problem {
                    Problem::Missing => None,
                    _ => old.filter(same_file).and_then(|old| old.known()),
                };
                (kept, Some(error.to_string()))
            }
        };
        let (listing, stamp) = known.unzip();
        if let Some(old) = old {
            let same_content = match (&old.listing, &listing) {
                (Some(one), Some(other)) => old.stamp == stamp && same(one, other),
                (None, None) => true,
                _ => false,
            };
            if same_content && old.problem == problem && old.config == config {
                return old.clone();
            }
            let slot = if same_content && old.problem == problem && old.runs_like(&config) {
                old.slot.clone()
            } else {
                Arc::default()
            };
            return Arc::new(Self {
                config,
                listing,
                stamp,
                problem,
                slot,
                callable: Mutex::default(),
                tally: old.tally.clone(),
            });
        }
        Arc::new(Self {
            config,
            listing,
            stamp,
            problem,
            slot: Arc::default(),
            callable: Mutex::default(),
            tally: Arc::default(),
        })
    }

    /// Whether another configuration makes no difference to running instances.
    fn runs_like(&self, other: &ServerConfig) -> bool {
        let ServerConfig {
            adapter,
            instance,
            grants,
            limits,
            settings,
            // These are about how it is shown, or where that is written.
            name: _,
            enabled: _,
            prefix: _,
            from: _,
            origin: _,
        } = &self.config;
        (adapter, instance, grants, limits, settings)
            == (
                &other.adapter,
                &other.instance,
                &other.grants,
                &other.limits,
                &other.settings,
            )
    }

    /// How it is configured.
    #[must_use]
    pub fn config(&self) -> &ServerConfig {
        &self.config
    }

    /// What its plugin declares, as far as that could ever be read; nothing is
    /// read of a disabled server.
    #[must_use]
    pub fn listing(&self) -> Option<&Arc<Listing>> {
        self.listing.as_ref()
    }

    /// What its plugin's file looked like when it was read.
    #[must_use]
    pub fn stamp(&self) -> Option<&Stamp> {
        self.stamp.as_ref()
    }

    fn known(&self) -> Option<(Arc<Listing>, Stamp)> {
        Some((self.listing.clone()?, self.stamp?))
    }

    /// Why its plugin cannot be used as it is now.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// What it declares, if its tools are to be listed.
    #[must_use]
    pub fn listed(&self) -> Option<&Arc<Listing>> {
        self.listing.as_ref().filter(|_| self.config.enabled)
    }

    pub(super) fn slot(&self) -> Option<&Arc<Slot>> {
        self.slot.get()
    }

    pub(super) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// What it declares, if it may be called.
    fn available(&self) -> Result<&Arc<Listing>, NoSuchTool> {
        let name = &self.config.name;
        let unavailable = |state: String| NoSuchTool::Unavailable {
            server: name.clone(),
            state,
        };
        if !self.config.enabled {
            return Err(unavailable(format!(
                "disabled\nhint: `dormouse enable {name}` switches it on"
            )));
        }
        self.listing.as_ref().ok_or_else(|| {
            let problem = self.problem.as_deref().unwrap_or("its file was never read");
            unavailable(format!("failed: {problem}"))
        })
    }

    pub(super) async fn call(
        &self,
        runtime: &Runtime,
        tool: &str,
        arguments: Map<String, Value>,
        context: Context,
    ) -> Result<Value, NoSuchTool> {
        let name = &self.config.name;
        let listing = self.available()?;
        let tools = &listing.tools;
        let mut places = tools.iter().enumerate();
        let Some((index, listed)) = places.find(|(_, listed)| listed.name == tool) else {
            return Err(NoSuchTool::Tool {
                server: name.clone(),
                tool: tool.to_owned(),
                nearest: names::nearest(tool, tools.iter().map(|listed| listed.name.as_str())),
            });
        };
        let failed = |why: &str| {
            Ok(tool_error(format!(
                "tool `{tool}` of server `{name}` could not be called: {why}"
            )))
        };
        let callable = match self.callable(index, listed) {
            Ok(callable) => callable,
            Err(error) => return failed(&format!("its declaration cannot be read: {error}")),
        };
        let slot = match self.started(runtime, listing) {
            Ok(slot) => slot,
            Err(why) => return failed(&why),
        };
        let wanted = Wanted::Tool(Tool {
            name: tool.to_owned(),
            callable,
            arguments,
        });
        match self.run(slot, wanted, context).await {
            Ok(result) => Ok(result),
            Err(error) => Ok(error.to_result()),
        }
    }

    /// Asks for something else than a tool.
    pub(super) async fn ask(
        &self,
        runtime: &Runtime,
        wanted: Wanted,
        context: Context,
    ) -> Result<Value, Refusal> {
        let failed = |why: String| Refusal::Failed(why);
        let listing = self.available().map_err(|why| failed(why.to_string()))?;
        let slot = self.started(runtime, listing).map_err(failed)?;
        Ok(self.run(slot, wanted, context).await?)
    }

    async fn run(&self, slot: &Slot, wanted: Wanted, context: Context) -> Result<Value, CallError> {
        let _running = Running::begin(&self.tally);
        let call = Call {
            wanted,
            session: context.session,
            cancel: context.cancel,
            listener: context.listener,
        };
        slot.call(call).await
    }

    fn callable(&self, index: usize, listed: &ListedTool) -> serde_json::Result<Arc<Callable>> {
        let known = || self.callable.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(callable) = known().get(&index) {
            return Ok(callable.clone());
        }
        let mut tool: Map<String, Value> = serde_json::from_str(listed.tool.get())?;
        let callable = Arc::new(Callable {
            function: listed.function()?,
            input_schema: tool.remove("inputSchema").unwrap_or_else(|| json!({})),
        });
        known().insert(index, callable.clone());
        Ok(callable)
    }

    fn started(&self, runtime: &Runtime, listing: &Listing) -> Result<&Arc<Slot>, String> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        if let Some(slot) = self.slot.get() {
            return Ok(slot);
        }
        let Some(component) = self.config.component() else {
            return Err("bridges are not built yet".into());
        };
        let items = listing.items().map(ListedItem::function);
        let functions = listing.tools.iter().map(ListedTool::function).chain(items);
        let functions = functions
            .filter_map(Result::transpose)
            .collect::<Result<Vec<Function>, _>>()
            .map_err(|error| format!("its declaration cannot be read: {error}"))?;
        Ok(self.slot.get_or_init(|| {
            runtime.slot(Target {
                server: self.config.name.clone(),
                path: component.to_owned(),
                instance: self.config.instance.unwrap_or(listing.instance),
                functions,
                grants: self.config.grants.clone(),
                limits: self.config.limits.clone(),
                settings: self.config.settings.clone(),
            })
        }))
    }
}

/// Counts a call while it runs, however it ends.
struct Running<'a>(&'a Tally);

impl<'a> Running<'a> {
    fn begin(tally: &'a Tally) -> Self {
        tally.calls.fetch_add(1, Ordering::Relaxed);
        tally.running.fetch_add(1, Ordering::Relaxed);
        Self(tally)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether two listings are of one content. A file that has just been written is
/// read again although it looks the same, because it may not be.
fn same(old: &Arc<Listing>, new: &Arc<Listing>) -> bool {
    Arc::ptr_eq(old, new) || declared(old).eq(declared(new))
}

/// The texts of all MCP objects that a listing has.
fn declared(listing: &Listing) -> impl Iterator<Item = &str> {
    let items = listing.items().map(|item| &item.object);
    let all = listing.tools.iter().map(|tool| &tool.tool).chain(items);
    all.map(|object| object.get())
}

/// What went wrong inside of a tool, as MCP tells it to a model.
fn tool_error(text: String) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}
