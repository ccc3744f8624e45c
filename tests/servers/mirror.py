"""An MCP server over stdio, of the official SDK, that tells what it is told: what a
request has in its `_meta`, and which logs are wanted.

Answers in whichever era it is spoken to, or with `--legacy` in that of handshakes only.
"""

import asyncio
import json
import os
import sys

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server

LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
SET = []
ASKED, GO_ON = [], asyncio.Event()


def meta(ctx):
    return json.dumps((ctx.params or {}).get("_meta", {}), sort_keys=True)


def wanted(ctx):
    """The level that was asked for, in the way of the connection's era."""
    asked = (ctx.params or {}).get("_meta", {}).get("io.modelcontextprotocol/logLevel")
    return asked or (SET[-1] if SET else None)


async def list_tools(ctx, params):
    names = ["meta", "level", "log", "ask", "go-on", "roots", "pid"]
    return types.ListToolsResult(
        tools=[types.Tool(name=name, input_schema={"type": "object"}) for name in names]
    )


async def call_tool(ctx, params):
    if params.name == "log":
        # In the newer era the SDK holds back what the request has not asked for; in
        # the older one that is the server's own business.
        legacy = "io.modelcontextprotocol/protocolVersion" not in (ctx.params.get("_meta") or {})
        least = LEVELS.index(SET[-1]) if legacy and SET else 0
        for level in LEVELS[least:]:
            await ctx.session.send_log_message(level, f"a log of {level}", "mirror")
    elif params.name == "ask":
        # Asked in the course of this call, and not for its sake: it does not wait.
        ASKED.append(asyncio.create_task(ctx.session.list_roots()))
        await GO_ON.wait()
    elif params.name == "go-on":
        GO_ON.set()
    told = {
        "meta": meta,
        "level": lambda ctx: json.dumps(wanted(ctx)),
        "pid": lambda _: str(os.getpid()),
    }
    if params.name == "roots":
        told["roots"] = lambda _, roots=await ASKED[0]: str(roots.roots[0].uri)
    text = told.get(params.name, lambda _: "done")(ctx)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def list_prompts(ctx, params):
    argument = types.PromptArgument(name="what", required=False)
    return types.ListPromptsResult(prompts=[types.Prompt(name="meta", arguments=[argument])])


async def get_prompt(ctx, params):
    text = types.TextContent(type="text", text=meta(ctx))
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])


async def list_resources(ctx, params):
    names = ["meta", "other"]
    return types.ListResourcesResult(
        resources=[types.Resource(uri=f"mirror://{name}", name=name) for name in names]
    )


async def read_resource(ctx, params):
    text = types.TextResourceContents(uri=params.uri, text=meta(ctx))
    return types.ReadResourceResult(contents=[text])


async def subscribe(ctx, params):
    # Whatever level is set: not all servers care.
    for level in ("debug", "error"):
        await ctx.session.send_log_message(level, f"{level} of {params.uri}", "mirror")
    return types.EmptyResult()


async def complete(ctx, params):
    return types.CompleteResult(completion=types.Completion(values=[meta(ctx)]))


async def set_level(ctx, params):
    SET.append(params.level)
    return types.EmptyResult()


SERVER = Server(
    "mirror",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_prompts=list_prompts,
    on_get_prompt=get_prompt,
    on_list_resources=list_resources,
    on_read_resource=read_resource,
    on_subscribe_resource=subscribe,
    on_completion=complete,
    on_set_logging_level=set_level,
)


async def main():
    options = SERVER.create_initialization_options()
    async with stdio_server() as (read, write):
        if "--legacy" in sys.argv:
            await serve_loop(SERVER, read, write, lifespan_state={}, init_options=options)
        else:
            await SERVER.run(read, write, options)


asyncio.run(main())
