//! The command line: one file per subcommand.
//!
//! Results of a command go to stdout, all other messages to stderr. Exit codes: 0 done, 1 failed, 2
//! misused.

pub mod output;

mod adapt;
mod add;
mod answer;
mod approve;
mod cache;
mod call;
mod check;
mod completions;
mod component;
mod consent;
mod cost;
mod describe;
mod doctor;
mod forget;
mod grant;
mod grant_args;
mod grant_requests;
mod grants;
mod host_address;
mod hosts;
mod import;
mod inspect;
mod install;
mod list;
mod login;
mod offers;
mod pack;
mod parsing;
mod person;
mod plugin_inputs;
mod progress;
mod prompt;
mod read;
mod read_component;
mod remove;
mod restart;
mod revoke;
mod search;
mod secret;
mod secret_hosts;
pub mod serve;
mod session;
mod status;
mod stderr;
mod stdin;
mod switch;
mod sync;
mod terminal;
mod tokens;
mod tools;
mod trust;
mod uninstall;
mod wit;

#[cfg(test)]
mod tests;

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use dormouse_config::discovery::Surroundings;
use dormouse_files::paths;
use tracing::{Level, Metadata};
use tracing_subscriber::filter::{EnvFilter, FilterExt as _, filter_fn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::roster::{ExposureChoice, PROBLEMS_OF_SERVERS, Places};

/// Environment variable that selects the logs, in the syntax of tracing-subscriber's `EnvFilter`.
/// It overrides `-v` and `-q`.
const LOG: &str = "DORMOUSE_LOG";

/// `dormouse` and its arguments.
#[derive(Debug, Parser)]
#[command(
    name = "dormouse",
    version,
    about = "One MCP server in front of all of your MCP servers, asleep until first use",
    long_about = "One MCP server in front of all of your MCP servers.\n\n\
        They are the servers that your agents have already (programs and URLs, found in their \
        files), and plugins: WebAssembly components that declare their tools in their file and \
        may do nothing that you have not granted. Each sleeps until one of its tools is called.",
    after_help = "Examples:\n  \
        dormouse list                                 the servers that you have\n  \
        dormouse add time ./time.wasm                 add a server\n  \
        dormouse add notes ./files.wasm --grant-fs ~/notes:rw\n  \
        dormouse tools                                what your agents see\n  \
        dormouse call time get_current_time '{\"timezone\": \"Europe/Paris\"}'\n  \
        dormouse install claude-code                  have an agent run `dormouse serve`\n\n\
        `dormouse COMMAND --help` says more about each. `dormouse doctor` finds out what is wrong.",
    propagate_version = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub struct Cli {
    #[command(subcommand)]
    command: DormouseCommand,
    #[command(flatten)]
    global: Global,
}

#[derive(Debug, Args)]
struct Global {
    /// The configuration file, instead of your own (`~/.config/dormouse/dormouse.toml`).
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// Log more to stderr; twice even more. DORMOUSE_LOG says it in detail.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    verbose: u8,
    /// Log nothing but errors.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum DormouseCommand {
    #[command(
        after_help = "Agents start this: `dormouse install CLIENT` writes it into a client's own file, with \
            `--client CLIENT`. By hand, for Claude Code: \
            `claude mcp add dormouse -- dormouse serve --client claude-code`."
    )]
    Serve(serve::ServeArgs),
    List(list::ListArgs),
    Tools(tools::ToolsArgs),
    Search(search::SearchArgs),
    Tokens(tokens::TokensArgs),
    /// Lists the prompts that agents see.
    Prompts(offers::OffersArgs),
    /// Lists the resources and resource templates that agents see.
    Resources(offers::OffersArgs),
    Call(call::CallArgs),
    Prompt(prompt::PromptArgs),
    Read(read::ReadArgs),
    Add(add::AddArgs),
    Remove(remove::RemoveArgs),
    /// Shows a server's tools to agents again.
    Enable(switch::SwitchArgs),
    /// Hides a server's tools from agents, and keeps its configuration.
    Disable(switch::SwitchArgs),
    Restart(restart::RestartArgs),
    Forget(forget::ForgetArgs),
    Login(login::LoginArgs),
    Logout(login::LogoutArgs),
    Import(import::ImportArgs),
    Install(install::InstallArgs),
    Uninstall(uninstall::UninstallArgs),
    Sync(sync::SyncArgs),
    Secret(secret::SecretArgs),
    Trust(trust::TrustArgs),
    Approve(approve::ApproveArgs),
    Diff(approve::DiffArgs),
    Grant(grant::GrantCommandArgs),
    Grants(grants::GrantsArgs),
    Revoke(revoke::RevokeArgs),
    Adapt(adapt::AdaptArgs),
    Status(status::StatusArgs),
    Doctor(doctor::DoctorArgs),
    Inspect(inspect::InspectArgs),
    Check(check::CheckArgs),
    Pack(pack::PackArgs),
    Wit(wit::WitArgs),
    Cache(cache::CacheArgs),
    Completions(completions::CompletionsArgs),
    /// Ends what a host leaves behind that was killed.
    #[command(hide = true)]
    Reaper,
    /// Reads a component for a host, which sends it.
    #[command(hide = true)]
    ReadComponent(read_component::ReadComponentArgs),
    /// Compiles a component for a host, which sends it.
    #[command(hide = true)]
    Compile,
    /// Counts the tokens of texts for a host, which sends them.
    #[command(hide = true)]
    CountTokens,
}

/// Format in which data is printed.
#[derive(Debug, Clone, Copy, Args)]
struct Format {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    /// The command has failed.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        self.global
            .log(matches!(self.command, DormouseCommand::Serve(_)));
        let global = &self.global;
        match self.command {
            DormouseCommand::Serve(serve) => {
                serve.run(global.places()?).map(|()| ExitCode::SUCCESS)
            }
            DormouseCommand::List(list) => list.run(global.places()?),
            DormouseCommand::Tools(tools) => tools.run(global.places()?),
            DormouseCommand::Search(search) => search.run(global.places()?),
            DormouseCommand::Tokens(tokens) => tokens.run(global.places()?),
            DormouseCommand::Prompts(offers) => offers.prompts(global.places()?),
            DormouseCommand::Resources(offers) => offers.resources(global.places()?),
            DormouseCommand::Call(call) => call.run(global.places()?),
            DormouseCommand::Prompt(prompt) => prompt.run(global.places()?),
            DormouseCommand::Read(read) => read.run(global.places()?),
            DormouseCommand::Add(add) => add.run(&global.places()?),
            DormouseCommand::Remove(remove) => remove.run(&global.places()?),
            DormouseCommand::Enable(switch) => switch.run(global.places()?, true),
            DormouseCommand::Disable(switch) => switch.run(global.places()?, false),
            DormouseCommand::Secret(secret) => {
                let config = paths::config_file(global.config.as_deref()).ok();
                secret.run(&paths::data_dir()?, config.as_deref())
            }
            DormouseCommand::Restart(restart) => restart.run(global.places()?),
            DormouseCommand::Forget(forget) => forget.run(global.places()?),
            DormouseCommand::Login(login) => login.run(&global.places()?),
            DormouseCommand::Logout(logout) => logout.run(&global.places()?),
            DormouseCommand::Import(import) => {
                import.run(&global.places()?, global.config.is_some())
            }
            DormouseCommand::Install(install) => {
                install.run(&global.places()?, global.config.is_some())
            }
            DormouseCommand::Uninstall(uninstall) => uninstall.run(&global.places()?),
            DormouseCommand::Sync(sync) => sync.run(&global.places()?),
            DormouseCommand::Trust(trust) => trust.run(global.places()?),
            DormouseCommand::Adapt(adapt) => adapt.run(&global.places()?),
            DormouseCommand::Approve(approve) => approve.run(global.places()?),
            DormouseCommand::Diff(diff) => diff.run(global.places()?),
            DormouseCommand::Grant(grant) => grant.run(global.places()?),
            DormouseCommand::Grants(grants) => grants.run(global.places()?),
            DormouseCommand::Revoke(revoke) => revoke.run(global.places()?),
            DormouseCommand::Status(status) => status.run(global.places()?),
            DormouseCommand::Doctor(doctor) => doctor.run(global.places()),
            DormouseCommand::Inspect(inspect) => inspect.run(),
            DormouseCommand::Check(check) => check.run(),
            DormouseCommand::Pack(pack) => pack.run(),
            DormouseCommand::Wit(wit) => wit.run(),
            DormouseCommand::Cache(cache) => cache.run(),
            DormouseCommand::Completions(completions) => completions.run(),
            DormouseCommand::ReadComponent(read) => read.run(),
            DormouseCommand::Compile => {
                dormouse_runtime::compiler::run().map(|()| ExitCode::SUCCESS)
            }
            DormouseCommand::CountTokens => {
                dormouse_tokens::count_process::run().map(|()| ExitCode::SUCCESS)
            }
            DormouseCommand::Reaper => dormouse_upstream::reaper::run()
                .map(|()| ExitCode::SUCCESS)
                .map_err(Into::into),
        }
    }
}

impl Global {
    fn places(&self) -> anyhow::Result<Places> {
        let config = paths::config_file(self.config.as_deref())?;
        let folder = std::env::current_dir().ok();
        let around = Surroundings::of_process(folder.as_deref())?.with_configuration(&config);
        Ok(Places {
            config,
            cache: paths::cache_dir()?,
            data: paths::data_dir()?,
            token_file: None,
            around: Some(around),
            program: dormouse_files::own_program::path().ok(),
            client: None,
            exposure: ExposureChoice::default(),
            filled_in: dormouse_config::FilledInFiles::default(),
        })
    }

    /// Logs to stderr, since stdout is for data. Problems of servers are logged by a host alone
    /// (and where more is wanted): the commands that are about them print them in their own words.
    fn log(&self, is_host: bool) {
        let level = match (self.quiet, self.verbose) {
            (true, _) => "error",
            (false, 0) => "warn",
            (false, 1) => "dormouse=info,dormouse_catalog=info,warn",
            (false, 2) => "dormouse=debug,dormouse_catalog=debug,info",
            (false, _) => "trace",
        };
        let level = match is_host || self.verbose > 0 {
            true => level.to_owned(),
            false => format!("{level},{PROBLEMS_OF_SERVERS}=off"),
        };
        let filter = std::env::var(LOG).ok().filter(|filter| !filter.is_empty());
        let (filter, bad) = match filter.map(|filter| EnvFilter::try_new(&filter)) {
            Some(Ok(filter)) => (filter, None),
            Some(Err(error)) => (EnvFilter::new(&level), Some(error)),
            None => (EnvFilter::new(&level), None),
        };
        let lines = tracing_subscriber::fmt::layer()
            .with_writer(stderr::AboveProgress::default)
            .with_ansi(std::io::stderr().is_terminal() && output::colours_wanted())
            .with_filter(filter.and(filter_fn(|event| !may_have_secrets(event))));
        tracing_subscriber::registry().with(lines).init();
        if let Some(error) = bad {
            tracing::warn!("`{LOG}` is not understood and left out of account: {error}");
        }
    }
}

/// Checks whether an event may contain secrets, which must not be in any log, however much is asked
/// for.
fn may_have_secrets(event: &Metadata<'_>) -> bool {
    let target = event.target();
    // wasmtime logs what plugins read and print, before the secrets that they were given are taken
    // out.
    let is_detail = target.starts_with("wasmtime_wasi") && *event.level() > Level::INFO;
    // rmcp logs what a login brings, URLs with their passwords and what servers repeat, and what is
    // wrong is said by us; the pool of connections names them by their URL's authority.
    let is_of_login = ["rmcp::transport::auth", "hyper_util::client::legacy"]
        .iter()
        .any(|module| target.starts_with(module));
    is_detail || is_of_login
}
