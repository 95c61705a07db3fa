"""The generator of round seeds: what is asked of the random device and when, and what becomes of it.

The only source is the board's entropy port. No data or a failed test leaves no seed, and without a seed there is no play:
there is no software fallback (rule 5 of the architecture, CAB-RNG). Nothing is stored.
"""

from firmware.rng import health, known_answers
from firmware.rng.drbg import HmacDrbg

OFFLINE = "offline"
STARTING = "starting"
READY = "ready"
FAILED = "failed"

START_UP_BYTES = 1024  # SP 800-90B 4.3: through all tests, and thrown away
SEED_BYTES = 32
MAX_SAMPLE_BYTES = 1024

# What bytes are asked for. Each purpose has a size of its own, so that whoever watches the line can tell them apart.
TEST = 0  # tested and thrown away: at the start, in the background, or shown to a technician
INSTANTIATE = 1  # 256 bits of entropy and 128 of nonce are 96 bytes at 4 bits each
RESEED = 2  # in the background: 256 bits are 64 bytes
DRAW = 3  # for the round that the player has just started
BYTES = (128, 112, 96, 64)

RETRY_MS = 1000  # pause between a failed test and the next start-up test
# Within a second a fault must have stopped play: 512 bytes that show it, or a device that does not answer.
TEST_EVERY_MS = 200
RESEED_EVERY_MS = 60_000  # since the last reseed of any kind


class Generator:
    """Feeds the DRBG from an entropy driver (hal/README.md) and hands out round seeds.

    `state` is OFFLINE, STARTING, READY or FAILED; `fault` the alarm that led there (health.NAMES), 0 once it is READY again.
    A seed is asked for with `request()` and taken with `seed()` once it is there.
    `rounds_per_reseed`: how many rounds may be seeded until fresh bytes are asked for again; 1: each has its own.
    alarms: alarm -> how often since power-up; tested_bytes, reseeds, seeds: counters since power-up
    """

    def __init__(self, source, rounds_per_reseed: int = 1):
        self.state = STARTING
        self.fault = 0
        self.alarms = {}
        self.tested_bytes = 0
        self.reseeds = 0
        self.seeds = 0
        self.checked_parts = 0  # known-answer tests passed since the last run began
        self._source = source
        self._rounds_per_reseed = rounds_per_reseed
        self._health = health.make_tests()
        self._drbg = None
        self._failed_ms = 0
        self._test_ms = 0
        self._reseed_ms = 0
        self._zeroise()

    def _zeroise(self) -> None:
        if self._drbg is not None:
            self._drbg.zeroise()
        self._drbg = None
        self._health.reset()
        self._purpose = -1  # what the bytes are for that the driver owes us, -1: it owes none
        self._behind = -1  # what those are for that it was asked for behind these
        self._tested = 0  # bytes of the start-up test
        self._wanted = False
        self._serving = False  # the bytes that the driver owes were asked for after the seed that is wanted was
        self._seed = b""
        self._rounds = self._rounds_per_reseed  # seeded since fresh bytes came for one
        self._sample = bytearray()
        self._sample_left = 0
        self.check()

    def poll(self, now_ms: int) -> None:
        """Takes the driver's events and bytes. The driver itself is polled by the main loop."""
        while True:
            event = self._source.event()
            if event is None:
                break
            self._source.booked()
            if event[0] == "offline":
                self._fail(health.ALARM_NO_DATA, now_ms)
                self.state = OFFLINE
            elif event[0] == "unhealthy":
                self._fail(health.ALARM_DEVICE, now_ms)
            elif self.state == OFFLINE:
                self.state = STARTING
        if self.state == FAILED:
            if now_ms - self._failed_ms >= RETRY_MS:
                self.state = STARTING
        elif self.checked_parts < len(known_answers.PARTS):
            self._check(now_ms)
        else:
            self._collect(now_ms)

    def tilt(self) -> str:
        """The tilt that holds, "" if none. What failed stays named until the start-up test has passed again."""
        return "" if self.state == READY else health.TILTS[self.fault or health.ALARM_NO_DATA]

    def check(self) -> None:
        """Runs the known-answer tests again; nothing is drawn until they have passed."""
        self.checked_parts = 0
        self._steps = None  # of the part that is running

    def request(self) -> None:
        """Asks for one seed; `seed()` gives it when fresh entropy has arrived."""
        self._wanted = True

    def cancel(self) -> None:
        """The seed is not wanted any more. Bytes that are on their way reseed the generator, and seed no round."""
        self._wanted = self._serving = False
        self._seed = b""

    def seed(self) -> bytes:
        """The seed that was asked for, once, then b"" again."""
        seed, self._seed = self._seed, b""
        return seed

    def fork(self):
        """A generator of its own, for what is no outcome: keys of a serial line. None: not READY."""
        if self.state != READY or self._drbg is None:
            return None
        return HmacDrbg(self._drbg.generate(BYTES[INSTANTIATE]))

    def sample(self, number: int) -> bool:
        """Asks for `number` bytes of the device to look at; no game ever uses them. False: not READY."""
        if self.state != READY:
            return False
        self._sample, self._sample_left = bytearray(), min(number, MAX_SAMPLE_BYTES)
        return True

    def sampled(self):
        """The bytes asked for with sample(); b"" while they are not complete, None if a failure has wiped them."""
        if self._sample_left:
            return b""
        sample, self._sample = bytes(self._sample), bytearray()
        return sample or None

    def _check(self, now_ms: int) -> None:
        """One step of the known-answer tests a turn."""
        if self._steps is None:
            self._steps = known_answers.PARTS[self.checked_parts][1]()
        right = next(self._steps, None)
        if right is None:
            self._steps = None
            self.checked_parts += 1
        elif not right:
            self._fail(health.ALARM_KNOWN_ANSWER, now_ms)

    def _collect(self, now_ms: int) -> None:
        if self._purpose < 0:
            if self._wanted and self._drbg is not None and self._rounds < self._rounds_per_reseed:
                self._draw(self._drbg, True)
                return
            purpose = self._need(now_ms)
            if purpose >= 0 and self._source.request(BYTES[purpose]):
                self._purpose = purpose
                self._serving = purpose == DRAW
            return
        if self._wanted and self._purpose == TEST and self._behind < 0:
            self._ask_behind(now_ms)
        if self._source.available() >= BYTES[self._purpose]:
            purpose, self._purpose, self._behind = self._purpose, self._behind, -1
            data = self._source.take(BYTES[purpose])
            alarm = self._health.feed(data)
            if alarm:
                self._fail(alarm, now_ms)
            else:
                self._use(purpose, data, now_ms)

    def _ask_behind(self, now_ms: int) -> None:
        """What a player waits for is asked for before the test's bytes have come, and follows them on the line."""
        fresh = self._rounds >= self._rounds_per_reseed and self._need(now_ms) == DRAW
        if fresh and self._source.request(BYTES[DRAW]):
            self._behind, self._serving = DRAW, True

    def _need(self, now_ms: int) -> int:
        if self._tested < START_UP_BYTES:
            return TEST
        if self._drbg is None:
            return INSTANTIATE
        if self._wanted:
            return DRAW
        if now_ms - self._reseed_ms >= RESEED_EVERY_MS:
            return RESEED
        return TEST if self._sample_left or now_ms - self._test_ms >= TEST_EVERY_MS else -1

    def _use(self, purpose: int, data: bytes, now_ms: int) -> None:
        self.tested_bytes += len(data)
        self._test_ms = now_ms
        if purpose == TEST:
            if self._tested < START_UP_BYTES:
                self._tested += len(data)
            elif self._sample_left:
                self._sample += data[: self._sample_left]
                self._sample_left -= min(self._sample_left, len(data))
            return
        self._reseed_ms = now_ms
        self.reseeds += 1
        if self._drbg is None:
            self._drbg = HmacDrbg(data)
            self.state, self.fault = READY, 0
            return
        self._drbg.reseed(data)
        if purpose == DRAW:
            self._rounds = 0
            self._draw(self._drbg, self._serving)

    def _draw(self, drbg: HmacDrbg, kept: bool) -> None:
        """Makes a seed; one that was cancelled before its bytes came is dropped."""
        self._rounds += 1
        seed = drbg.generate(SEED_BYTES)
        if kept:
            self._wanted = False
            self._seed = seed
            self.seeds += 1

    def _fail(self, alarm: int, now_ms: int) -> None:
        self._source.cancel()
        self._zeroise()
        self.state, self.fault = FAILED, alarm
        self.alarms[alarm] = self.alarms.get(alarm, 0) + 1
        self._failed_ms = now_ms
