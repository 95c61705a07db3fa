"""What is frozen into every board's image: firmware, drivers, and the one hal board file that fits (option `board`)."""

# ruff: noqa: F821
# pyright: reportUndefinedVariable=false
# A manifest of MicroPython's tools/makemanifest.py, which supplies options, package and include.

import os

TREE = os.path.abspath("../..")  # manifests run in their own folder
BOARDS = os.path.join("boards", "")

options.defaults(board="unix")
drivers = [
    os.path.relpath(os.path.join(folder, name), os.path.join(TREE, "hal"))
    for folder, _, names in sorted(os.walk(os.path.join(TREE, "hal")))
    for name in sorted(names)
    if name.endswith(".py")
]
board_files = (BOARDS + "__init__.py", BOARDS + options.board + ".py")
package("firmware", base_path=TREE)
package("hal", [name for name in drivers if not name.startswith(BOARDS) or name in board_files], base_path=TREE)
package("native", ["__init__.py"], base_path=TREE)
# The key of whoever builds this for cabinets of his own (host_tools/boards/build.py).
if os.environ.get("CABINET_TRUST"):
    module("cabinet_trust.py", base_path=os.environ["CABINET_TRUST"])
