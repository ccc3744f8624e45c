"""An MCP server over stdio whose tools are in a file, so that a test can change them.

Its arguments: a file to which it adds a line when it is started, and the file with
the array of its tools, or with an object of all that it lists.
"""

import json
import os
import sys

STARTS, TOOLS = sys.argv[1:3]
LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


def answer(id, **members):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": id, **members}) + "\n")
    sys.stdout.flush()


def lists():
    with open(TOOLS, encoding="utf-8") as file:
        found = json.load(file)
    return found if isinstance(found, dict) else {"tools": found}


def tools():
    return lists()["tools"]


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
            "capabilities": {
                "tools": {"listChanged": True},
                **{name: {} for name in ("prompts", "resources") if name in lists()},
            },
            "serverInfo": {"name": "scripted", "version": "1.2.3"},
        })
    elif method == "ping":
        answer(id, result={})
    elif method in LISTS:
        name = LISTS[method]
        answer(id, result={name: lists().get(name, [])})
    elif method == "tools/call" and any(tool["name"] == params["name"] for tool in tools()):
        answer(id, result={"content": [{"type": "text", "text": call(params)}]})
    elif method == "tools/call":
        answer(id, error={"code": -32602, "message": f"no tool {params['name']}"})
    else:
        answer(id, error={"code": -32601, "message": "Method not found"})
