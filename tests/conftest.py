"""Options of the whole suite."""

import pytest

from host_tools.hil.sessions import BOARDS


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--board", default="host", choices=BOARDS, help="board that the stories of tests/hil run on")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "host_only: looks into the firmware's own process, which only the host board shares"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    board = config.getoption("--board")
    if board == "host":
        return
    for item in items:
        if item.get_closest_marker("host_only"):
            item.add_marker(pytest.mark.skip(reason=f"board {board} runs the firmware in another process"))
