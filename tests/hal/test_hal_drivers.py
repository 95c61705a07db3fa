"""What holds for every driver."""

import importlib
import inspect
import pkgutil

import hal
from hal.events import EventSource


def drivers() -> set[type]:
    for module in pkgutil.walk_packages(hal.__path__, "hal."):
        if not module.name.startswith("hal.boards"):
            importlib.import_module(module.name)
    found, new = set(), {EventSource}
    while new:
        found |= new
        new = {kind for each in new for kind in each.__subclasses__() if kind.__module__.startswith("hal.")} - found
    return found


def test_no_driver_has_a_property():
    """MicroPython searches a class that has one, and all its bases, at each assignment to an attribute: a third of a turn."""
    assert len(drivers()) > 10
    for driver in drivers():
        assert not [
            name for name, kind in vars(driver).items() if inspect.isdatadescriptor(kind) and name[:2] != "__"
        ], driver
