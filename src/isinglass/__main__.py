"""The command line: ``isinglass``, or ``python -m isinglass``."""

import sys


def run() -> None:
    """Run the command line; an interrupt while it is being loaded ends it as one does later."""
    try:
        from isinglass.cli import main

        main()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)


if __name__ == "__main__":
    run()
