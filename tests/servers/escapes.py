"""An MCP server over stdio every text of which tries to steer the terminal it is shown on.

Its argument is the text that it puts into all of them; a file beside it (`changed`) makes it
offer something else.
"""

import json
import os
import sys

TEXT = sys.argv[1]
CHANGED = os.path.exists(sys.argv[2])


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tools():
    field = {"type": "string", "title": TEXT, "description": TEXT, "enum": [TEXT]}
    schema = {"type": "object", "properties": {TEXT: field, "a": field}}
    common = {"title": TEXT, "inputSchema": schema, "annotations": {"title": TEXT}}
    names = ["say", "fail", "ask", "odd " + TEXT] + (["new " + TEXT, "later"] if CHANGED else [])
    return [{"name": name, "description": TEXT + str(CHANGED), **common} for name in names]


def call(id, params):
    print(TEXT, file=sys.stderr, flush=True)
    send({"method": "notifications/message",
          "params": {"level": "error", "logger": TEXT, "data": {TEXT: TEXT}}})
    token = params.get("_meta", {}).get("progressToken")
    if token is not None:
        send({"method": "notifications/progress",
              "params": {"progressToken": token, "progress": 1, "total": 2, "message": TEXT}})
    if params["name"] == "fail":
        send({"id": id, "error": {"code": -32000, "message": TEXT, "data": {TEXT: TEXT}}})
        return
    if params["name"] == "ask":
        form = {"type": "object", "properties": {
            "a": {"type": "string", "title": TEXT, "description": TEXT}}}
        send({"id": "q", "method": "elicitation/create",
              "params": {"message": TEXT, "requestedSchema": form}})
        json.loads(sys.stdin.readline())
    content = [
        {"type": "text", "text": TEXT},
        {"type": "resource_link", "uri": "x:" + TEXT, "name": TEXT, "title": TEXT},
        {"type": "resource", "resource": {"uri": "x:y", "mimeType": TEXT, "text": TEXT}},
    ]
    send({"id": id, "result": {"content": content, "structuredContent": {TEXT: TEXT}}})


def prompt(name):
    argument = {"name": "a" + TEXT, "description": TEXT}
    return {"name": name, "title": TEXT, "description": TEXT, "arguments": [argument]}


def resource(uri):
    return {"uri": uri, "name": TEXT, "title": TEXT, "description": TEXT, "mimeType": TEXT}


print(TEXT, file=sys.stderr, flush=True)
print("junk " + TEXT, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if id is None or method is None:
        continue
    results = {
        "initialize": {
            "protocolVersion": params.get("protocolVersion"),
            "capabilities": {"tools": {}, "prompts": {}, "resources": {}, "logging": {}},
            "serverInfo": {"name": TEXT, "title": TEXT, "version": TEXT},
            "instructions": TEXT + str(CHANGED),
        },
        "tools/list": {"tools": tools()},
        "prompts/list": {"prompts": [prompt("p"), prompt("p " + TEXT)]},
        "prompts/get": {"description": TEXT, "messages": [
            {"role": "user", "content": {"type": "text", "text": TEXT}}]},
        "resources/list": {"resources": [resource("x:one"), resource("x:" + TEXT)]},
        "resources/templates/list": {"resourceTemplates": [
            {"uriTemplate": "x:{" + "name}", "name": TEXT, "description": TEXT}]},
        "resources/read": {"contents": [{"uri": "x:one", "mimeType": TEXT, "text": TEXT}]},
        "logging/setLevel": {},
        "ping": {},
    }
    if method == "tools/call":
        call(id, params)
    elif method in results:
        send({"id": id, "result": results[method]})
    else:
        send({"id": id, "error": {"code": -32601, "message": TEXT}})
