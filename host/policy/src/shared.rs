//! Folders that two servers are granted.

use std::fmt;
use std::path::PathBuf;

use super::FsGrant;
use dormouse_text::visible::visible_path;

/// Granted folder that contains, or is, one of another server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharedFolder {
    /// The server that is granted the outer folder, and that folder.
    pub outer: (String, PathBuf),
    /// The server that is granted the inner folder, and that folder.
    pub inner: (String, PathBuf),
}

impl fmt::Display for SharedFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((outer, outer_path), (inner, inner_path)) = (&self.outer, &self.inner);
        write!(
            f,
            "the folder `{}` of server `{inner}` is in reach of server `{outer}` too, which is \
             granted `{}`: what the one writes there, the other reads\n\
             hint: if that is not meant, change `fs` in `[servers.{inner}.grants]` or in \
             `[servers.{outer}.grants]`",
            visible_path(inner_path),
            visible_path(outer_path),
        )
    }
}

impl SharedFolder {
    /// Finds all such folders among the grants of several servers, each with the nearest folder
    /// that contains it.
    pub fn all<'g>(grants: impl Iterator<Item = (&'g str, &'g FsGrant)>) -> Vec<Self> {
        let mut grants: Vec<_> = grants.collect();
        // A folder comes after all that contain it, and before what does not lie in it.
        grants.sort_by(|(one, a), (other, b)| (a.real_path(), one).cmp(&(b.real_path(), other)));
        let mut found = Vec::new();
        let mut above: Vec<(&str, &FsGrant)> = Vec::new();
        for (server, grant) in grants {
            while above
                .pop_if(|(_, outer)| !grant.real_path().starts_with(outer.real_path()))
                .is_some()
            {}
            let outer = above.iter().rev().find(|(other, _)| *other != server);
            if let Some((other, outer)) = outer {
                found.push(Self {
                    outer: ((*other).to_owned(), outer.path.clone()),
                    inner: (server.to_owned(), grant.path.clone()),
                });
            }
            above.push((server, grant));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FsMode;

    #[test]
    fn folders_of_two_servers_are_told_with_the_nearest_one_that_contains_them() {
        let grant = |path: &str, real: Option<&str>| FsGrant {
            path: path.into(),
            real: real.map(Into::into),
            mode: FsMode::ReadOnly,
        };
        let grants = [
            ("a", grant("/w", None)),
            ("a", grant("/other", None)),
            ("b", grant("/w/sub/deep", None)),
            ("c", grant("/link", Some("/w/sub"))),
            ("d", grant("/w-not", None)),
            ("e", grant("/other", None)),
        ];
        let found = SharedFolder::all(grants.iter().map(|(server, grant)| (*server, grant)));
        let found: Vec<_> = found
            .iter()
            .map(|shared| (shared.outer.0.as_str(), shared.inner.0.as_str()))
            .collect();
        assert_eq!(found, [("a", "e"), ("a", "c"), ("c", "b")]);
    }
}
