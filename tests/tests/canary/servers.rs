//! Servers that repeat what they were given.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};

/// A server that repeats all that it was given in messages other than results, lists and questions.
/// It lists something else when there is a file beside it.
pub(super) const TALKATIVE: &str = r#"
import base64, json, os, sys, urllib.parse
words = sys.argv[1:] + list(os.environ.values())
words += [urllib.parse.quote(word) for word in words] + [json.dumps(word) for word in words]
said = " ".join(word for word in words if "canary" in word.lower())

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def log():
    send(method="notifications/message",
         params={"level": "error", "logger": "l", "data": {"said": said}})

def tools():
    changed = os.path.exists(sys.argv[0] + ".changed")
    names = ["x", "new"] if changed else ["x"]
    return [{"name": name, "description": str(changed), "inputSchema": {"type": "object"}}
            for name in names]

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    id, method = message["id"], message["method"]
    log()
    if method == "initialize":
        send(id=id, result={
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}, "prompts": {}, "logging": {}},
            "serverInfo": {"name": "talks", "version": "1"}})
    elif method == "tools/list":
        send(id=id, result={"tools": tools()})
    else:
        token = message.get("params", {}).get("_meta", {}).get("progressToken")
        if token is not None:
            send(method="notifications/progress",
                 params={"progressToken": token, "progress": 1, "message": said})
        send(id=id, error={"code": -32000, "message": said, "data": {"said": said, said: 1}})
"#;

/// Starts a server that refuses everything, and repeats whatever it was sent.
pub(super) fn reflecting() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap_or(0);
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            let _ = reader.read_exact(&mut body);
            let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
            let wants_login = target.contains("login");
            let status = if wants_login {
                "401 Unauthorized"
            } else {
                "503 Busy"
            };
            let text = head.replace("\r\n", " ");
            let answer = format!(
                "HTTP/1.1 {status}\r\nretry-after: {target}\r\ncontent-length: {}\r\n\
                 connection: close\r\n\r\n{text}",
                text.len()
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}
