"""A cabinet in real time, its console open to other programs."""

import subprocess
import sys
import threading

from firmware.update.slots import Slots
from host_tools.cabinet import games
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse
from host_tools.hil.serving import open_end, serve


class Served:
    """A cabinet whose console is at `port`; `do` has a person do something at it."""

    def __init__(self, port: str, board: str = "host") -> None:
        self.board = board
        self.rig = Rig(games.packs(), board=board)
        self.memory = self.rig.session.slots  # pyright: ignore[reportAttributeAccessIssue]
        self.rig.run(parse("power on"))
        self._end = open_end(port)
        self.port = self._end.name
        self._orders: list[str] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        serve(self.rig, self._end, lambda: self._orders.pop(0) if self._orders else "", self._over.is_set)

    def do(self, script: str) -> None:
        self._orders.append(script)

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self._end.close()
        self.rig.close()

    def slots(self) -> Slots:
        return Slots(self.memory, self.board)

    def smpmgr(self, *arguments: str) -> str:
        """What somebody else's tool says, in a process of its own."""
        command = [sys.executable, "-m", "smpmgr", "--timeout", "10", "--port", self.port, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
