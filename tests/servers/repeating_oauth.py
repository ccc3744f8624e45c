"""An MCP server and its authorization server, which repeat every secret that they are sent, as it
is and as many writers write it, wherever they refuse something or say something by themselves.

The only argument is where it goes wrong: `code` (no code is taken), `refresh` (no token is renewed,
and each ends at once), `call` (calls fail), `status` (calls fail by an HTTP status), `list`, `log`.
"""

import base64
import html
import http.server
import json
import re
import sys
import urllib.parse

WRONG = sys.argv[1]
ACCESS, REFRESH, SECRET, CODE = "canary-a/K3+y==", "canary-r/9+z==", "canary-s/x+1", "canary-c/o+d"


def written(text):
    """A text in many spellings."""
    quoted = json.dumps(text)
    return " ".join(
        [
            text,
            quoted.replace("/", "\\/"),
            json.dumps(quoted),
            urllib.parse.quote(text, safe=""),
            re.sub("%..", lambda code: code[0].lower(), urllib.parse.quote(text, safe="")),
            urllib.parse.quote_plus(text),
            html.escape(text),
            repr(text),
            base64.b64encode(text.encode()).decode(),
            base64.b64encode(("id:" + text).encode()).decode(),
        ]
    )


def sent(header, body):
    """All that was sent, as it came and decoded."""
    values = [value for _, value in urllib.parse.parse_qsl(body)]
    scheme, _, token = header.partition(" ")
    decoded = base64.b64decode(token).decode() if scheme == "Basic" else token
    return " ".join([header, body] + [written(value) for value in values + [decoded]])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json", **headers):
        text = body if isinstance(body, str) else json.dumps(body)
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        url = urllib.parse.urlparse(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if "oauth-protected-resource" in url.path:
            self.answer(200, {"resource": BASE + "/mcp", "authorization_servers": [BASE]})
        elif "oauth-authorization-server" in url.path:
            ends = {
                "authorization_endpoint": "/authorize",
                "token_endpoint": "/token",
                "registration_endpoint": "/register",
            }
            self.answer(
                200,
                {
                    "issuer": BASE,
                    "response_types_supported": ["code"],
                    "code_challenge_methods_supported": ["S256"],
                    **{name: BASE + path for name, path in ends.items()},
                },
            )
        elif url.path == "/authorize":
            back = urllib.parse.urlencode({"code": CODE, "state": query["state"]})
            self.answer(302, "", location=f"{query['redirect_uri']}?{back}")
        else:
            self.answer(405, "")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        header = self.headers.get("authorization", "")
        if self.path == "/register":
            client = {"client_id": "me", "client_secret": SECRET}
            return self.answer(201, {**json.loads(body), **client})
        if self.path == "/token":
            return self.token(sent(header, body), dict(urllib.parse.parse_qsl(body)))
        if not header:
            found = f'Bearer resource_metadata="{BASE}/.well-known/oauth-protected-resource"'
            return self.answer(401, "", www_authenticate=found)
        self.message(json.loads(body), sent(header, ""))

    def token(self, said, form):
        is_code = form["grant_type"] == "authorization_code"
        if WRONG == ("code" if is_code else "refresh"):
            said = said + " verifier " + written(form.get("code_verifier", ""))
            return self.answer(400, {"error": "invalid_request", "error_description": said})
        self.answer(
            200,
            {
                "access_token": ACCESS,
                "refresh_token": REFRESH,
                "token_type": "Bearer",
                "expires_in": 1 if WRONG == "refresh" else 3600,
            },
        )

    def message(self, message, said):
        method, id = message.get("method"), message.get("id")
        if id is None:
            return self.answer(202, "")
        if method == "initialize":
            result = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}, "prompts": {}, "logging": {}},
                "serverInfo": {"name": "repeats", "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": [{"name": "x", "inputSchema": {"type": "object"}}]}
        elif method == "prompts/list" and WRONG != "list":
            result = {"prompts": []}
        elif method == "tools/call" and WRONG == "status":
            return self.answer(500, said, "text/plain")
        elif method == "tools/call" and WRONG == "log":
            token = message["params"].get("_meta", {}).get("progressToken")
            told = [
                ("notifications/message", {"level": "error", "data": {"said": said}}),
                ("notifications/progress", {"progressToken": token, "progress": 1, "message": said}),
            ]
            told = [{"jsonrpc": "2.0", "method": name, "params": params} for name, params in told]
            told.append({"jsonrpc": "2.0", "id": id, "result": {"content": []}})
            events = "".join(f"data: {json.dumps(event)}\n\n" for event in told)
            return self.answer(200, events, "text/event-stream")
        else:
            error = {"code": -32000, "message": said, "data": {"said": said, "a": [said]}}
            return self.answer(200, {"jsonrpc": "2.0", "id": id, "error": error})
        self.answer(200, {"jsonrpc": "2.0", "id": id, "result": result})


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
BASE = f"http://127.0.0.1:{server.server_port}"
print(f"listening on {BASE}/mcp", flush=True)
server.serve_forever()
