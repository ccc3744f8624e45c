//! From a file to something that can be instantiated.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_policy::{HostLimits, OwnPlaces};
use dormouse_wit::{Export, Instance, contract, signature::same_signature};
use tokio::sync::{OnceCell, OwnedSemaphorePermit};
use wasmtime::component::{Component, ComponentExportIndex, InstancePre};

use super::cache::{Cache, Cached, Compiled};
use super::compiler::{CompileCommand, Compiler, Job};
use super::engine::{Kind, Machine, Machines, Origin, POOL_MEMORY};
use super::guest_request::{BY_NAME, by_name, is_of_contract};
use super::host_share::HostShare;
use super::link::{link, words};
use super::memory::HostMemory;
use super::signature::find;
use super::state::State;
use super::{Code, Target};
use crate::sandbox::GrantedFolders;

/// A component that is ready to be instantiated.
pub(super) struct Loaded {
    /// In the pool's engine, if its server's instances fit the pool.
    pooled: Option<Bound>,
    /// In the other engine: from the start if there is no other way, else when the
    /// pool is first found to be full.
    demand: OnceCell<Bound>,
    /// What its server is granted, open.
    pub folders: GrantedFolders,
}

/// A component in one engine.
pub(super) struct Bound {
    pub pre: InstancePre<State>,
    /// What the host keeps for each of its instances.
    pub share: HostShare,
    functions: HashMap<Export, ComponentExportIndex>,
}

impl Bound {
    pub(super) fn function(&self, export: &Export) -> Option<ComponentExportIndex> {
        self.functions.get(export).copied()
    }
}

impl Loaded {
    /// Where to make an instance of it now, with its place if that is in the pool.
    pub(super) async fn origin(
        &self,
        loader: &Arc<Loader>,
        target: &Arc<Target>,
    ) -> Result<(Origin, Option<OwnedSemaphorePermit>), String> {
        if self.is_pooled()
            && let Some(place) = loader.machines.place()
        {
            return Ok((Origin::Pool, Some(place)));
        }
        let load = async || {
            let (loader, target) = (Arc::clone(loader), Arc::clone(target));
            let task = tokio::task::spawn_blocking(move || loader.bind(&target, Origin::Demand));
            task.await
                .unwrap_or_else(|error| Err(format!("loading it failed: {error}")))
        };
        self.demand.get_or_try_init(load).await?;
        Ok((Origin::Demand, None))
    }

    /// Whether its instances can come from the pool.
    pub(super) fn is_pooled(&self) -> bool {
        self.pooled.is_some()
    }

    /// It, in one of the engines, if it is loaded there.
    pub(super) fn get(&self, origin: Origin) -> Option<&Bound> {
        match origin {
            Origin::Pool => self.pooled.as_ref(),
            Origin::Demand => self.demand.get(),
        }
    }
}

/// A component that is compiled for an engine.
pub(super) struct Ready<'m> {
    pub component: Component,
    pub machine: &'m Machine,
    share: HostShare,
}

/// Loads components, each content at most once at a time.
pub(super) struct Loader {
    pub machines: Machines,
    pub cache: Cache,
    /// What no grant may reach.
    own: OwnPlaces,
    /// What all guests may have together.
    pub memory: Arc<HostMemory>,
    pub compiler: Compiler,
    compiling: Mutex<HashMap<String, Arc<Mutex<()>>>>,
    pub compiled: AtomicU64,
    pub cache_hits: AtomicU64,
}

impl Loader {
    pub(super) fn new(cache: &Path, own: OwnPlaces, compile: CompileCommand) -> Self {
        let limits = &HostLimits::default();
        Self {
            memory: HostMemory::new(limits.memory()),
            compiler: Compiler::new(limits, compile),
            machines: Machines::default(),
            cache: Cache::new(cache.join("components")),
            own,
            compiling: Mutex::default(),
            compiled: AtomicU64::new(0),
            cache_hits: AtomicU64::new(0),
        }
    }

    /// The component in a file, from the cache or compiled now, and what it is for.
    /// Blocks, for seconds where a large component is compiled.
    ///
    /// # Errors
    /// It cannot be read or compiled, or does not fit the pool. Its code is in the cache then,
    /// from which the other engine takes it.
    pub(super) fn component(&self, code: &Code, origin: Origin) -> Result<Ready<'_>, String> {
        let bytes = code
            .bytes()
            .map_err(|error| format!("{code} cannot be read: {error}"))?;
        let concurrent = dormouse_catalog::is_concurrent(&bytes);
        let machine = self.machines.get(Kind { origin, concurrent })?;
        let name = Cache::name(&machine.engine, &bytes);
        let share = HostShare::of(&bytes, concurrent)?;
        if let Some(component) = self.cached(machine, &name, origin) {
            return Ok(Ready {
                component: component?,
                machine,
                share,
            });
        }
        // Whoever wants the same content waits here and then finds it cached;
        // different contents compile side by side.
        let gate = {
            let mut compiling = self
                .compiling
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            Arc::clone(compiling.entry(name.clone()).or_default())
        };
        let turn = gate.lock().unwrap_or_else(PoisonError::into_inner);
        let component = match self.cached(machine, &name, origin) {
            Some(component) => component,
            None => {
                let job = Job {
                    name: &name,
                    component: &bytes,
                    concurrent,
                    folder: self.cache.dir(),
                };
                self.compile(machine, code, &job)
            }
        };
        drop(turn);
        self.compiling
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&name);
        Ok(Ready {
            component: component?,
            machine,
            share,
        })
    }

    /// What the cache has of a component: none where it has to be compiled.
    fn cached(
        &self,
        machine: &Machine,
        name: &str,
        origin: Origin,
    ) -> Option<Result<Component, String>> {
        match (self.cache.load(&machine.engine, name), origin) {
            (Cached::Missing, _) => None,
            (Cached::Loaded(component), _) => {
                self.cache_hits.fetch_add(1, Ordering::Relaxed);
                Some(Ok(component))
            }
            // The same code is for both engines, and only the pool has measures: compiled
            // once more, it would not fit either.
            (Cached::Refused(error), Origin::Pool) => Some(Err(words(&format!("{error:#}")))),
            (Cached::Refused(error), Origin::Demand) => {
                tracing::warn!("a compiled component is not used: {error:#}");
                None
            }
        }
    }

    fn compile(&self, machine: &Machine, code: &Code, job: &Job<'_>) -> Result<Component, String> {
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

    /// All that has to be done before the first instance. Blocks.
    pub(super) fn load(&self, target: &Target) -> Result<Loaded, String> {
        let folders = GrantedFolders::open(&target.server, &target.grants, &self.own)
            .map_err(|error| error.to_string())?;
        // An instance that is kept would hold its place in the pool all the while.
        let passing = target.instance == Instance::PerCall;
        if passing && target.limits.memory <= POOL_MEMORY {
            match self.bind(target, Origin::Pool) {
                Ok(bound) => {
                    return Ok(Loaded {
                        pooled: Some(bound),
                        demand: OnceCell::new(),
                        folders,
                    });
                }
                // Whether it is too large for the pool or is wrong altogether,
                // the other engine will tell.
                Err(error) => tracing::debug!("server `{}`: {error}", target.server),
            }
        }
        Ok(Loaded {
            pooled: None,
            demand: OnceCell::new_with(Some(self.bind(target, Origin::Demand)?)),
            folders,
        })
    }

    /// Loads a component into an engine, and compares it with its declaration.
    fn bind(&self, target: &Target, origin: Origin) -> Result<Bound, String> {
        let Ready {
            component,
            machine,
            share,
        } = self.component(&target.code, origin)?;
        let mut functions = HashMap::new();
        let lie = |what: String| {
            format!(
                "its declaration and its code disagree: {what}\nhint: `dormouse check` of {} lists all that is wrong",
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
            functions.insert(export.clone(), found.index);
        }
        for name in BY_NAME {
            let export = by_name(name);
            if let Some(found) = find(&machine.engine, &component, &export) {
                let signature = found.signature(&export).map_err(lie)?;
                if !is_of_contract(name, &signature) {
                    return Err(lie(format!(
                        "`{export}` has other types than in `dormouse wit`"
                    )));
                }
                functions.insert(export, found.index);
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

/// Refuses a component that wants an upstream where there is none.
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
                Code::File(file) => file.display().to_string(),
                Code::Bridge => "FILE".to_owned(),
            };
            Err(format!(
                "it stands in front of another MCP server (it imports `{name}`), and this server has no upstream\n\
                 hint: `dormouse inspect '{file}'` shows what it asks to start; \
                 `dormouse add {server} '{file}' --grant-upstream --force` lets it, and so does a \
                 `command` or a `url` in `[servers.{server}]`"
            ))
        }
    }
}
