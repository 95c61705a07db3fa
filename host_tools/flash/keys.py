"""Public keys that images are signed for, as a module that boards and applications hold (firmware/update/trust.py)."""

from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

DEVELOPMENT_KEY = Path(__file__).with_name("development.pem")
MODULE = "cabinet_trust"


class KeyFailed(Exception):
    """The file holds no key of P-256; the text says what to do."""


def public_key(path: Path) -> bytes:
    """The point of 65 bytes of a PEM file with a private or a public key."""
    try:
        pem = path.read_bytes()
    except OSError as error:
        raise KeyFailed(f"cannot read the key {path}: {error.strerror}") from None
    try:
        if b"PUBLIC KEY" in pem:
            key = serialization.load_pem_public_key(pem)
        else:
            key = serialization.load_pem_private_key(pem, None).public_key()
    except (ValueError, TypeError) as error:
        raise KeyFailed(f"{path} holds no key that can be read: {error}") from None
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1):
        raise KeyFailed(f"{path} is no key of ECDSA P-256; make one with: cabinet image keygen KEY.pem")
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def trust_module(path: Path) -> bytes:
    """Source of the module that trusts this key alone."""
    return f'"""The keys whose images are started."""\n\nKEYS = ({public_key(path)!r},)\n'.encode()
