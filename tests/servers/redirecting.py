"""An MCP server over HTTP with public addresses, which redirects, in a network of its own.

    redirecting.py LOG PROGRAM [ARGUMENT ...]

Has to be started where nothing but the loopback interface is, and by somebody who may
give that one addresses (`unshare --net`). Listens at port 8080 of all of them. A request
to `/to/HOST` is sent on to `http://HOST:8080/mcp`, where MCP is spoken; the hosts that
are asked there are written into LOG, one on each line. Runs the program, and ends with it.
"""

import fcntl
import json
import socket
import struct
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Two that anybody may have, one of a private network, and that of clouds' metadata.
ADDRESSES = ["8.8.8.8", "8.8.4.4", "10.1.2.3", "169.254.169.254"]
SET_ADDRESS, SET_FLAGS, UP = 0x8916, 0x8914, 0x1
PORT = 8080


def add_addresses():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SET_FLAGS, struct.pack("16sh14x", b"lo", UP))
        for number, address in enumerate(ADDRESSES):
            name = f"lo:{number}".encode()
            packed = socket.inet_aton(address)
            request = struct.pack("16sHH4s8x", name, socket.AF_INET, 0, packed)
            fcntl.ioctl(control, SET_ADDRESS, request)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def say(self, status, headers, body=b""):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.say(405, {})

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.startswith("/to/"):
            host = self.path.removeprefix("/to/")
            return self.say(307, {"Location": f"http://{host}:{PORT}/mcp"})
        with open(LOG, "a", encoding="utf-8") as log:
            log.write(self.headers["Host"] + "\n")
        if "id" not in message:
            return self.say(202, {})
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "initialize":
            answer["result"] = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "redirecting", "version": "1"},
            }
        elif message["method"] == "tools/list":
            answer["result"] = {"tools": [{"name": "x", "inputSchema": {"type": "object"}}]}
        else:
            answer["error"] = {"code": -32601, "message": "no such method"}
        self.say(200, {"Content-Type": "application/json"}, json.dumps(answer).encode())


LOG = sys.argv[1]
add_addresses()
server = ThreadingHTTPServer(("0.0.0.0", PORT), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.exit(subprocess.run(sys.argv[2:]).returncode)
