"""ECDSA on NIST P-256, by the library that this computer has anyway. The boards have BearSSL's instead."""

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

_ECDSA = ec.ECDSA(Prehashed(SHA256()))


def p256_verify(key: bytes, digest: bytes, signature: bytes) -> bool:
    """Whether `signature` (r and s, 32 bytes each) of the 32-byte digest was made with the private half of `key`.

    key: a point, uncompressed (65 bytes). Errors: ValueError for a length that is none of these.
    """
    if len(key) != 65 or len(digest) != 32 or len(signature) != 64:
        raise ValueError("p256_verify takes 65, 32 and 64 bytes")
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    try:
        public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), bytes(key))
        public.verify(encode_dss_signature(r, s), bytes(digest), _ECDSA)
    except (InvalidSignature, ValueError):  # ValueError: no point of the curve
        return False
    return True
