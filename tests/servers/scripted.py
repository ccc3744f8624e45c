"""An MCP server over stdio whose tools are in a file, so that a test can change them.

Its arguments: a file to which it adds a line when it is started, and the file with
the array of its tools, or with an object of all that it lists, and of the results and
errors that it answers calls of its tools with, by their names.
"""

import json
import os
import subprocess
import sys
import threading
import time

STARTS, TOOLS = sys.argv[1:3]
CHILDREN = []
# URIs of resources that were subscribed to.
SUBSCRIBED = []
# Calls that are answered with what is answered to their questions, by the questions' ids.
ASKED_LATER = {}
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


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def call(params):
    name, arguments = params["name"], params.get("arguments", {})
    if name == "variable":
        return os.environ.get(arguments["name"], "(none)")
    if name == "start":
        CHILDREN.append(subprocess.Popen(["sleep", "300"]))
        return str(CHILDREN[-1].pid)
    if name == "end":
        for child in CHILDREN:
            child.kill()
            child.wait()
    if name == "subscribed":
        return " ".join(sorted(SUBSCRIBED))
    if name == "updated":
        send({"method": "notifications/resources/updated", "params": arguments})
    if name == "progress":
        token = params["_meta"]["progressToken"]
        for progress in arguments["progress"]:
            progress = {"progressToken": token, "progress": progress}
            send({"method": "notifications/progress", "params": progress})
    if name == "log":
        send({"method": "notifications/message", "params": arguments})
    if name == "ask":
        # As many questions at once as are given, and what is answered to each.
        questions = arguments["questions"]
        for number, question in enumerate(questions):
            send({"id": f"question-{number}", **question})
        # And what is said until they are answered.
        for number, said in enumerate(arguments.get("meanwhile", [])):
            time.sleep(0.2)
            token = params["_meta"]["progressToken"]
            progress = {"progressToken": token, "progress": number + 1, "message": said}
            send({"method": "notifications/progress", "params": progress})
            send({"method": "notifications/message", "params": {"level": "info", "data": said}})
        answers = {}
        while len(answers) < len(questions):
            message = json.loads(sys.stdin.readline())
            if str(message.get("id", "")).startswith("question-"):
                answers[message["id"]] = message
        return json.dumps([answers[f"question-{number}"] for number in range(len(questions))])
    return f"{name} {json.dumps(arguments)}"


def ask_later(id, arguments):
    question = f"later-{id}"
    ASKED_LATER[question] = id
    asked = {"id": question, **arguments["question"]}
    threading.Timer(arguments["seconds"], send, (asked,)).start()
    if "ends" in arguments:
        wait(id, {"seconds": arguments["ends"]})


def wait(id, arguments):
    result = {"content": [{"type": "text", "text": "waited"}]}
    waited = threading.Timer(arguments["seconds"], answer, (id,), {"result": result})
    waited.start()


def content(params):
    if params["name"] == "link":
        return {"type": "resource_link", "name": "it", **params["arguments"]}
    return {"type": "text", "text": call(params)}


with open(STARTS, "a", encoding="utf-8") as file:
    file.write("started\n")

for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if method is None and id in ASKED_LATER:
        text = {"type": "text", "text": json.dumps(message)}
        answer(ASKED_LATER.pop(id), result={"content": [text]})
    if id is None or method is None:
        continue
    if method == "initialize":
        time.sleep(lists().get("start_seconds", 0))
        answer(id, result={
            "protocolVersion": params["protocolVersion"],
            "capabilities": {
                "tools": {"listChanged": True},
                "logging": {},
                **{name: {} for name in ("prompts", "completions") if name in lists()},
                **({"resources": {"subscribe": lists().get("subscribe", False)}} if "resources" in lists() else {}),
            },
            "serverInfo": {"name": "scripted", "version": lists().get("version", "1.2.3")},
            **({"instructions": lists()["instructions"]} if "instructions" in lists() else {}),
        })
    elif method == "ping":
        answer(id, result={})
    elif method == "resources/subscribe" and lists().get("subscribe"):
        SUBSCRIBED.append(params["uri"])
        answer(id, result={})
    elif method in LISTS:
        name = LISTS[method]
        time.sleep(lists().get("list_seconds", 0))
        answer(id, result={name: lists().get(name, [])})
    elif method == "tools/call" and params["name"] in lists().get("errors", {}):
        answer(id, error=lists()["errors"][params["name"]])
    elif method == "tools/call" and params["name"] in lists().get("results", {}):
        answer(id, result=lists()["results"][params["name"]])
    elif method == "tools/call" and any(tool["name"] == params["name"] for tool in tools()):
        if params["name"] == "ask-later":
            ask_later(id, params["arguments"])
        elif params["name"] == "wait":
            wait(id, params["arguments"])
        elif params["name"] != "hang":
            answer(id, result={"content": [content(params)]})
    elif method == "resources/read":
        server = os.path.basename(STARTS).split(".")[0]
        answer(id, result={"contents": [{"uri": params["uri"], "text": f"from {server}"}]})
    elif method == "completion/complete":
        answer(id, result={"completion": {"values": [os.path.basename(STARTS).split(".")[0]]}})
    elif method == "tools/call":
        answer(id, error={"code": -32602, "message": f"no tool {params['name']}"})
    else:
        error = {"code": -32601, "message": "Method not found"}
        if method == "server/discover" and "probe_seconds" in lists():
            threading.Timer(lists()["probe_seconds"], answer, (id,), {"error": error}).start()
        else:
            answer(id, error=error)
