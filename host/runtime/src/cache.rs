//! Compiled components on disk, and the only `unsafe` of Dormouse.
//!
//! An entry is a `.cwasm` file and a `.mac` file with a BLAKE3 hash, keyed with a random key of the
//! user's, over the entry's name, which identifies the component and the compiler, and its bytes.
//! Only an entry whose hash verifies is loaded: wasmtime trusts compiled code blindly, and a
//! flipped bit in it is a crash at best.
//!
//! A process that can write into the directory between the check and the mapping can write as the
//! user already: the directory is the user's alone (0700), or it is not used at all.
#![allow(
    unsafe_code,
    reason = "deserialising compiled code is unsafe by nature"
)]

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use dormouse_files::regular::{open_regular_file, read_regular_file};
use dormouse_files::replace::{Access, replace};
use dormouse_text::visible::visible_path;
use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use super::compiler::{CompileError, CompileJob, Compiler};

/// Most bytes of all entries; beyond, the entries that were used longest ago are removed.
const CAPACITY: u64 = 2 << 30;

/// Largest entry, in bytes, so that one component never makes all others go.
const MAX_ENTRY_BYTES: u64 = CAPACITY / 4;

/// Bytes of an entry that are read at once to hash it.
const HASHED_AT_ONCE: usize = 256 << 10;

/// Version of the changes that are made to a component before it is compiled. To be raised with
/// each change to these, so that code compiled before is not used any more.
const CODE_VERSION: u32 = 4;

/// Length of the hash of an entry, in bytes.
const MAC_BYTES: u64 = 32;

/// Compiled code of a component that is not in the cache yet.
pub(super) struct Compiled(Vec<u8>);

impl Compiled {
    /// Compiles a component. Blocks, for seconds where it is large.
    ///
    /// # Errors
    /// It is no component, needs a feature that no engine here has, or exceeds the limits.
    pub(super) fn new(compiler: &Compiler, job: &CompileJob<'_>) -> Result<Self, CompileError> {
        compiler.compile(job).map(Self)
    }

    /// Loads the code without keeping it.
    ///
    /// # Errors
    /// The engine refuses it: it has no room for such a component.
    pub(super) fn load(&self, engine: &Engine) -> wasmtime::Result<Component> {
        // SAFETY: only `Compiled::new` makes one, of what a process of this very
        // program has just compiled and handed over in a file of its own that nobody
        // but this user can write to, and nothing has touched it since.
        unsafe { Component::deserialize(engine, &self.0) }
    }
}

/// Result of looking up a name in a cache.
pub(super) enum Cached {
    /// No entry that verifies.
    Missing,
    /// A component that the engine accepts.
    Loaded(Component),
    /// An entry that verifies, and that the engine refuses, with its error.
    Refused(wasmtime::Error),
}

/// A directory of compiled components.
#[derive(Debug, Clone)]
pub(super) struct CompileCache {
    dir: PathBuf,
}

impl CompileCache {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Returns the directory.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the digest of a component, by which its entries are named.
    pub(super) fn digest(component: &[u8]) -> String {
        let digest = Sha256::digest(component);
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns the name of the entry for the component of that digest and an engine.
    pub(super) fn name(engine: &Engine, digest: &str) -> String {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        CODE_VERSION.hash(&mut hasher);
        format!("{digest}-{:016x}", hasher.finish())
    }

    /// Loads the compiled component of that name, if it is there and verifies.
    pub(super) fn load(&self, engine: &Engine, name: &str) -> Cached {
        let Some(code) = self.verified(name) else {
            return Cached::Missing;
        };
        // SAFETY: the file holds exactly the bytes that this user's Dormouse got
        // from `Engine::precompile_component` with this very engine configuration: their
        // keyed hash, which covers the name and thus both, has just verified. The
        // directory is writable by this user only, and entries are replaced by
        // renaming, never changed in place.
        match unsafe { Component::deserialize_file(engine, &code) } {
            Ok(component) => {
                // Its age is what eviction goes by.
                let now = fs::FileTimes::new().set_modified(std::time::SystemTime::now());
                let _ = File::open(self.path(name, "mac")).and_then(|file| file.set_times(now));
                Cached::Loaded(component)
            }
            Err(error) => Cached::Refused(error),
        }
    }

    /// Returns the file of the entry of that name, if it is there and verifies.
    fn verified(&self, name: &str) -> Option<PathBuf> {
        let key = self.key().ok()?;
        let code = self.path(name, "cwasm");
        let expected = read_regular_file(&self.path(name, "mac"), MAC_BYTES).ok()??;
        let found = match mac(&key, name, &code) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!(
                    "compiled component `{}` cannot be read: {error}",
                    visible_path(&code)
                );
                return None;
            }
        };
        // `blake3::Hash` compares in constant time.
        if <[u8; 32]>::try_from(expected.as_slice())
            .ok()
            .map(blake3::Hash::from)
            != Some(found)
        {
            tracing::warn!(
                "compiled component `{}` does not verify and is compiled again",
                visible_path(&code)
            );
            return None;
        }
        Some(code)
    }

    /// Keeps a component compiled for `engine`, and loads it. A failure to keep it costs time at
    /// the next start, and nothing else.
    ///
    /// # Errors
    /// The engine refuses it: it has no room for such a component.
    pub(super) fn store(
        &self,
        engine: &Engine,
        name: &str,
        compiled: Compiled,
    ) -> wasmtime::Result<Component> {
        match self.try_store(name, &compiled) {
            Ok(()) => {
                if let Cached::Loaded(component) = self.load(engine, name) {
                    return Ok(component);
                }
            }
            Err(error) => tracing::warn!(
                "compiled components cannot be kept in `{}`: {error}",
                visible_path(&self.dir)
            ),
        }
        compiled.load(engine)
    }

    fn try_store(&self, name: &str, compiled: &Compiled) -> io::Result<()> {
        let bytes = compiled.0.len() as u64;
        if bytes > MAX_ENTRY_BYTES {
            let message = format!("it has {bytes} bytes, and {MAX_ENTRY_BYTES} are kept at most");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        let key = self.key()?;
        self.evict(bytes);
        let code = self.path(name, "cwasm");
        replace(&code, &compiled.0, Access::Private).map_err(io::Error::other)?;
        let mac = mac(&key, name, &code)?;
        replace(&self.path(name, "mac"), mac.as_bytes(), Access::Private).map_err(io::Error::other)
    }

    /// Removes every entry, and returns the number of bytes that were freed.
    pub(super) fn clean(&self) -> io::Result<u64> {
        let mut freed = 0;
        for entry in self.entries()? {
            freed += entry.size;
            let _ = fs::remove_file(self.path(&entry.name, "mac"));
            fs::remove_file(self.path(&entry.name, "cwasm"))?;
        }
        Ok(freed)
    }

    fn evict(&self, coming: u64) {
        let Ok(mut entries) = self.entries() else {
            return;
        };
        let mut size: u64 = entries.iter().map(|entry| entry.size).sum();
        entries.sort_by_key(|entry| entry.used);
        for entry in entries {
            if size + coming <= CAPACITY {
                break;
            }
            size -= entry.size;
            let _ = fs::remove_file(self.path(&entry.name, "mac"));
            let _ = fs::remove_file(self.path(&entry.name, "cwasm"));
        }
    }

    fn entries(&self) -> io::Result<Vec<CacheEntry>> {
        let files = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            files => files?,
        };
        let mut entries = Vec::new();
        for file in files {
            let path = file?.path();
            let Some(name) = path.file_stem().and_then(|name| name.to_str()) else {
                continue;
            };
            if path.extension().is_some_and(|kind| kind == "cwasm") {
                let used = fs::metadata(self.path(name, "mac")).and_then(|meta| meta.modified());
                entries.push(CacheEntry {
                    name: name.to_owned(),
                    size: fs::metadata(&path)?.len(),
                    used: used.ok(),
                });
            }
        }
        Ok(entries)
    }

    fn path(&self, name: &str, kind: &str) -> PathBuf {
        self.dir.join(format!("{name}.{kind}"))
    }

    /// Returns the user's key, made on first use.
    fn key(&self) -> io::Result<[u8; 32]> {
        private_dir(&self.dir)?;
        let path = self.dir.join("key");
        match read_key(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            key => return key,
        }
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| io::Error::other(error.to_string()))?;
        let mut file = tempfile::NamedTempFile::new_in(&self.dir)?;
        file.write_all(&key)?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(key),
            // Another host was faster: its key is everybody's.
            Err(_) => read_key(&path),
        }
    }
}

struct CacheEntry {
    name: String,
    size: u64,
    used: Option<std::time::SystemTime>,
}

/// Reads the key, if nobody but its user can have read it or put it there.
fn read_key(path: &Path) -> io::Result<[u8; 32]> {
    let mut file = open_regular_file(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = file.metadata()?;
        if metadata.uid() != own_user() || metadata.mode() & 0o077 != 0 {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!(
                    "the key `{}` is somebody else's, or others can read or write it\n\
                     hint: delete its folder; it is made anew",
                    visible_path(path)
                ),
            ));
        }
    }
    let mut key = [0; 32];
    file.read_exact(&mut key)?;
    Ok(key)
}

/// Returns the keyed hash of an entry, which is read a little at a time.
fn mac(key: &[u8; 32], name: &str, code: &Path) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(&(name.len() as u64).to_le_bytes());
    hasher.update(name.as_bytes());
    let mut code = open_regular_file(code)?.take(MAX_ENTRY_BYTES + 1);
    let mut read = vec![0; HASHED_AT_ONCE];
    let mut bytes = 0;
    loop {
        match code.read(&mut read) {
            Ok(0) => break,
            Ok(length) => {
                bytes += length as u64;
                hasher.update(read.get(..length).unwrap_or_default());
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    match bytes <= MAX_ENTRY_BYTES {
        true => Ok(hasher.finalize()),
        false => Err(io::ErrorKind::FileTooLarge.into()),
    }
}

/// Makes the directory if need be. Refuses one that is another user's, or that others can write to
/// or replace: they can replace it where they may write to any folder above it, unless that folder
/// lets only owners remove its entries (the sticky bit).
#[cfg(unix)]
fn private_dir(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;

    use dormouse_files::ownership::is_roots;

    const STICKY: u32 = 0o1000;
    dormouse_files::replace::make_folder(dir)?;
    let dir = dir.canonicalize()?;
    let me = own_user();
    for (above, folder) in dir.ancestors().enumerate() {
        let metadata = fs::metadata(folder)?;
        let (owner, mode) = (metadata.uid(), metadata.mode());
        // The directory and Dormouse's own one above it are nobody else's business. Above
        // that, who is in a user's group is for that user to say.
        let is_safe = match above {
            0 => owner == me && mode & 0o077 == 0,
            1 => owner == me && mode & 0o022 == 0,
            // Its owner may put another folder in the place of what is in it.
            _ => {
                (owner == me || is_roots(folder, owner))
                    && (mode & 0o002 == 0 || mode & STICKY != 0)
            }
        };
        if !is_safe {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!(
                    "`{}` is another user's, or open to others (mode {:o})\n\
                     hint: `chmod go-rwx` it, if it is yours",
                    visible_path(folder),
                    mode & 0o7777
                ),
            ));
        }
    }
    Ok(())
}

/// Returns the effective user id of this process.
#[cfg(unix)]
fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn private_dir(dir: &Path) -> io::Result<()> {
    dormouse_files::replace::make_folder(dir)
}
