"""An MCP server that wants to know its user, with its own authorization server.

Both are fastmcp's; added are what a test needs to see and to steer:
`GET /counts` tells what has been asked for so far, `POST /expire` makes every access
token invalid, and `POST /forget` every refresh token, too. Approves of every login
at once, or with `--deny` of none.

Prints `listening on URL` when it listens.
"""

import argparse
import asyncio
import collections
import socket

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth import auth
from fastmcp.server.auth.providers import in_memory
from fastmcp.server.dependencies import get_access_token
from mcp.server.auth import routes
from mcp.server.auth.provider import AuthorizeError
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull
from starlette.responses import JSONResponse


def build_metadata(*args):
    """What the server really understands: of HTTP Basic authentication it wants the
    client's id a second time, in the form, which RFC 6749 does not ask for."""
    metadata = routes.build_metadata(*args)
    metadata.token_endpoint_auth_methods_supported = ["none", "client_secret_post"]
    return metadata


auth.build_metadata = build_metadata


class Provider(in_memory.InMemoryOAuthProvider):
    """Counts what it is asked for. Tokens live in memory."""

    def __init__(self, deny: bool, **options):
        super().__init__(**options)
        self.deny = deny
        self.counts = collections.Counter()

    async def register_client(self, client_info):
        self.counts["registrations"] += 1
        await super().register_client(client_info)

    async def authorize(self, client, params):
        self.counts["authorizations"] += 1
        if self.deny:
            raise AuthorizeError("access_denied", "the user has said no")
        # Whether a token is for this server is all up to the client's saying so.
        if not params.resource or not params.resource.endswith("/mcp"):
            raise AuthorizeError("invalid_target", f"no resource: {params.resource}")
        return await super().authorize(client, params)

    async def load_refresh_token(self, client, refresh_token):
        found = await super().load_refresh_token(client, refresh_token)
        self.counts["refreshes" if found else "refused refreshes"] += 1
        # Two that come at once meet here, if nobody keeps them from it.
        await asyncio.sleep(0.3)
        return found

    async def revoke_token(self, token):
        self.counts["revocations"] += 1
        await super().revoke_token(token)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lifetime", type=int, default=3600, help="of a token, in seconds")
    parser.add_argument("--deny", action="store_true")
    parser.add_argument("--no-registration", action="store_true")
    parser.add_argument("--client", help="the id of a client that is known already")
    parser.add_argument("--client-secret", help="its secret")
    options = parser.parse_args()

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    # From now on whoever comes is kept waiting, not sent away.
    listener.listen()
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"

    in_memory.DEFAULT_ACCESS_TOKEN_EXPIRY_SECONDS = options.lifetime
    provider = Provider(
        options.deny,
        base_url=base,
        required_scopes=["notes"],
        client_registration_options=ClientRegistrationOptions(
            enabled=not options.no_registration,
            valid_scopes=["notes", "admin"],
        ),
        revocation_options=RevocationOptions(enabled=True),
    )
    if options.client:
        provider.clients[options.client] = AnyPort(
            client_id=options.client,
            client_secret=options.client_secret,
            token_endpoint_auth_method="client_secret_post" if options.client_secret else "none",
            redirect_uris=["http://127.0.0.1/callback"],
            scope="notes admin",
        )
    server = FastMCP("notes", auth=provider)

    @server.tool
    def whoami() -> dict:
        """Who is asking."""
        token = get_access_token()
        return {"client": token.client_id, "scopes": token.scopes}

    @server.custom_route("/counts", methods=["GET"])
    async def counts(request):
        return JSONResponse(provider.counts)

    @server.custom_route("/expire", methods=["POST"])
    async def expire(request):
        provider.access_tokens.clear()
        return JSONResponse({})

    @server.custom_route("/forget", methods=["POST"])
    async def forget(request):
        provider.access_tokens.clear()
        provider.refresh_tokens.clear()
        return JSONResponse({})

    config = uvicorn.Config(server.http_app(), log_level="warning")
    print(f"listening on {base}/mcp", flush=True)
    asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))


class AnyPort(OAuthClientInformationFull):
    """A client that was registered by hand, for any port (RFC 8252, section 7.3)."""

    def validate_redirect_uri(self, redirect_uri):
        if redirect_uri and redirect_uri.host == "127.0.0.1" and redirect_uri.path == "/callback":
            return redirect_uri
        return super().validate_redirect_uri(redirect_uri)


if __name__ == "__main__":
    main()
