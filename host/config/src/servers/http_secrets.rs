//! Secrets of HTTP requests among all that a server has.

use std::collections::BTreeSet;

use dormouse_policy::{Grants, HttpSecret, SecretPlacement, SecretSource};

use crate::problem::unquoted;

/// Adds secrets to those of a server, in place of those of the same name.
///
/// # Errors
/// The server's plugin would see one of them, or two would stand in one place; with the reason,
/// behind the name of the server's table.
pub(super) fn add(
    secrets: &mut Vec<HttpSecret>,
    more: &[HttpSecret],
    grants: &Grants,
) -> Result<(), String> {
    secrets.retain(|old| more.iter().all(|new| new.name != old.name));
    secrets.extend(more.iter().cloned());
    let mut variables = BTreeSet::new();
    let mut places = BTreeSet::new();
    for secret in &*secrets {
        let name = &secret.name;
        if let Some(login) = secret.login()
            && let Some(other) = secrets
                .iter()
                .filter_map(HttpSecret::login)
                .find(|other| other.provider == login.provider && *other != login)
        {
            return Err(format!(
                "logs in at `{}` for the scopes `{}`, and for the scopes `{}`: write the same for both",
                login.provider,
                unquoted(&login.oauth.scopes.join(" ")),
                unquoted(&other.oauth.scopes.join(" "))
            ));
        }
        if let Some(SecretSource::Variable(variable)) = secret.looked_up()
            && grants.env.contains(variable)
        {
            return Err(format!(
                "has the secret `{name}` from the variable `{}`, which `grants.env` shows \
                 to the plugin",
                unquoted(variable)
            ));
        }
        let (kind, place) = match &secret.placement {
            SecretPlacement::Header { name, .. } => ("header", name.to_ascii_lowercase()),
            SecretPlacement::Query(name) => ("parameter", name.clone()),
            SecretPlacement::Placeholder { variable, .. } => {
                if grants.env.contains(variable) {
                    return Err(format!(
                        "has a placeholder of the secret `{name}` in the variable `{}`, \
                         which `grants.env` has, too",
                        unquoted(variable)
                    ));
                }
                if !variables.insert(variable) {
                    let variable = unquoted(variable);
                    return Err(format!("has two placeholders in the variable `{variable}`"));
                }
                continue;
            }
        };
        for host in &secret.hosts {
            if !places.insert((kind, place.clone(), host)) {
                let place = unquoted(&place);
                return Err(format!(
                    "has two secrets in the {kind} `{place}` for `{host}`"
                ));
            }
        }
    }
    Ok(())
}
