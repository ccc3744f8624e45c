//! The tool and the prompt of `wit/`, and the settings that the user may give them.

use dormouse_sdk::settings;
use tools::FetchArguments;
use url::Url;

use crate::fetcher::Fetcher;
use crate::http;
use crate::page::Page;

/// `User-Agent` of requests that a model decides on.
const AUTONOMOUS: &str =
    "ModelContextProtocol/1.0 (Autonomous; +https://github.com/modelcontextprotocol/servers)";

/// `User-Agent` of requests that the user decides on.
const USER_SPECIFIED: &str =
    "ModelContextProtocol/1.0 (User-Specified; +https://github.com/modelcontextprotocol/servers)";

struct Fetch;

dormouse_sdk::plugin!(Fetch);

impl tools::Guest for Fetch {
    fn fetch(arguments: FetchArguments) -> Result<String, String> {
        let url = parsed(&arguments.url)?;
        let ignores_robots = settings::get("ignore_robots_txt")?.unwrap_or(false);
        let page = page(&url, AUTONOMOUS, !ignores_robots, arguments.raw)?;
        let part = page.part(arguments.start_index, arguments.max_length);
        Ok(format!("{}Contents of {url}:\n{part}", page.note))
    }
}

impl prompts::Guest for Fetch {
    /// The user asked for this page, so robots.txt is not consulted, and a failure is shown as the
    /// prompt's text.
    fn fetch(url: String) -> String {
        let page = parsed(&url).and_then(|url| page(&url, USER_SPECIFIED, false, false));
        page.map_or_else(|error| error, |page| page.note + &page.content)
    }
}

fn parsed(url: &str) -> Result<Url, String> {
    Url::parse(url).map_err(|error| format!("`{url}` is no valid URL: {error}"))
}

fn page(url: &Url, user_agent: &str, obeys_robots: bool, raw: bool) -> Result<Page, String> {
    let fetcher = Fetcher {
        user_agent: settings::get("user_agent")?.unwrap_or_else(|| user_agent.to_owned()),
        obeys_robots,
        get: http::get,
    };
    Ok(Page::new(&fetcher.fetch(url)?, raw))
}
