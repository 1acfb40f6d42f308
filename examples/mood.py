"""Write a small simulated survey, mood.csv, and the domains of its questions, domains.csv, for docs/cli.md.

Usage: python examples/mood.py [directory]
"""

import sys
from pathlib import Path

from isinglass.datasets.mood import write_mood

if __name__ == "__main__":
    write_mood(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent))
