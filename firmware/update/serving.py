"""The update server in a cabinet: what it may know of it, and what it may do to it."""

from firmware.money.amounts import pounds
from firmware.programs import VERSION
from firmware.update import smp


def allowed(cabinet) -> str:
    """Why no program may be changed now, "" when it may. A technician at the open logic door may always."""
    machine = cabinet.machine
    if machine is None:  # locked: another program may be what repairs it
        return ""
    panel = cabinet.devices.panel
    if panel.online and panel.closed("technician") and not panel.closed("logic"):
        return ""
    override = ", or let a technician turn the key and open the logic door"
    if machine.play.round is not None:
        return "a round is open: let it end first" + override
    if machine.at_stake():
        return "%s is on the machine or owed: pay it first%s" % (pounds(machine.at_stake()), override)
    return ""


class CabinetTarget(smp.Target):
    """A cabinet, as the update server sees it."""

    def __init__(self, cabinet):
        self._cabinet = cabinet
        self.board = cabinet.board.name
        self.name = "cabinet"
        self.version = VERSION

    def allowed(self) -> str:
        return allowed(self._cabinet)

    def reset(self) -> None:
        self._cabinet.board.reset()

    def say(self, line: str) -> None:
        self._cabinet.console.say(line)


def make_server(cabinet):
    """The server of a cabinet, over the slots of its board if there are some."""
    return smp.Server(getattr(cabinet, "slots", None) or smp.NoSlots(), CabinetTarget(cabinet))
