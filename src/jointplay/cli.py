"""The command ``jointplay``.

Exit codes: 0 done, 1 the computation failed, 2 bad input. Bad input gives a message, never a traceback.
Nothing heavy is imported here at module level; each command imports what it uses.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from jointplay._version import __version__

DONE, FAILED, BAD_INPUT = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the given arguments (the process's own by default); return its exit code."""
    arguments = _parser().parse_args(argv)  # exits with BAD_INPUT itself
    try:
        arguments.run(arguments)
    except ValueError as error:
        print(f"jointplay: {error}", file=sys.stderr)
        return BAD_INPUT
    except OSError as error:
        print(f"jointplay: {error}", file=sys.stderr)
        return FAILED
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="jointplay", description="Planar mechanisms whose joints have play.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"jointplay {__version__}")
    commands = parser.add_subparsers(metavar="command", required=True)

    cache = commands.add_parser("cache", help="show or clear the cache of compiled code", allow_abbrev=False)
    cache.add_argument("--clear", action="store_true", help="delete the cached files")
    cache.set_defaults(run=_cache)
    return parser


def _cache(arguments: argparse.Namespace) -> None:
    from jointplay import cache

    if arguments.clear:
        count, size = cache.clear()
        print(f"deleted {count} files, {size} bytes")
        return
    files = cache.entries()
    print(f"directory  {cache.directory()}")
    print(f"files      {len(files)}")
    print(f"bytes      {sum(_size(file) for file in files)}")
    print(f"limit      {cache.limit()}")


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:  # another process removed it meanwhile
        return 0
