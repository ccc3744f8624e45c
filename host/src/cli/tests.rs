use clap::CommandFactory as _;
use clap::error::ErrorKind;

use super::*;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(line.split(' '))
}

#[test]
fn the_command_line_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn what_is_right_is_taken() {
    for line in [
        "dormouse serve",
        "dormouse serve --expose direct",
        "dormouse serve --http 127.0.0.1:0",
        "dormouse serve --http 127.0.0.1:0 --no-token",
        "dormouse serve --http localhost:8080 --allow-host mcp.example --allow-host a.example:8443",
        "dormouse serve --http [::]:80 --token-file t --allow-origin https://app.example",
        "dormouse serve --http [::1]:80 --max-body 1MiB --session-idle 1h --max-calls 1",
        "dormouse --config /x.toml list --json",
        "dormouse list --config /x.toml -vv",
        "dormouse tools time",
        "dormouse tools time files",
        "dormouse tokens time --tools --client claude-code --json",
        "dormouse call time now",
        "dormouse call time now {\"a\":1} --json",
        "dormouse call time now -",
        "dormouse add time x.wasm --grant-fs / --grant-fs /:rw --grant-env TZ --force",
        "dormouse add time x.wasm --grant-http https://*.example.org/v1 --grant-http http://a:8080",
        "dormouse grants time --json",
        "dormouse revoke time --grant-fs /nonexistent --grant-env TZ --grant-http https://*",
        "dormouse revoke time --all",
        "dormouse add git --env A --env B=c -- npx -y server --yes",
        "dormouse add git -e A=1 --cwd / --force --no-sync -- server",
        "dormouse add search https://example.com/mcp -H A:b --sync",
        "dormouse remove time",
        "dormouse enable time",
        "dormouse disable time",
        "dormouse restart time",
        "dormouse login github",
        "dormouse login github --browser",
        "dormouse logout github",
        "dormouse status --json",
        "dormouse doctor -q",
        "dormouse inspect x.wasm --json",
        "dormouse check x.wasm",
        "dormouse pack x.wasm",
        "dormouse pack x.wasm --wit wit --world w -o y.wasm",
        "dormouse pack x.wasm --strip --output y.wasm",
        "dormouse pack x.wasm --tools t.json --prompts t.json --resources t.json --subscribe",
        "dormouse pack x.wasm --wit wit --templates t.json",
        "dormouse wit",
        "dormouse cache clean",
        "dormouse completions bash",
    ] {
        if let Err(error) = parse(line) {
            panic!("{line}: {error}");
        }
    }
}

#[test]
fn what_is_wrong_is_misuse() {
    for (line, kind) in [
        (
            "dormouse",
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
        ),
        ("dormouse lst", ErrorKind::InvalidSubcommand),
        ("dormouse list --jsn", ErrorKind::UnknownArgument),
        ("dormouse serve --http 8080", ErrorKind::ValueValidation),
        (
            "dormouse serve --http [::1]:80 --max-calls 0",
            ErrorKind::ValueValidation,
        ),
        (
            "dormouse serve --http [::1]:80 --allow-host a@b",
            ErrorKind::ValueValidation,
        ),
        (
            "dormouse serve --http [::1]:80 --allow-origin a.example",
            ErrorKind::ValueValidation,
        ),
        (
            "dormouse serve --token-file t",
            ErrorKind::MissingRequiredArgument,
        ),
        (
            "dormouse serve --no-token",
            ErrorKind::MissingRequiredArgument,
        ),
        (
            "dormouse serve --http [::1]:80 --no-token --token-file t",
            ErrorKind::ArgumentConflict,
        ),
        ("dormouse list -q -v", ErrorKind::ArgumentConflict),
        ("dormouse call time now []", ErrorKind::ValueValidation),
        ("dormouse call time", ErrorKind::MissingRequiredArgument),
        ("dormouse add a__b x.wasm", ErrorKind::ValueValidation),
        (
            "dormouse add a x.wasm --grant-fs /nonexistent/x",
            ErrorKind::ValueValidation,
        ),
        (
            "dormouse add a x.wasm --grant-env A=b",
            ErrorKind::ValueValidation,
        ),
        (
            "dormouse add a x.wasm --grant-http api.example.com",
            ErrorKind::ValueValidation,
        ),
        (
            "dormouse grant a --grant-http https://a.example/?q",
            ErrorKind::ValueValidation,
        ),
        ("dormouse revoke a", ErrorKind::MissingRequiredArgument),
        (
            "dormouse revoke a --all --grant-env TZ",
            ErrorKind::ArgumentConflict,
        ),
        (
            "dormouse pack x.wasm --strip --tools t.json",
            ErrorKind::ArgumentConflict,
        ),
        (
            "dormouse pack x.wasm --strip --wit wit",
            ErrorKind::ArgumentConflict,
        ),
        (
            "dormouse pack x.wasm --world w",
            ErrorKind::MissingRequiredArgument,
        ),
        ("dormouse completions cmd", ErrorKind::InvalidValue),
    ] {
        let error = parse(line)
            .err()
            .unwrap_or_else(|| panic!("{line} is taken"));
        assert_eq!(error.kind(), kind, "{line}");
        assert_eq!(error.exit_code(), 2, "{line}");
    }
}

/// Every subcommand says what it does.
#[test]
fn everything_has_its_help() {
    fn visit(command: &clap::Command) {
        let name = command.get_name();
        assert!(command.get_about().is_some(), "{name}");
        for argument in command.get_arguments() {
            assert!(
                argument.get_help().is_some(),
                "{name} {}",
                argument.get_id()
            );
        }
        command.get_subcommands().for_each(visit);
    }
    visit(&Cli::command());
}
