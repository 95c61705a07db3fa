"""What comes from Debian: source packages of MicroPython and BearSSL, and the tools that build them.

They are fetched with an apt configuration of their own, beside the machine's, which reads and changes nothing of it except
the name of the mirror that the machine already uses. apt checks the archive's signature and every file's hash.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
FETCH_S = 600.0  # no mirror is that slow; a hung one must not hang a build

# Command -> the Debian packages that bring it.
FETCH_TOOLS = {"apt-get": ("apt",), "dpkg-source": ("dpkg-dev",), "xz": ("xz-utils",)}
HOST_TOOLS = {"cc": ("gcc", "libc6-dev"), "make": ("make",)}
ARM_TOOLS = {"arm-none-eabi-gcc": ("gcc-arm-none-eabi", "libnewlib-arm-none-eabi"), "make": ("make",)}
EMULATOR_TOOLS = {"qemu-system-arm": ("qemu-system-arm",)}


@dataclass(frozen=True)
class SourcePackage:
    """own: what a person without a mirror can do."""

    name: str
    version: str
    suite: str
    size: str
    own: str


MICROPYTHON = SourcePackage(
    "micropython",
    "1.25.0+ds-1",
    "trixie",
    "6 MB",
    "or set MICROPYTHON_DIR to a MicroPython tree of version 1.25 or newer",
)
BEARSSL = SourcePackage(
    "bearssl", "0.6+dfsg.1-3", "bookworm", "1 MB", "or set BEARSSL_DIR to a BearSSL tree of version 0.6"
)


class BoardsError(Exception):
    """A build cannot go on; the text says what a person can do."""


def install(tools: Mapping[str, tuple[str, ...]], say: Callable[[str], None]) -> None:
    """Installs what is missing of `tools`, after asking when a person is there. BoardsError names it otherwise."""
    missing = [package for tool, packages in tools.items() if not shutil.which(tool) for package in packages]
    if not missing:
        return
    names = " ".join(missing)
    if not shutil.which("apt-get"):
        raise BoardsError(f"these Debian packages (or your system's own) are missing: {names}")
    root = os.geteuid() == 0
    if not root and not shutil.which("sudo"):
        raise BoardsError(f"as root, install: {names}")
    if sys.stdin.isatty() and input(f"boards: install these Debian packages: {names}? [Y/n] ").strip()[:1] in (
        "n",
        "N",
    ):
        raise BoardsError(f"stopped; install them and run this again: {names}")
    say(f"installing Debian packages: {names}")
    as_root = [] if root else ["sudo"]
    quiet = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    run([*quiet, "update"], f"apt could not update its lists; install yourself: {names}")
    run([*quiet, "install", "-y", "--no-install-recommends", *missing], f"apt could not install: {names}")


def fetch_source(package: SourcePackage, folder: Path, say: Callable[[str], None]) -> Path:
    """The unpacked source tree below `folder`, fetched unless it is there. BoardsError: no mirror, no connection, …"""
    name, version, suite = package.name, package.version, package.suite
    tree = folder / f"{name}-{version.rsplit('-', 1)[0]}"
    complete = folder / f"{tree.name}.complete"
    if complete.exists():
        return tree
    install(FETCH_TOOLS, say)
    if not KEYRING.exists():
        raise BoardsError(f"Debian's signing keys are missing: install debian-archive-keyring, {package.own}")
    mirror = debian_mirror()
    say(f"fetching the source of {name} {version} (Debian {suite}, {package.size}) from this machine's mirror")
    shutil.rmtree(tree, ignore_errors=True)  # left by a fetch that was stopped
    apt = folder / "apt"
    for part in ("lists/partial", "cache/archives/partial"):
        (apt / part).mkdir(parents=True, exist_ok=True)
    (apt / "sources.list").write_text(f"deb-src [signed-by={KEYRING}] {mirror} {suite} main\n")
    options = [
        f"Dir::Etc::sourcelist={apt / 'sources.list'}",
        "Dir::Etc::sourceparts=-",
        f"Dir::State::Lists={apt / 'lists'}",
        f"Dir::Cache={apt / 'cache'}",
        "APT::Sandbox::User=",  # the lists are ours; apt's own user may not even enter this tree
    ]
    command = ["apt-get", "-qq", *(word for option in options for word in ("-o", option))]
    advice = f"is the mirror reachable? {package.own[0].upper()}{package.own[1:]}"
    run([*command, "update"], f"apt could not read Debian {suite}; {advice}", folder)
    run([*command, "source", f"{name}={version}"], f"apt could not fetch {name} {version}; {advice}", folder)
    complete.touch()
    return tree


def debian_mirror(etc: Path = Path("/etc/apt")) -> str:
    """The mirror that the machine's own apt sources name. BoardsError: they name none of Debian."""
    for uri in _source_uris(etc):
        path = uri.rstrip("/")
        if path.endswith("/debian") or path.startswith("mirror+file:"):
            return uri
    raise BoardsError(f"this machine's apt sources name no Debian mirror; add one, {MICROPYTHON.own}")


def _source_uris(etc: Path) -> Iterator[str]:
    """URIs of binary or source archives, in apt's order of files. Archives of security updates hold no base packages."""
    parts = etc / "sources.list.d"
    files = [etc / "sources.list", *sorted(parts.glob("*.list")), *sorted(parts.glob("*.sources"))]
    for file in files:
        if not file.is_file():
            continue
        text = file.read_text(errors="replace")
        for uri in _deb822_uris(text) if file.suffix == ".sources" else _one_line_uris(text):
            if "security" not in uri:
                yield uri


def _deb822_uris(text: str) -> Iterator[str]:
    for stanza in text.split("\n\n"):
        lines = [line for line in stanza.splitlines() if line and line[0] not in "# \t"]
        fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if fields.get("enabled", "yes").lower() not in ("no", "false", "0"):
            yield from fields.get("uris", "").split()


def _one_line_uris(text: str) -> Iterator[str]:
    for line in text.splitlines():
        kind, _, rest = line.strip().partition(" ")
        if kind not in ("deb", "deb-src"):
            continue
        rest = rest.strip()
        if rest.startswith("["):
            rest = rest.partition("]")[2]
        yield from rest.split()[:1]


def run(command: list[str], failure: str, folder: Path | None = None) -> None:
    """Runs a command quietly. BoardsError: `failure` and the end of what it said."""
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=FETCH_S
        )
    except subprocess.TimeoutExpired:
        raise BoardsError(f"{failure} ({command[0]} did not finish in {FETCH_S:.0f} s)") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-4:]
        raise BoardsError("\n  ".join([failure, *said]))
