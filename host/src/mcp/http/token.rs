//! The token that every client over HTTP sends, and the file in which it is kept.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use dormouse_files::regular::open_regular_file;
use dormouse_files::{ownership, paths};
use dormouse_text::visible::visible_path;
use subtle::ConstantTimeEq as _;

/// Name of the file below Dormouse's data folder.
const FILE_NAME: &str = "http-token";

/// Number of random bytes in a token that is made here: 256 bits.
const RANDOM_BYTES: usize = 32;

/// Longest token file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 4096;

/// Name of the environment variable that a token can be given in.
pub const VARIABLE: &str = "DORMOUSE_TOKEN";

/// Secret that a client sends with each request (`Authorization: Bearer …`).
pub struct Token {
    secret: String,
    file: Option<PathBuf>,
}

impl Token {
    /// Reads the token of this user, and makes it where there is none yet. `data` is
    /// Dormouse's data folder. All hosts of a user have the same one, so that a client is
    /// configured once.
    ///
    /// # Errors
    /// The file cannot be made or read, or somebody else could have read it.
    pub fn of_user(data: &Path) -> anyhow::Result<Self> {
        if let Some(token) = Self::of_user_if_made(data)? {
            return Ok(token);
        }
        let file = data.join(FILE_NAME);
        make(data, &file)
            .with_context(|| format!("no token can be kept in `{}`", visible_path(&file)))?;
        Self::read_own(&file, data)
    }

    /// Makes another token for this user, in place of the one that there is. `data` is
    /// Dormouse's data folder. Hosts that run go on with the one that they have read.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn renew(data: &Path) -> anyhow::Result<Self> {
        let file = data.join(FILE_NAME);
        let renewed = write_random(data).and_then(|made| Ok(made.persist(&file)?));
        renewed.with_context(|| format!("no token can be kept in `{}`", visible_path(&file)))?;
        Self::read_own(&file, data)
    }

    /// Reads the token of this user. None where none has been made yet.
    ///
    /// # Errors
    /// The file cannot be read, or somebody else could have read it.
    pub fn of_user_if_made(data: &Path) -> anyhow::Result<Option<Self>> {
        let file = data.join(FILE_NAME);
        if let Ok(false) = file.try_exists() {
            return Ok(None);
        }
        Self::read_own(&file, data).map(Some)
    }

    /// Reads the token in Dormouse's data folder, which can be another one than was just written
    /// there: whoever could put a file or a link in its place knows what is in it.
    fn read_own(file: &Path, data: &Path) -> anyhow::Result<Self> {
        let token = Self::read(file)?;
        ownership::check(file, data)
            .with_context(|| format!("the token file `{}` cannot be used", visible_path(file)))?;
        Ok(token)
    }

    /// Reads a token: what a file holds, without the space around it.
    ///
    /// # Errors
    /// The file cannot be read, is not its user's alone, could have been put there by others, or
    /// holds what cannot be sent in a header.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        let shown = visible_path(file);
        let text = read_private(file)
            .and_then(|text| {
                // Whoever can put a link there chooses which file of the user's is read.
                ownership::may_read(file)?;
                Ok(text)
            })
            .with_context(|| format!("the token file `{shown}` cannot be used"))?;
        let file = Some(file.to_owned());
        secret(&text)
            .map(|secret| Self { secret, file })
            .map_err(|why| {
                anyhow::anyhow!(
                    "there is no token in `{shown}`: {why}\n\
                     hint: put a long random word into it, such as from `openssl rand -hex 32`"
                )
            })
    }

    /// Reads a token from the environment ([`VARIABLE`]). None where it is not there.
    ///
    /// # Errors
    /// The value cannot be sent in a header.
    pub fn of_environment() -> anyhow::Result<Option<Self>> {
        let Some(text) = std::env::var_os(VARIABLE) else {
            return Ok(None);
        };
        match secret(&text.to_string_lossy()) {
            Ok(secret) => Ok(Some(Self { secret, file: None })),
            Err(why) => bail!(
                "there is no token in the environment variable `{VARIABLE}`: {why}\n\
                 hint: put a long random word into it, or unset it to have one made"
            ),
        }
    }

    /// The file that it is kept in. None where it is from the environment.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The secret itself, for those who have to send it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.secret
    }

    /// Compares with what a client has sent, in a time that does not tell how much of it
    /// was right.
    pub(super) fn is(&self, sent: &str) -> bool {
        bool::from(sent.as_bytes().ct_eq(self.secret.as_bytes()))
    }

    #[cfg(test)]
    pub(super) fn for_test(secret: &str) -> Self {
        Self {
            secret: secret.to_owned(),
            file: Some(PathBuf::from("/data/http-token")),
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

/// Returns the token in a text, without the space around it. The error says why the text cannot be
/// sent as a token.
fn secret(text: &str) -> Result<String, &'static str> {
    let secret = text.trim();
    if secret.is_empty() {
        Err("it is empty")
    } else if !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
        Err("it has other than visible ASCII characters in it")
    } else {
        Ok(secret.to_owned())
    }
}

/// Makes a random token, unless another host is faster.
fn make(data: &Path, file: &Path) -> anyhow::Result<()> {
    match write_random(data)?.persist_noclobber(file) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => Err(error.error.into()),
        _ => Ok(()),
    }
}

/// Writes a random token into a file that has no name of its own yet.
fn write_random(data: &Path) -> anyhow::Result<tempfile::NamedTempFile> {
    paths::make_private(data)?;
    let mut random = [0; RANDOM_BYTES];
    getrandom::fill(&mut random).context("the system gives no random numbers")?;
    // Made for its user alone, and complete before it has its name.
    let mut temporary = tempfile::NamedTempFile::new_in(data)?;
    for byte in random {
        write!(temporary, "{byte:02x}")?;
    }
    temporary.write_all(b"\n")?;
    temporary.as_file().sync_all()?;
    Ok(temporary)
}

/// Reads a file that nobody but its user can read or write.
fn read_private(path: &Path) -> anyhow::Result<String> {
    let file = open_regular_file(path).map_err(|error| match error.kind() {
        ErrorKind::IsADirectory | ErrorKind::InvalidInput => {
            io::Error::new(error.kind(), "it is no file")
        }
        _ => error,
    })?;
    check_owner(&file.metadata()?)?;
    let mut text = String::new();
    let read = file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text);
    let read = read.map_err(|error| match error.kind() {
        ErrorKind::InvalidData => io::Error::new(error.kind(), "it is no text"),
        _ => error,
    })?;
    if read as u64 > MAX_FILE_BYTES {
        bail!("it is longer than {MAX_FILE_BYTES} bytes");
    }
    Ok(text)
}

/// The user who can read everything anyway.
#[cfg(unix)]
const ROOT: u32 = 0;

#[cfg(unix)]
fn check_owner(metadata: &fs::Metadata) -> anyhow::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    let user = rustix::process::geteuid().as_raw();
    let mode = metadata.permissions().mode() & 0o777;
    judge_owner(metadata.uid(), mode, user)
}

/// Checks that nobody but a user can know or change what is in a file.
#[cfg(unix)]
fn judge_owner(owner: u32, mode: u32, user: u32) -> anyhow::Result<()> {
    // Whoever runs a container puts secrets into it that are root's, and of a group.
    let is_for_a_group = mode & 0o027 == 0;
    match owner {
        _ if owner == user && mode & 0o077 == 0 => Ok(()),
        _ if owner == user => bail!(
            "other users of this machine can reach it (mode `{mode:03o}`), and could have read it\n\
             hint: put another token into it, and `chmod 600` it; where it cannot be changed, give \
             the token in the environment variable `{VARIABLE}`"
        ),
        ROOT if is_for_a_group => Ok(()),
        ROOT => bail!(
            "it is root's, and others than its group can reach it (mode `{mode:03o}`), and could have \
             read it\n\
             hint: have it made with mode 0440 and a group of yours, or give the token in the \
             environment variable `{VARIABLE}`"
        ),
        _ => bail!(
            "it belongs to another user (uid {owner}), who knows what is in it\n\
             hint: make a file of your own"
        ),
    }
}

/// Files below a user's own folder are theirs alone by default there.
#[cfg(not(unix))]
fn check_owner(_metadata: &fs::Metadata) -> anyhow::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_for_all_hosts_of_a_user() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let first = Token::of_user(&data).unwrap();
        assert_eq!(first.expose().len(), 2 * RANDOM_BYTES);
        let second = Token::of_user(&data).unwrap();
        assert_eq!(first.expose(), second.expose());
        assert!(first.is(second.expose()));
        let other = Token::of_user(&folder.path().join("other")).unwrap();
        assert_ne!(first.expose(), other.expose());
        assert!(!format!("{first:?}").contains(first.expose()));
        // Nothing is left over of how it was made.
        assert_eq!(fs::read_dir(&data).unwrap().count(), 1);
        // Another one takes its place at once, and is as private.
        let renewed = Token::renew(&data).unwrap();
        assert_ne!(renewed.expose(), first.expose());
        assert_eq!(Token::of_user(&data).unwrap().expose(), renewed.expose());
        assert_eq!(fs::read_dir(&data).unwrap().count(), 1);
        let first = renewed;
        // One that another host has made meanwhile stays.
        make(&data, first.file().unwrap()).unwrap();
        assert_eq!(Token::of_user(&data).unwrap().expose(), first.expose());
    }

    #[cfg(unix)]
    #[test]
    fn a_token_that_others_could_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let token = Token::of_user(&data).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(token.file().unwrap()), mode(&data)), (0o600, 0o700));
        for bad in [0o640, 0o604, 0o620, 0o666] {
            fs::set_permissions(token.file().unwrap(), fs::Permissions::from_mode(bad)).unwrap();
            let error = format!("{:#}", Token::of_user(&data).unwrap_err());
            assert!(error.contains(&format!("`{bad:03o}`")), "{error}");
            assert!(!error.contains(token.expose()), "{error}");
        }
        fs::set_permissions(token.file().unwrap(), fs::Permissions::from_mode(0o400)).unwrap();
        assert!(Token::read(token.file().unwrap()).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_token_that_others_could_have_put_there_is_refused() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let (token, notes) = (data.join(FILE_NAME), folder.path().join("notes.txt"));
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        fs::write(&notes, "known\n").unwrap();
        mode(&notes, 0o600);
        fs::create_dir(&data).unwrap();
        symlink(&notes, &token).unwrap();
        mode(&data, 0o700);
        assert_eq!(Token::of_user(&data).unwrap().expose(), "known");
        mode(&data, 0o777);
        let error = format!("{:#}", Token::of_user(&data).unwrap_err());
        assert!(error.contains("can be written to by others"), "{error}");
        assert!(Token::of_user_if_made(&data).is_err());
        assert!(Token::read(&token).is_err());
        // In a folder in which each removes only what is theirs, the user's own link is theirs.
        mode(&data, 0o1777);
        assert_eq!(Token::read(&token).unwrap().expose(), "known");
    }

    #[cfg(unix)]
    #[test]
    fn a_token_of_roots_is_taken_where_only_a_group_can_read_it() {
        for (owner, mode, user, why) in [
            (1000, 0o600, 1000, ""),
            (1000, 0o400, 1000, ""),
            (1000, 0o440, 1000, "chmod 600"),
            (0, 0o440, 1000, ""),
            (0, 0o400, 1000, ""),
            (0, 0o444, 1000, "DORMOUSE_TOKEN"),
            (0, 0o644, 1000, "DORMOUSE_TOKEN"),
            (0, 0o660, 1000, "DORMOUSE_TOKEN"),
            (0, 0o600, 0, ""),
            (0, 0o440, 0, "DORMOUSE_TOKEN"),
            (1001, 0o440, 1000, "another user (uid 1001)"),
            (1001, 0o600, 0, "another user (uid 1001)"),
        ] {
            let judged = judge_owner(owner, mode, user);
            assert_eq!(judged.is_ok(), why.is_empty(), "{owner} {mode:o} {user}");
            let told = judged.map_or_else(|error| error.to_string(), |()| String::new());
            assert!(told.contains(why), "{told}");
        }
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let long = "x".repeat(5000);
        for (bad, why) in [
            (&b""[..], "empty"),
            (b" \n", "empty"),
            (b"a b", "visible"),
            ("ä".as_bytes(), "visible"),
            (b"\xff", "no text"),
            (long.as_bytes(), "longer"),
        ] {
            dormouse_files::replace::replace(&file, bad, dormouse_files::replace::Access::Private)
                .unwrap();
            let error = format!("{:#}", Token::read(&file).unwrap_err());
            assert!(error.contains(why), "{error}");
        }
        dormouse_files::replace::replace(
            &file,
            b" s3cret\n",
            dormouse_files::replace::Access::Private,
        )
        .unwrap();
        assert_eq!(Token::read(&file).unwrap().expose(), "s3cret");
        let error = format!("{:#}", Token::read(folder.path()).unwrap_err());
        assert!(error.contains("no file"), "{error}");
    }
}
