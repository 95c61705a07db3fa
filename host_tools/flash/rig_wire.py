"""A rig's console line as the flasher's wire: in the rig's virtual time, whatever board the firmware runs on."""

from host_tools.hil.device import NEVER, Device
from host_tools.hil.rig import Rig

STEP_MS = 1  # an answer is heard so soon


class _Ear(Device):
    """The line's far end, beside whoever else listens there."""

    name = "flasher"
    wake_us = NEVER

    def __init__(self) -> None:
        self.heard = bytearray()

    def receive(self, byte: int, now_us: int) -> None:
        self.heard.append(byte)


class RigWire:
    """A Wire (link.py) over the console line of a rig."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self._ear = _Ear()
        self._line = rig.world.lines["console"]
        self._line.attach(self._ear)

    def send(self, data: bytes) -> None:
        assert self._ear.line is not None
        self._ear.line.send(data)

    def receive(self, patience_s: float) -> bytes:
        end_ms = self.rig.now_ms + max(STEP_MS, round(patience_s * 1000))
        while not self._ear.heard and self.rig.now_ms < end_ms:
            self.rig.step(STEP_MS)
        data = bytes(self._ear.heard)
        self._ear.heard.clear()
        return data

    def now_s(self) -> float:
        return self.rig.now_ms / 1000

    def pause(self, seconds: float) -> None:
        self.rig.run_for(round(seconds * 1000))

    def close(self) -> None:
        """What has not left yet is lost, and nothing more is heard."""
        if self._ear in self._line.devices:
            assert self._ear.line is not None
            self._ear.line.cut()
            self._ear.receive = lambda byte, now_us: None
