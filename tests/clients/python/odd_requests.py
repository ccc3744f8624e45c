"""Sends requests to a host over HTTP that have a text wherever a client can write one.

    odd_requests.py ADDRESS TOKEN-FILE TEXT HEADER

TEXT is for bodies, HEADER is what of it can be in the head of a request. Fails where the host
does not answer one of them.
"""

import json
import socket
import sys

ADDRESS, TOKEN, TEXT, HEADER = sys.argv[1:]
HOST, PORT = ADDRESS.rsplit(":", 1)


def sent(line: str, headers: dict[str, str], body: str) -> str:
    with socket.create_connection((HOST, int(PORT)), timeout=30) as stream:
        content = body.encode()
        usual = {
            "host": ADDRESS,
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            "content-length": str(len(content)),
            "connection": "close",
        }
        lines = [f"{name}: {value}" for name, value in {**usual, **headers}.items()]
        stream.sendall("\r\n".join([line, *lines, "", ""]).encode() + content)
        answer = b""
        while more := stream.recv(65536):
            answer += more
    return answer.decode()


def message(method: str, params: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": TEXT, "method": method, "params": params})


with open(TOKEN) as file:
    right = {"authorization": f"Bearer {file.read().strip()}"}
post = "POST /mcp HTTP/1.1"
client = {"name": TEXT, "version": TEXT}
hello = {"protocolVersion": TEXT, "capabilities": {}, "clientInfo": client}
stateless = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": client,
    "io.modelcontextprotocol/clientCapabilities": {},
}
call = {"name": "up__say", "arguments": {TEXT: TEXT}, "_meta": stateless}
of_call = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "up__say"}
for line, headers, body in [
    (post, right, message("initialize", hello)),
    (post, right, message("initialize", {**hello, "protocolVersion": "2025-11-25"})),
    (post, right, message(TEXT, {TEXT: TEXT})),
    (post, {**right, **of_call}, message("tools/call", call)),
    (post, {**right, **of_call, "mcp-name": HEADER}, message("tools/call", call)),
    (post, {**right, "mcp-protocol-version": HEADER}, message("tools/call", call)),
    (post, {**right, "mcp-session-id": HEADER}, message("tools/call", call)),
    (post, {**right, "content-type": HEADER, "accept": HEADER}, TEXT),
    (post, right, TEXT),
    (post, {"authorization": f"Bearer {HEADER}"}, TEXT),
    (post, {"authorization": HEADER, "user-agent": HEADER}, TEXT),
    (post, {**right, "origin": f"http://{HEADER}"}, TEXT),
    (post, {**right, "host": HEADER}, TEXT),
    ("GET /%1b%5D0;x%07 HTTP/1.1", right, ""),
    (f"GET /{HEADER} HTTP/1.1", right, ""),
    (f"{HEADER} /mcp HTTP/1.1", right, ""),
]:
    answer = sent(line, headers, body)
    if not answer.startswith("HTTP/1.1 "):
        sys.exit(f"{line!r} {headers!r}: {answer!r}")
