"""An agent's session with `dormouse serve`, as the official Python SDK has it.

Usage: demo.py DORMOUSE [ARGUMENT...] serve
"""

import asyncio
import json
import os
import subprocess
import sys
import time

from mcp import Client
from mcp.client.stdio import StdioServerParameters


def awake(launch: list[str]) -> list[str]:
    """The servers that are awake, as `dormouse status` tells them."""
    status = subprocess.run([*launch[:-1], "status", "--json"], capture_output=True, check=True)
    (host,) = json.loads(status.stdout)
    return [server["name"] for server in host["servers"] if server["state"] in ("starting", "ready")]


async def main(launch: list[str]) -> None:
    def step(what: str) -> None:
        nonlocal start
        print(f"{(time.perf_counter() - start) * 1000:8.1f} ms  {what}")
        start = time.perf_counter()

    # The SDK passes no environment on by itself.
    server = StdioServerParameters(command=launch[0], args=launch[1:], env=dict(os.environ))
    print(f"\nThe session ({' '.join(launch)}):\n")
    start = time.perf_counter()
    async with Client(server) as client:
        step(f"connected to {client.server_info.name} {client.server_info.version}, MCP {client.protocol_version}")
        tools = [tool.name for tool in (await client.list_tools()).tools]
        prefixes = sorted({name.split("__")[0] for name in tools})
        step(f"{len(tools)} tools of {len(prefixes)} servers: {', '.join(prefixes)}")
        print(f"             awake: {awake(launch) or 'none'}")
        start = time.perf_counter()
        for which in ("first", "second"):
            result = await client.call_tool("time__get_current_time", {"timezone": "Europe/Zurich"})
            step(f"{which} call of time__get_current_time: {' '.join(result.content[0].text.split())}")
        print(f"             awake: {', '.join(awake(launch))}")


asyncio.run(main(sys.argv[1:]))
