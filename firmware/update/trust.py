"""Public keys whose images are started: points of NIST P-256, uncompressed (0x04, X, Y).

The key here is the development key, whose private half is public (host_tools/flash/development.pem). Whoever builds a cabinet
for money makes one with `cabinet image keygen`: images that are built with it, and resident images that are built with
CABINET_KEY (native/boards/README.md), hold a module cabinet_trust with that key, and then this one opens nothing.
"""

DEVELOPMENT = (
    b"\x04"
    b"\x8c\xdb\x9e\x3b\x0c\x61\x16\xd9\x27\x1b\xfc\xee\x3c\x75\x9e\x2e"
    b"\xa4\x37\xe4\xfb\xa1\xf1\xf5\xaa\x61\x5d\x40\x08\x5e\xcf\x16\x54"
    b"\x48\xaa\x46\xe9\xbf\x32\xd9\x9a\xc5\x91\x20\x25\x35\x64\xab\x24"
    b"\x7a\xa6\xdb\x4c\xd6\x05\x71\x73\x74\x44\x8a\xe4\xce\x87\x3b\x0b"
)
KEYS = (DEVELOPMENT,)

try:
    from cabinet_trust import KEYS  # noqa: F401  # pyright: ignore[reportMissingImports]
except ImportError:
    pass
