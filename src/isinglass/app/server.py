"""The server: this computer only, one address that cannot be guessed, and nothing for other pages.

The standard library's server is enough: a dozen requests for one person, no framework to install or to keep up with.
Every request must name this host and hold the token; one that changes something must come from our own page.
"""

from __future__ import annotations

import json
import mimetypes
import secrets
import urllib.parse
from collections.abc import Callable
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path

from isinglass.app.session import RequestError, Session
from isinglass.json_text import json_text

HOST = "127.0.0.1"
WAIT_SECONDS = 20.0  # that a request for news is kept
MOST_JSON = 1 << 20
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# A file that was made of a table: it may run its own script, but is a stranger to this server.
FILE_POLICY = "sandbox allow-scripts allow-downloads allow-popups; frame-ancestors 'self'"
STATIC = {
    "": ("app/app.html", "text/html"),
    "app.js": ("app/app.js", "text/javascript"),
    "app.css": ("app/app.css", "text/css"),
    "page.css": ("show/report/page.css", "text/css"),
}
SHOWN = (".html", ".svg", ".png")  # endings of files that a browser shows; others are saved


class Server(ThreadingHTTPServer):
    """Serves one session on a port of this computer."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, session: Session, port: int = 0) -> None:
        super().__init__((HOST, port), Handler)
        self.session = session
        self.token = secrets.token_urlsafe(24)
        self.hosts = {f"{HOST}:{self.server_port}", f"localhost:{self.server_port}"}

    @property
    def address(self) -> str:
        """The address of the page, token included."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing about a browser that went away."""


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "isinglass", ""
    timeout = 60

    def do_GET(self) -> None:
        """Hand out the page, its state, and files of results."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Change something."""
        self._answer(self._post)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the terminal clean; the address would show the token."""

    def _answer(self, respond: Callable[[str, dict[str, list[str]]], None]) -> None:
        try:
            where, _, query = self._admit().partition("?")
            respond(urllib.parse.unquote(where), urllib.parse.parse_qs(query))
        except RequestError as error:
            self.close_connection = True  # a body may be left that was not read
            self._send_json({"error": str(error)}, error.status)
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            self.close_connection = True

    def _admit(self) -> str:
        """Return what is asked for below the token; refuse strangers."""
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        _, token, *rest = [*self.path.split("/", 2), ""]
        if host not in self.server.hosts:
            raise RequestError("This server answers to its own name only.", HTTPStatus.MISDIRECTED_REQUEST)
        if not compare_digest(token.encode(), self.server.token.encode()):
            raise RequestError("Open the address that `isinglass app` printed.", HTTPStatus.FORBIDDEN)
        own = origin == f"http://{host}" and self.headers.get("Sec-Fetch-Site", "same-origin") == "same-origin"
        if not own and (self.command != "GET" or origin is not None):
            raise RequestError("Requests of other pages are refused.", HTTPStatus.FORBIDDEN)
        return rest[0]

    def _get(self, where: str, query: dict[str, list[str]]) -> None:
        session = self.server.session
        if where in STATIC:
            name, kind = STATIC[where]
            self._send(files("isinglass").joinpath(name).read_bytes(), kind)
        elif where == "state":
            since = query.get("since", ["0"])[0]
            with session.changed:
                session.changed.wait_for(lambda: str(session.version) != since or session.busy, WAIT_SECONDS)
                state = session.state()
            self._send_json(state)
        elif where == "all.zip":
            self._send(session.pack(), "application/zip", save_as="isinglass.zip")
        else:
            with session.changed:
                path = session.files().get(where.removeprefix("files/")) if where.startswith("files/") else None
            if path is None or not path.is_file():
                raise RequestError("There is no such page.", HTTPStatus.NOT_FOUND)
            kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            shown = path.suffix in SHOWN and "save" not in query
            self._send(path.read_bytes(), kind, policy=FILE_POLICY, save_as=None if shown else path.name)

    def _post(self, where: str, query: dict[str, list[str]]) -> None:
        session = self.server.session
        size = self.headers.get("Content-Length", "")
        if not size.isdecimal():
            raise RequestError("The length of the content must be known.")
        if where == "upload":
            session.upload(urllib.parse.unquote(self.headers.get("X-File-Name", "")), self.rfile, int(size))
        else:
            changes = {"choose": session.choose, "run": session.run, "stop": session.stop, "example": session.example}
            if where not in changes or int(size) > MOST_JSON or self.headers.get_content_type() != "application/json":
                raise RequestError("There is no such thing to do.")
            try:
                record = json.loads(self.rfile.read(int(size)))
            except (ValueError, RecursionError):
                raise RequestError("The request is not JSON.") from None
            changes[where](record)
        self._send_json({})

    def _send_json(self, record: object, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send(json_text(record, compact=True).encode(), "application/json", status)

    def _send(
        self,
        content: bytes,
        kind: str,
        status: HTTPStatus = HTTPStatus.OK,
        *,
        policy: str = POLICY,
        save_as: str | None = None,
    ) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": f"{kind}; charset=utf-8" if kind.startswith("text/") else kind,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cache-Control": "no-store",
        }
        if save_as is not None:
            headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{urllib.parse.quote(save_as)}"
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def start(folder: Path, port: int = 0) -> Server:
    """Return a server with a new session, whose files are kept in a folder."""
    session = Session(folder)
    try:
        return Server(session, port)
    except BaseException:
        session.jobs.close()
        raise
