//! Entries that a project and its user have in files of one client, under one name.

use std::collections::BTreeMap;

use proptest::sample::Index;

use super::files::{CLIENTS, Entry, Files, PROGRAMS, Switch};
use crate::Client;

impl Files {
    /// Gives an entry of the user's another one of the project's in its place.
    pub(super) fn add_override(&mut self, name: &Index, program: &Index) {
        let mut places = Vec::new();
        for (client, files) in CLIENTS {
            let users = self.users.get(&client).and_then(Option::as_ref);
            let names = users.into_iter().flat_map(BTreeMap::keys);
            let of_client = files.iter();
            places.extend(names.flat_map(|name| of_client.clone().map(|file| (*file, *name))));
        }
        if places.is_empty() {
            return;
        }
        let (file, name) = *name.get(&places);
        let entry = Entry {
            program: Some(*program.get(&PROGRAMS)),
            switch: Switch::Unsaid,
            denies: false,
            has_folder: false,
        };
        self.projects.entry(file).or_default().insert(name, entry);
    }

    /// Returns the entries that a project and its user have in files of one client, under one name.
    pub(super) fn overrides(&self) -> Vec<(Client, &'static str, &Entry, &Entry)> {
        let mut all = Vec::new();
        for (client, files) in CLIENTS {
            let users = self.users.get(&client).and_then(Option::as_ref);
            for (name, users) in users.into_iter().flatten() {
                let projects = files.iter().filter_map(|file| self.projects.get(file));
                let projects = projects.filter_map(|entries| entries.get(name));
                all.extend(projects.map(|project| (client, *name, users, project)));
            }
        }
        all
    }
}
