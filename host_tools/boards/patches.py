"""What the mps2 image has otherwise than MicroPython's source: three places in two files, each with its reason.

The source tree stays as it is; changed copies lie in the object folder, and `native/boards/mps2/mpconfigboard.mk` compiles them.
Measured effects: `native/boards/mps2/README.md`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from host_tools.boards.debian import BoardsError

_FREE_BLOCKS: Final = "            MICROPY_GC_HOOK_LOOP(block);\n            switch (ATB_GET_KIND(area, block)) {"

PATCHES: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    # Machine code of an application runs where it lies (native_in_place.h).
    "persistentcode.c": (
        (
            "        size_t fun_alloc;\n"
            "        MP_PLAT_ALLOC_EXEC(fun_data_len, (void **)&fun_data, &fun_alloc);\n"
            "        read_bytes(reader, fun_data, fun_data_len);\n",
            "        fun_data = cabinet_native_code(reader, kind, fun_data_len);\n",
        ),
        (
            "static mp_raw_code_t *load_raw_code(",
            '#include "native_in_place.h"\n\nstatic mp_raw_code_t *load_raw_code(',
        ),
    ),
    # A collection is the longest thing that a turn of the loop holds. Half of the words that it looks at are zero, which pass the
    # test of alignment and are compared with both ends of the heap; and it goes through free blocks one by one.
    "gc.c": (
        ("#define VERIFY_PTR(ptr) ( \\\n", "#define VERIFY_PTR(ptr) ((ptr) != NULL && \\\n"),
        (
            _FREE_BLOCKS,
            "            if (block % BLOCKS_PER_ATB == 0 && area->gc_alloc_table_start[block / BLOCKS_PER_ATB] == 0) {\n"
            "                block += BLOCKS_PER_ATB - 1;\n"
            "                continue;\n"
            "            }\n" + _FREE_BLOCKS,
        ),
    ),
}
"""File of `py/` -> (text that is there once, what stands there instead)."""


def write(tree: Path, folder: Path) -> None:
    """The changed copies of the MicroPython at `tree`. Errors: BoardsError when it is one whose text is another."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, changes in PATCHES.items():
        text = (tree / "py" / name).read_text()
        for there, instead in changes:
            if text.count(there) != 1:
                raise BoardsError(f"py/{name} of this MicroPython is not as host_tools/boards/patches.py knows it")
            text = text.replace(there, instead)
        (folder / name).write_text(text)
