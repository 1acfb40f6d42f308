"""isinglass completion: the script that teaches a shell to complete our commands."""

from __future__ import annotations

import click

from isinglass.cli.console import Console
from isinglass.cli.options import command

__all__ = ["completion"]


@command(
    "completion", click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL"), as_json=False
)
def completion(console: Console, shell: str) -> None:
    r"""Print the completion script of a SHELL.

    \b
      bash   isinglass completion bash >> ~/.bashrc
      zsh    isinglass completion zsh >> ~/.zshrc
      fish   isinglass completion fish > ~/.config/fish/completions/isinglass.fish
    """
    from click.shell_completion import get_completion_class

    from isinglass.cli import main

    writer = get_completion_class(shell)
    assert writer is not None  # the choices above are click's
    console.write(writer(main, {}, "isinglass", "_ISINGLASS_COMPLETE").source() + "\n")
