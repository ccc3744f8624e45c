"""An MCP server over HTTP, made of bare sockets, that is sound but for one thing: the
last part of the path says what.

It writes its port to stdout and ends with its stdin.
"""

import json
import os
import socket
import sys
import threading
import time

JSON = "Content-Type: application/json\r\n"
EVENTS = "Content-Type: text/event-stream\r\n"


def head(status, headers="", version="1.1"):
    return f"HTTP/{version} {status}\r\nConnection: close\r\n{headers}".encode()


def whole(status, headers, body):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return head(status, headers + f"Content-Length: {len(body)}\r\n\r\n") + body


def chunks(*parts):
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


def event(message):
    return b"data: " + json.dumps(message).encode() + b"\n\n"


def call(kind, send, good):
    """Answers a call in that way."""
    started = head("200 OK", JSON + "Transfer-Encoding: chunked\r\n\r\n")
    stream = head("200 OK", EVENTS + "Transfer-Encoding: chunked\r\n\r\n")
    text = json.dumps(good).encode()
    if kind == "endless-head":
        send(head("200 OK"))
        while True:
            send(b"X-More: " + b"x" * 1000 + b"\r\n")
    elif kind == "slow-head":
        send(b"HTTP/1.1 200 OK\r\nX: ")
        time.sleep(1000)
    elif kind == "accepted":
        send(whole("202 Accepted", "", b""))
    elif kind == "other-id":
        send(whole("200 OK", JSON, {**good, "id": 4711}))
    elif kind == "string-id":
        send(whole("200 OK", JSON, {**good, "id": str(good["id"])}))
    elif kind == "no-UTF-8":
        send(whole("200 OK", JSON, text.replace(b"echo", b"caf\xe9")))
    elif kind == "half-a-character":
        send(whole("200 OK", JSON, text.replace(b"echo", b"\\ud83d!")))
    elif kind == "old":
        send(head("200 OK", JSON + "\r\n", version="1.0") + text)
    elif kind == "broken-chunk":
        send(started + b"zzz\r\n" + text)
    elif kind == "cut-off":
        send(head("200 OK", JSON + "Content-Length: 100000\r\n\r\n") + text)
    elif kind == "cut-event":
        send(stream + chunks(b"data: " + text[:20]))
    elif kind == "junk-events":
        send(stream + chunks(b": hi\n\ndata: {oops\n\nevent: x\ndata: 1\n\nodd\n\n\0\n\n", event(good)) + b"0\r\n\r\n")
    elif kind == "many-junk-events":
        send(stream + chunks(b"data: x\n\n" * 20_000, event(good)) + b"0\r\n\r\n")
    elif kind == "two-answers":
        send(stream + chunks(event(good), event(good)) + b"0\r\n\r\n")
    elif kind == "batch":
        send(whole("200 OK", JSON, [1, good, None, good]))
    elif kind == "hangs-up":
        pass
    elif kind == "no-HTTP":
        send(b"220 mail.example.com ESMTP\r\n")
    elif kind == "too-many":
        send(whole("429 Too Many Requests", "Retry-After: 120\r\n", b"slow down"))
    elif kind == "no-session":
        send(whole("404 Not Found", "", b""))
    elif kind == "loop":
        send(whole("307 Temporary Redirect", "Location: loop\r\n", b""))
    else:
        send(whole("200 OK", JSON, good))


def serve(connection):
    file = connection.makefile("rb")
    method, path, _ = file.readline().decode().split(" ")
    length = 0
    while field := file.readline().strip():
        name, value = field.split(b":", 1)
        if name.lower() == b"content-length":
            length = int(value)
    if method != "POST":
        return connection.sendall(whole("405 Method Not Allowed", "", b""))
    message = json.loads(file.read(length))
    id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    answer = {"jsonrpc": "2.0", "id": id}
    headers = JSON
    if id is None:
        return connection.sendall(whole("202 Accepted", "", b""))
    if method == "initialize":
        headers += "Mcp-Session-Id: s1\r\n"
        answer["result"] = {"protocolVersion": params["protocolVersion"],
                            "capabilities": {"tools": {}},
                            "serverInfo": {"name": "hostile", "version": "1"}}
    elif method == "tools/list":
        answer["result"] = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        answer["result"] = {"content": [{"type": "text", "text": "echo"}]}
        return call(path.rsplit("/", 1)[-1], connection.sendall, answer)
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    connection.sendall(whole("200 OK", headers, answer))


def attend(connection):
    try:
        serve(connection)
    except OSError:
        pass
    finally:
        connection.close()


def accept(listener):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=attend, args=(connection,), daemon=True).start()


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
threading.Thread(target=accept, args=(listener,), daemon=True).start()
sys.stdin.read()
os._exit(0)
