"""The same as `asking_python.py`, of fastmcp."""

import json
import sys
from dataclasses import dataclass

import mcp_types as types
import uvicorn
from fastmcp import Context, FastMCP

server = FastMCP("asking")


@dataclass
class Name:
    name: str


@dataclass
class Sure:
    sure: bool


@server.tool
async def ask(ctx: Context) -> str:
    """Asks for a name."""
    outcome = await ctx.elicit("Who are you?", Name)
    return f"{outcome.action}: {getattr(outcome, 'data', None)}"


@server.tool
async def sample(ctx: Context) -> str:
    """Asks for a text."""
    text = types.TextContent(type="text", text="Say something.")
    message = types.SamplingMessage(role="user", content=text)
    answer = await ctx.session.create_message([message], max_tokens=20, related_request_id=ctx.request_id)
    return answer.content.text


@server.tool
async def roots(ctx: Context) -> str:
    """Asks for the roots."""
    return ", ".join(str(root.uri) for root in (await ctx.session.list_roots()).roots)


@server.tool
async def log(ctx: Context) -> str:
    """Logs at four levels."""
    await ctx.debug("of debug")
    await ctx.info("of info")
    await ctx.warning("of warning", logger_name="own")
    await ctx.error("of error", extra={"more": 1})
    return "logged"


@server.tool
async def drop(ctx: Context) -> str:
    """Destroys everything, after asking whoever can be asked."""
    params = ctx.session.client_params
    if params is not None and params.capabilities.elicitation is not None:
        outcome = await ctx.elicit("Drop all of it?", Sure)
        if outcome.action != "accept" or not outcome.data.sure:
            return "kept"
    return "dropped"


@server.tool
def told(ctx: Context) -> str:
    """Tells what the client has said that it can be asked, and the revision of MCP."""
    able = ctx.session.client_capabilities
    able = able.model_dump(mode="json", by_alias=True, exclude_none=True) if able else None
    return json.dumps([ctx.session.protocol_version, able], sort_keys=True)


if "--http" in sys.argv:
    listening = uvicorn.Config(server.http_app(path="/mcp"), port=0, log_level="warning")
    uvicorn.Server(listening).run()
else:
    server.run(transport="stdio", show_banner=False)
