"""HMAC_DRBG with SHA-256 as SP 800-90A section 10.1.2 defines it, security strength 256 bits."""

from native import hmac_sha256

SEED_ENTROPY_BYTES = 32  # of entropy, not of bytes that hold it: 256 bits to instantiate and to reseed
NONCE_ENTROPY_BYTES = 16
MAX_REQUEST_BYTES = 65536  # 2^19 bits, table 2
RESEED_INTERVAL = 1 << 48  # requests between reseeds, table 2
_BLOCK_BYTES = 32


class ReseedRequired(Exception):
    """So many requests were served since the last reseed that the next one needs one."""


class HmacDrbg:
    """One instance. Key and V live in memory of their own, which zeroise() overwrites.

    reseed_counter: 1 after instantiation and reseed, + 1 for each request served
    reseed_interval: the counter up to which requests are served
    """

    def __init__(
        self, entropy: bytes, nonce: bytes = b"", personalisation: bytes = b"", reseed_interval: int = RESEED_INTERVAL
    ):
        """Instantiate (10.1.2.3). `entropy` and `nonce` may come as one string, in this order."""
        self._key = bytearray(_BLOCK_BYTES)
        self._v = bytearray(b"\x01" * _BLOCK_BYTES)
        self._update(entropy, nonce, personalisation)
        self.reseed_interval = reseed_interval
        self.reseed_counter = 1

    def _update(self, *data) -> None:
        """10.1.2.2, with the provided data in parts."""
        provided = False
        for part in data:
            provided = provided or bool(part)
        for mark in (b"\x00", b"\x01") if provided else (b"\x00",):
            self._key[:] = hmac_sha256(self._key, self._v, mark, *data)
            self._v[:] = hmac_sha256(self._key, self._v)

    def reseed(self, entropy: bytes, additional: bytes = b"") -> None:
        """10.1.2.4."""
        self._update(entropy, additional)
        self.reseed_counter = 1

    def generate(self, length: int, additional: bytes = b"") -> bytes:
        """`length` bytes (10.1.2.5). ValueError: more than 65,536; ReseedRequired: the interval is used up."""
        if not 0 <= length <= MAX_REQUEST_BYTES:
            raise ValueError("one request gives 0 to 65536 bytes, not %d" % length)
        if not self.reseed_counter:
            raise ValueError("this generator was zeroised")
        if self.reseed_counter > self.reseed_interval:
            raise ReseedRequired("%d requests since the last reseed" % (self.reseed_counter - 1))
        if additional:
            self._update(additional)
        output = bytearray(length)
        for place in range(0, length, _BLOCK_BYTES):
            self._v[:] = hmac_sha256(self._key, self._v)
            rest = length - place
            output[place : place + _BLOCK_BYTES] = self._v if rest >= _BLOCK_BYTES else self._v[:rest]
        self._update(additional)
        self.reseed_counter += 1
        return bytes(output)

    def zeroise(self) -> None:
        """Uninstantiate (9.4): key and V are overwritten, and nothing is generated any more."""
        for place in range(_BLOCK_BYTES):
            self._key[place] = self._v[place] = 0
        self.reseed_counter = 0

    def copy(self) -> "HmacDrbg":
        """A generator in the same state, to look ahead without disturbing this one (rig and tests)."""
        twin = HmacDrbg(b"", reseed_interval=self.reseed_interval)
        twin._key[:], twin._v[:], twin.reseed_counter = self._key, self._v, self.reseed_counter
        return twin
