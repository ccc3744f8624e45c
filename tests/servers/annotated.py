"""An MCP server over HTTP of the era without sessions, whose tool wants arguments in headers
(`x-mcp-header`), and tells which it got.

Its argument: the file with the array of its tools. Prints its port.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VERSION = "2026-07-28"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def say(self, status, answer):
        body = json.dumps({"jsonrpc": "2.0", **answer}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send_response(405)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_DELETE = do_GET

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        id, method = message.get("id"), message.get("method")
        with open(sys.argv[1], encoding="utf-8") as file:
            tools = json.load(file)
        if method == "server/discover":
            result = {
                "supportedVersions": [VERSION],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "annotated", "version": "1"},
            }
        elif method == "tools/list":
            result = {"tools": tools, "ttlMs": 0, "cacheScope": "private"}
        elif method == "tools/call":
            named = self.headers.items()
            got = {k.lower(): v for k, v in named if k.lower().startswith("mcp-param-")}
            result = {"content": [{"type": "text", "text": json.dumps(got)}]}
        else:
            return self.say(404, {"id": id, "error": {"code": -32601, "message": "no such method"}})
        self.say(200, {"id": id, "result": {"resultType": "complete", **result}})


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
