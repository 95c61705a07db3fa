"""Hatchling hook: ``pip install -e .`` and ``pip wheel .`` compile the C core on the way."""

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface  # pyright: ignore[reportMissingImports]


class CoreBuildHook(BuildHookInterface):
    """Builds native/cpython/_core and marks the wheel as belonging to this interpreter and platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Runs before the files of a target are collected; version is "standard" or "editable"."""
        if self.target_name != "wheel":  # a source distribution carries sources
            return
        folder = Path(self.root) / "native" / "cpython"
        spec = importlib.util.spec_from_file_location("cabinet_build_ffi", folder / "build_ffi.py")
        assert spec is not None
        assert spec.loader is not None
        build_ffi = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(build_ffi)
        built: Path = build_ffi.build()
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["artifacts"].append(f"native/cpython/{built.name}")  # ignored by git, wanted in the wheel
