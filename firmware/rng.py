"""Randomness of the rounds: hardware bytes -> health tests -> HMAC_DRBG -> one 256-bit seed a round.

The only source is the board's entropy port. No data or a failed health test leaves no seed, and without a seed there is
no play: there is no software fallback (rule 5 of the architecture, CAB-RNG). Each seed is drawn after a reseed with
bytes that were asked for after the player pressed start, so nothing known before decides a round, and nothing is stored.
"""

from native import hmac_sha256

# Claimed entropy of a byte from a whitened serial device: 4 bits, alpha 2^-30. Cutoffs of SP 800-90B sections 4.4.1 and
# 4.4.2 for it: 1 + ceil(30 / 4), and the binomial quantile for a window of 512.
REPETITION_CUTOFF = 9
PROPORTION_CUTOFF = 71
PROPORTION_WINDOW = 512
START_UP_BYTES = 1024
RESEED_BYTES = 64  # 256 bits at the claimed rate
INSTANTIATE_BYTES = 96  # 256 bits of entropy and 128 of nonce
SEED_BYTES = 32
_REQUEST_BYTES = 256

RETRY_MS = 1000  # pause between a failed test and the next start-up test

OFFLINE = "offline"
STARTING = "starting"
READY = "ready"
FAILED = "failed"


class HmacDrbg:
    """HMAC_DRBG with SHA-256, SP 800-90A section 10.1.2, without prediction-resistance flag or extra input."""

    def __init__(self, seed_material: bytes):
        """`seed_material`: entropy input, nonce and personalisation, in this order."""
        self._key = bytes(32)
        self._v = b"\x01" * 32
        self._update(seed_material)

    def _update(self, data: bytes) -> None:
        self._key = hmac_sha256(self._key, self._v, b"\x00", data)
        self._v = hmac_sha256(self._key, self._v)
        if data:
            self._key = hmac_sha256(self._key, self._v, b"\x01", data)
            self._v = hmac_sha256(self._key, self._v)

    def reseed(self, entropy: bytes) -> None:
        self._update(entropy)

    def generate(self, length: int) -> bytes:
        """`length` bytes, at most 65,536 (SP 800-90A table 2)."""
        if length > 65536:
            raise ValueError("one request gives at most 65536 bytes, not %d" % length)
        output = b""
        while len(output) < length:
            self._v = hmac_sha256(self._key, self._v)
            output += self._v
        self._update(b"")
        return output[:length]

    def copy(self) -> "HmacDrbg":
        """A generator in the same state, to look ahead without disturbing this one (rig and tests)."""
        twin = HmacDrbg.__new__(HmacDrbg)
        twin._key, twin._v = self._key, self._v
        return twin


class HealthTests:
    """Repetition count and adaptive proportion tests over bytes (SP 800-90B sections 4.4.1 and 4.4.2)."""

    def __init__(self):
        self._last = -1
        self._run = 0
        self._sample = -1
        self._seen = 0
        self._same = 0

    def feed(self, data: bytes) -> str:
        """ "" while healthy, else the name of the test that failed."""
        # Local names: a board spends several milliseconds here on a start-up test.
        last, run, sample, seen, same = self._last, self._run, self._sample, self._seen, self._same
        for byte in data:
            if byte == last:
                run += 1
                if run >= REPETITION_CUTOFF:
                    return "repetition count"
            else:
                last, run = byte, 1
            if seen == 0:
                sample, same = byte, 0
            if byte == sample:
                same += 1
                if same >= PROPORTION_CUTOFF:
                    return "adaptive proportion"
            seen = (seen + 1) % PROPORTION_WINDOW
        self._last, self._run, self._sample, self._seen, self._same = last, run, sample, seen, same
        return ""


class Generator:
    """Feeds the DRBG from an entropy driver and hands out round seeds.

    `state` is OFFLINE, STARTING, READY or FAILED; `fault` names a failed test. A seed is asked for with `request()`
    and taken with `seed()` once it is there.
    """

    def __init__(self, source):
        self._source = source
        self.state = STARTING
        self.fault = ""
        self._failed_ms = -1
        self._asked = 0  # bytes that the driver still owes us, stored there or on their way
        self._zeroise()

    def _zeroise(self) -> None:
        self._health = HealthTests()
        self._drbg = None
        self._tested = 0
        self._wanted = False
        self._seed = b""

    def poll(self, now_ms: int) -> None:
        """Takes the driver's events and bytes. The driver itself is polled by the main loop."""
        while True:
            event = self._source.event()
            if event is None:
                break
            self._source.booked()
            if event[0] == "offline":
                self._fail("no data")
                self.state = OFFLINE
                # What was stored before the device fell silent is stale.
                self._asked -= len(self._source.take(self._source.available()))
            elif event[0] == "unhealthy":
                self._fail("device status %d" % event[1])
            elif self.state == OFFLINE:
                self.state = STARTING
        if self.state == FAILED:
            if self._failed_ms < 0:
                self._failed_ms = now_ms
            elif now_ms - self._failed_ms >= RETRY_MS:
                self.state = STARTING
        else:
            self._collect()

    def request(self) -> None:
        """Asks for one seed; `seed()` gives it when fresh entropy has arrived."""
        self._wanted = True

    def cancel(self) -> None:
        self._wanted = False
        self._seed = b""

    def seed(self) -> bytes:
        """The seed that was asked for, once, then b"" again."""
        seed, self._seed = self._seed, b""
        return seed

    def _collect(self) -> None:
        if not self._asked:
            need = self._need()
            if need and self._source.request(need):
                self._asked = need
        elif self._source.available() >= self._asked:
            data = self._source.take(self._asked)
            self._asked = 0
            failed = self._health.feed(data)
            if failed:
                self._fail(failed)
            else:
                self._use(data)

    def _need(self) -> int:
        if self._tested < START_UP_BYTES:
            return min(_REQUEST_BYTES, START_UP_BYTES - self._tested)
        if self._drbg is None:
            return INSTANTIATE_BYTES
        return RESEED_BYTES if self._wanted else 0

    def _use(self, data: bytes) -> None:
        if self._tested < START_UP_BYTES:
            self._tested += len(data)  # tested and thrown away
        elif self._drbg is None:
            if len(data) == INSTANTIATE_BYTES:
                self._drbg = HmacDrbg(data)
                self.state, self.fault = READY, ""
        elif self._wanted and len(data) == RESEED_BYTES:
            self._drbg.reseed(data)
            self._seed = self._drbg.generate(SEED_BYTES)
            self._wanted = False

    def _fail(self, fault: str) -> None:
        self._zeroise()
        self.state, self.fault = FAILED, fault
        self._failed_ms = -1
