"""An MCP server over stdio that says what few servers say: JSON with numbers that most
types have no room for, members that are there twice, and resources that no list has.

Its arguments: a name, which is the scheme of its resources, and whether it has any
(`resources`, or nothing).
"""

import json
import sys

NAME = sys.argv[1]
RESOURCES = sys.argv[2:] == ["resources"]

# Text rather than a value: it is to go out as it is.
ODD = (
    '{ "n":12345678901234567890123, "x":1.10,"z":-0.0, "e":1E5 ,'
    ' "twice":1,"twice":{"deep":[2.50]},"text":"caf\\u00e9 \\/ \\ud83d\\ude34" }'
)

TOOLS = ["odd", "odd-after-progress", "echo", "ask", "link", "touch", "known"]


def write(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def result(id, text):
    write('{"jsonrpc":"2.0","id":%s,"result":%s}' % (json.dumps(id), text))


def answer(id, value):
    result(id, json.dumps(value))


def refuse(id, code, message, data):
    error = '{"code":%d,"message":%s,"data":%s}' % (code, json.dumps(message), data)
    write('{"jsonrpc":"2.0","id":%s,"error":%s}' % (json.dumps(id), error))


def notify(method, params):
    write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))


def text(text):
    return json.dumps({"type": "text", "text": text})


def call(id, line, params):
    """What a tool answers, as text."""
    name, arguments = params["name"], params.get("arguments", {})
    token = params.get("_meta", {}).get("progressToken")
    if name == "odd-after-progress" and token is not None:
        notify("notifications/progress", {"progressToken": token, "progress": 1})
    if name.startswith("odd"):
        odd = '{"structuredContent":%s ,"content":[%s], "x-odd":1.10,"far":[1e300]}'
        return odd % (ODD, text("odd"))
    if name == "echo":
        return '{"content":[%s]}' % text(line)
    if name == "ask":
        # What a client says to this comes back as it has come in.
        question = (
            '{"message":"?","x-odd":%s,"far":1e300,"requestedSchema":{"type":"object","properties":'
            '{"n":{"type":"number","minimum":0.10}}}}'
        )
        write('{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":%s}' % (question % ODD))
        return '{"content":[%s]}' % text(next(sys.stdin).rstrip("\n"))
    uri = arguments.get("uri")
    if name == "link":
        link = {"type": "resource_link", "uri": uri, "name": "a link"}
        return json.dumps({"content": [link]})
    if name == "touch":
        notify("notifications/resources/updated", {"uri": uri})
        return '{"content":[]}'
    return '{"content":[%s]}' % text(json.dumps({"read": read, "subscribed": subscribed}))


subscribed = []
read = []

for line in sys.stdin:
    line = line.rstrip("\n")
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if id is None or method is None:
        continue
    if method == "initialize":
        capabilities = {"tools": {}, "prompts": {}, "completions": {}}
        if RESOURCES:
            capabilities["resources"] = {"subscribe": True}
        answer(id, {
            "protocolVersion": params["protocolVersion"],
            "capabilities": capabilities,
            "serverInfo": {"name": NAME, "version": "1"},
        })
    elif method == "ping":
        answer(id, {})
    elif method == "tools/list":
        answer(id, {"tools": [{"name": tool, "inputSchema": {"type": "object"}} for tool in TOOLS]})
    elif method == "tools/call":
        result(id, call(id, line, params))
    elif method == "prompts/list":
        arguments = [{"name": "a"}]
        answer(id, {"prompts": [{"name": "odd", "arguments": arguments}]})
    elif method == "prompts/get":
        content = text(line)
        result(id, '{"x-odd":%s,"messages":[{"role":"user","content":%s}]}' % (ODD, content))
    elif method == "completion/complete":
        result(id, '{"completion":{"values":["a","b"],"total":2, "x-odd":%s}}' % ODD)
    elif method == "resources/list" and RESOURCES:
        answer(id, {"resources": []})
    elif method == "resources/templates/list" and RESOURCES:
        answer(id, {"resourceTemplates": []})
    elif method == "resources/subscribe" and RESOURCES:
        subscribed.append(params["uri"])
        answer(id, {})
    elif method == "resources/read" and RESOURCES:
        read.append(params["uri"])
        if params["uri"].startswith(NAME + ":"):
            contents = json.dumps({"uri": params["uri"], "text": "found"})
            result(id, '{"contents":[%s], "x-odd":%s}' % (contents, ODD))
        else:
            data = '{"uri":%s,"near":[1.10]}' % json.dumps(params["uri"])
            refuse(id, -32002, "nothing of that name here", data)
    else:
        refuse(id, -32601, "Method not found", "null")
