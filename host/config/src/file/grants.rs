//! Grants of servers, and limits of the host.

use super::*;

impl DocumentReader<'_> {
    pub(super) fn grants(&mut self, item: &Item, at: &str) -> Grants {
        let mut grants = Grants::default();
        let Some(table) = self.table(item, at) else {
            return grants;
        };
        for (key, item) in table.iter() {
            let here = within(at, key);
            match key {
                "fs" => {
                    for (index, item) in self.items(item, &here).into_iter().enumerate() {
                        grants
                            .fs
                            .extend(self.fs(&item, &format!("{here}[{index}]")));
                    }
                }
                "env" => {
                    for (index, item) in self.items(item, &here).into_iter().enumerate() {
                        grants
                            .env
                            .extend(self.variable(&item, &format!("{here}[{index}]")));
                    }
                }
                "http" => {
                    for (index, item) in self.items(item, &here).into_iter().enumerate() {
                        grants
                            .http
                            .extend(self.http(&item, &format!("{here}[{index}]")));
                    }
                }
                _ => self.unknown(table, key, &format!("`[{at}]`"), GRANTS),
            }
        }
        grants
    }

    pub(super) fn fs(&mut self, item: &Item, at: &str) -> Option<FsGrant> {
        let table = self.table(item, at)?;
        let mut path = None;
        // Whoever says nothing of writing has not granted it.
        let mut mode = Some(FsMode::ReadOnly);
        for (key, item) in table.iter() {
            let here = within(at, key);
            match key {
                "path" => path = self.path(item, &here),
                "mode" => {
                    mode = self.choice(
                        item,
                        &here,
                        &[("ro", FsMode::ReadOnly), ("rw", FsMode::ReadWrite)],
                    );
                }
                _ => self.unknown(table, key, &format!("`{at}`"), FS),
            }
        }
        if !table.contains_key("path") {
            self.problem(
                item.span(),
                format!("`{at}` has no `path`"),
                Some("name the folder: `{ path = \"~/notes\", mode = \"ro\" }`".to_owned()),
            );
        }
        Some(FsGrant {
            path: path?,
            real: None,
            mode: mode?,
        })
    }

    fn http(&mut self, item: &Item, at: &str) -> Option<HttpGrant> {
        let text = self.string(item, at)?;
        let error = match text.parse::<HttpGrant>() {
            Ok(grant) => return Some(grant),
            Err(error) => error,
        };
        let why = match &error {
            HttpGrantError::Words(_) => "it is no URL with methods before it or without".to_owned(),
            HttpGrantError::Method(_) => "what stands before its URL is no method".to_owned(),
            HttpGrantError::Url { why, .. } => why.clone(),
            HttpGrantError::Part { part, .. } => format!("it has {part}"),
        };
        // What is no plain URL may be a secret in a wrong place, or have one in it.
        let is_plain = text.contains("://") && !text.contains(['@', '?', '#']);
        let shown = match is_plain {
            true => quoted(text),
            false => "what it is".to_owned(),
        };
        let hint = Some(error.hint().to_owned());
        let message = format!("`{at}` cannot be {shown}: {why}");
        self.problem(item.span(), message, hint);
        None
    }
}
