"""The server: reachable only from this computer, at an address that cannot be guessed, and not by other pages.

The standard library's server is enough: a dozen requests for one person, no framework to install or to keep up with.
Every request must name this host and hold the token; one that changes something must come from our own page.
"""

from __future__ import annotations

import json
import secrets
import sys
import traceback
import urllib.parse
from collections.abc import Callable
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path

from isinglass.app.session import Session
from isinglass.json_text import json_text

HOST = "127.0.0.1"
WAIT_SECONDS = 20.0  # that a request for news is kept
MOST_JSON = 1 << 20
GONE = (ConnectionError, TimeoutError)  # the browser
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# A file that was made of a table: it may run its own script, but has no access to this server.
FILE_POLICY = "sandbox allow-scripts allow-downloads allow-popups; frame-ancestors 'self'"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
SCRIPTS = ("client.js", "page.js", "columns.js", "settings.js", "jobs.js", "results.js", "controls.js")  # in this order
PAGE = {"": "app/app.html"} | {name: f"app/{name}" for name in ("app.css", *SCRIPTS)}
PAGE |= {name: f"show/report/{name}" for name in ("elements.js", "page.css")}
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json"}
TYPES |= {".png": "image/png", ".svg": "image/svg+xml"}  # other files are saved, not shown


class Server(ThreadingHTTPServer):
    """Serves one session, whose files are kept in a folder, on a port of this computer."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.session = Session(folder)
        super().__init__((HOST, port), Handler)
        self.token = secrets.token_urlsafe(24)
        self.hosts = {f"{HOST}:{self.server_port}", f"localhost:{self.server_port}"}
        self.address = f"http://{HOST}:{self.server_port}/{self.token}/"  # of the page

    def server_close(self) -> None:
        """Also stop the jobs that are running."""
        super().server_close()
        self.session.close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a browser that closed its connection."""
        if not isinstance(sys.exc_info()[1], GONE):
            traceback.print_exc()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server
    server_version, sys_version = "isinglass", ""
    timeout = 60

    def do_GET(self) -> None:
        """Hand out the page, its state, and files of results."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """Change something."""
        self._answer(self._post)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: the address would show the token."""

    def _answer(self, respond: Callable[[str, str], None]) -> None:
        try:
            what, _, which = urllib.parse.unquote(self._admit().partition("?")[0]).partition("/")
            respond(what, which)
        except (PermissionError, ValueError, RecursionError) as error:
            refused = isinstance(error, PermissionError)
            self._send_json({"error": str(error)}, HTTPStatus.FORBIDDEN if refused else HTTPStatus.BAD_REQUEST)
        except GONE:
            raise
        except OSError as error:
            text = f"The app cannot write or read its temporary files: {error.strerror}."
            self._send_json({"error": text}, HTTPStatus.INTERNAL_SERVER_ERROR)

    def _admit(self) -> str:
        """Return the path below the token; refuse requests without it or from other pages."""
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        _, token, *rest = [*self.path.split("/", 2), ""]
        if host not in self.server.hosts:
            raise PermissionError("This host name is not accepted. Open the address that `isinglass app` printed.")
        if not compare_digest(token.encode(), self.server.token.encode()):
            raise PermissionError("Open the address that `isinglass app` printed.")
        own = origin == f"http://{host}" and self.headers.get("Sec-Fetch-Site", "same-origin") == "same-origin"
        if not own and (self.command != "GET" or origin is not None):
            raise PermissionError("Requests from other web pages are refused.")
        return rest[0]

    def _get(self, what: str, which: str) -> None:
        session = self.server.session
        if what in PAGE:
            self._send(files("isinglass").joinpath(PAGE[what]).read_bytes(), PAGE[what])
        elif what == "state":
            with session.changes:
                session.changes.wait_for(lambda: str(session.changes.version) != which, WAIT_SECONDS)
                state = session.state()
            self._send_json(state)
        elif what == "all.zip":
            self._send(session.pack(), "isinglass.zip")
        else:
            content = session.read_file(which) if what == "files" else None
            if content is None:
                self._send_json({"error": "Page not found."}, HTTPStatus.NOT_FOUND)
            else:
                self._send(content, which.rpartition("/")[2], policy=FILE_POLICY)

    def _post(self, what: str, which: str) -> None:
        session, size = self.server.session, self.headers.get("Content-Length", "")
        changes = {"run": session.run, "example": session.example, "again": session.open_again}
        if not size.isdecimal():
            raise ValueError("The request has no Content-Length.")
        if what == "upload":
            session.upload(which, self.rfile, int(size))
        elif int(size) > MOST_JSON or self.headers.get_content_type() != "application/json":
            raise ValueError("The request is too large, or its content is not JSON.")
        elif what in ("choose", "stop") and not which.isdecimal():
            raise ValueError("Unknown table or job.")
        elif what == "choose":
            session.choose(json.loads(self.rfile.read(int(size))), int(which))
        elif what == "stop":
            session.stop(int(which))
        elif what in changes:
            changes[what](which)
        else:
            raise ValueError("Unknown action.")
        self._send_json({"version": session.changes.version})

    def _send_json(self, record: object, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send(json_text(record, compact=True).encode(), "answer.json", status)

    def _send(self, content: bytes, name: str, status: HTTPStatus = HTTPStatus.OK, policy: str = POLICY) -> None:
        kind = TYPES.get(Path(name).suffix)
        headers = {"Content-Type": kind or "application/octet-stream", "Content-Length": str(len(content))}
        headers |= {**HEADERS, "Content-Security-Policy": policy}
        if kind is None:
            headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{urllib.parse.quote(name)}"
        self.send_response(status)
        for header, value in headers.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(content)
