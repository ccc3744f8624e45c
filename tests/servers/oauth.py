"""An MCP server that wants to know its user, with its own authorization server.

Both are fastmcp's; added are what a test needs to see and to steer:
`GET /counts` tells what has been asked for so far, `POST /expire` makes every access
token invalid, and `POST /forget` every refresh token, too. Approves of every login
at once, or with `--deny` of none. With `--provider` it is a provider of logins that no MCP
server announces: it refuses whoever names a resource, as some do, and `GET /introspect`
tells whether a token is good (RFC 7662, in short). The tool `admin` wants a scope of its own, as MCP
has it: with a refusal (403, `insufficient_scope`) that names it.

Prints `listening on URL` when it listens.
"""

import argparse
import asyncio
import collections
import json
import socket
import urllib.parse

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth import auth
from fastmcp.server.auth.providers import in_memory
from fastmcp.server.dependencies import get_access_token
from mcp.server.auth import routes
from mcp.server.auth.provider import AuthorizeError, RefreshToken
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


class Around:
    """What stands around the whole server: it sees requests and answers as they are."""

    def __init__(self, app, provider, options):
        self.app, self.provider, self.options = app, provider, options

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        path = scope["path"]
        if self.options.no_metadata:
            if path == "/hidden":
                scope = dict(scope, path="/.well-known/oauth-authorization-server")
            elif path.startswith("/.well-known/"):
                return await JSONResponse({}, 404)(scope, receive, send)
        if scope["method"] != "POST":
            if path.endswith("/oauth-authorization-server") or path == "/hidden":
                send = self.described(send)
            return await self.app(scope, receive, send)
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break

        async def replay():
            nonlocal message
            if message is None:
                return await receive()
            message = None
            return {"type": "http.request", "body": body, "more_body": False}

        if path == "/token":
            form = urllib.parse.parse_qs(body.decode())
            resource = form.get("resource", [""])[0]
            self.provider.counts["tokens for a resource"] += bool(resource)
            self.provider.counts["tokens for us"] += resource.endswith("/mcp")
        elif path == "/mcp" and (lacking := await self.lacks(scope, body)):
            return await lacking(scope, replay, send)
        await self.app(scope, replay, send)

    async def lacks(self, scope, body):
        """The refusal of a call of `admin` with a token that is good for less."""
        try:
            call = json.loads(body)
            if call["method"] != "tools/call" or call["params"]["name"] != "admin":
                return None
        except (ValueError, KeyError, TypeError):
            return None
        header = dict(scope["headers"]).get(b"authorization", b"").decode()
        token = await self.provider.verify_token(header.removeprefix("Bearer "))
        if not token or "admin" in token.scopes:
            return None
        challenge = 'Bearer error="insufficient_scope", scope="admin"'
        headers = {"WWW-Authenticate": challenge}
        # A server that repeats what it was given, as careless ones do.
        return JSONResponse({"got": header}, 403, headers)

    def described(self, send):
        """Sends the authorization server's metadata with changes."""
        start = None

        async def changed(message):
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if start["status"] == 200:
                metadata = json.loads(message["body"])
                if self.options.document:
                    metadata["client_id_metadata_document_supported"] = True
                if self.options.page:
                    metadata["authorization_endpoint"] = self.options.page
                message = dict(message, body=json.dumps(metadata).encode())
                length = str(len(message["body"])).encode()
                headers = [(k, v) for k, v in start["headers"] if k != b"content-length"]
                start = dict(start, headers=[*headers, (b"content-length", length)])
            await send(start)
            await send(message)

        return changed


class Provider(in_memory.InMemoryOAuthProvider):
    """Counts what it is asked for. Tokens live in memory."""

    def __init__(self, deny: bool, is_provider: bool, **options):
        super().__init__(**options)
        self.deny = deny
        self.is_provider = is_provider
        self.counts = collections.Counter()

    async def register_client(self, client_info):
        self.counts["registrations"] += 1
        await super().register_client(client_info)

    async def authorize(self, client, params):
        self.counts["authorizations"] += 1
        if self.deny:
            raise AuthorizeError("access_denied", "the user has said no")
        if self.is_provider:
            if params.resource:
                raise AuthorizeError("invalid_request", f"a resource: {params.resource}")
            return await super().authorize(client, params)
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
    parser.add_argument("--refresh-token", help="one that it was given before")
    parser.add_argument("--redirect", help="its only redirect URI")
    parser.add_argument("--document", help="the URL of a client's metadata document")
    parser.add_argument("--page", help="what the metadata has as the page to log in at")
    parser.add_argument("--no-metadata", action="store_true", help="but at `/hidden`")
    parser.add_argument("--provider", action="store_true")
    options = parser.parse_args()

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    # From now on whoever comes is kept waiting, not sent away.
    listener.listen()
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"

    in_memory.DEFAULT_ACCESS_TOKEN_EXPIRY_SECONDS = options.lifetime
    provider = Provider(
        options.deny,
        options.provider,
        base_url=base,
        required_scopes=["notes"],
        client_registration_options=ClientRegistrationOptions(
            enabled=not options.no_registration,
            valid_scopes=["notes", "admin"],
        ),
        revocation_options=RevocationOptions(enabled=True),
    )
    # Who announces to read documents has read this one: its URL is its client's id.
    for client in filter(None, [options.client, options.document]):
        kind = OAuthClientInformationFull if options.redirect else AnyPort
        provider.clients[client] = kind(
            client_id=client,
            client_secret=options.client_secret,
            token_endpoint_auth_method="client_secret_post" if options.client_secret else "none",
            redirect_uris=[options.redirect or "http://127.0.0.1/callback"],
            scope="notes admin",
        )
    if options.refresh_token:
        provider.refresh_tokens[options.refresh_token] = RefreshToken(
            token=options.refresh_token, client_id=options.client, scopes=["notes"]
        )
    server = FastMCP("notes", auth=provider)

    @server.tool
    def whoami() -> dict:
        """Who is asking."""
        token = get_access_token()
        return {"client": token.client_id, "scopes": token.scopes}

    @server.tool
    def admin() -> dict:
        """What not everybody may do."""
        return {"scopes": get_access_token().scopes}

    @server.custom_route("/counts", methods=["GET"])
    async def counts(request):
        return JSONResponse(provider.counts)

    @server.custom_route("/introspect", methods=["GET"])
    async def introspect(request):
        header = request.headers.get("authorization", "")
        token = await provider.verify_token(header.removeprefix("Bearer "))
        return JSONResponse({"active": token is not None})

    @server.custom_route("/expire", methods=["POST"])
    async def expire(request):
        provider.access_tokens.clear()
        return JSONResponse({})

    @server.custom_route("/forget", methods=["POST"])
    async def forget(request):
        provider.access_tokens.clear()
        provider.refresh_tokens.clear()
        return JSONResponse({})

    app = Around(server.http_app(), provider, options)
    config = uvicorn.Config(app, log_level="warning")
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
