//! The guests by name, and what they have in common. Each is a file of `guests` and an `[[example]]`
//! of this package.

#[cfg(target_family = "wasm")]
pub mod bindings;
#[cfg(target_family = "wasm")]
pub mod request;

/// Hands the names of all guests to a macro. A test file that passes one which uses each name as a
/// path does not compile while a guest has no test.
#[macro_export]
macro_rules! foreach_hostile_guest {
    ($then:path) => {
        $then! {
            absolute_form_paths,
            answers_of_other_sessions,
            credentials_in_urls,
            dns_channel,
            endless_heads,
            endless_request,
            endless_responses,
            flood_of_questions,
            huge_headers,
            huge_urls,
            imitating_questions,
            late_answers,
            line_breaks,
            lookalike_hosts,
            names_of_private_addresses,
            other_plugins_connections,
            other_plugins_secret,
            placeholder_in_another_header,
            placeholder_in_body,
            placeholder_in_path,
            placeholder_split,
            placeholder_to_another_host,
            private_addresses,
            raw_sockets,
            rebinding,
            redirects,
            secret_in_memory,
            smuggling_headers,
        }
    };
}

macro_rules! names {
    ($($name:ident,)*) => {
        /// The guests' names, which are those of their files.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}
foreach_hostile_guest!(names);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_file_is_a_guest_and_every_guest_a_file() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                path.file_stem().unwrap().to_string_lossy().into_owned()
            })
            .collect();
        let names: BTreeSet<String> = super::NAMES.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(files, names);
    }
}
