"""`cabinet image`: keys and application images. Exit: 0 done, 1 the image is refused or cannot be made, 2 wrong arguments.

`inspect --port` speaks to a cabinet and ends as host_tools/cabinet/exits.py says.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from firmware.programs import VERSION
from host_tools.boards.debian import BoardsError
from host_tools.cabinet import games
from host_tools.cabinet.exits import fail
from host_tools.flash import images
from host_tools.flash.flash_cli import Port, Teller, open_cabinet
from host_tools.flash.inspecting import running, slot_line
from host_tools.par.sheet import SheetError

app = typer.Typer(no_args_is_help=True)

Key = Annotated[Path, typer.Option("--key", help="PEM file with a P-256 key.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object.")]


@app.command()
def keygen(key: Annotated[Path, typer.Argument(help="PEM file to write.")]) -> None:
    """Make a private key, and print its public half: what a resident image trusts.

    Keep the file safe: who has it can sign applications for every cabinet that trusts it.
    """
    print(_done(lambda: images.keygen(key)))


@app.command()
def build(
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.")],
    key: Key = images.DEVELOPMENT_KEY,
    board: Annotated[str, typer.Option(help=", ".join(images.BOARDS))] = "mps2",
    version: Annotated[str, typer.Option(help="1.2.3 or 1.2.3+4")] = VERSION,
    counter: Annotated[
        int, typer.Option(help="Security counter: once confirmed, nothing lower is started any more.")
    ] = 1,
    as_json: AsJson = False,
) -> None:
    """Compile this tree and its games for a board, and sign them as an application image.

    Without --key it is signed with the development key, which everybody has.
    """
    if board not in images.BOARDS:
        raise fail(f"there is no board {board}; there is {', '.join(images.BOARDS)}", 2)
    data = _done(lambda: images.build_image(key, board, games.packs(), version, counter))
    try:
        output.write_bytes(data)
    except OSError as error:
        raise fail(f"cannot write {output}: {error.strerror}", 1) from None
    _show(images.inspect(data), as_json)


@app.command()
def verify(image: Annotated[Path, typer.Argument()], key: Key = images.DEVELOPMENT_KEY) -> None:
    """Check all bytes of an image as imgtool and as a cabinet that trusts the key would."""
    found = _done(lambda: images.verify(image, key))
    print(f"{image}: good, version {found.version}, counter {found.counter}, board {found.board}, {found.hash.hex()}")


@app.command()
def inspect(
    image: Annotated[Path | None, typer.Argument(help="An application image.")] = None,
    port: Port = None,
    as_json: AsJson = False,
) -> None:
    """Show what an image says of itself: versions, hashes, ports and pins. It is not verified.

    With --port it is the application that runs in a cabinet, as the cabinet tells it over its console, and its slots.

    Exit: 0 done, 1 no image, 2 wrong arguments; with --port 10 no port, 11 no answer, 13 refused, 14 broken off, 15 what the
    cabinet tells does not fit.
    """
    if (image is None) == (port is None):
        raise fail("name an image file, or a running cabinet with --port: one of the two", 2)
    if image is not None:
        try:
            data = image.read_bytes()
        except OSError as error:
            raise fail(f"cannot read {image}: {error.strerror}", 2) from None
        _show(_done(lambda: images.inspect(data)), as_json)
        return
    with open_cabinet(port, Teller(as_json, silent=True), 10) as (cabinet, _):
        about = running(cabinet)
        if as_json:
            print(json.dumps(about))
            return
        if about["factory"]:
            print(
                f"no application out of a slot runs: the factory's does, version {about['version']} on {about['board']}"
            )
            print("it has no manifest; type verify at the console for the hash of the resident image")
        else:
            _show(about, False)
        for slot in about["slots"]:
            print(slot_line(slot))


def _show(about: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(about))
        return
    manifest = about["manifest"]
    rows = [("version", about["version"]), ("counter", about["counter"]), ("board", about["board"])]
    rows += [("bytes", about["bytes"]), ("hash", about["hash"]), ("key", about["key"])]
    rows += [(name, manifest.get(name, "")) for name in ("firmware", "core")]
    rows += [(f"pack {name}", digest) for name, digest in manifest.get("packs", {}).items()]
    rows += [("ports", manifest.get("ports", ""))]
    if about["files"] is not None:
        rows += [("files", len(about["files"]))]
    for name, value in rows:
        print(f"{name:<18} {value}")
    for kind, pins in manifest.get("pins", {}).items():
        print(f"{kind:<18} {' '.join(f'{name}={pin}' for name, pin in pins.items())}")


def _done(work: Any) -> Any:
    try:
        return work()
    except (images.ImageFailed, BoardsError, SheetError) as error:
        raise fail(str(error), 1) from None
