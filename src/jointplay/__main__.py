"""``python -m jointplay`` is the command ``jointplay``."""

import sys

from jointplay.cli import main

if __name__ == "__main__":
    sys.exit(main())
