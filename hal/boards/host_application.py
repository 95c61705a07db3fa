"""An application out of a slot, on CPython: imports its Python from a ROMFS, apart from the modules of this process.

A board of MicroPython mounts the slot and forgets its own modules. Here the tools of this process use modules of the same
names, so the application gets a table of modules of its own: each of its modules is run with an import function that
looks into the slot first. What the slot does not have (the contract of the board, the C core, the standard library) is this
process's.
"""

import builtins
from types import ModuleType
from typing import Any

_VERBATIM, _DIRECTORY, _FILE = 2, 4, 5  # records of a ROMFS
# An application brings these packages itself, but for what its board is made of.
_ITS_OWN = ("firmware", "hal")
_THE_BOARD_S = ("hal.board", "hal.boards", "hal.boards.host")


def read_romfs(data: bytes | memoryview) -> dict[str, bytes]:
    """Path -> content of a ROMFS with verbatim files, as images of this tree have them. ValueError: it is none."""
    data = bytes(data)
    if data[:3] != b"\xd2\xcd\x31":
        raise ValueError("no ROMFS")
    files: dict[str, bytes] = {}
    length, place = _number(data, 3)
    _read(data, place, min(place + length, len(data)), "", files)
    return files


def _read(data: bytes, place: int, end: int, folder: str, files: dict[str, bytes]) -> None:
    while place < end:
        kind, place = _number(data, place)
        length, place = _number(data, place)
        if place + length > end:
            raise ValueError("a record of the ROMFS ends outside it")
        if kind in (_DIRECTORY, _FILE):
            size, name = _number(data, place)
            path = folder + data[name : name + size].decode()
            if kind == _DIRECTORY:
                _read(data, name + size, place + length, path + "/", files)
            else:
                inside: dict[str, bytes] = {}
                _read(data, name + size, place + length, path, inside)
                files.update(inside)
        elif kind == _VERBATIM:
            files[folder] = data[place : place + length]
        place += length


def _number(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    while True:
        if place >= len(data):
            raise ValueError("the ROMFS is cut off")
        byte, place = data[place], place + 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place


class Application:
    """The program in a ROMFS. packs: the games in it, name -> pack."""

    def __init__(self, romfs: bytes | memoryview) -> None:
        files = read_romfs(romfs)
        self.packs = {
            path[len("games/") : -len(".pack")]: data
            for path, data in files.items()
            if path.startswith("games/") and path.endswith(".pack")
        }
        self._files = files
        self._modules: dict[str, ModuleType] = {}
        self._builtins = {**vars(builtins), "__import__": self._import}

    def load(self, name: str) -> ModuleType:
        """The module of that full name. ModuleNotFoundError, and whatever the module raises while it is run."""
        found = self._modules.get(name)
        if found is not None:
            return found
        parent, _, last = name.rpartition(".")
        if parent:
            self.load(parent)
            found = self._modules.get(name)  # the parent may have imported it
            if found is not None:
                return found
        path = name.replace(".", "/")
        package = f"{path}/__init__.py" in self._files
        file = f"{path}/__init__.py" if package else f"{path}.py"
        if file not in self._files:
            return self._outside(name, fromlist=["*"])
        module = ModuleType(name)
        module.__dict__["__builtins__"] = self._builtins
        module.__file__ = f"<slot>/{file}"
        if package:
            module.__path__ = [f"<slot>/{path}"]
        self._modules[name] = module
        try:
            exec(compile(self._files[file], module.__file__, "exec"), module.__dict__)
        except BaseException:
            del self._modules[name]
            raise
        if parent in self._modules:
            setattr(self._modules[parent], last, module)
        return module

    def _outside(self, name: str, *arguments: Any, **named: Any) -> ModuleType:
        if name.partition(".")[0] in _ITS_OWN and name not in _THE_BOARD_S:
            raise ModuleNotFoundError(f"there is no {name} in the application", name=name)
        return builtins.__import__(name, *arguments, **named)

    def _has(self, name: str) -> bool:
        path = name.replace(".", "/")
        return f"{path}.py" in self._files or f"{path}/__init__.py" in self._files

    def _import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> ModuleType:
        if level or not self._has(name):
            return self._outside(name, globals, locals, fromlist, level)
        module = self.load(name)
        for item in fromlist or ():
            if not hasattr(module, item) and self._has(f"{name}.{item}"):
                self.load(f"{name}.{item}")
        return module if fromlist else self.load(name.partition(".")[0])
