"""A forked child that finds something out, tells its parent and ends: the state of a whole rig costs nothing to try."""

import json
import os
from typing import Any, NoReturn


def split(where: str) -> tuple[int, Any]:
    """In the child: (what `tell` wants, None). In the parent, when the child has told: (-1, what it told).

    RuntimeError: the child died without a word; `where` says at what.
    """
    read_fd, write_fd = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(read_fd)
        return write_fd, None
    os.close(write_fd)
    with os.fdopen(read_fd, "rb") as pipe:
        told = pipe.read()
    os.waitpid(pid, 0)
    if not told:
        raise RuntimeError(f"a child died at {where}")
    return -1, json.loads(told)


def tell(parent: int, found: Any) -> NoReturn:
    """In the child: `found` (what JSON can hold) to its parent, and its end."""
    with os.fdopen(parent, "wb") as pipe:
        pipe.write(json.dumps(found).encode())
    os._exit(0)
