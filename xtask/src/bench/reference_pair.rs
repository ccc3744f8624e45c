//! Reference servers and our plugins in their place.

use std::process::Command;

use anyhow::Result;
use dormouse_tests::github_api::{GitHubApi, TOKEN};
use dormouse_tests::recording_host::{RecordingHost, http};
use dormouse_tests::{Home, artifacts};
use serde_json::{Value, json};

use super::fleet;

/// A reference server and our plugin in its place.
pub(super) struct Pair {
    pub(super) name: &'static str,
    pub(super) reference: Command,
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    /// Least that the time of a warm call of the reference's is meant to be, in those of ours.
    pub(super) least_ratio_of_warm_calls: Option<f64>,
    home: Home,
    /// A variable of our host's environment.
    variable: Option<(&'static str, &'static str)>,
}

impl Pair {
    fn new(name: &'static str, reference: Command, home: Home) -> Self {
        Self {
            name,
            reference,
            tool: "",
            arguments: Value::Null,
            least_ratio_of_warm_calls: None,
            home,
            variable: None,
        }
    }

    /// Returns the command of a host with our plugin.
    pub(super) fn ours(&self) -> Command {
        let mut command = fleet::dormouse(&self.home);
        command.envs(self.variable);
        command
    }
}

/// Returns all of them.
pub(super) fn all() -> Result<[Pair; 4]> {
    Ok([time()?, filesystem()?, fetch()?, github()?])
}

fn time() -> Result<Pair> {
    let home = fleet::empty_home()?;
    home.server("time", &artifacts::plugin("time")?)?;
    let reference = Command::new(artifacts::python("reference", "mcp-server-time")?);
    Ok(Pair {
        tool: "get_current_time",
        arguments: json!({ "timezone": "Europe/Zurich" }),
        ..Pair::new("time", reference, home)
    })
}

fn filesystem() -> Result<Pair> {
    let home = fleet::empty_home()?;
    let folder = home.path().join("granted");
    std::fs::create_dir(&folder)?;
    let file = folder.join("file.txt");
    std::fs::write(&file, "a line\n".repeat(100))?;
    let grants = format!(
        "[servers.filesystem.grants]\nfs = [{{ path = '{}', mode = \"ro\" }}]",
        folder.display()
    );
    home.server_with("filesystem", &artifacts::plugin("filesystem")?, &grants)?;
    let mut reference = Command::new(artifacts::node()?);
    reference
        .arg(artifacts::npm_file(
            "@modelcontextprotocol/server-filesystem",
            "dist/index.js",
        )?)
        .arg(&folder);
    Ok(Pair {
        tool: "read_text_file",
        arguments: json!({ "path": file }),
        least_ratio_of_warm_calls: Some(3.0),
        ..Pair::new("filesystem", reference, home)
    })
}

/// Both read the same page of a host of this process's.
fn fetch() -> Result<Pair> {
    let home = fleet::empty_home()?;
    let article = artifacts::read(&artifacts::workspace().join("tests/fixtures/article.html"))?;
    let page = http("200 OK", "content-type: text/html\r\n", &article);
    let host = RecordingHost::start(move |request| match request.starts_with("GET /article ") {
        true => page.clone(),
        false => http("404 Not Found", "", ""),
    })?;
    let url = format!("http://{}", host.authority());
    let grants = format!("[servers.fetch.grants]\nhttp = [\"{url}\"]");
    home.server_with("fetch", &artifacts::plugin("fetch")?, &grants)?;
    let mut reference = Command::new(artifacts::python("servers", "mcp-server-fetch")?);
    // Without its program in Node, which it would install first.
    reference.arg("--allow-private-ips").env("PATH", "");
    Ok(Pair {
        tool: "fetch",
        arguments: json!({ "url": format!("{url}/article") }),
        ..Pair::new("fetch", reference, home)
    })
}

/// Both read the same file of a stand-in of GitHub's, in this process.
fn github() -> Result<Pair> {
    let home = fleet::empty_home()?;
    let url = GitHubApi::start()?.url();
    let grants = format!(
        "[servers.github.grants]\nhttp = [\"{url}\"]\n\
         [servers.github.settings]\napi = \"{url}\"\n\
         [servers.github.secrets]\ntoken = {{ env = \"GITHUB_TOKEN\", hosts = [\"{url}\"], header = \"Authorization\", value = \"Bearer {{}}\" }}"
    );
    home.server_with("github", &artifacts::plugin("github")?, &grants)?;
    let package = "@modelcontextprotocol/server-github";
    let mut reference = Command::new(artifacts::node()?);
    reference
        .arg("--import")
        .arg(artifacts::workspace().join("tests/servers/github_redirected.mjs"))
        .arg(artifacts::npm_file(package, "dist/index.js")?)
        .env("GITHUB_API", &url)
        .env("GITHUB_PERSONAL_ACCESS_TOKEN", TOKEN);
    Ok(Pair {
        tool: "get_file_contents",
        arguments: json!({ "owner": "octocat", "repo": "Hello-World", "path": "README.md" }),
        variable: Some(("GITHUB_TOKEN", TOKEN)),
        ..Pair::new("github", reference, home)
    })
}
