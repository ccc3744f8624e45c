//! A site whose answers steer a terminal.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

use serde_json::json;

use crate::{HEADER, TEXT};

/// Starts a web server all of whose answers have such texts in them: errors, redirects, and
/// challenges of a login.
pub(super) fn web() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // Whoever goes away early is no concern of the others.
            let _ = answered(stream, address);
        }
    });
    address
}

fn answered(mut stream: TcpStream, address: SocketAddr) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line)?;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    reader.read_exact(&mut vec![0; length])?;
    let base = format!("http://{address}");
    let path = line.split(' ').nth(1).unwrap_or_default();
    let error = json!({ "error": TEXT, "error_description": TEXT, "error_uri": TEXT });
    let (status, headers, body) = match path {
        "/moved" => (
            "302 Found",
            format!("location: /{HEADER}\r\n"),
            TEXT.to_owned(),
        ),
        "/login" | "/metadata" => {
            let metadata = format!("{base}/resource{path}");
            let challenge = format!(
                "www-authenticate: Bearer resource_metadata=\"{metadata}\", error=\"{HEADER}\", \
                 error_description=\"{HEADER}\", scope=\"{HEADER}\"\r\n"
            );
            ("401 Unauthorized", challenge, error.to_string())
        }
        "/.well-known/oauth-protected-resource/login" | "/resource/login" => {
            let resource = json!({
                "resource": format!("{base}/login"), "authorization_servers": [base],
                "resource_name": TEXT, "scopes_supported": [TEXT],
            });
            ("200 OK", String::new(), resource.to_string())
        }
        "/.well-known/oauth-protected-resource/metadata" | "/resource/metadata" => {
            let resource = json!({
                "resource": format!("{base}/{TEXT}"), "authorization_servers": [TEXT],
            });
            ("200 OK", String::new(), resource.to_string())
        }
        "/.well-known/oauth-authorization-server" => {
            let server = json!({
                "issuer": base, "authorization_endpoint": format!("{base}/page?{TEXT}"),
                "token_endpoint": format!("{base}/token"),
                "registration_endpoint": format!("{base}/register"),
                "response_types_supported": ["code"], "scopes_supported": [TEXT],
                "code_challenge_methods_supported": ["S256"],
            });
            ("200 OK", String::new(), server.to_string())
        }
        _ if path.starts_with("/.well-known") => ("404 None", String::new(), TEXT.to_owned()),
        "/register" => ("400 Bad Request", String::new(), error.to_string()),
        _ => (
            "500 Error",
            format!("retry-after: {HEADER}\r\nx-a: {HEADER}\r\n"),
            TEXT.to_owned(),
        ),
    };
    let kind = if body.starts_with('{') {
        "application/json"
    } else {
        "text/plain"
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{headers}content-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Returns a port that nobody has.
pub(super) fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}
