//! Components that are loaded.

use std::collections::HashMap;
use std::sync::Arc;

use dormouse_wit::Export;
use tokio::sync::{OnceCell, OwnedSemaphorePermit};
use wasmtime::component::{ComponentExportIndex, InstancePre};

use super::{AddressedIndex, Loader};
use crate::engine::InstanceOrigin;
use crate::memory::HostShare;
use crate::sandbox::GrantedFolders;
use crate::state::InstanceState;
use crate::target::Target;

/// A component that is ready to be instantiated.
pub(crate) struct LoadedComponent {
    /// In the pool's engine, if its server's instances fit the pool.
    pub(super) pooled: Option<Bound>,
    /// In the other engine: from the start if its instances cannot come from the pool, else once
    /// the pool is first found to be full.
    pub(super) demand: OnceCell<Bound>,
    /// Granted folders of its server, open.
    pub folders: GrantedFolders,
}

/// A component in one engine.
pub(crate) struct Bound {
    pub pre: InstancePre<InstanceState>,
    /// Memory of the host for each of its instances.
    pub share: HostShare,
    pub(super) functions: HashMap<Export, FunctionIndex>,
}

/// Place of a function in a component.
#[derive(Clone, Copy)]
pub(crate) struct FunctionIndex {
    pub(crate) plain: ComponentExportIndex,
    /// The same with lists of bytes by their addresses, if it has any.
    pub(crate) addressed: Option<AddressedIndex>,
}

impl Bound {
    pub(crate) fn function(&self, export: &Export) -> Option<FunctionIndex> {
        self.functions.get(export).copied()
    }
}

impl LoadedComponent {
    /// Returns the kind of engine for a new instance, with its place if that is in the pool.
    pub(crate) async fn origin(
        &self,
        loader: &Arc<Loader>,
        target: &Arc<Target>,
    ) -> Result<(InstanceOrigin, Option<OwnedSemaphorePermit>), String> {
        if self.is_pooled()
            && let Some(place) = loader.machines.place()
        {
            return Ok((InstanceOrigin::Pool, Some(place)));
        }
        let load = async || {
            let (loader, target) = (Arc::clone(loader), Arc::clone(target));
            let task =
                tokio::task::spawn_blocking(move || loader.bind(&target, InstanceOrigin::Demand));
            task.await
                .unwrap_or_else(|error| Err(format!("loading it failed: {error}")))
        };
        self.demand.get_or_try_init(load).await?;
        Ok((InstanceOrigin::Demand, None))
    }

    /// Checks whether its instances can come from the pool.
    pub(crate) fn is_pooled(&self) -> bool {
        self.pooled.is_some()
    }

    /// Returns the component in one of the engines, if it is loaded there.
    pub(crate) fn get(&self, origin: InstanceOrigin) -> Option<&Bound> {
        match origin {
            InstanceOrigin::Pool => self.pooled.as_ref(),
            InstanceOrigin::Demand => self.demand.get(),
        }
    }
}
