"""An MCP server over stdio whose tools are in a file, so that a test can change them.

Its arguments: a file to which it adds a line when it is started, and the file with
the array of its tools.
"""

import json
import os
import sys

STARTS, TOOLS = sys.argv[1:3]


def answer(id, **members):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": id, **members}) + "\n")
    sys.stdout.flush()


def tools():
    with open(TOOLS, encoding="utf-8") as file:
        return json.load(file)


def call(params):
    name, arguments = params["name"], params.get("arguments", {})
    if name == "variable":
        return os.environ.get(arguments["name"], "(none)")
    return f"{name} {json.dumps(arguments)}"


with open(STARTS, "a", encoding="utf-8") as file:
    file.write("started\n")

for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if id is None or method is None:
        continue
    if method == "initialize":
        answer(id, result={
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "scripted", "version": "1.2.3"},
        })
    elif method == "ping":
        answer(id, result={})
    elif method == "tools/list":
        answer(id, result={"tools": tools()})
    elif method == "tools/call" and any(tool["name"] == params["name"] for tool in tools()):
        answer(id, result={"content": [{"type": "text", "text": call(params)}]})
    elif method == "tools/call":
        answer(id, error={"code": -32602, "message": f"no tool {params['name']}"})
    else:
        answer(id, error={"code": -32601, "message": "Method not found"})
