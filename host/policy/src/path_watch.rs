//! Watch of folders and files: one cheap question tells whether anything of them has changed.

#[cfg(target_os = "linux")]
pub(super) use self::linux::{PathWatch, is_told_of};
#[cfg(not(target_os = "linux"))]
pub(super) use self::other::{PathWatch, is_told_of};

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;
