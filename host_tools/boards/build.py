"""Runs MicroPython's makefiles for our boards, and not again while nothing that goes in has changed.

Each target has a key: a hash over the source's identity, the compiler's, the make arguments and the content of every file of
ours that goes in. The key of the last good build lies beside its output; equal keys mean that there is nothing to do.
With another key make runs in the old object folder, where it compiles what its own rules say is out of date; that
folder is thrown away when source, compiler or arguments are others, which make's rules do not see.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from host_tools.boards import debian, patches
from host_tools.boards.debian import BoardsError
from host_tools.flash import keys

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "boards"
TAIL_LINES = 25  # of a failed make, for the person in front of it

# What the +ds source package lacks (submodules), and what no board of ours uses.
_LEFT_OUT = ("BTREE=0", "SSL=0", "FFI=0", "SOCKET=0", "THREAD=0")
_UNIX_SWITCHES = (*(f"MICROPY_PY_{name}" for name in _LEFT_OUT), "MICROPY_SSL_MBEDTLS=0", "MICROPY_SSL_AXTLS=0")

TARGETS = ("mpy-cross", "unix", "mps2")
_OUTPUT = {"mpy-cross": "mpy-cross", "unix": "unix/micropython", "mps2": "mps2/firmware.elf"}
_TOOLS = {
    "mpy-cross": debian.HOST_TOOLS,
    "unix": debian.HOST_TOOLS,
    "mps2": {**debian.HOST_TOOLS, **debian.ARM_TOOLS, **debian.EMULATOR_TOOLS},
}
_COMPILER = {"mpy-cross": "cc", "unix": "cc", "mps2": "arm-none-eabi-gcc"}
# Object folders of our own files. make goes by time stamps, which a copied tree may have wrong; they take seconds.
_OURS = ("core", "micropython", "boards", "frozen_mpy", "patched")


@dataclass(frozen=True)
class Source:
    """A MicroPython tree. `identity` changes when its content does."""

    tree: Path
    identity: str


@dataclass(frozen=True)
class Recipe:
    """How make is called, and what of ours goes in."""

    folder: str
    arguments: tuple[str, ...]
    product: str  # inside the object folder
    inputs: tuple[Path, ...]


def say(text: str) -> None:
    print(f"boards: {text}", file=sys.stderr, flush=True)


def shown(path: Path) -> Path:
    """A path as a person wants to read it: from the tree's root where it lies inside."""
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


@cache
def ensure(target: str) -> Path:
    """The target's up-to-date output. Builds it, and what it needs, where something has changed.

    Looks once in a process: files that change later are not seen. BoardsError: a tool, the source or a build is missing
    or failed.
    """
    BUILD.mkdir(parents=True, exist_ok=True)
    with _only_one():
        return _ensure(target)


def _ensure(target: str) -> Path:
    debian.install(_TOOLS[target], say)
    source = _source()
    mpy_cross = None if target == "mpy-cross" else _ensure("mpy-cross")
    _write_trust()
    recipe = _recipe(target, mpy_cross)
    flags = [_file_digest(path) for path in recipe.inputs if path.suffix == ".mk"]  # make does not see them change
    settings = _digest([source.identity, _version(_COMPILER[target]), *recipe.arguments, *flags])
    key = _digest([settings, *(f"{shown(path)} {_file_digest(path)}" for path in recipe.inputs)])
    output = BUILD / _OUTPUT[target]
    key_file, settings_file = BUILD / "keys" / target, BUILD / "keys" / f"{target}.settings"
    if output.exists() and _text(key_file) == key:
        return output
    objects = BUILD / "objects" / target
    if _text(settings_file) != settings:
        shutil.rmtree(objects, ignore_errors=True)
    for ours in _OURS:
        shutil.rmtree(objects / ours, ignore_errors=True)
    key_file.parent.mkdir(exist_ok=True)
    key_file.unlink(missing_ok=True)  # a build that is stopped must not look like the last good one
    settings_file.write_text(settings)
    if target == "mps2":
        patches.write(source.tree, objects / "patched")
    _make(target, source.tree / recipe.folder, objects, recipe.arguments)
    output.parent.mkdir(exist_ok=True)
    fresh = output.with_name(output.name + ".new")
    shutil.copy2(objects / recipe.product, fresh)
    os.replace(fresh, output)  # a process that runs the old one keeps it
    key_file.write_text(key)
    return output


def _source() -> Source:
    own = os.environ.get("MICROPYTHON_DIR")
    if not own:
        return Source(debian.fetch_source(debian.MICROPYTHON, BUILD, say), debian.MICROPYTHON.version)
    tree = Path(own).resolve()
    if not (tree / "py" / "mpconfig.h").is_file():
        raise BoardsError(f"MICROPYTHON_DIR={own} is not a MicroPython source tree")
    return Source(tree, _tree_identity(tree))


def _bearssl() -> Path:
    own = os.environ.get("BEARSSL_DIR")
    if not own:
        return debian.fetch_source(debian.BEARSSL, BUILD, say)
    if not (Path(own) / "inc" / "bearssl_ec.h").is_file():
        raise BoardsError(f"BEARSSL_DIR={own} is not a BearSSL source tree")
    return Path(own).resolve()


def _tree_identity(tree: Path) -> str:
    """Of a tree that someone works in: names, sizes and times, which is what make goes by too."""
    parts = [str(tree)]
    for name in ("py", "extmod", "shared", "lib", "mpy-cross", "tools", "ports/unix", "ports/qemu"):
        for folder, folders, files in os.walk(tree / name):
            folders[:] = sorted(sub for sub in folders if not sub.startswith("build"))
            for file in sorted(files):
                status = os.lstat(os.path.join(folder, file))
                parts.append(f"{folder}/{file} {status.st_size} {status.st_mtime_ns}")
    return _digest(parts)


def _write_trust() -> None:
    """The key of CABINET_KEY, a PEM file, as the module that the resident image trusts; without it, the development key."""
    own, module = os.environ.get("CABINET_KEY"), BUILD / "trust" / f"{keys.MODULE}.py"
    if not own:
        module.unlink(missing_ok=True)
        return
    try:
        source = keys.trust_module(Path(own))
    except keys.KeyFailed as error:
        raise BoardsError(f"CABINET_KEY: {error}") from None
    module.parent.mkdir(exist_ok=True)
    module.write_bytes(source)


def _recipe(target: str, mpy_cross: Path | None) -> Recipe:
    if target == "mpy-cross":
        return Recipe("mpy-cross", (), "mpy-cross", ())
    shared = (f"MICROPY_MPYCROSS={mpy_cross}", f"USER_C_MODULES={ROOT / 'native'}", f"BEARSSL_DIR={_bearssl()}")
    manifest = ROOT / "native" / "boards" / f"{target}_manifest.py"
    inputs = [manifest, manifest.with_name("resident.py"), *_files(ROOT / "native" / "micropython")]
    inputs += [*_files(ROOT / "native" / "core"), ROOT / "native" / "__init__.py"]
    inputs += [*_files(ROOT / "firmware", ".py"), *_files(ROOT / "hal", ".py"), *_files(BUILD / "trust", ".py")]
    if target == "unix":
        # The module's objects lie in a folder named micropython, where the port would put its program.
        arguments = (*shared, *_UNIX_SWITCHES, f"FROZEN_MANIFEST={manifest}", "VARIANT=standard", "PROG=cabinet")
        return Recipe("ports/unix", arguments, "cabinet", tuple(inputs))
    board = ROOT / "native" / "boards" / "mps2"
    arguments = (*shared, f"FROZEN_MANIFEST={manifest}")
    if (board / "mpconfigboard.mk").exists():
        arguments += ("BOARD=mps2", f"BOARD_DIR={board}")
    return Recipe("ports/qemu", arguments, "firmware.elf", (*inputs, *_files(board), Path(patches.__file__)))


def _make(target: str, folder: Path, objects: Path, arguments: tuple[str, ...]) -> None:
    log = BUILD / "logs" / f"{target}.txt"
    log.parent.mkdir(exist_ok=True)
    began = time.monotonic()
    say(f"{target}: compiling ({'from the beginning' if not objects.exists() else 'what has changed'})")
    command = ["make", f"-j{os.cpu_count() or 1}", "-C", str(folder), f"BUILD={objects}", *arguments]
    command.append(
        f"PYTHON={sys.executable}"
    )  # no argument that makes another image: its name may differ from run to run
    outer = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CFLAGS", "LDFLAGS", "CFLAGS_EXTRA", "BOARD", "BUILD", "VARIANT")
    environment = {name: value for name, value in os.environ.items() if name not in outer}
    # The same input gives the same image: no dates, and no tags of the repository that the build folder lies in.
    environment |= {"SOURCE_DATE_EPOCH": "0", "GIT_DIR": os.devnull}
    trust = BUILD / "trust"
    environment["CABINET_TRUST"] = str(trust) if _files(trust, ".py") else ""
    lines = _run_make(command, environment, log, target)
    if lines is not None:
        raise BoardsError(
            "\n  ".join([f"{target}: make failed; all of what it said is in {shown(log)}", *lines[-TAIL_LINES:]])
        )
    say(f"{target}: built in {time.monotonic() - began:.0f} s")


def _run_make(command: list[str], environment: dict[str, str], log: Path, target: str) -> list[str] | None:
    """None when it went well, else what it said."""
    lines: list[str] = []
    compiled = 0
    progress = sys.stderr.isatty()
    with (
        open(log, "w") as file,
        subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as make,
    ):
        assert make.stdout is not None
        for line in make.stdout:
            file.write(line)
            lines.append(line.rstrip())
            if line.startswith("CC "):
                compiled += 1
                if progress:
                    print(f"\rboards: {target}: {compiled} files compiled", end="", file=sys.stderr, flush=True)
    if progress and compiled:
        print(file=sys.stderr)
    return lines if make.returncode else None


@contextmanager
def _only_one() -> Iterator[None]:
    """Two builds in one folder would spoil each other: parallel tests ask for the boards at the same moment."""
    with open(BUILD / "lock", "w") as file:
        patient_s = time.monotonic() + 2  # the other one mostly just looks, as we do
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > patient_s:
                    say("waiting for another build")
                    fcntl.flock(file, fcntl.LOCK_EX)
                    break
                time.sleep(0.05)
        yield


def _files(folder: Path, suffix: str = "") -> list[Path]:
    return sorted(
        path
        for path in folder.rglob(f"*{suffix}")
        if path.is_file() and "__pycache__" not in path.parts and (suffix or path.suffix != ".md")
    )


def _digest(parts: list[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _version(compiler: str) -> str:
    return subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
