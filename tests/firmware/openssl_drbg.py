"""HMAC_DRBG of OpenSSL 3 through ctypes: an implementation that shares nothing with ours.

Python's `cryptography` shows no DRBG, so this calls libcrypto's EVP_RAND functions. Entropy and nonce come from its
TEST-RAND, a parent generator that gives what it was told; the reseed's entropy is told before the reseed.
"""

import ctypes
import ctypes.util
from typing import Any


class _Param(ctypes.Structure):
    """OSSL_PARAM."""

    _fields_ = [
        ("key", ctypes.c_char_p),
        ("data_type", ctypes.c_uint),
        ("data", ctypes.c_void_p),
        ("data_size", ctypes.c_size_t),
        ("return_size", ctypes.c_size_t),
    ]


_UNSIGNED, _TEXT, _OCTETS = 2, 4, 5


def library() -> Any:
    """libcrypto 3, or None where there is none."""
    name = ctypes.util.find_library("crypto")
    found = ctypes.CDLL(name) if name else None
    if found is None or not hasattr(found, "EVP_RAND_fetch"):
        return None
    for function in ("EVP_RAND_fetch", "EVP_RAND_CTX_new"):
        getattr(found, function).restype = ctypes.c_void_p
    return found


def _number(value: int) -> bytes:
    return value.to_bytes(ctypes.sizeof(ctypes.c_uint), "little")


class OpenSslDrbg:
    """Instantiates with the given strings; then as ours."""

    def __init__(
        self, crypto: Any, entropy: bytes, nonce: bytes, personalisation: bytes, digest: bytes = b"SHA256"
    ) -> None:
        self._crypto = crypto
        self._buffers: list[Any] = []
        self._parent = self._new(b"TEST-RAND", None)
        self._tell(self._parent, ("strength", _UNSIGNED, _number(256)))
        self._tell(self._parent, ("test_entropy", _OCTETS, entropy), ("test_nonce", _OCTETS, nonce))
        self._check(crypto.EVP_RAND_instantiate(self._parent, 0, 0, None, 0, None))
        self._drbg = self._new(b"HMAC-DRBG", self._parent)
        self._tell(self._drbg, ("digest", _TEXT, digest), ("mac", _TEXT, b"HMAC"))
        self._check(
            crypto.EVP_RAND_instantiate(self._drbg, 0, 0, personalisation, ctypes.c_size_t(len(personalisation)), None)
        )

    def _check(self, done: int) -> None:
        if done != 1:
            raise RuntimeError("OpenSSL refused")

    def _new(self, name: bytes, parent: ctypes.c_void_p | None) -> ctypes.c_void_p:
        rand = ctypes.c_void_p(self._crypto.EVP_RAND_fetch(None, name, None))
        return ctypes.c_void_p(self._crypto.EVP_RAND_CTX_new(rand, parent))

    def _tell(self, context: ctypes.c_void_p, *entries: tuple[str, int, bytes]) -> None:
        array = (_Param * (len(entries) + 1))()
        for index, (key, kind, value) in enumerate(entries):
            buffer = ctypes.create_string_buffer(value, max(1, len(value)))
            self._buffers.append(buffer)
            array[index] = _Param(key.encode(), kind, ctypes.cast(buffer, ctypes.c_void_p), len(value), 0)
        self._check(self._crypto.EVP_RAND_CTX_set_params(context, array))

    def reseed(self, entropy: bytes, additional: bytes = b"") -> None:
        self._tell(self._parent, ("test_entropy", _OCTETS, entropy))
        size = ctypes.c_size_t(len(additional))
        self._check(self._crypto.EVP_RAND_reseed(self._drbg, 0, None, ctypes.c_size_t(0), additional, size))

    def generate(self, length: int, additional: bytes = b"") -> bytes:
        output = ctypes.create_string_buffer(length)
        size = ctypes.c_size_t(len(additional))
        self._check(self._crypto.EVP_RAND_generate(self._drbg, output, ctypes.c_size_t(length), 0, 0, additional, size))
        return output.raw

    def close(self) -> None:
        for context in (self._drbg, self._parent):
            self._crypto.EVP_RAND_CTX_free(context)
