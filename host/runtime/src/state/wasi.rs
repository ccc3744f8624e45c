//! Parts of the sandbox in a guest's store.

use dormouse_policy::HttpGrant;
use dormouse_upstream::auth::NotLoggedIn;
use hyper::HeaderMap;
use url::Url;
use wasmtime_wasi::{WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtxView, WasiHttpView};

use super::InstanceState;
use crate::memory::MemoryCharge;
#[cfg(unix)]
use crate::sandbox::DirectoryStreams;
#[cfg(target_os = "linux")]
use crate::sandbox::HeldFiles;
use crate::sandbox::{FilesystemState, HttpMemory, HttpState, NetworkGate, NetworkState, Preopens};

impl WasiView for InstanceState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.in_function();
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl FilesystemState for InstanceState {
    type Charge = MemoryCharge;

    fn preopens(&self) -> &Preopens {
        &self.preopens
    }

    async fn charge(&mut self, bytes: u64) -> Option<MemoryCharge> {
        self.memory.charge(bytes).await
    }

    #[cfg(target_os = "linux")]
    fn held_files(&mut self) -> &mut HeldFiles {
        &mut self.held_files
    }

    #[cfg(unix)]
    fn directory_streams(&self) -> &DirectoryStreams {
        &self.directory_streams
    }
}

impl WasiHttpView for InstanceState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        self.in_function();
        WasiHttpCtxView {
            hooks: &mut self.http_hooks,
            table: &mut self.table,
            ctx: &mut self.http,
        }
    }
}

impl NetworkState for InstanceState {
    fn network(&mut self) -> &NetworkGate {
        &self.network
    }

    async fn ask_for_grant(&mut self, wanted: HttpGrant) {
        self.ask_user_for(wanted).await;
    }

    async fn log_in(&mut self, providers: Vec<String>) -> Result<(), NotLoggedIn> {
        for provider in providers {
            self.log_user_in_at(&provider).await?;
        }
        self.network.forget_missing_login();
        Ok(())
    }

    async fn ask_for_secrets(&mut self, url: Url, headers: HeaderMap) {
        self.ask_user_for_secrets(&url, &headers).await;
    }
}

impl HttpState for InstanceState {
    fn http_memory(&mut self) -> &mut HttpMemory<MemoryCharge> {
        &mut self.http_memory
    }

    async fn check_call(&mut self) -> wasmtime::Result<()> {
        match &self.call {
            Some(call) => Ok(call.pace.check().await?),
            None => Ok(()),
        }
    }
}
