"""Builds the C core as the extension module ``native.cpython._core`` (cffi, API mode).

The declarations are read from ``core/cab_core.h`` and ``core/cab_host.h`` themselves, so there is no second copy of them
that could drift; cffi and the C compiler check every field and constant against the headers again.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).resolve().parent
CORE = HERE.parent / "core"
SOURCES = tuple(sorted(path.name for path in CORE.glob("*.c")))
# Debug information would only make the wheel larger; the sanitizer tests build the core on their own.
COMPILE_ARGS = ("-std=c99", "-O3", "-g0", "-Wall", "-Wextra", "-Werror")


def declarations() -> str:
    """The headers as cffi reads them: no comments, no preprocessor lines except the plain constants."""
    header = "".join((CORE / name).read_text(encoding="utf-8") for name in ("cab_core.h", "cab_host.h"))
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    constants = re.compile(r"#define \w+ \w+\s*$")
    return "\n".join(line for line in header.splitlines() if not line.startswith("#") or constants.match(line))


def build() -> Path:
    """Compiles the extension and puts it beside this file. Returns its path; raises cffi's VerificationError."""
    ffi = FFI()
    ffi.cdef(declarations())
    ffi.set_source(
        "native.cpython._core",
        '#include "cab_host.h"',
        sources=[str(CORE / name) for name in SOURCES],
        include_dirs=[str(CORE)],
        extra_compile_args=list(COMPILE_ARGS),
    )
    with tempfile.TemporaryDirectory() as scratch:
        built = Path(ffi.compile(tmpdir=scratch, verbose="-v" in sys.argv))
        for old in HERE.glob("_core.*.so"):
            if old.name == built.name:
                old.unlink()  # a running process keeps the file it has mapped; never write into that one
        return Path(shutil.copy2(built, HERE / built.name))


if __name__ == "__main__":
    print(build())
