//! The guests by name. Each is a file beside this one, a world of
//! `wit/guests.wit` and an `[[example]]` of this package.

/// Hands the names of all guests to a macro. A test file that passes one which
/// uses each name as a path does not compile while a guest has no test.
#[macro_export]
macro_rules! foreach_guest {
    ($then:path) => {
        $then! {
            adapter,
            asker,
            bench,
            blobs,
            bomb,
            c_names,
            counter,
            echo,
            exit,
            flood,
            folders,
            forge,
            front,
            http,
            huge,
            keeper,
            library,
            long_name,
            loud,
            multibyte,
            network,
            painter,
            panics,
            reporter,
            shelf,
            sleep,
            spin,
            tidy,
            trap,
            waki,
            wstd,
        }
    };
}

macro_rules! names {
    ($($name:ident,)*) => {
        /// The guests' names, which are those of their files.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}
foreach_guest!(names);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_file_is_a_guest_and_every_guest_a_file() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| {
                entry
                    .unwrap()
                    .path()
                    .file_stem()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned()
            })
            .filter(|name| name != "lib")
            .collect();
        let names: BTreeSet<String> = super::NAMES.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(files, names);
    }
}
