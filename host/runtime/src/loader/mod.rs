//! Loading of a component, from its file to instantiation.

mod addressed;
mod flag_lists;
mod link;
mod loaded;
mod signature;

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dormouse_policy::{HostLimits, OwnPlaces};
use dormouse_text::shell_word::shell_word;
use dormouse_text::visible::visible_line;
use dormouse_wit::{Instance, contract, signature::same_signature};
use parking_lot::Mutex;
use tokio::sync::OnceCell;
use wasmtime::component::Component;

pub(crate) use addressed::{AddressedIndex, AddressedResultIndex};
pub use link::{NotOffered, not_offered};
pub(crate) use link::{link, words};
pub(crate) use loaded::{Bound, FunctionIndex, LoadedComponent};

use self::signature::find;
use crate::cache::{Cached, CompileCache, Compiled};
use crate::compiler::{CompileCommand, CompileJob, Compiler};
use crate::engine::{EngineKind, InstanceOrigin, Machine, Machines, POOL_MEMORY};
use crate::memory::{HostMemory, HostShare};
use crate::request::ContractExport;
use crate::sandbox::GrantedFolders;
use crate::server_room::ServerRooms;
use crate::target::{ComponentLocation, Target};

/// A component that is compiled for an engine.
pub(super) struct Ready<'m> {
    pub component: Component,
    pub machine: &'m Machine,
    share: HostShare,
}

/// Loads components, each content at most once at a time.
pub(super) struct Loader {
    pub machines: Machines,
    pub cache: CompileCache,
    /// Places that no grant may reach.
    own: OwnPlaces,
    /// Memory budget of all guests together.
    pub memory: Arc<HostMemory>,
    /// Room of servers in that, and what else all calls of one server have together.
    pub rooms: ServerRooms,
    pub compiler: Compiler,
    /// The contents that are being loaded, by their digests.
    loading: Mutex<HashMap<String, Arc<Mutex<()>>>>,
    pub compiled: AtomicU64,
    pub cache_hits: AtomicU64,
}

impl Loader {
    pub(super) fn new(cache: &Path, own: OwnPlaces, compile: CompileCommand) -> Self {
        let limits = &HostLimits::default();
        Self {
            memory: HostMemory::new(limits.memory()),
            rooms: ServerRooms::default(),
            compiler: Compiler::new(limits, compile),
            machines: Machines::default(),
            cache: CompileCache::new(cache.join("components")),
            own,
            loading: Mutex::default(),
            compiled: AtomicU64::new(0),
            cache_hits: AtomicU64::new(0),
        }
    }

    /// Returns a component, from the cache or compiled now, with its engine. Blocks, for seconds
    /// where a large component is compiled.
    ///
    /// # Errors
    /// It cannot be read or compiled, or does not fit the pool. In the last case its code is in the
    /// cache, from which the other engine takes it.
    pub(super) fn component(
        &self,
        code: &ComponentLocation,
        origin: InstanceOrigin,
    ) -> Result<Ready<'_>, String> {
        let unread = |error: io::Error| format!("{code} cannot be read: {error}");
        let size = code.size().map_err(unread)?;
        let _held = self.memory.hold_file(size).ok_or_else(|| {
            let limit = self.memory.limit();
            format!(
                "{code} cannot be read: its `{size}` bytes have no room in the {limit} that all servers share\n\
                 hint: try again when they have less to do; `memory` in `[limits]` of dormouse.toml sets how much that is"
            )
        })?;
        let bytes = code.bytes(size).map_err(unread)?;
        let digest = CompileCache::digest(&bytes);
        // Others that want the same content wait here, so that it is looked at once at a time, and
        // then find it cached; different contents are loaded side by side.
        let gate = self.gate(&digest);
        let turn = gate.lock();
        let ready = self.ready(code, &bytes, &digest, origin);
        drop(turn);
        let mut loading = self.loading.lock();
        // The map has one, too. Whoever waits still is one of those that the next must wait for.
        if Arc::strong_count(&gate) <= 2 {
            loading.remove(&digest);
        }
        // Before others count.
        drop(gate);
        ready
    }

    /// Returns what is locked by whoever loads the content of a digest.
    pub(super) fn gate(&self, digest: &str) -> Arc<Mutex<()>> {
        Arc::clone(self.loading.lock().entry(digest.to_owned()).or_default())
    }

    #[cfg(test)]
    pub(super) fn nothing_is_loading(&self) -> bool {
        self.loading.lock().is_empty()
    }

    /// Does the same for bytes that nobody else loads meanwhile.
    fn ready(
        &self,
        code: &ComponentLocation,
        bytes: &[u8],
        digest: &str,
        origin: InstanceOrigin,
    ) -> Result<Ready<'_>, String> {
        let concurrent = dormouse_catalog::is_concurrent(bytes);
        let share = HostShare::of(bytes, concurrent)?;
        let machine = self.machines.get(EngineKind { origin, concurrent })?;
        let name = CompileCache::name(&machine.engine, digest);
        let component = match self.cached(machine, &name, origin) {
            Some(component) => component,
            None => {
                let job = CompileJob {
                    name: &name,
                    component: bytes,
                    concurrent,
                    folder: self.cache.dir(),
                };
                self.compile(machine, code, &job)
            }
        };
        Ok(Ready {
            component: component?,
            machine,
            share,
        })
    }

    /// Looks a component up in the cache: none where it has to be compiled.
    fn cached(
        &self,
        machine: &Machine,
        name: &str,
        origin: InstanceOrigin,
    ) -> Option<Result<Component, String>> {
        match (self.cache.load(&machine.engine, name), origin) {
            (Cached::Missing, _) => None,
            (Cached::Loaded(component), _) => {
                self.cache_hits.fetch_add(1, Ordering::Relaxed);
                Some(Ok(component))
            }
            // The same code is for both engines, and only the pool has limits of size: compiled
            // once more, it would not fit either.
            (Cached::Refused(error), InstanceOrigin::Pool) => {
                Some(Err(words(&format!("{error:#}"))))
            }
            (Cached::Refused(error), InstanceOrigin::Demand) => {
                tracing::warn!("a compiled component is not used: {error:#}");
                None
            }
        }
    }

    fn compile(
        &self,
        machine: &Machine,
        code: &ComponentLocation,
        job: &CompileJob<'_>,
    ) -> Result<Component, String> {
        let started = std::time::Instant::now();
        let compiled = Compiled::new(&self.compiler, job).map_err(|error| {
            let error = words(&error.to_string());
            format!("{code} cannot be compiled: {error}")
        })?;
        self.compiled.fetch_add(1, Ordering::Relaxed);
        tracing::info!("compiled {code} in {:?}", started.elapsed());
        self.cache
            .store(&machine.engine, job.name, compiled)
            .map_err(|error| {
                let error = words(&format!("{error:#}"));
                format!("{code} is no component that runs here: {error}")
            })
    }

    /// Does everything that precedes the first instance. Blocks.
    pub(super) fn load(&self, target: &Target) -> Result<LoadedComponent, String> {
        let folders = GrantedFolders::open(&target.server, &target.grants, &self.own)
            .map_err(|error| error.to_string())?;
        // A kept instance would hold its place in the pool all the while.
        let passing = target.instance == Instance::PerCall;
        if passing && target.limits.memory <= POOL_MEMORY {
            match self.bind(target, InstanceOrigin::Pool) {
                Ok(bound) => {
                    return Ok(LoadedComponent {
                        pooled: Some(bound),
                        demand: OnceCell::new(),
                        folders,
                    });
                }
                // The other engine tells whether the component is too large for the pool or is
                // invalid.
                Err(error) => tracing::debug!("server `{}`: {error}", target.server),
            }
        }
        Ok(LoadedComponent {
            pooled: None,
            demand: OnceCell::new_with(Some(self.bind(target, InstanceOrigin::Demand)?)),
            folders,
        })
    }

    /// Loads a component into an engine, and compares it with its declaration.
    fn bind(&self, target: &Target, origin: InstanceOrigin) -> Result<Bound, String> {
        let Ready {
            component,
            machine,
            share,
        } = self.component(&target.code, origin)?;
        let mut functions = HashMap::new();
        let lie = |what: String| {
            format!(
                "its declaration and its code disagree: {}\nhint: `dormouse check` of {} lists all that is wrong",
                beginning(&what),
                target.code
            )
        };
        for declared in &target.functions {
            let export = &declared.export;
            let found = find(&machine.engine, &component, export)
                .ok_or_else(|| lie(format!("it does not export `{export}`")))?;
            let signature = found.signature(export).map_err(lie)?;
            same_signature(declared, &signature)
                .map_err(|what| lie(format!("`{export}`: {what}")))?;
            let addressed = addressed::find(&component, &signature);
            let function = FunctionIndex {
                plain: found.index,
                addressed,
            };
            functions.insert(export.clone(), function);
        }
        for by_name in ContractExport::ALL {
            let export = by_name.export();
            if let Some(found) = find(&machine.engine, &component, &export) {
                let signature = found.signature(&export).map_err(lie)?;
                if !by_name.is_of_contract(&signature) {
                    return Err(lie(format!(
                        "`{export}` has other types than in `dormouse wit`"
                    )));
                }
                // None of them has lists of bytes.
                let function = FunctionIndex {
                    plain: found.index,
                    addressed: None,
                };
                functions.insert(export, function);
            }
        }
        if target.upstream.is_none() {
            stands_alone(machine, &component, target)?;
        }
        let linked = link(machine, &component)?;
        let share = match linked.not_offered.is_empty() {
            true => share,
            false => share.with_functions_not_offered(),
        };
        Ok(Bound {
            pre: linked.pre,
            share,
            functions,
        })
    }
}

/// Longest part of names of a component that an error repeats, in bytes.
const MAX_QUOTED_BYTES: usize = 600;

/// Returns the beginning of a text with names of a component in it, on one line in which nothing is
/// hidden: whoever made the component has chosen them.
fn beginning(text: &str) -> String {
    let cut = text.floor_char_boundary(MAX_QUOTED_BYTES);
    let shown = visible_line(text.get(..cut).unwrap_or_default());
    match cut < text.len() {
        true => format!("{shown}…"),
        false => shown.into_owned(),
    }
}

/// Refuses a component that imports an upstream where there is none.
fn stands_alone(machine: &Machine, component: &Component, target: &Target) -> Result<(), String> {
    let wanted = contract::interface("upstream");
    match component
        .component_type()
        .imports(&machine.engine)
        .find(|(name, _)| *name == wanted)
    {
        None => Ok(()),
        Some((name, _)) => {
            let server = &target.server;
            let file = match &target.code {
                ComponentLocation::File(file, _) => shell_word(file),
                ComponentLocation::Bridge => "FILE".to_owned(),
            };
            Err(format!(
                "it stands in front of another MCP server (it imports `{name}`), and this server has no upstream\n\
                 hint: `dormouse inspect {file}` shows what it asks to start; \
                 `dormouse add {server} {file} --grant-upstream --force` lets it, and so does a \
                 `command` or a `url` in `[servers.{server}]`"
            ))
        }
    }
}
