"""isinglass app: the way from a file to a network in a browser."""

from __future__ import annotations

import threading

import click

from isinglass.cli.command import command
from isinglass.cli.console import Console

TABLE = click.Argument(["table"], type=click.Path(exists=True, dir_okay=False), required=False)


@command("app", TABLE, general="")
def app(console: Console, table: str | None, port: int | None, browser: bool) -> None:
    """Open the app: analyze a table in the browser, without writing code.

    Drop a table on the page, check its columns, and fit; TABLE, if given, is opened at once. Every step shows the
    command and the Python code that do the same. The server is reachable only from this computer, at an address that
    cannot be guessed. Its files are in a temporary folder, which is removed when you stop the server with Ctrl-C.
    """
    import tempfile
    import webbrowser
    from pathlib import Path

    from isinglass.app.server import Server

    with tempfile.TemporaryDirectory(prefix="isinglass-app-", ignore_cleanup_errors=True) as folder:
        try:
            server = Server(Path(folder), port or 0)
        except OSError as error:
            raise click.UsageError(f"--port {port} cannot be used: {error.strerror}. Choose another port.") from None
        with server:
            console.write(f"{server.address}\n")
            console.say("Open this address if no browser opens. Ctrl-C stops the app and removes its files.")
            if table is not None:
                with Path(table).open("rb") as file:
                    try:
                        server.session.upload(table, file, Path(table).stat().st_size)
                    except ValueError as error:
                        raise click.UsageError(str(error)) from None
            if browser:
                threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
            server.serve_forever(poll_interval=0.2)
