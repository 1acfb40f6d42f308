"""``python -m isinglass`` is the command line."""

from isinglass.cli import main

if __name__ == "__main__":
    main()
