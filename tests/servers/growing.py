"""A server of the Python SDK, in its first or its second version, whose tools change
while it is connected. In its second, pages that change can be subscribed to."""

try:
    from mcp.server.mcpserver import Context, MCPServer
except ImportError:
    from mcp.server.fastmcp import Context, FastMCP as MCPServer

server = MCPServer("growing")


def tool(name, description):
    def told() -> str:
        return f"{name}: {description}"

    server.add_tool(told, name=name, description=description)


async def changed(ctx):
    if hasattr(ctx, "notify_tools_changed"):
        await ctx.notify_tools_changed()
    else:
        await ctx.session.send_tool_list_changed()
    return "changed"


@server.tool()
async def add(ctx: Context, name: str) -> str:
    """Adds a tool."""
    tool(name, "Is new.")
    return await changed(ctx)


@server.tool()
async def describe(ctx: Context, name: str, description: str) -> str:
    """Gives a tool another description."""
    server.remove_tool(name)
    tool(name, description)
    return await changed(ctx)


@server.tool()
async def remove(ctx: Context, name: str) -> str:
    """Takes a tool away."""
    server.remove_tool(name)
    return await changed(ctx)


@server.tool()
async def write(ctx: Context, page: str) -> str:
    """Writes a page, which whoever subscribes to it hears of."""
    await ctx.notify_resource_updated(f"growing://{page}")
    return "written"


def page() -> str:
    return "a page"


for name in ("first", "second"):
    server.resource(f"growing://{name}")(page)
tool("letter", "Sends a letter.")
server.run(transport="stdio")
