# The compiled module has no Python source; its contents are declared in core/cab_core.h.
from typing import Any

ffi: Any
lib: Any
