"""A client that says and hears JSON as it is on the wire, of any revision of MCP, and tells what
it was asked and what was logged while each of its calls ran.

Usage: asked.py SESSIONS (URL | COMMAND [ARGUMENT...])

SESSIONS is a JSON array of objects: a session of the `revision`, whose client declares
`capabilities` and calls `tools`, one after the other; one whose name begins with `level=` is
`logging/setLevel` instead. Of the revision without a handshake, a client begins with
`server/discover`, and goes on with a handshake of the newest revision that has one where that is
refused. What it has not declared it refuses to be asked. Prints a JSON array of what came of
each session.
"""

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack, asynccontextmanager

import httpx2

MODERN, LEGACY = "2026-07-28", "2025-11-25"
PATIENCE = 60
DECLARED_AS = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}


def response_to(method: str, params: dict) -> dict:
    """What the client answers to a question, whatever its era."""
    if method == "elicitation/create":
        fields = params.get("requestedSchema", {}).get("properties", {})
        content = {name: True if field.get("type") == "boolean" else "Dora" for name, field in fields.items()}
        return {"action": "accept", "content": content}
    if method == "sampling/createMessage":
        text = {"type": "text", "text": "HI"}
        return {"role": "assistant", "model": "nobody", "content": text}
    return {"roots": [{"uri": "file:///project", "name": "project"}]}


class Pipe:
    """A child process that speaks over its standard streams."""

    def __init__(self, words: list[str], heard: asyncio.Queue):
        self.words, self.heard = words, heard

    @asynccontextmanager
    async def opened(self):
        streams = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
        self.child = await asyncio.create_subprocess_exec(*self.words, **streams, limit=1 << 24)
        reading = asyncio.create_task(self.read())
        try:
            yield self
        finally:
            self.child.stdin.close()
            try:
                await asyncio.wait_for(self.child.wait(), 5)
            except asyncio.TimeoutError:
                self.child.kill()
            reading.cancel()

    async def read(self) -> None:
        async for line in self.child.stdout:
            self.heard.put_nowait(json.loads(line))

    async def send(self, message: dict) -> None:
        self.child.stdin.write(json.dumps(message).encode() + b"\n")
        await self.child.stdin.drain()

    async def begun(self) -> None:
        pass


class Web:
    """A server that speaks streamable HTTP."""

    def __init__(self, url: str, heard: asyncio.Queue):
        self.url, self.heard, self.headers, self.tasks = url, heard, {}, set()
        self.revision = None

    @asynccontextmanager
    async def opened(self):
        token = os.environ.get("DORMOUSE_TEST_TOKEN")
        headers = {"authorization": f"Bearer {token}"} if token else {}
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as self.client:
            try:
                yield self
            finally:
                for task in self.tasks:
                    task.cancel()
                if "mcp-session-id" in self.headers:
                    await self.client.delete(self.url, headers=self.headers)

    async def events(self, response) -> None:
        async for line in response.aiter_lines():
            if line.startswith("data:") and line[5:].strip():
                self.heard.put_nowait(json.loads(line[5:]))

    async def exchange(self, message: dict) -> None:
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            **self.headers,
        }
        params = message.get("params") or {}
        if self.revision is not None:
            headers["mcp-protocol-version"] = self.revision
        if self.revision == MODERN and "method" in message:
            headers["mcp-method"] = message["method"]
            if "name" in params:
                headers["mcp-name"] = params["name"]
        body = json.dumps(message).encode()
        async with self.client.stream("POST", self.url, content=body, headers=headers) as response:
            if "mcp-session-id" in response.headers:
                self.headers["mcp-session-id"] = response.headers["mcp-session-id"]
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                return await self.events(response)
            text = await response.aread()
            answer = json.loads(text) if text.strip() else None
            if isinstance(answer, dict) and ("result" in answer or "error" in answer):
                # An error of HTTP need not say what it answers.
                self.heard.put_nowait({**answer, "id": message.get("id")})
            elif response.status_code >= 400:
                error = {"code": response.status_code, "message": text.decode()}
                self.heard.put_nowait({"id": message.get("id"), "error": error})

    async def send(self, message: dict) -> None:
        task = asyncio.create_task(self.exchange(message))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        if "id" not in message or "method" not in message:
            await task

    async def begun(self) -> None:
        """Opens the stream of what belongs to no request."""
        opened = asyncio.Event()

        async def listen() -> None:
            headers = {"accept": "text/event-stream", "mcp-protocol-version": self.revision, **self.headers}
            async with self.client.stream("GET", self.url, headers=headers) as response:
                opened.set()
                await self.events(response)

        self.tasks.add(asyncio.create_task(listen()))
        await asyncio.wait_for(opened.wait(), PATIENCE)


class Session:
    def __init__(self, revision: str, capabilities: dict, tools: list[str], place: list[str]):
        self.revision, self.capabilities, self.tools = revision, capabilities, tools
        self.heard = asyncio.Queue()
        is_web = place[0].startswith("http://")
        self.way = Web(place[0], self.heard) if is_web else Pipe(place, self.heard)
        self.next, self.asked, self.logs = 0, [], []

    async def run(self) -> dict:
        async with self.way.opened():
            hello = await self.begin()
            calls = [await self.step(tool) for tool in self.tools]
        return {"hello": hello, "calls": calls}

    @property
    def info(self) -> dict:
        return {"name": "dormouse-tests", "version": "0"}

    async def begin(self) -> dict:
        if self.revision == MODERN:
            self.way.revision = MODERN
            hello = await self.request("server/discover", {})
            if MODERN in hello.get("result", {}).get("supportedVersions", []):
                return {"revision": MODERN, "capabilities": hello["result"]["capabilities"]}
            self.revision, self.way.revision = LEGACY, None
        params = {"protocolVersion": self.revision, "capabilities": self.capabilities, "clientInfo": self.info}
        hello = (await self.request("initialize", params))["result"]
        self.revision = self.way.revision = hello["protocolVersion"]
        await self.way.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        await self.way.begun()
        return {"revision": self.revision, "capabilities": hello["capabilities"]}

    async def step(self, tool: str) -> dict:
        if tool.startswith("level="):
            level = tool.removeprefix("level=")
            return await self.request("logging/setLevel", {"level": level})
        self.asked, self.logs = [], []
        params = {"name": tool, "arguments": {}}
        while True:
            answer = await self.request("tools/call", params)
            result = answer.get("result", {})
            if result.get("resultType") != "input_required":
                break
            params = {**params, "inputResponses": {}}
            for name, question in (result.get("inputRequests") or {}).items():
                if DECLARED_AS[question["method"]] not in self.capabilities:
                    answer = {"error": {"code": -32601, "message": "REFUSED"}}
                    return {"asked": self.asked, "logs": self.logs, "answer": answer}
                given = question.get("params") or {}
                self.asked.append([question["method"], given])
                params["inputResponses"][name] = response_to(question["method"], given)
            if "requestState" in result:
                params["requestState"] = result["requestState"]
        return {"asked": self.asked, "logs": self.logs, "answer": answer}

    async def request(self, method: str, params: dict) -> dict:
        self.next += 1
        message = {"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}
        if self.revision == MODERN:
            name = "io.modelcontextprotocol/"
            message["params"] = {
                **params,
                "_meta": {
                    f"{name}protocolVersion": MODERN,
                    f"{name}clientInfo": self.info,
                    f"{name}clientCapabilities": self.capabilities,
                    f"{name}logLevel": "debug",
                },
            }
        await self.way.send(message)
        while True:
            heard = await asyncio.wait_for(self.heard.get(), PATIENCE)
            if "method" not in heard:
                if heard.get("id") == self.next:
                    return {name: heard[name] for name in ("result", "error") if name in heard}
            elif "id" in heard and DECLARED_AS.get(heard["method"]) not in self.capabilities:
                error = {"code": -32601, "message": "REFUSED"}
                await self.way.send({"jsonrpc": "2.0", "id": heard["id"], "error": error})
            elif "id" in heard:
                given = heard.get("params") or {}
                self.asked.append([heard["method"], given])
                answer = response_to(heard["method"], given)
                await self.way.send({"jsonrpc": "2.0", "id": heard["id"], "result": answer})
            elif heard["method"] == "notifications/message":
                self.logs.append(heard["params"])


async def main(sessions: str, *place: str) -> None:
    outcomes = []
    for session in json.loads(sessions):
        async with AsyncExitStack():
            outcomes.append(await Session(place=list(place), **session).run())
    print(json.dumps(outcomes))


asyncio.run(main(*sys.argv[1:]))
