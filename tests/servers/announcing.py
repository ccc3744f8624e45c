"""An MCP server over stdio, of both eras, that offers what is in a file, tells its clients that it
is something else now when its tool `announce` is called, and notes what it gets.

Its arguments: a file to which it adds a line when it is started (and beside it, with the ending
`.got`, one for each introduction, call, prompt and answer to a question of its own), and the file
with an object of all that it lists. In that, `to` has what it lists instead to clients with a
capability of some name, of some revision of the protocol, or of the era without sessions
(`stateless`). One with `version` is that of a process for good, whatever is in the file later.
"""

import json
import sys

STARTS, OFFER = sys.argv[1:3]
MODERN = "2026-07-28"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
FORM = {
    "message": "Really?",
    "requestedSchema": {"type": "object", "properties": {"agree": {"type": "boolean"}}},
}
handshake = None
subscription, wanted = None, {}
of_version = None


def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(id, **result):
    send(id=id, result={"resultType": "complete", **result} if handshake is None else result)


def note(file, text):
    with open(file, "a", encoding="utf-8") as file:
        file.write(text + "\n")


def got(text):
    note(STARTS + ".got", text)


def offer(params):
    global of_version
    with open(OFFER, encoding="utf-8") as file:
        offered = of_version or json.load(file)
    if "version" in offered:
        of_version = offered
    able = handshake
    if able is None:
        able = {"stateless": {}, **params.get("_meta", {}).get(CAPABILITIES, {})}
    for name, instead in offered.get("to", {}).items():
        if name in able:
            offered = {**offered, **instead}
    return offered


def introduction(params):
    offered = offer(params)
    changes = {"listChanged": True}
    lists = {"tools": changes, "prompts": changes, "resources": changes}
    said = {"capabilities": {**lists, "completions": {}}}
    told = {name: offered[name] for name in ("instructions",) if name in offered}
    return {**said, **told}


def announce(lists):
    """Whether it could: without sessions, whoever wants to hear of a list has to say so."""
    if handshake is None and not all(wanted.get(f"{name}ListChanged") for name in lists):
        return False
    about = {} if handshake is not None else {"params": {"_meta": {SUBSCRIPTION: subscription}}}
    for name in lists:
        send(method=f"notifications/{name}/list_changed", **about)
    return True


def ask(id, params):
    """Answers a call once its user has said something, unless they are kept from it."""
    if handshake is None and "inputResponses" not in params:
        question = {"method": "elicitation/create", "params": {"mode": "form", **FORM}}
        return send(id=id, result={"resultType": "input_required", "inputRequests": {"it": question}})
    if handshake is None:
        said = params["inputResponses"]["it"]
    else:
        send(id="question", method="elicitation/create", params=FORM)
        said = json.loads(sys.stdin.readline()).get("result")
    if said is None:
        return
    got(f"answer {said.get('action')}")
    answer(id, content=[{"type": "text", "text": f"asked {said.get('action')}"}])


def call(id, params):
    name, arguments = params["name"], params.get("arguments", {})
    got(f"call {name}")
    if name == "ask":
        return ask(id, params)
    if name == "announce" and not announce(arguments["lists"]):
        name = "nobody"
    answer(id, content=[{"type": "text", "text": f"called {name}"}])


note(STARTS, "started")
for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if id is None or method is None:
        continue
    if method == "initialize":
        handshake = {params["protocolVersion"]: {}, **params["capabilities"]}
        got(f"speaks {params['protocolVersion']}")
        answer(id, protocolVersion=params["protocolVersion"],
               serverInfo={"name": "announcing", "version": "1"}, **introduction(params))
    elif method == "server/discover":
        got(f"speaks {MODERN}")
        answer(id, supportedVersions=[MODERN], **introduction(params))
    elif method == "subscriptions/listen":
        subscription, wanted = id, params["notifications"]
        send(method="notifications/subscriptions/acknowledged",
             params={"_meta": {SUBSCRIPTION: id}, "notifications": wanted})
    elif method in LISTS:
        name = LISTS[method]
        answer(id, **{name: offer(params).get(name, [])})
    elif method == "tools/call":
        call(id, params)
    elif method == "prompts/get":
        got(f"prompt {params['name']}")
        text = {"type": "text", "text": f"got {params['name']} {json.dumps(params.get('arguments', {}))}"}
        answer(id, messages=[{"role": "user", "content": text}])
    elif method == "resources/read":
        answer(id, contents=[{"uri": params["uri"], "text": f"read {params['uri']}"}])
    elif method == "completion/complete":
        answer(id, completion={"values": [params["argument"]["name"]]})
    elif method == "ping":
        answer(id)
    else:
        send(id=id, error={"code": -32601, "message": "Method not found"})
