"""One feature of MCP, as the official Python SDK has it, against a server.

Usage: features.py MODE FEATURE ARGUMENTS (URL | COMMAND [ARGUMENT...])

MODE is `legacy`, `auto` or a version of the protocol; ARGUMENTS is JSON. Prints
one JSON object, the same as the TypeScript clients do.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters


def told(result) -> dict:
    """A tool's result in the words of the wire."""
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


class Session:
    def __init__(self, mode: str, launch: list[str]) -> None:
        self.changed = asyncio.Event()
        if launch[0].startswith("http://"):
            server = launch[0]
        else:
            # The SDK passes no environment on by itself.
            server = StdioServerParameters(command=launch[0], args=launch[1:], env=dict(os.environ))
        self.client = Client(server, mode=mode, message_handler=self.message, read_timeout_seconds=60)

    async def message(self, message) -> None:
        if getattr(message, "method", None) == "notifications/tools/list_changed":
            self.changed.set()

    async def list(self) -> dict:
        tools = (await self.client.list_tools()).tools
        server = self.client.server_info
        return {
            "server": server.name,
            "protocol": self.client.protocol_version,
            "tools": [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools],
        }

    async def call(self, tool: str, arguments: dict) -> dict:
        # What the SDK checks a structured result against.
        await self.client.list_tools()
        return told(await self.client.call_tool(tool, arguments))

    async def progress(self, tool: str, arguments: dict) -> dict:
        heard = []

        async def hear(progress, total, message) -> None:
            heard.append([progress, total, message])

        result = await self.client.call_tool(tool, arguments, progress_callback=hear)
        return {"heard": heard, "result": told(result)}

    async def cancel(self, tool: str, arguments: dict, other: str, while_running: int) -> dict:
        """Cancels a call that never ends, after others have gone on beside it."""
        running = asyncio.create_task(self.client.call_tool(tool, arguments))
        await asyncio.sleep(0.5)
        others = [await self.client.call_tool(other, {"text": str(n)}) for n in range(while_running)]
        start = time.perf_counter()
        running.cancel()
        try:
            await running
            ended = "answered"
        except asyncio.CancelledError:
            ended = "cancelled"
        after = await self.client.call_tool(other, {"text": "after"})
        took = time.perf_counter() - start
        texts = [result.content[0].text for result in [*others, after]]
        return {"ended": ended, "others": texts, "milliseconds": took * 1000}

    async def replace(self, file: str, by: str, tool: str, arguments: dict) -> dict:
        """Replaces a plugin's file, waits to be told, and calls what is new."""

        async def names() -> list[str]:
            return [tool.name for tool in (await self.client.list_tools()).tools]

        before = await names()
        if self.client.protocol_version >= "2026":
            # Here the server tells only those who have asked.
            async with self.client.listen(tools_list_changed=True) as changes:
                swap(file, by)
                async with asyncio.timeout(20):
                    await anext(aiter(changes))
                after = await names()
        else:
            swap(file, by)
            async with asyncio.timeout(20):
                await self.changed.wait()
            after = await names()
        result = await self.client.call_tool(tool, arguments)
        return {"before": before, "after": after, "result": told(result)}


def swap(file: str, by: str) -> None:
    """Puts another file in one's place at once, as an installer does."""
    fresh = Path(file).with_suffix(".next")
    fresh.write_bytes(Path(by).read_bytes())
    fresh.replace(file)


async def main(mode: str, feature: str, arguments: str, *launch: str) -> None:
    session = Session(mode, list(launch))
    async with session.client:
        answer = await getattr(session, feature)(**json.loads(arguments))
    print(json.dumps(answer))


asyncio.run(main(*sys.argv[1:]))
