"""A server of the official Python SDK that asks its client and logs, in each way that the SDK
has, over stdio or, with `--http`, at a port of its own choice.

`drop` looks for what the client has said that it can be asked before it asks for a
confirmation, as servers do that destroy something. `ask-in-answer` asks in the way of the era
without sessions, in which questions are answers.
"""

import json
import sys

import mcp_types as types
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

server = MCPServer("asking")


class Name(BaseModel):
    name: str


class Sure(BaseModel):
    sure: bool


def said(outcome) -> str:
    data = getattr(outcome, "data", None)
    return f"{outcome.action}: {data.model_dump_json() if data else None}"


@server.tool()
async def ask(ctx: Context) -> str:
    """Asks for a name."""
    return said(await ctx.elicit("Who are you?", Name))


@server.tool()
async def sample(ctx: Context) -> str:
    """Asks for a text."""
    text = types.TextContent(type="text", text="Say something.")
    message = types.SamplingMessage(role="user", content=text)
    answer = await ctx.session.create_message([message], max_tokens=20, related_request_id=ctx.request_id)
    return answer.content.text


@server.tool()
async def roots(ctx: Context) -> str:
    """Asks for the roots."""
    return ", ".join(str(root.uri) for root in (await ctx.session.list_roots()).roots)


@server.tool()
async def log(ctx: Context) -> str:
    """Logs at four levels."""
    await ctx.debug("of debug")
    await ctx.info("of info")
    await ctx.warning("of warning", logger_name="own")
    await ctx.error({"of": "error"})
    return "logged"


@server.tool()
async def drop(ctx: Context) -> str:
    """Destroys everything, after asking whoever can be asked."""
    params = ctx.session.client_params
    if params is not None and params.capabilities.elicitation is not None:
        outcome = await ctx.elicit("Drop all of it?", Sure)
        if outcome.action != "accept" or not outcome.data.sure:
            return "kept"
    return "dropped"


@server.tool(name="ask-in-answer")
async def ask_in_answer(ctx: Context) -> str | types.InputRequiredResult:
    """Asks for a name by its answer."""
    given = (ctx.input_responses or {}).get("name")
    if given is not None:
        return f"{given.action}: {json.dumps(given.content)}"
    form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    params = types.ElicitRequestFormParams(message="And you?", requested_schema=form)
    question = types.ElicitRequest(params=params)
    return types.InputRequiredResult(input_requests={"name": question}, request_state="asked")


@server.tool()
def told(ctx: Context) -> str:
    """Tells what the client has said that it can be asked, and the revision of MCP."""
    able = ctx.client_capabilities
    able = able.model_dump(mode="json", by_alias=True, exclude_none=True) if able else None
    return json.dumps([ctx.protocol_version, able], sort_keys=True)


if "--http" in sys.argv:
    listening = uvicorn.Config(server.streamable_http_app(), port=0, log_level="warning")
    uvicorn.Server(listening).run()
else:
    server.run("stdio")
