//! Environment of a child beside its configuration: what programs need to find their way around the
//! system, and none of the user's secrets.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

use dormouse_text::wildcard::matches;

use super::redaction::is_secret_name;

mod withheld;

pub use withheld::withheld;

/// Variables that are passed for one reason.
struct PassedVariables {
    #[allow(dead_code, reason = "for whoever reads the table")]
    why: &'static str,
    /// Names, or patterns with `*`.
    names: &'static [&'static str],
}

const fn passed(why: &'static str, names: &'static [&'static str]) -> PassedVariables {
    PassedVariables { why, names }
}

/// Variables that every child gets. None of them is a key: a file of credentials that one of them
/// names can be read by the child anyway, which runs with its user's rights.
const PASSED: &[PassedVariables] = &[
    #[cfg(not(windows))]
    passed(
        "a program finds its user, its files and other programs",
        &[
            "HOME",
            "LOGNAME",
            "PATH",
            "SHELL",
            "TERM",
            "TMPDIR",
            "USER",
            "XDG_*_DIR",
            "XDG_*_DIRS",
            "XDG_*_HOME",
            "XDG_CURRENT_DESKTOP",
            "XDG_SEAT",
            "XDG_SESSION_*",
            "XDG_VTNR",
        ],
    ),
    #[cfg(windows)]
    passed(
        "a program finds its user, its files and other programs",
        &[
            "APPDATA",
            "COMMONPROGRAMFILES",
            "COMSPEC",
            "HOMEDRIVE",
            "HOMEPATH",
            "LOCALAPPDATA",
            "NUMBER_OF_PROCESSORS",
            "OS",
            "PATH",
            "PATHEXT",
            "PROCESSOR_ARCHITECTURE",
            "PROGRAMDATA",
            "PROGRAMFILES",
            "PROGRAMFILES(X86)",
            "PSMODULEPATH",
            "PUBLIC",
            "SYSTEMDRIVE",
            "SYSTEMROOT",
            "TEMP",
            "TMP",
            "USERDOMAIN",
            "USERNAME",
            "USERPROFILE",
            "WINDIR",
        ],
    ),
    passed(
        "dates and texts are the user's",
        &["LANG", "LANGUAGE", "LC_*", "TZ", "TZDIR"],
    ),
    passed(
        "connections trust whom the system trusts",
        &[
            "AWS_CA_BUNDLE",
            "CURL_CA_BUNDLE",
            "DENO_CERT",
            "DENO_TLS_CA_STORE",
            "GIT_SSL_CAINFO",
            "NIX_SSL_CERT_FILE",
            "NODE_EXTRA_CA_CERTS",
            "NODE_USE_SYSTEM_CA",
            "NPM_CONFIG_CAFILE",
            "PIP_CERT",
            "REQUESTS_CA_BUNDLE",
            "SSL_CERT_DIR",
            "SSL_CERT_FILE",
            "UV_NATIVE_TLS",
            "UV_SYSTEM_CERTS",
        ],
    ),
    passed(
        "the network is reached through a proxy",
        &[
            "ALL_PROXY",
            "FTP_PROXY",
            "HTTPS_PROXY",
            "HTTP_PROXY",
            "NODE_USE_ENV_PROXY",
            "NO_PROXY",
            "NPM_CONFIG_HTTPS_PROXY",
            "NPM_CONFIG_NOPROXY",
            "NPM_CONFIG_PROXY",
        ],
    ),
    passed(
        "a window or a browser is opened, and a keyring asked, in the user's session",
        &[
            "BROWSER",
            "CHROME_BIN",
            "CHROME_PATH",
            "DBUS_SESSION_BUS_ADDRESS",
            "DISPLAY",
            "PLAYWRIGHT_BROWSERS_PATH",
            "PUPPETEER_CACHE_DIR",
            "PUPPETEER_EXECUTABLE_PATH",
            "WAYLAND_DISPLAY",
            "WSLENV",
            "WSL_DISTRO_NAME",
            "WSL_INTEROP",
            "XAUTHORITY",
        ],
    ),
    passed(
        "keys stay with the agents that hold them",
        &["GNUPGHOME", "SSH_AGENT_PID", "SSH_AUTH_SOCK"],
    ),
    passed(
        "containers, clusters and clouds are those that the user has chosen",
        &[
            "AWS_CONFIG_FILE",
            "AWS_DEFAULT_REGION",
            "AWS_PROFILE",
            "AWS_REGION",
            "AWS_SHARED_CREDENTIALS_FILE",
            "AZURE_CONFIG_DIR",
            "CLOUDSDK_ACTIVE_CONFIG_NAME",
            "CLOUDSDK_CONFIG",
            "CONTAINER_HOST",
            "DOCKER_CERT_PATH",
            "DOCKER_CONFIG",
            "DOCKER_CONTEXT",
            "DOCKER_HOST",
            "DOCKER_TLS_VERIFY",
            "GH_CONFIG_DIR",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GOOGLE_CLOUD_PROJECT",
            "HELM_CACHE_HOME",
            "HELM_CONFIG_HOME",
            "HELM_DATA_HOME",
            "KUBECONFIG",
            "KUBERNETES_SERVICE_HOST",
            "KUBERNETES_SERVICE_PORT",
            "KUBE_CONFIG_PATH",
            "MINIKUBE_HOME",
        ],
    ),
    passed(
        "languages and package managers are where the user has put them",
        &[
            "ANDROID_HOME",
            "ANDROID_SDK_ROOT",
            "ASDF_DATA_DIR",
            "ASDF_DIR",
            "BUN_INSTALL",
            "CARGO_HOME",
            "CONDA_DEFAULT_ENV",
            "CONDA_EXE",
            "CONDA_PREFIX",
            "COREPACK_HOME",
            "DENO_DIR",
            "DOTNET_ROOT",
            "FNM_DIR",
            "FNM_MULTISHELL_PATH",
            "GEM_HOME",
            "GEM_PATH",
            "GOBIN",
            "GOPATH",
            "GOROOT",
            "GRADLE_USER_HOME",
            "HF_HOME",
            "HOMEBREW_CELLAR",
            "HOMEBREW_PREFIX",
            "HOMEBREW_REPOSITORY",
            "JAVA_HOME",
            "LD_LIBRARY_PATH",
            "M2_HOME",
            "MISE_*_DIR",
            "NIX_PATH",
            "NIX_PROFILES",
            "NODENV_ROOT",
            "NPM_CONFIG_CACHE",
            "NPM_CONFIG_PREFIX",
            "NPM_CONFIG_REGISTRY",
            "NPM_CONFIG_USERCONFIG",
            "NVM_BIN",
            "NVM_DIR",
            "PIPX_*",
            "PIP_CONFIG_FILE",
            "PIP_EXTRA_INDEX_URL",
            "PIP_INDEX_URL",
            "PNPM_HOME",
            "PYENV_ROOT",
            "RBENV_ROOT",
            "RUSTUP_HOME",
            "RUSTUP_TOOLCHAIN",
            "SDKMAN_DIR",
            "UV_*_DIR",
            "UV_DEFAULT_INDEX",
            "UV_INDEX",
            "UV_INDEX_URL",
            "UV_PYTHON",
            "VIRTUAL_ENV",
            "VOLTA_HOME",
            "YARN_CACHE_FOLDER",
            "YARN_GLOBAL_FOLDER",
        ],
    ),
];

/// Start of the names of Dormouse's own variables, one of which is the token of a host: no child
/// gets them.
const OWN: &str = "DORMOUSE_";

/// Whether every child gets the variable of that name.
pub fn is_inherited(name: &str) -> bool {
    // Proxies have their names in small letters as well, as have npm's settings.
    let name = name.to_ascii_uppercase();
    let mut names = PASSED.iter().flat_map(|passed| passed.names);
    names.any(|pattern| matches(pattern, &name))
}

/// Returns the value of a variable if it may be a secret, or a URL that may have one in it. Of the
/// variables that every child gets, those are URLs, such as of proxies and of indexes of packages,
/// and variables with the name of a secret.
pub fn secret_in<'v>(name: &str, value: &'v str) -> Option<Cow<'v, str>> {
    if !is_inherited(name) || is_secret_name(name) || value.contains("://") {
        return Some(value.into());
    }
    // Some programs read a proxy without the scheme of its URL. With one, it is looked at as a URL.
    let is_proxy = name.to_ascii_uppercase().ends_with("_PROXY");
    let has_user = is_proxy && value.contains('@');
    has_user.then(|| format!("proxy://{}", value.trim_start_matches('/')).into())
}

/// Whether one of the patterns that a user has written names a variable.
pub fn is_named(patterns: &[String], name: &str) -> bool {
    !name.starts_with(OWN) && patterns.iter().any(|pattern| matches(pattern, name))
}

/// Returns the variables of this process that a child gets, beside those of its own configuration.
/// `patterns` are the names that its user has configured, with `*` for any characters.
pub fn passed_on(patterns: &[String]) -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, value)| passes(name, value, patterns))
}

fn passes(name: &OsStr, value: &OsStr, patterns: &[String]) -> bool {
    // An old shell's exported function is code, not a value.
    let is_function = value.as_encoded_bytes().starts_with(b"()");
    let named = |name: &str| is_inherited(name) || is_named(patterns, name);
    !is_function && name.to_str().is_some_and(named)
}

#[cfg(test)]
mod tests;
