"""An MCP server over stdio that is sound but for one thing.

Its arguments: a file to which it adds a line when it is started, and a file that says
what is wrong with it. A tool answers with its own name, unless that is what is wrong.
"""

import json
import os
import subprocess
import sys
import time

STARTS, KIND = sys.argv[1], open(sys.argv[2], encoding="utf-8").read()
TOOLS = [{"name": "echo", "inputSchema": {"type": "object"}}]
OUT = sys.stdout.buffer
ABLE = {}
# 60 MB of text, and a gigabyte and more as values.
VALUES = b"[" + b"1," * 15_000_000 + b'{"a":1},' * 3_750_000 + b"1]" if "values" in KIND else b""


def write(*lines):
    for line in lines:
        line = line.encode() if isinstance(line, str) else line
        OUT.write(line if isinstance(line, bytes) else json.dumps(line).encode())
        OUT.write(b"\n")
    OUT.flush()


def answer(id, result):
    return {"jsonrpc": "2.0", "id": id, "result": result}


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def flood(params):
    """Says one thing, 128 MB of it and more, until a file is there; and in another one that it
    has begun."""
    token, long = json.dumps(params.get("_meta", {}).get("progressToken")), "x" * 1000
    line = {
        "endless progress": '{"jsonrpc":"2.0","method":"notifications/progress","params":'
                            '{"progressToken":' + token + ',"progress":%d,"message":"' + long + '"}}\n',
        "endless changes": '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":'
                           '{"_meta":{"n":%d,"x":"' + long + '"}}}\n',
        "endless news": '{"jsonrpc":"2.0","method":"notifications/message","params":'
                        '{"level":"error","data":"%d ' + long + '"}}\n',
        "endless answers": '{"jsonrpc":"2.0","id":1%09d,"result":{"x":"' + long + '"}}\n',
        "endless lines on stderr": "%d " + long + "\n",
        "an endless line on stderr": "%d " + long,
    }[KIND]
    stream = sys.stderr.buffer if "stderr" in KIND else OUT
    number = said = 0
    while said < 128_000_000 or not os.path.exists(STARTS + ".end"):
        lines = "".join(line % (number + more) for more in range(500)).encode()
        stream.write(lines)
        stream.flush()
        number, said = number + 500, said + len(lines)
        open(STARTS + ".begun", "a", encoding="utf-8").close()


def call(id, params):
    good = answer(id, text(params["name"]))
    if KIND == "no answer":
        return
    if KIND == "slow with progress":
        for number in range(14):
            time.sleep(0.5)
            token = params.get("_meta", {}).get("progressToken")
            write({"jsonrpc": "2.0", "method": "notifications/progress",
                   "params": {"progressToken": token, "progress": number}})
    if "endless" in KIND and KIND != "an endless list":
        flood(params)
    if KIND == "wrong ids":
        write(answer(id + 1000, text("not yours")), answer(-1, {}), answer(None, {}), good)
    elif KIND == "odd ids":
        write(answer([id], {}), answer({"id": id}, {}), answer(id + 0.5, {}), answer(True, {}),
              answer(str(id), text(params["name"])))
    elif KIND == "a batch of doubles":
        write([good, answer(id, text("late")), 1, None, [], {}])
    elif KIND == "deep nesting":
        write(b'{"jsonrpc":"2.0","id":%d,"result":%s%s}' % (id, b"[" * 100000, b"]" * 100000), good)
    elif KIND == "members":
        many = ",".join('"m%d":1' % number for number in range(400_000))
        write('{"jsonrpc":"2.0","method":"notifications/message","params":{%s}}' % many)
        write('{"jsonrpc":"2.0","id":%d,"result":{"resultType":"input_required","inputRequests":{%s}}}'
              % (id, many))
    elif KIND == "a long state":
        question = {"method": "elicitation/create", "params": {
            "message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}}
        write(answer(id, {"resultType": "input_required", "inputRequests": {"q": question},
                          "requestState": "x" * 20_000_000}))
    elif KIND == "long ids":
        for number in range(64):
            write(b'{"jsonrpc":"2.0","id":"%d' % number + b"x" * 20_000_000 +
                  b'","method":"roots/list"}')
        write(good)
    elif KIND == "large questions":
        for number in range(64):
            write(b'{"jsonrpc":"2.0","id":%d,"method":"sampling/createMessage","params":{"x":"' % number
                  + b"x" * 20_000_000 + b'"}}')
        write(good)
    elif KIND == "60 MB error":
        write({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": "x" * 60_000_000}})
    elif KIND == "60 MB data":
        write({"jsonrpc": "2.0", "id": id,
               "error": {"code": -32000, "message": "no", "data": "x" * 60_000_000}})
    elif KIND == "values in an error":
        write(b'{"jsonrpc":"2.0","id":%d,"error":{"code":-32000,"message":"no","data":%s}}' % (id, VALUES))
    elif KIND == "values in pages":
        write(b'{"jsonrpc":"2.0","id":%d,"error":{"code":-32042,"message":"no","data":{"elicitations":%s}}}'
              % (id, VALUES))
    elif KIND == "values in progress":
        write(b'{"jsonrpc":"2.0","method":"notifications/progress","params":'
              b'{"progressToken":%s,"progress":1}}' % VALUES, good)
    elif KIND == "deep content":
        deep = b'{"a":' * 200_000 + b"1" + b"}" * 200_000
        write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":%s}}' % (id, deep))
    elif KIND == "two results":
        write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[]},"result":{"content":[]}}' % id)
    elif KIND == "50 MB":
        write(answer(id, text("x" * 50_000_000)))
    elif KIND == "a line without end":
        while True:
            OUT.write(b"x" * 1_000_000)
    elif KIND == "null bytes":
        write(b"\0" * 1000, b"\0" + json.dumps(good).encode() + b"\0")
        write(good)
    elif KIND == "no UTF-8":
        write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"caf\xe9"}]}}' % id)
    elif KIND == "half a character":
        write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"\\ud83d!"}]}}' % id)
    elif KIND == "a flood of news":
        for number in range(20_000):
            write({"jsonrpc": "2.0", "method": "notifications/message",
                   "params": {"level": "info", "data": number}})
        write(good)
    elif KIND == "a flood of changes":
        for _ in range(20_000):
            write({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        write(good)
    elif KIND == "a flood of questions":
        for number in range(20_000):
            write({"jsonrpc": "2.0", "id": number, "method": "roots/list"})
        write(good)
    elif KIND == "no result":
        write({"jsonrpc": "2.0", "id": id})
    elif KIND == "an odd result":
        write(answer(id, "done"))
    elif KIND == "an odd error":
        write({"jsonrpc": "2.0", "id": id, "error": "no"})
    elif KIND == "stdout closed":
        os.close(1)
        time.sleep(1000)
    elif KIND == "stdin closed":
        # The file and what Python has of it.
        os.close(0)
        write(good)
        time.sleep(1000)
    elif KIND == "an heir":
        # Has its streams, and does nothing with them.
        subprocess.Popen(["sleep", "1000"])
        os._exit(3)
    elif KIND == "an heir that goes on" and os.fork():
        os._exit(0)
    else:
        write(good)


def listed(cursor):
    if KIND == "an endless list":
        name = cursor or "0"
        return {"tools": [*TOOLS, {"name": "t" + name, "inputSchema": {"type": "object"}}],
                "nextCursor": str(int(name) + 1)}
    if KIND == "a list that begins again":
        return {"tools": TOOLS, "nextCursor": "again"}
    if KIND == "10000 tools":
        return {"tools": TOOLS + [{"name": f"tool{number}", "description": "x" * 100,
                                   "inputSchema": {"type": "object"}} for number in range(10_000)]}
    if KIND == "odd tools":
        schemas = ["x", None, 1, [], {"type": "nonsense"}, {"type": "array"}, {"$ref": "#/none"},
                   {"properties": 7}, {"required": "x"}, {"pattern": "("}]
        odd = [{"name": f"schema{index}", "inputSchema": schema}
               for index, schema in enumerate(schemas)]
        return {"tools": [{}, 1, None, "x", [], {"name": ""}, {"name": None}, {"name": 1},
                          {"inputSchema": {}}, {"name": "n" * 10_000, "inputSchema": {}},
                          {"name": "bare"}, {"name": "white space\n\0\u202e", "inputSchema": {}},
                          {"name": "words", "description": 1, "title": [], "inputSchema": {}},
                          *odd, *TOOLS, *TOOLS]}
    if KIND == "a million tools":
        return {"tools": TOOLS + [{"name": f"t{number}", "inputSchema": {"type": "object"}}
                                  for number in range(1_000_000)]}
    if KIND == "asks":
        asks = [{"name": "ask", "inputSchema": {"type": "object"}}] if "elicitation" in ABLE else []
        return {"tools": asks + TOOLS}
    if KIND == "no list":
        return {"tools": "none"}
    return {"tools": TOOLS}


def templates():
    if KIND == "a long template":
        long = "a:" + "".join("/{v%d}" % number for number in range(4_000))
        return [{"uriTemplate": long, "name": "long"}]
    # None of them is matched, which only the last byte of a URI tells.
    return [{"uriTemplate": "a:{a%d}x/{+b}y{c}z" % number, "name": "x"}
            for number in range(10_000 if KIND == "many templates" else 20)]


with open(STARTS, "a", encoding="utf-8") as file:
    file.write("started\n")
if KIND == "dies at once":
    sys.exit("no API key")
if KIND == "tells what it gets":
    told = [f"{name}={value};" for name, value in os.environ.items() if "CANARY" in value]
    sys.exit(f"I have {' '.join(sorted(told))} and cannot start")
if KIND == "wants a variable":
    key = os.environ.get("CANARY_API_KEY")
    sys.exit(f"the key {key} is wrong" if key else "set CANARY_API_KEY, and NO_SUCH_VARIABLE_AT_ALL")

for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if id is None or method is None:
        continue
    if method == "server/discover" and KIND == "dies of a question":
        sys.exit("what is `server/discover`?")
    if KIND == "dies of any question":
        sys.exit("questions kill me")
    if method == "server/discover" and KIND == "values in a discovery":
        write(b'{"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],'
              b'"capabilities":{"tools":{},"experimental":%s},"serverInfo":{},'
              b'"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"odd","version":"1","x":%s}}}}'
              % (id, VALUES[:30_000_001] + b"1]", VALUES[:30_000_001] + b"1]"))
        continue
    if method == "initialize" and KIND == "values in an introduction":
        write(b'{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},'
              b'"serverInfo":{"name":"odd","version":"1","x":%s}}}' % (id, VALUES))
        continue
    if method == "initialize":
        ABLE.update(params["capabilities"])
        if KIND == "a long introduction":
            write(answer(id, {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}, "experimental": {f"x{n}": {} for n in range(300_000)}},
                "serverInfo": {"name": "n" * 20_000_000, "version": "1"},
                "instructions": "i" * 20_000_000,
            }))
            continue
        write(answer(id, {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True},
                             **({"resources": {}} if "template" in KIND else {})},
            "serverInfo": {"name": "hostile", "version": "1"},
        }))
        if KIND == "news at start":
            print("a line on stderr", file=sys.stderr, flush=True)
            time.sleep(0.2)
            for number in range(5000):
                write({"jsonrpc": "2.0", "method": "notifications/message",
                       "params": {"level": "info", "data": f"news {number} " + "x" * 1000}})
    elif method == "tools/list":
        write(answer(id, listed(params.get("cursor"))))
    elif method == "tools/call":
        call(id, params)
    elif method == "resources/list" and "template" in KIND:
        write(answer(id, {"resources": []}))
    elif method == "resources/templates/list" and "template" in KIND:
        write(answer(id, {"resourceTemplates": templates()}))
    elif method == "ping":
        write(answer(id, {}))
    else:
        write({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}})
