"""An MCP server over stdio that can be as odd as its arguments say."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

ODD = set(sys.argv[1:])
LOCK = threading.Lock()
LATE = []
LISTING = set()
START = 0
ANSWERS = {}
# What becomes of the next fetches of its tools: "refused", or seconds.
FETCHES = []
ANSWERED = threading.Condition()
# What one that does one thing at a time has read before it came to it.
HELD = []
TOOLS = ["echo", "slow", "hang", "die", "change", "tell", "ask", "refuse", "pid", "meta", "stats"]
CAPABILITIES = {"tools": {"listChanged": True}, "prompts": {},
                "resources": {"subscribe": True}, "logging": {}}
SEEN = {"requests": 0, "cancelled": [], "capabilities": None, "levels": [], "roots": 0, "first": [],
        "named": []}


def send(message):
    text = json.dumps(message) if not isinstance(message, str) else message
    with LOCK:
        if "junk" in ODD:
            sys.stdout.write("loading plugins...\n{not json}\n42\n\n")
        if "batch" in ODD:
            text = "[" + text + "]"
        for _ in range(2 if "twice" in ODD else 1):
            sys.stdout.write(text + "\n")
        sys.stdout.flush()


def result(id, value):
    send({"jsonrpc": "2.0", "id": id, "result": value})


def error(id, code, message, **more):
    send({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message, **more}})


def ask(method, params):
    id = f"ask-{time.time_ns()}"
    send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    while "one-by-one" in ODD:
        line = sys.stdin.readline()
        message = json.loads(line)
        if message.get("id") == id:
            return message.get("result", message.get("error"))
        HELD.append(line)
    with ANSWERED:
        ANSWERED.wait_for(lambda: id in ANSWERS)
        return ANSWERS.pop(id)


def lines():
    while line := HELD.pop(0) if HELD else sys.stdin.readline():
        yield line


def changed():
    send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def tools():
    listed = [{"name": name, "inputSchema": {"type": "object"}, "x-rate": 1.5} for name in TOOLS]
    if "odd-tools" in ODD:
        return [{"title": "nameless"}, "a string", *listed, None, {"name": 7}]
    return listed


def is_modern(params):
    return "io.modelcontextprotocol/clientInfo" in params.get("_meta", {})


def start_child():
    return subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid


def call(id, params):
    name, arguments = params["name"], params.get("arguments", {})
    if name == "echo":
        # As text, so that nothing in it is rewritten.
        send('{"jsonrpc":"2.0","id":%s,"result":{"content":[],"x":1.10,"arguments":%s}}'
             % (json.dumps(id), json.dumps(arguments)))
    elif name == "slow":
        if "begins" in arguments:
            sys.stdout.write('{"x":"' + "x" * arguments["begins"])
            sys.stdout.flush()
        if "changes" in arguments:
            changed()
        time.sleep(arguments["seconds"])
        if "begins" in arguments:
            sys.stdout.write('"}\n')
        result(id, text("slept"))
    elif name == "hang":
        pass
    elif name == "die":
        print("I am dying\nof this", file=sys.stderr, flush=True)
        os._exit(7)
    elif name == "change":
        TOOLS.append(arguments["tool"])
        FETCHES.extend(arguments.get("fetches", []))
        changed()
        asks = arguments.get("asks")
        result(id, text(json.dumps(ask(asks["method"], asks["params"])) if asks else "changed"))
    elif name == "tell":
        token = params["_meta"]["progressToken"]
        for progress in (1, 2):
            send({"jsonrpc": "2.0", "method": "notifications/progress",
                  "params": {"progressToken": token, "progress": progress, "total": 2}})
        send({"jsonrpc": "2.0", "method": "notifications/message",
              "params": {"level": "warning", "logger": "odd", "data": {"a": 1}}})
        send({"jsonrpc": "2.0", "method": "notifications/resources/updated",
              "params": {"uri": "odd://x"}})
        result(id, text("told"))
    elif name == "ask":
        if is_modern(params):
            given = params.get("inputResponses")
            if given is None:
                result(id, {"resultType": "input_required", "requestState": "s1",
                            "inputRequests": {arguments.get("q", "q"): {
                                "method": arguments["method"], "params": arguments["params"]}}})
            else:
                assert params["requestState"] == "s1"
                result(id, {"resultType": "complete", **text(json.dumps(given[arguments.get("q", "q")]))})
        else:
            answer = ask(arguments["method"], arguments["params"])
            for done in arguments.get("done", []):
                send({"jsonrpc": "2.0", "method": "notifications/elicitation/complete",
                      "params": {"elicitationId": done}})
            result(id, text(json.dumps(answer)))
    elif name == "refuse":
        error(id, arguments.pop("code", -32042), "not today", data={"why": "rain", "rate": 1.5, **arguments})
        for page in arguments.get("elicitations", []):
            send({"jsonrpc": "2.0", "method": "notifications/elicitation/complete",
                  "params": {"elicitationId": page["elicitationId"]}})
    elif name == "pid":
        if arguments.get("starts"):
            start_child()
        result(id, text(str(os.getpid())))
    elif name == "meta":
        result(id, text(json.dumps(params["_meta"])))
    elif name == "stats":
        result(id, text(json.dumps(SEEN)))
    else:
        error(id, -32602, f"no tool {name}")


def ask_often(id, method, params):
    for _ in range(17):
        SEEN["named"].append(ask("roots/list", {}))
    request(id, method, params)


def learn_roots(answer):
    # Folders are looked at on disk before they are used.
    time.sleep(0.02)
    SEEN["named"].append(answer)


def request(id, method, params):
    SEEN["requests"] += 1
    meta = params.get("_meta", {})
    if "silent" in ODD:
        if "pretty" in ODD:
            print(json.dumps({"jsonrpc": "2.0", "id": id, "result": {}}, indent=1), flush=True)
        return
    if LATE and method not in ("server/discover", "initialize"):
        error(LATE.pop(), -32601, "Method not found")
    if method in ("server/discover", "initialize"):
        SEEN["first"].append(method)
        if "dies-of-" + method in ODD:
            os._exit(1)
        if "ignores-" + method in ODD:
            return
        if "late-" + method in ODD:
            LATE.append(id)
            return
        if method == "initialize" and f"slow-in-start={START}" in ODD:
            return threading.Timer(6.5, request, (id, "initialized-late", params)).start()
    if method == "server/discover":
        if "modern" not in ODD and "both" not in ODD:
            return error(id, -32601, "Method not found")
        assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        return result(id, {"resultType": "complete", "supportedVersions": ["2026-07-28"],
                           "capabilities": CAPABILITIES, "ttlMs": 0,
                           "cacheScope": "private",
                           "_meta": {"io.modelcontextprotocol/serverInfo":
                                     {"name": "odd", "version": "2"}}})
    if method in ("initialize", "initialized-late"):
        if "modern" in ODD:
            return error(id, -32601, "Method not found")
        if "picky" in ODD and params["protocolVersion"] != "2025-11-25":
            return error(id, -32602, "Unsupported protocol version")
        SEEN["capabilities"] = params["capabilities"]
        SEEN["version"] = params["protocolVersion"]
        return result(id, {"protocolVersion": params["protocolVersion"],
                           "capabilities": CAPABILITIES,
                           "serverInfo": {"name": "odd", "version": "1"}})
    if "modern" in ODD and "io.modelcontextprotocol/clientInfo" not in meta:
        return error(id, -32600, "who asks?")
    if method == "tools/list" and "asks-often" in ODD and id not in LISTING:
        LISTING.add(id)
        return threading.Thread(target=ask_often, args=(id, method, params), daemon=True).start()
    if method == "tools/list" and FETCHES and "cursor" not in params:
        fetch = FETCHES.pop(0)
        if fetch == "refused":
            return error(id, -32603, "busy")
        return threading.Timer(fetch, request, (id, method, params)).start()
    if method == "tools/list" and "refuses-page" in ODD and "cursor" in params:
        return error(id, -32601, "Method not found")
    if method == "resources/templates/list" and "refuses-templates" in ODD:
        if "cursor" in params:
            return error(id, -32601, "Method not found")
        template = {"uriTemplate": "odd:///{id}", "name": "x"}
        return result(id, {"resourceTemplates": [template], "nextCursor": "2"})
    if method == "tools/list" and params.get("cursor") == "":
        if is_modern(params):
            return result(id, {"tools": [{"name": "last", "inputSchema": {"type": "object"}}]})
        return error(id, -32602, "no such cursor")
    if method == "tools/list":
        page = int(params.get("cursor", 0))
        listed = tools()
        answer = {"tools": listed[page:page + 6]}
        if "endless" in ODD or page + 6 < len(listed):
            answer["nextCursor"] = str((page + 6) % 60)
        elif "empty-cursor" in ODD:
            answer["nextCursor"] = ""
        result(id, answer)
        if "announces-always" in ODD:
            changed()
        return
    if method == "tools/call" and "one-by-one" in ODD:
        return call(id, params)
    if method == "tools/call":
        return threading.Thread(target=call, args=(id, params), daemon=True).start()
    if method == "subscriptions/listen":
        SEEN["wanted"] = params["notifications"].get("resourceSubscriptions")
        if "stops-telling" in ODD:
            ODD.remove("stops-telling")
            send({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"})
            threading.Timer(0.5, result, (id, {})).start()
        return
    if method in ("resources/subscribe", "resources/unsubscribe"):
        SEEN["wanted"] = [*SEEN.get("wanted", []), method[10:] + " " + params["uri"]]
        if params["uri"] == "odd://refused":
            return error(id, -32602, "not that one", data={"x": 1})
        # A request that belongs to no call, and so does what comes of it.
        if params["uri"] == "odd://said":
            for level in ("debug", "error"):
                send({"jsonrpc": "2.0", "method": "notifications/message",
                      "params": {"level": level, "data": "between calls"}})
        elif params["uri"] == "odd://asked":
            asking = lambda: SEEN.update(between=ask("roots/list", {}))
            threading.Thread(target=asking, daemon=True).start()
        return result(id, {})
    if method == "logging/setLevel":
        SEEN["levels"].append(params["level"])
        if "changes-with-level" in ODD:
            TOOLS.append("new")
            FETCHES.append(1)
            changed()
        return result(id, {})
    if method == "resources/list":
        return result(id, {"resources": [{"uri": "odd://x", "name": "x"}]})
    error(id, -32601, "Method not found")


def main():
    global START
    for odd in ODD:
        if odd.startswith("starts="):
            with open(odd[len("starts="):], "a+") as starts:
                starts.write("started\n")
                starts.seek(0)
                START = len(starts.readlines())
    if "declares-no-subscribe" in ODD:
        CAPABILITIES["resources"] = {"subscribe": False}
    print("odd server starting", file=sys.stderr, flush=True)
    if "dies-on-start" in ODD:
        print("no API key", file=sys.stderr, flush=True)
        sys.exit(3)
    if "starts-slowly" in ODD:
        time.sleep(5)
    if "floods" in ODD:
        for _ in range(50_000):
            print("x" * 200, file=sys.stderr)
        sys.stderr.flush()
    if "stubborn" in ODD:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "family" in ODD:
        SEEN["child"] = start_child()
    for line in lines():
        message = json.loads(line)
        if "method" not in message and message["id"] == "early":
            SEEN["early"] = message.get("result", message.get("error"))
            if "result" in message:
                threading.Thread(target=learn_roots, args=(message["result"],), daemon=True).start()
        elif "method" not in message:
            with ANSWERED:
                ANSWERS[message["id"]] = message.get("result", message.get("error"))
                ANSWERED.notify_all()
        elif "id" in message:
            request(message["id"], message["method"], message.get("params", {}))
        elif message["method"] == "notifications/cancelled":
            SEEN["cancelled"].append(message["params"]["requestId"])
        elif message["method"] == "notifications/roots/list_changed":
            SEEN["roots"] += 1
        elif message["method"] == "notifications/initialized" and "asks-early" in ODD:
            send({"jsonrpc": "2.0", "id": "early", "method": "roots/list"})
    while "stubborn" in ODD:
        time.sleep(1)
    if "family" in ODD:
        os._exit(0)


main()
