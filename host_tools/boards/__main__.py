"""Command line of the boards' builds. Exit: 0 done, 1 something is missing or failed, 2 wrong arguments."""

import argparse
import sys

from host_tools.boards.build import TARGETS, BoardsError, ensure, shown


def main() -> int:
    parser = argparse.ArgumentParser(prog="boards", description="Builds the MicroPython boards into build/boards.")
    parser.add_argument("target", nargs="*", help=f"of {', '.join(TARGETS)}; default: all")
    wanted = parser.parse_args().target or TARGETS
    for target in wanted:
        if target not in TARGETS:
            parser.error(f"there is no target {target}; there is {', '.join(TARGETS)}")
    try:
        for target in wanted:
            path = ensure(target)
            print(f"boards: {target}: {shown(path)}, {path.stat().st_size // 1024} KiB", flush=True)
    except BoardsError as error:
        print(f"boards: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("boards: stopped; what was built is kept", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
