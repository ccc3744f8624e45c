//! Calls of a guest's function, with lists of bytes by their addresses where it has any.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use wasmtime::component::{ComponentExportIndex, Func, Instance, Val};
use wasmtime::{Result, Store};

use crate::loader::{AddressedIndex, AddressedResultIndex, FunctionIndex};
use crate::request::GuestRequest;
use crate::state::InstanceState;
use crate::value;

/// Most bytes that are copied out of a guest's memory at once, a multiple of the three that become
/// four letters.
const MAX_READ_BYTES: u32 = 3 * (128 << 10);

/// A function of an instance.
pub(super) struct GuestFunction<'i> {
    instance: &'i Instance,
    index: FunctionIndex,
}

impl<'i> GuestFunction<'i> {
    pub(super) fn new(instance: &'i Instance, index: FunctionIndex) -> Self {
        Self { instance, index }
    }

    /// Checks whether a value is made for each byte of its arguments.
    pub(super) fn makes_values_of_bytes(&self) -> bool {
        self.index.addressed.is_none()
    }

    /// Calls the function. Lists of bytes in its parameters are base64; those in its result are,
    /// too, or values where the function has no addresses. A result whose JSON would be longer than
    /// `max_result`, in bytes, keeps the addresses, as nothing is read of it.
    pub(super) async fn call(
        &self,
        store: &mut Store<InstanceState>,
        wanted: &GuestRequest,
        mut params: Vec<Val>,
        max_result: u64,
    ) -> Result<Option<Val>> {
        let mut results = vec![Val::Bool(false); wanted.results()];
        let lists = wanted.byte_lists_of_params(&mut params);
        let Some(addressed) = &self.index.addressed else {
            lists.into_iter().for_each(value::into_values);
            let function = self.function(store, &self.index.plain)?;
            function.call_async(store, &params, &mut results).await?;
            return Ok(results.pop());
        };
        self.place(store, addressed, lists).await?;
        let function = self.function(store, &addressed.call)?;
        function
            .call_async(&mut *store, &params, &mut results)
            .await?;
        drop(params);
        match (&addressed.result, results.pop()) {
            (Some(functions), Some(Val::U32(at))) => {
                let result = self.result(store, functions, at, wanted, max_result);
                result.await.map(Some)
            }
            (_, result) => Ok(result),
        }
    }

    fn function(
        &self,
        store: &mut Store<InstanceState>,
        index: &ComponentExportIndex,
    ) -> Result<Func> {
        let function = self.instance.get_func(store, index);
        function.ok_or_else(|| wasmtime::Error::msg("there is no such function"))
    }

    /// Puts lists of bytes into the guest's memory.
    async fn place(
        &self,
        store: &mut Store<InstanceState>,
        addressed: &AddressedIndex,
        lists: Vec<&mut Val>,
    ) -> Result<()> {
        let Some(place) = &addressed.place else {
            return Ok(());
        };
        type Place = (Vec<u8>,);
        let place = self
            .instance
            .get_typed_func::<Place, (u32,)>(&mut *store, place)?;
        for list in lists {
            let Val::String(base64) = &*list else {
                continue;
            };
            let bytes = STANDARD.decode(base64)?;
            let length = u32::try_from(bytes.len())?;
            let (address,) = place.call_async(&mut *store, (bytes,)).await?;
            *list = Val::Tuple(vec![Val::U32(address), Val::U32(length)]);
        }
        Ok(())
    }

    /// Returns the result at an address, and lets the guest clean up.
    async fn result(
        &self,
        store: &mut Store<InstanceState>,
        functions: &AddressedResultIndex,
        at: u32,
        wanted: &GuestRequest,
        max_result: u64,
    ) -> Result<Val> {
        let mut result = [Val::Bool(false)];
        let function = self.function(store, &functions.result)?;
        function
            .call_async(&mut *store, &[Val::U32(at)], &mut result)
            .await?;
        let [mut result] = result;
        // One text may be there any number of times.
        if wanted.result_size(Some(&result), max_result) <= max_result {
            let lists = wanted.byte_lists_of_result(&mut result);
            self.read(store, functions, at, lists).await?;
        }
        if let Some(end) = &functions.end {
            let end = self.function(store, end)?;
            end.call_async(&mut *store, &[Val::U32(at)], &mut [])
                .await?;
        }
        Ok(result)
    }

    /// Reads lists of bytes of the result at an address, as base64.
    async fn read(
        &self,
        store: &mut Store<InstanceState>,
        functions: &AddressedResultIndex,
        at: u32,
        lists: Vec<&mut Val>,
    ) -> Result<()> {
        if lists.is_empty() {
            return Ok(());
        }
        let instance = self.instance;
        let save = instance.get_typed_func::<(u32,), (u64,)>(&mut *store, &functions.save)?;
        let restore = instance.get_typed_func::<(u32, u64), ()>(&mut *store, &functions.restore)?;
        type Read = (u32, u32, u32);
        let read = instance.get_typed_func::<Read, (Vec<u8>,)>(&mut *store, &functions.read)?;
        let (saved,) = save.call_async(&mut *store, (at,)).await?;
        for list in lists {
            let Some((mut address, mut left)) = value::address_and_length(list) else {
                continue;
            };
            let letters = u64::from(left).div_ceil(3).saturating_mul(4);
            let mut base64 = String::with_capacity(usize::try_from(letters)?);
            while left > 0 {
                let length = left.min(MAX_READ_BYTES);
                let (bytes,) = read.call_async(&mut *store, (at, address, length)).await?;
                // What counts as the result's size is what was announced.
                if bytes.len() != usize::try_from(length)? {
                    return Err(wasmtime::Error::msg(
                        "a list of bytes is not as long as its result says",
                    ));
                }
                STANDARD.encode_string(bytes, &mut base64);
                // The last address is none of the memory's; the next call says so.
                address = address.saturating_add(length);
                left -= length;
            }
            *list = Val::String(base64);
        }
        // The guest frees what it finds there.
        restore.call_async(&mut *store, (at, saved)).await
    }
}
