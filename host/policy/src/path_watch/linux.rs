//! Watch by inotify, which tells of a change before the system call that makes it returns; and of
//! mounts, of which inotify does not tell.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{CreateFlags, Event, ReadFlags, Reader, WatchFlags};
use rustix::fs::{inotify, statfs};
use rustix::io::Errno;

use crate::found_paths::{Asked, LookedInto};

/// Kinds of filesystems, as `statfs` numbers them, of which all changes are made through this system:
/// ext2 to ext4, XFS, Btrfs, F2FS, Bcachefs, ZFS, tmpfs, ramfs and overlayfs. Of others something may
/// change on another machine, or in another process, of which nobody tells.
const LOCAL: [u64; 9] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0xf2f5_2010,
    0xca45_1a4e,
    0x2fc1_2fc1,
    0x0102_1994,
    0x8584_58f6,
    0x794c_7630,
];

/// Most folders and files that are watched at once.
const MAX_WATCHES: usize = 4096;

/// Most events that are read at once: the system keeps half as many where nobody has said otherwise, and
/// tells that it has lost others.
const MAX_EVENTS: usize = 32_768;

/// Size of the buffer for events, in bytes.
const BUFFER_BYTES: usize = 4096;

/// Watch of folders and files.
#[derive(Debug)]
pub(in super::super) struct PathWatch {
    events: OwnedFd,
    mounts: File,
    /// Names that are watched, by the numbers of the watches.
    watched: HashMap<i32, WatchedNames>,
}

/// Names of a folder's entries that are watched, beside itself.
#[derive(Debug)]
enum WatchedNames {
    All,
    /// Names in small letters: there are folders in which capitals are the same.
    Names(HashSet<Vec<u8>>),
}

impl WatchedNames {
    fn new(asked: &Asked) -> Self {
        let Asked::Names(names) = asked else {
            return Self::All;
        };
        let names = names.iter().map(|name| name.as_encoded_bytes());
        // Of other letters nobody knows which are the same.
        match names.clone().all(<[u8]>::is_ascii) {
            true => Self::Names(names.map(<[u8]>::to_ascii_lowercase).collect()),
            false => Self::All,
        }
    }

    fn add(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Names(names), Self::Names(more)) => names.extend(more),
            _ => *self = Self::All,
        }
    }

    /// Whether an event is about what is watched.
    fn has(&self, event: &Event<'_>) -> bool {
        match (self, event.file_name()) {
            (Self::Names(names), Some(name)) => {
                let name = name.to_bytes();
                !name.is_ascii() || names.contains(&name.to_ascii_lowercase())
            }
            _ => true,
        }
    }
}

impl PathWatch {
    /// Makes a watch of nothing; none where the system has no more of them.
    pub(in super::super) fn new() -> Option<Self> {
        let flags = CreateFlags::CLOEXEC | CreateFlags::NONBLOCK;
        Some(Self {
            events: inotify::init(flags).ok()?,
            mounts: File::open("/proc/self/mountinfo").ok()?,
            watched: HashMap::new(),
        })
    }

    /// Watches folders and files until something of them has changed. Returns false where one of them
    /// cannot be watched.
    pub(in super::super) fn add(&mut self, looked_into: &[LookedInto]) -> bool {
        let itself = WatchFlags::DONT_FOLLOW
            | WatchFlags::ATTRIB
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF;
        let entries = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVE;
        looked_into.iter().all(|one| {
            let flags = itself
                | match one.asked {
                    Asked::Names(_) | Asked::Entries => WatchFlags::ONLYDIR | entries,
                    Asked::Content => WatchFlags::MODIFY,
                };
            let Ok(watch) = inotify::add_watch(&self.events, one.path.as_ref(), flags) else {
                return false;
            };
            let watched = WatchedNames::new(&one.asked);
            match self.watched.get_mut(&watch) {
                Some(before) => before.add(watched),
                None => drop(self.watched.insert(watch, watched)),
            }
            self.watched.len() <= MAX_WATCHES
        })
    }

    /// Whether anything of what is watched, or anything mounted, has changed since it was watched.
    /// Nothing is watched any more then.
    pub(in super::super) fn has_changed(&mut self) -> bool {
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let mut polled = [
            PollFd::new(&self.events, PollFlags::IN),
            PollFd::new(&self.mounts, PollFlags::PRI),
        ];
        let has_changed = match poll(&mut polled, Some(&at_once)) {
            Ok(0) => false,
            Ok(_) => {
                let [events, mounts] = polled.map(|one| one.revents());
                let told = !events.is_empty() && self.has_told();
                told || !mounts.is_empty()
            }
            Err(_) => true,
        };
        if has_changed {
            for (watch, _) in self.watched.drain() {
                // It is gone where its folder is.
                let _ = inotify::remove_watch(&self.events, watch);
            }
        }
        has_changed
    }

    /// Reads all events. Returns whether one of them tells of a change.
    fn has_told(&self) -> bool {
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut reader = Reader::new(&self.events, &mut buffer);
        let mut has_told = false;
        for _ in 0..MAX_EVENTS {
            match reader.next() {
                Ok(event) => has_told |= self.tells(&event),
                Err(Errno::AGAIN) => return has_told,
                Err(_) => return true,
            }
        }
        true
    }

    fn tells(&self, event: &Event<'_>) -> bool {
        match self.watched.get(&event.wd()) {
            // That a watch is gone comes behind the reason.
            Some(watched) => event.events() != ReadFlags::IGNORED && watched.has(event),
            // It was watched before a change, or events were lost.
            None => event.events().contains(ReadFlags::QUEUE_OVERFLOW),
        }
    }
}

/// Whether the system tells of all changes at a path.
pub(in super::super) fn is_told_of(path: &Path) -> bool {
    let kind = statfs(path).ok().map(|found| found.f_type);
    let kind = kind.and_then(|kind| u64::try_from(kind).ok());
    kind.is_some_and(|kind| LOCAL.contains(&kind))
}
