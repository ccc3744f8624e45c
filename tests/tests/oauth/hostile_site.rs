//! Server and its authorization server at one address of this machine, of which a test replaces
//! some answers. All requests are noted.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// Beginning of all secrets of a site.
pub(crate) const CANARY: &str = "canary-";

/// Beginning of such secrets in the Base64 of `me:canary-…`.
pub(crate) const CANARY_BASE64: &str = "Y2FuYXJ5";

/// Paths of a site's metadata, by RFC 9728 and by RFC 8414.
pub(crate) const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";
pub(crate) const METADATA: &str = "/.well-known/oauth-authorization-server";

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: HashMap<String, String>,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Answer to a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    status: u16,
    headers: String,
    body: String,
    /// Pause between the parts of a body that goes on with spaces for as long as anybody reads
    /// them; none for a body that ends.
    goes_on: Option<Duration>,
}

impl Answer {
    pub(crate) fn text(status: u16, body: impl Into<String>) -> Self {
        Self {
            status,
            body: body.into(),
            ..Self::default()
        }
    }

    pub(crate) fn json(body: &Value) -> Self {
        Self::text(200, body.to_string())
    }

    pub(crate) fn redirect(status: u16, to: &str) -> Self {
        Self::text(status, "").header("location", to)
    }

    /// Makes an answer whose body goes on, with this pause before each further thousand bytes.
    pub(crate) fn endless(pause: Duration) -> Self {
        Self {
            goes_on: Some(pause),
            ..Self::text(200, "")
        }
    }

    /// Makes a refusal that names the URL of the metadata of the resource.
    pub(crate) fn challenge(place: &str) -> Self {
        let named = format!("Bearer resource_metadata=\"{place}\"");
        Self::text(401, "").header("www-authenticate", &named)
    }

    /// Makes a redirect back to the client that has sent the browser, with its state.
    pub(crate) fn back(asked: &Asked, query: &str) -> Self {
        let [back, state] = ["redirect_uri", "state"].map(|name| &asked.query[name]);
        Self::redirect(302, &format!("{back}?{query}&state={state}"))
    }

    fn header(mut self, name: &str, value: &str) -> Self {
        self.headers += &format!("{name}: {value}\r\n");
        self
    }
}

/// Site, for as long as the process lives.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) base: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Site {
    /// Starts a site that answers as `answer` says, and honestly where that returns none.
    pub(crate) fn serve(
        answer: impl Fn(&str, &Asked) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (own, heard, answer) = (base.clone(), asked.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (own, heard, answer) = (own.clone(), heard.clone(), answer.clone());
                std::thread::spawn(move || {
                    let Some(asked) = read(&stream) else { return };
                    heard.lock().unwrap().push(asked.clone());
                    let answer = answer(&own, &asked).unwrap_or_else(|| honest(&own, &asked));
                    // A client that has read enough hangs up.
                    let _ = write(stream, &answer);
                });
            }
        });
        Self { base, asked }
    }

    /// Returns all requests so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Returns the number of requests for a path with a method.
    pub(crate) fn count(&self, method: &str, path: &str) -> usize {
        let asked = self.asked();
        let such = asked
            .iter()
            .filter(|asked| asked.method == method && asked.path == path);
        such.count()
    }
}

/// Returns the metadata of a site as an authorization server.
pub(crate) fn metadata(base: &str) -> Value {
    json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"),
        "registration_endpoint": format!("{base}/register"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
    })
}

/// Returns the metadata of a site as a server.
pub(crate) fn resource(base: &str) -> Value {
    json!({ "resource": format!("{base}/mcp"), "authorization_servers": [base] })
}

/// Returns the answer to a registration.
pub(crate) fn client(asked: &Asked) -> Value {
    let wanted: Value = serde_json::from_str(&asked.body).unwrap();
    let given = json!({ "client_id": "me", "client_secret": "canary-secret" });
    changed(wanted, &given)
}

/// Returns the answer to a code.
pub(crate) fn tokens() -> Value {
    json!({
        "access_token": "canary-access", "refresh_token": "canary-refresh",
        "token_type": "Bearer", "expires_in": 3600,
    })
}

/// Returns a document with some members replaced.
pub(crate) fn changed(mut document: Value, members: &Value) -> Value {
    for (name, value) in members.as_object().unwrap() {
        document[name] = value.clone();
    }
    document
}

fn honest(base: &str, asked: &Asked) -> Answer {
    match (asked.method.as_str(), asked.path.as_str()) {
        ("GET", RESOURCE) => Answer::json(&resource(base)),
        ("GET", METADATA) => Answer::json(&metadata(base)),
        ("GET", "/authorize") => Answer::back(asked, "code=canary-code"),
        ("POST", "/register") => Answer::json(&client(asked)),
        ("POST", "/token") => Answer::json(&tokens()),
        // No token is ever good.
        (_, "/mcp") => Answer::challenge(&format!("{base}{RESOURCE}")),
        _ => Answer::text(404, ""),
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut from = BufReader::new(stream);
    let mut first = String::new();
    from.read_line(&mut first).ok()?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut head = String::new();
    while from.read_line(&mut head).ok()? > 2 {}
    let lower = head.to_ascii_lowercase();
    let length = lower
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    from.read_exact(&mut body).ok()?;
    Some(Asked {
        path: path.to_owned(),
        query: pairs(query),
        head,
        body: String::from_utf8_lossy(&body).into_owned(),
        method,
    })
}

/// Returns the parameters of a query; of two with one name, the last.
fn pairs(query: &str) -> HashMap<String, String> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), decoded(value)))
        .collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes().iter();
    while let Some(&byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [*rest.next().unwrap(), *rest.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            other => other,
        });
    }
    String::from_utf8(bytes).unwrap()
}

fn write(mut stream: TcpStream, answer: &Answer) -> std::io::Result<()> {
    let Answer {
        status,
        headers,
        body,
        goes_on,
    } = answer;
    write!(
        stream,
        "HTTP/1.1 {status} Said\r\n{headers}connection: close\r\n"
    )?;
    if goes_on.is_none() {
        write!(stream, "content-length: {}\r\n", body.len())?;
    }
    write!(stream, "\r\n{body}")?;
    while let Some(pause) = goes_on {
        stream.write_all(&[b' '; 1000])?;
        std::thread::sleep(*pause);
    }
    Ok(())
}
