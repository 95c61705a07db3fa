"""NVRAM for tests: the power can fail after any byte, and bits can decay."""

from host_tools.hil.host_session import PowerCut, RigNvram

__all__ = ["PowerCut", "RigNvram", "copy_of"]


def copy_of(nvram: RigNvram) -> RigNvram:
    twin = RigNvram(nvram.size)
    twin.memory[:] = nvram.memory
    return twin
