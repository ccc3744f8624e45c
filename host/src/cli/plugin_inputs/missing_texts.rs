//! Texts of secrets that are not where they are to come from. Nothing is run for that, nobody is asked,
//! and no text is shown.

use std::path::Path;

use dormouse_policy::{HttpSecret, SecretSource};
use dormouse_secrets::SecretStore;
use dormouse_upstream::secret_text;

use crate::cli::hosts::block_on;

/// Returns a sentence on a secret whose text is not there; none where it is, or where only a program or
/// a login could tell.
pub(in crate::cli) fn missing_text(secret: &HttpSecret, data: &Path) -> Option<String> {
    let why = match secret.looked_up()? {
        source @ (SecretSource::Variable(_) | SecretSource::File(_)) => {
            let text = block_on(secret_text(source)).ok()?;
            text.err()?
        }
        SecretSource::Keyring(name) => match SecretStore::open(data).contains(name) {
            Ok(true) => return None,
            Ok(false) => format!(
                "has no value: you have no secret `{name}`\n\
                 hint: `dormouse secret set {name}` asks you for it"
            ),
            Err(error) => format!("has no value: {error}"),
        },
        SecretSource::Command { .. } | SecretSource::Login(_) => return None,
    };
    let name = &secret.name;
    Some(match secret.login() {
        Some(login) => format!(
            "the client's secret at `{}`, for its secret `{name}`, {why}",
            login.provider
        ),
        None => format!("its secret `{name}` {why}"),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use dormouse_policy::SecretPlacement;

    use super::*;

    #[test]
    fn what_a_secret_is_to_be_and_is_not_is_said_without_running_anything() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let marker = folder.path().join("ran");
        let secret = |source| HttpSecret {
            name: "token".to_owned(),
            source,
            hosts: vec!["api.example.com".parse().unwrap()],
            placement: SecretPlacement::Query("key".to_owned()),
        };
        let missing = |source| missing_text(&secret(source), folder.path());
        let unset = missing(SecretSource::Variable("DORMOUSE_UNSET".to_owned())).unwrap();
        assert!(
            unset.starts_with("its secret `token` has no value: ") && unset.contains("is not set"),
            "{unset}"
        );
        let none = missing(SecretSource::File(file.clone().into())).unwrap();
        assert!(none.contains("cannot be read"), "{none}");
        fs::write(&file, "s3cret\n").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
            let open = missing(SecretSource::File(file.clone().into())).unwrap();
            assert!(
                open.contains("can be read by other users") && !open.contains("s3cret"),
                "{open}"
            );
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        }
        assert_eq!(missing(SecretSource::File(file.into())), None);
        let keyring = || missing(SecretSource::Keyring("work".to_owned()));
        let none = keyring().unwrap();
        assert!(none.contains("`dormouse secret set work`"), "{none}");
        let command = SecretSource::Command {
            program: "touch".to_owned(),
            arguments: vec![marker.to_string_lossy().into_owned()],
            folder: folder.path().to_owned(),
            is_confined: false,
        };
        assert_eq!(missing(command), None);
        assert!(!marker.exists());
    }
}
