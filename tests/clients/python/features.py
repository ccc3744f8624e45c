"""Features of MCP, as a Python client has them, in one session after the other.

Usage: features.py CLIENT

CLIENT is `python` (the official SDK) or `fastmcp`. Each line of the standard input is a
session, a JSON object: its `mode` is `legacy`, `auto` or a version of the protocol; its
`place` an array, a URL (where a `token` may be wanted) or the words that start a server
in an `environment`; its `steps` are objects, each with the name of a feature in `do`,
its arguments, and perhaps `answers` to what the server asks meanwhile. For each session
prints a line, the same as the TypeScript clients do: the `outcomes` of its steps, or
why it `failed`. Ends when there are no more lines.
"""

import asyncio
import json
import os
import sys
import time
import traceback
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import mcp
import mcp_types as types
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import listen
from mcp.shared._httpx_utils import create_mcp_http_client


@dataclass
class Server:
    """Where a session's server is."""

    place: list[str]
    environment: dict[str, str]
    token: str | None

    @property
    def is_http(self) -> bool:
        return self.place[0].startswith("http://")

    @property
    def headers(self) -> dict[str, str]:
        """What a host over HTTP wants to be sent."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    @property
    def child(self) -> dict:
        """The process to start. The SDKs pass no environment on by themselves."""
        command, *args = self.place
        return {"command": command, "args": args, "env": {**os.environ, **self.environment}}


def told(result) -> dict:
    """What the client has understood, in the words of the wire."""
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


def all_told(results) -> list[dict]:
    return [told(result) for result in results]


class Asked:
    """Answers what servers ask, and keeps what that was."""

    def __init__(self) -> None:
        self.answers: dict = {}
        self.questions: list = []

    def ask(self, method: str, params) -> None:
        self.questions.append({"method": method, "params": told(params) if params else {}})

    async def elicit(self, context, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.ask("elicitation/create", params)
        return types.ElicitResult(**self.answers["elicit"].pop(0))

    async def sample(self, context, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        self.ask("sampling/createMessage", params)
        text = types.TextContent(type="text", text=self.answers["sample"])
        return types.CreateMessageResult(role="assistant", model="nobody", content=text)

    async def roots(self, context) -> types.ListRootsResult:
        self.ask("roots/list", None)
        # Some servers want to know them whatever they are called for.
        roots = [types.Root(uri=uri) for uri in self.answers.get("roots", [])]
        return types.ListRootsResult(roots=roots)


@asynccontextmanager
async def over_http(server: Server):
    async with (
        create_mcp_http_client(headers=server.headers) as http,
        streamable_http_client(server.place[0], http_client=http) as streams,
    ):
        yield streams


class Official:
    """The official SDK's client."""

    def __init__(self, mode: str, server: Server, asked: Asked, heard) -> None:
        transport = over_http(server) if server.is_http else StdioServerParameters(**server.child)
        self.client = mcp.Client(
            transport,
            mode=mode,
            elicitation_callback=asked.elicit,
            sampling_callback=asked.sample,
            list_roots_callback=asked.roots,
            message_handler=heard,
            read_timeout_seconds=60,
        )

    async def tools(self) -> list[dict]:
        return all_told((await self.client.list_tools()).tools)

    async def call(self, tool: str, arguments: dict, progress=None) -> dict:
        return told(await self.client.call_tool(tool, arguments, progress_callback=progress))

    async def prompts(self) -> list[dict]:
        return all_told((await self.client.list_prompts()).prompts)

    async def resources(self) -> list[dict]:
        return all_told((await self.client.list_resources()).resources)

    async def templates(self) -> list[dict]:
        return all_told((await self.client.list_resource_templates()).resource_templates)

    async def read(self, uri: str) -> list[dict]:
        return all_told((await self.client.read_resource(uri)).contents)

    async def complete(self, of, argument: dict, known: dict) -> dict:
        return told((await self.client.complete(of, argument, known)).completion)


class Fastmcp:
    """The client of fastmcp, which speaks both eras through the official SDK's
    session, and makes types of the schemas that it is told."""

    def __init__(self, mode: str, server: Server, asked: Asked, heard) -> None:
        import fastmcp
        from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

        async def elicit(message, kind, params, context):
            answer = await asked.elicit(context, params)
            accepts = answer.action == "accept" and kind is not None
            return kind(**answer.content) if accepts else answer

        async def sample(messages, params, context):
            return await asked.sample(context, params)

        async def roots(context) -> list:
            return (await asked.roots(context)).roots

        if server.is_http:
            transport = StreamableHttpTransport(server.place[0], headers=server.headers)
        else:
            transport = StdioTransport(**server.child, keep_alive=False)
        self.client = fastmcp.Client(
            transport,
            mode=mode,
            elicitation_handler=elicit,
            sampling_handler=sample,
            roots=roots,
            message_handler=heard,
            timeout=60,
        )

    async def tools(self) -> list[dict]:
        return all_told(await self.client.list_tools())

    async def call(self, tool: str, arguments: dict, progress=None) -> dict:
        result = await self.client.call_tool(tool, arguments, progress_handler=progress, raise_on_error=False)
        if result.structured_content is not None and not result.is_error and result.data is None:
            raise ValueError(f"`{tool}` answers with what is not of its type: {result.structured_content}")
        return {
            "content": all_told(result.content),
            "structuredContent": result.structured_content,
            "isError": result.is_error,
        }

    async def prompts(self) -> list[dict]:
        return all_told(await self.client.list_prompts())

    async def resources(self) -> list[dict]:
        return all_told(await self.client.list_resources())

    async def templates(self) -> list[dict]:
        return all_told(await self.client.list_resource_templates())

    async def read(self, uri: str) -> list[dict]:
        return all_told(await self.client.read_resource(uri))

    async def complete(self, of, argument: dict, known: dict) -> dict:
        return told(await self.client.complete(of, argument, known))


class Session:
    """What a step can do."""

    def __init__(self, client: str, mode: str, server: Server) -> None:
        self.asked = Asked()
        self.news: asyncio.Queue = asyncio.Queue()
        self.same = (client, mode, server)
        kind = {"python": Official, "fastmcp": Fastmcp}[client]
        self.its = kind(mode, server, self.asked, self.hear)
        self.client = self.its.client

    async def hear(self, message) -> None:
        if isinstance(message, types.ToolListChangedNotification | types.ResourceUpdatedNotification):
            self.news.put_nowait(message)

    async def run(self, steps: list[dict]) -> list:
        async with self.client:
            return [await self.step(**step) for step in steps]

    async def step(self, do: str, answers: dict | None = None, **arguments):
        self.asked.answers, self.asked.questions = answers or {}, []
        try:
            outcome = await getattr(self, do)(**arguments)
        except mcp.MCPError as error:
            outcome = {"error": {"code": error.code, "message": error.message}}
        if self.asked.questions:
            outcome["asked"] = self.asked.questions
        return outcome

    async def list(self) -> dict:
        server = self.client.server_info
        return {
            "server": server.name if server else None,
            "protocol": self.client.protocol_version,
            "tools": await self.its.tools(),
        }

    async def call(self, tool: str, arguments: dict) -> dict:
        # What the client checks a structured result against.
        await self.its.tools()
        return await self.its.call(tool, arguments)

    async def progress(self, tool: str, arguments: dict) -> dict:
        heard = []

        async def hear(progress, total, message) -> None:
            heard.append([progress, total, message])

        result = await self.its.call(tool, arguments, hear)
        return {"heard": heard, "result": result}

    async def cancel(self, tool: str, arguments: dict, other: str, while_running: int) -> dict:
        """Cancels a call that never ends, after others have gone on beside it."""
        running = asyncio.create_task(self.its.call(tool, arguments))
        await asyncio.sleep(0.5)
        others = [await self.its.call(other, {"text": str(n)}) for n in range(while_running)]
        start = time.perf_counter()
        running.cancel()
        try:
            await running
            ended = "answered"
        except asyncio.CancelledError:
            ended = "cancelled"
        after = await self.its.call(other, {"text": "after"})
        took = time.perf_counter() - start
        texts = [result["content"][0]["text"] for result in [*others, after]]
        return {"ended": ended, "others": texts, "milliseconds": took * 1000}

    async def replace(self, file: str, by: str, tool: str, arguments: dict) -> dict:
        """Replaces a plugin's file, waits to be told, and calls what is new."""

        async def names() -> list[str]:
            return [tool["name"] for tool in await self.its.tools()]

        before = await names()
        async with self.told_of_tools():
            swap(file, by)
            async with asyncio.timeout(20):
                await self.news.get()
        after = await names()
        result = await self.its.call(tool, arguments)
        return {"before": before, "after": after, "result": result}

    async def load(self, tool: str, arguments: dict) -> dict:
        """Calls a tool that changes this session's list, and lists when told so."""
        result = await self.its.call(tool, arguments)
        # Without a session, there is no list that could change.
        if self.client.protocol_version < "2026":
            async with asyncio.timeout(20):
                await self.news.get()
        return {"result": result, "tools": await self.its.tools()}

    async def beside(self, steps) -> dict:
        """Takes steps in a session beside this one."""
        return {"outcomes": await Session(*self.same).run(steps)}

    async def prompts(self) -> dict:
        return {"prompts": await self.its.prompts()}

    async def prompt(self, name: str, arguments: dict) -> dict:
        return told(await self.client.get_prompt(name, arguments))

    async def complete(self, ref: dict, argument: dict, known: dict) -> dict:
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        return await self.its.complete(kind(**ref), argument, known)

    async def resources(self) -> dict:
        return {"resources": await self.its.resources(), "templates": await self.its.templates()}

    async def read(self, uri: str) -> dict:
        return {"contents": await self.its.read(uri)}

    async def subscribe(self, uri: str, tool: str) -> dict:
        """Subscribes to a resource that a tool changes, and later no more."""
        heard = []
        async with self.told_of(uri):
            await self.its.call(tool, {})
            async with asyncio.timeout(20):
                heard.append(await self.news.get())
        # The SDK takes leave in the background; what comes after another request
        # comes after that.
        await self.its.tools()
        await self.its.call(tool, {})
        await asyncio.sleep(0.3)
        while not self.news.empty():
            heard.append(self.news.get_nowait())
        return {"heard": [message.params.uri for message in heard]}

    # In one era the server tells of lists unasked, in the other only those who
    # listen. fastmcp has no name of its own for that, but hands its session out.

    @asynccontextmanager
    async def told_of_tools(self):
        if self.client.protocol_version >= "2026":
            async with listen(self.client.session, tools_list_changed=True):
                yield
        else:
            yield

    @asynccontextmanager
    async def told_of(self, uri: str):
        session = self.client.session
        if self.client.protocol_version >= "2026":
            async with listen(session, resource_subscriptions=[uri]):
                yield
        else:
            await session.subscribe_resource(uri)
            yield
            await session.unsubscribe_resource(uri)


def swap(file: str, by: str) -> None:
    """Puts another file in one's place at once, as an installer does."""
    fresh = Path(file).with_suffix(".next")
    fresh.write_bytes(Path(by).read_bytes())
    fresh.replace(file)


async def outcomes(client: str, mode: str, steps: list[dict], **server) -> list:
    """Takes the steps of a session."""
    return await Session(client, mode, Server(**server)).run(steps)


def main(client: str) -> None:
    for line in sys.stdin.buffer:
        try:
            # An event loop of its own, which ends whatever a session has left.
            came = {"outcomes": asyncio.run(outcomes(client, **json.loads(line)))}
        except Exception:
            came = {"failed": traceback.format_exc()}
        print(json.dumps(came), flush=True)


main(*sys.argv[1:])
