//! Compiled schemas of tools. Compiling takes time and, where there are patterns, hundreds of times
//! the memory of the text: the schemas that were used last are kept.
//!
//! Their memory counts as memory of their server. It is given back when they have not been used for
//! longer than others, when the server is stopped, when the tool is gone, and when a guest needs
//! the memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use dormouse_catalog::{BoundedValidator, SchemaError};
use dormouse_upstream::without_blocking;
use parking_lot::Mutex;
use serde_json::Value;

use crate::memory::allocated;
use crate::memory::{ServerCharge, ServerMemory};

/// Most memory of the compiled schemas of one server that are kept, in bytes.
const MAX_BYTES_OF_SERVER: u64 = 8 << 20;

/// Most memory of the compiled schemas of all servers that are kept, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Least memory that a compiled schema counts as, in bytes; the only measure where the allocator
/// does not say.
const MIN_BYTES: u64 = if cfg!(unix) { 4 << 10 } else { 1 << 20 };

/// Least memory that a use of a schema has to allocate to count as memory of the schema, such as
/// the states of patterns, in bytes: the results of a use take less.
const MIN_GROWTH: u64 = 64 << 10;

/// A compiled schema, or the reason for which it cannot be compiled.
pub(super) type CompiledSchema = Result<BoundedValidator, SchemaError>;

static COMPILED_SCHEMAS: LazyLock<Mutex<CompiledSchemas>> = LazyLock::new(Mutex::default);

/// Compiled schemas of all servers.
#[derive(Default)]
struct CompiledSchemas {
    by_id: HashMap<u64, KeptSchema>,
    /// Number of uses of any schema.
    uses: u64,
}

struct KeptSchema {
    compiled: Arc<CompiledSchema>,
    server: Arc<ServerMemory>,
    charge: ServerCharge,
    /// Number of uses of any schema at its last use.
    used: u64,
}

/// Identity of a schema in this process. Dropping it drops the compiled schema.
#[derive(Debug)]
pub(super) struct SchemaId(u64);

impl SchemaId {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Drop for SchemaId {
    fn drop(&mut self) {
        let kept = COMPILED_SCHEMAS.lock().by_id.remove(&self.0);
        drop(kept);
    }
}

/// Returns a compiled schema, if it is kept, so that using it does not compile it.
pub(super) fn kept(id: &SchemaId, server: &ServerMemory) -> Option<Arc<CompiledSchema>> {
    let kept = COMPILED_SCHEMAS.lock();
    let kept = kept.by_id.get(&id.0).filter(|kept| kept.is_of(server));
    kept.map(|kept| Arc::clone(&kept.compiled))
}

/// Uses a compiled schema: the kept one, or one compiled now without blocking a worker of the
/// runtime.
pub(super) fn with<T>(
    id: &SchemaId,
    schema: &Value,
    server: &Arc<ServerMemory>,
    work: impl FnOnce(&CompiledSchema) -> T,
) -> T {
    let before = allocated();
    let found = COMPILED_SCHEMAS.lock().find(id, server);
    let is_new = found.is_none();
    // Its memory is bounded (`validator`); compiling it may take some tenths of a second all the
    // same.
    let compile = || without_blocking(usize::MAX, || dormouse_catalog::validator(schema));
    let compiled = found.unwrap_or_else(|| Arc::new(compile()));
    let result = work(&compiled);
    let more = before.zip(allocated());
    let more = more.map_or(0, |(before, now)| {
        u64::try_from(now.wrapping_sub(before).cast_signed()).unwrap_or_default()
    });
    if is_new || more >= MIN_GROWTH {
        keep(id, is_new, server, compiled, more);
    }
    result
}

/// Keeps a compiled schema that takes so many bytes more than before, where there is room for it.
fn keep(
    id: &SchemaId,
    is_new: bool,
    server: &Arc<ServerMemory>,
    compiled: Arc<CompiledSchema>,
    more: u64,
) {
    let before = COMPILED_SCHEMAS.lock().by_id.remove(&id.0);
    let bytes = match before.filter(|_| !is_new) {
        Some(kept) => kept.charge.bytes().saturating_add(more),
        None if is_new => more,
        // The schema has been given up meanwhile.
        None => return,
    };
    let bytes = bytes.max(MIN_BYTES);
    if bytes > MAX_BYTES_OF_SERVER {
        return;
    }
    let mut kept = COMPILED_SCHEMAS.lock();
    let given_up = kept.make_room(server.as_ref(), bytes);
    drop(kept);
    // Memory that is given back lets others go on, and this takes locks of its own.
    drop(given_up);
    let Some(charge) = server.charge_what_is_free(bytes) else {
        return;
    };
    let mut kept = COMPILED_SCHEMAS.lock();
    let used = kept.uses;
    let replaced = kept.by_id.insert(
        id.0,
        KeptSchema {
            compiled,
            server: Arc::clone(server),
            charge,
            used,
        },
    );
    drop(kept);
    drop(replaced);
    server.can_give_back(forget);
}

/// Drops the kept schemas of one server, or of all. Returns whether there were any.
pub(crate) fn forget(only: Option<&ServerMemory>) -> bool {
    let of_it = |kept: &KeptSchema| only.is_none_or(|memory| kept.is_of(memory));
    let mut kept = COMPILED_SCHEMAS.lock();
    let ids: Vec<u64> = kept
        .by_id
        .iter()
        .filter(|(_, kept)| of_it(kept))
        .map(|(id, _)| *id)
        .collect();
    let forgotten: Vec<KeptSchema> = ids.iter().filter_map(|id| kept.by_id.remove(id)).collect();
    drop(kept);
    !forgotten.is_empty()
}

impl KeptSchema {
    fn is_of(&self, memory: &ServerMemory) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.server), memory)
    }
}

impl CompiledSchemas {
    fn find(&mut self, id: &SchemaId, server: &ServerMemory) -> Option<Arc<CompiledSchema>> {
        self.uses += 1;
        let kept = self.by_id.get_mut(&id.0)?;
        // A schema is charged to the server that it was compiled for.
        if !kept.is_of(server) {
            return None;
        }
        kept.used = self.uses;
        Some(Arc::clone(&kept.compiled))
    }

    /// Removes the schemas that were used longest ago until there is room for one more.
    fn make_room(&mut self, server: &ServerMemory, bytes: u64) -> Vec<KeptSchema> {
        let mut given_up = Vec::new();
        self.make_room_in(Some(server), MAX_BYTES_OF_SERVER, bytes, &mut given_up);
        self.make_room_in(None, MAX_BYTES, bytes, &mut given_up);
        given_up
    }

    fn make_room_in(
        &mut self,
        only: Option<&ServerMemory>,
        most: u64,
        bytes: u64,
        given_up: &mut Vec<KeptSchema>,
    ) {
        let of_it = |kept: &KeptSchema| only.is_none_or(|memory| kept.is_of(memory));
        let there = self.by_id.values().filter(|kept| of_it(kept));
        let mut there: u64 = there.map(|kept| kept.charge.bytes()).sum();
        if there.saturating_add(bytes) <= most {
            return;
        }
        let mut by_use: Vec<(u64, u64)> = self
            .by_id
            .iter()
            .filter(|(_, kept)| of_it(kept))
            .map(|(id, kept)| (kept.used, *id))
            .collect();
        by_use.sort_unstable();
        for (_, id) in by_use {
            if there.saturating_add(bytes) <= most {
                break;
            }
            if let Some(kept) = self.by_id.remove(&id) {
                there = there.saturating_sub(kept.charge.bytes());
                given_up.push(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::memory::HostMemory;

    const MIB: u64 = 1 << 20;

    fn compiled() -> Arc<CompiledSchema> {
        Arc::new(dormouse_catalog::validator(&json!({ "type": "object" })))
    }

    /// Keeps a schema that has just been compiled. Its memory is measured in the program alone:
    /// tests have another allocator.
    fn keep_new(id: &SchemaId, server: &Arc<ServerMemory>) {
        keep(id, true, server, compiled(), MIB);
    }

    #[test]
    fn what_compiled_schemas_take_is_counted_and_given_back() {
        let host = HostMemory::new(1 << 30);
        let [one, other] = [(); 2].map(|()| ServerMemory::new(Arc::clone(&host)));
        let ids: Vec<_> = (0..20).map(|_| SchemaId::new()).collect();
        for id in &ids {
            keep_new(id, &one);
            assert!(host.taken() <= MAX_BYTES_OF_SERVER, "{}", host.taken());
        }
        assert_eq!(host.taken(), MAX_BYTES_OF_SERVER);
        assert!(COMPILED_SCHEMAS.lock().find(&ids[19], &one).is_some());
        assert!(COMPILED_SCHEMAS.lock().find(&ids[19], &other).is_none());
        assert!(COMPILED_SCHEMAS.lock().find(&ids[0], &one).is_none());
        // One that has grown has others go, and one that has been given up is not kept again.
        keep(&ids[19], false, &one, compiled(), MIB);
        keep(&ids[0], false, &one, compiled(), MIB);
        assert_eq!(host.taken(), MAX_BYTES_OF_SERVER);
        assert_eq!(COMPILED_SCHEMAS.lock().by_id.len(), 7);
        let id = SchemaId::new();
        keep_new(&id, &other);
        assert_eq!(host.taken(), MAX_BYTES_OF_SERVER + MIB);
        // With its tool it goes, and with its server.
        drop(id);
        assert_eq!(host.taken(), MAX_BYTES_OF_SERVER);
        assert!(forget(Some(&one)));
        assert_eq!(host.taken(), 0);
        assert!(!forget(None));
    }

    #[test]
    fn who_needs_the_memory_gets_it() {
        let host = HostMemory::new(32 * MIB);
        let server = ServerMemory::new(Arc::clone(&host));
        let id = SchemaId::new();
        keep_new(&id, &server);
        assert_eq!(host.taken(), MIB);
        // Half of what there is.
        let share = 16 * MIB;
        let charge = server.charge(share);
        assert_eq!(charge.map(|charge| charge.bytes()), Some(share));
        assert_eq!(host.taken(), 0);
    }

    #[test]
    fn a_schema_is_compiled_once_while_it_is_kept() {
        let host = HostMemory::new(1 << 30);
        let server = ServerMemory::new(host);
        let id = SchemaId::new();
        let schema = json!({ "required": ["a"] });
        let seen = || {
            with(&id, &schema, &server, |compiled| {
                let found = compiled.as_ref().unwrap().problems(&json!({}), 9).unwrap();
                (std::ptr::from_ref(compiled) as usize, found.listed.len())
            })
        };
        assert!(kept(&id, &server).is_none());
        let first = seen();
        assert!(kept(&id, &server).is_some());
        assert_eq!(first.1, 1);
        assert_eq!(seen(), first);
    }
}
