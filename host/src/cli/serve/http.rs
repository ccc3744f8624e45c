//! Options of `dormouse serve --http`.

use std::io::IsTerminal as _;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _};
use dormouse_config::units;
use dormouse_text::visible::visible_path;
use hyper::http::uri::Authority;

use crate::cli::host_address::host_address;
use crate::cli::{Cli, output};
use crate::mcp::http::guard::{RequestGuard, WebOrigin};
use crate::mcp::http::token::{Token, VARIABLE};
use crate::mcp::http::{Options, cannot_listen};

/// Options of a host that is reached over HTTP.
#[derive(Debug, Args)]
#[command(next_help_heading = "HTTP")]
pub(super) struct HttpArgs {
    /// Serve many agents at http://ADDR:PORT/mcp instead. Port 0 is any that is free.
    #[arg(long, value_name = "ADDR:PORT", value_parser = host_address)]
    pub(super) http: Option<SocketAddr>,
    /// Let in only who sends what is in this file, as `Authorization: Bearer …`, instead of
    /// the token that is made once for you and kept in Dormouse's data folder. Without this
    /// option, a token can be given in the environment variable `DORMOUSE_TOKEN`.
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// Make another token first, in place of the one that is kept for you: for when somebody
    /// may know it. Clients are given it by `dormouse install CLIENT --http ADDR:PORT`.
    #[arg(long, requires = "http", conflicts_with_all = ["token_file", "no_token"])]
    new_token: bool,
    /// Let in every program and every user of this machine. At its own addresses only.
    #[arg(long, requires = "http", conflicts_with = "token_file")]
    no_token: bool,
    /// A name under which the host is reached, such as that of a proxy in front of it.
    #[arg(long, value_name = "NAME[:PORT]", requires = "http", value_parser = host)]
    allow_host: Vec<Authority>,
    /// A web page that may speak to the host, such as `https://example.com`.
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<WebOrigin>,
    /// The longest message that a client may send.
    #[arg(long, value_name = "SIZE", requires = "http", default_value = "16MiB", value_parser = units::size)]
    max_body: u64,
    /// How long a client may take to send a message.
    #[arg(long, value_name = "TIME", requires = "http", default_value = "30s", value_parser = units::duration)]
    body_time: Duration,
    /// How long a client may take to begin a request.
    #[arg(long, value_name = "TIME", requires = "http", default_value = "10s", value_parser = units::duration)]
    header_time: Duration,
    /// How many connections there may be. When there are as many, idle ones make room.
    #[arg(long, value_name = "N", requires = "http", default_value = "256", value_parser = count)]
    max_connections: usize,
    /// How many sessions there may be. When there are as many, idle ones make room.
    #[arg(long, value_name = "N", requires = "http", default_value = "256", value_parser = count)]
    max_sessions: usize,
    /// How long a session may be idle.
    #[arg(long, value_name = "TIME", requires = "http", default_value = "5m", value_parser = units::duration)]
    session_idle: Duration,
    /// How many calls may be on their way, of all clients together.
    #[arg(long, value_name = "N", requires = "http", default_value = "1024", value_parser = count)]
    max_calls: usize,
    /// How long running calls may go on when the host is told to stop.
    #[arg(long, value_name = "TIME", requires = "http", default_value = "10s", value_parser = units::duration)]
    stop_timeout: Duration,
}

impl HttpArgs {
    /// Returns the options to serve with at an address, with as many bytes for all messages
    /// together. `data` is Dormouse's data folder.
    ///
    /// # Errors
    /// The token cannot be read, or made. Ends the process, as for any other misuse, where the
    /// token is switched off although other machines can reach the address.
    pub(super) fn options(
        self,
        address: SocketAddr,
        max_bodies: usize,
        data: &Path,
    ) -> anyhow::Result<Options> {
        let token = match (self.no_token, &self.token_file) {
            (false, Some(file)) => Some(Token::read(file)?),
            (false, None) => Some(match (Token::of_environment()?, self.new_token) {
                (Some(_), true) => anyhow::bail!(
                    "`--new-token` makes the token that is kept in a file, and here one is given \
                     in the environment variable `{VARIABLE}`\n\
                     hint: unset it, or put another token into it"
                ),
                (Some(token), false) => token,
                (None, true) => {
                    // Not while a host of this user's may have the port, which goes on with
                    // the old token.
                    let free = TcpListener::bind(address);
                    free.map_err(|error| cannot_listen(address, error))?;
                    Token::renew(data)?
                }
                (None, false) => Token::of_user(data)?,
            }),
            (true, _) if std::env::var_os(VARIABLE).is_some() => anyhow::bail!(
                "`--no-token` lets everybody in, and the environment variable `{VARIABLE}` has a \
                 token\nhint: leave out `--no-token`, or unset the variable"
            ),
            (true, _) if address.ip().to_canonical().is_loopback() => None,
            (true, _) => {
                let message = format!(
                    "other machines can reach `{address}`, so a token is needed\n\
                     hint: leave out `--no-token`, or listen at `--http 127.0.0.1:{}`",
                    address.port()
                );
                Cli::command()
                    .error(ErrorKind::ArgumentConflict, message)
                    .exit();
            }
        };
        Ok(Options {
            address,
            guard: RequestGuard {
                hosts: self.allow_host,
                origins: self.allow_origin,
                token,
            },
            max_body: usize::try_from(self.max_body).unwrap_or(usize::MAX),
            max_bodies,
            body_time: self.body_time,
            header_time: self.header_time,
            max_connections: self.max_connections,
            max_sessions: self.max_sessions,
            session_idle: self.session_idle,
            max_calls: self.max_calls,
            stop_timeout: self.stop_timeout,
        })
    }
}

/// Prints how clients authenticate. The token itself is shown to a person at a terminal only: other
/// outputs may be kept, and read by others.
pub(super) fn say_token(token: Option<&Token>) {
    let Some(token) = token else {
        output::warn(
            "without a token, every program and every user of this machine can call your tools here",
        );
        return;
    };
    let Some(file) = token.file() else {
        output::say(&format!(
            "clients send the header `Authorization: Bearer TOKEN` with the token of `{VARIABLE}`"
        ));
        return;
    };
    let file = visible_path(file);
    if std::io::stderr().is_terminal() {
        let secret = token.expose();
        output::say(&format!(
            "clients send the header `Authorization: Bearer {secret}`"
        ));
        output::say(&format!("the token is kept in `{file}`"));
    } else {
        output::say(&format!(
            "clients send the header `Authorization: Bearer TOKEN` with the token that is in `{file}`"
        ));
    }
}

fn host(text: &str) -> Result<Authority, &'static str> {
    let name = text.parse().ok().filter(|_| !text.contains('@'));
    name.ok_or("a name is needed, with or without a port, like `mcp.example.com`")
}

fn count(text: &str) -> Result<usize, &'static str> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or("a whole number above 0 is needed")
}
