"""What a driver of an SSP device does: find it, agree on version and keys, ask one thing after another, notice when it is gone.

A driver is a chain of small methods. Each ends by asking the device something (`_ask`) or by waiting (`_pause`), and names
the method that goes on from there, so that the order on the line can be read from top to bottom.

    SYNC, HOST_PROTOCOL_VERSION (the highest that it takes), GET_SERIAL_NUMBER, SETUP_REQUEST, then what the driver needs

A device that answers KEY_NOT_SET is given keys, and asked again. One that was silent for long is identified anew, its
serial number first: it may be another one.
"""

from ..driver import Driver
from .essp import GENERATOR, KEY_EXCHANGE, MODULUS, SET_GENERATOR, SET_MODULUS, figure
from .link import DONE, IDLE, SYNC, Link

EVENTS = 24
ROOM = 16  # no answer makes more events than this
OFFLINE_MS = 3000  # unanswered for longer than this: offline
GAP_MS = 5000  # not spoken with for longer than this: identified anew; a device gives up a held note after ten seconds
SEARCH_MS = 500  # between two attempts to find a device
KEYLESS_MS = 5000  # between two attempts with one that wants keys and gets none
VERSIONS = (8, 7, 6)
KEY_ATTEMPTS = 3

OK = 0xF0
NOT_KNOWN = 0xF2
NOT_NOW = 0xF5
KEY_NOT_SET = 0xFA

_SERIAL = b"\x0c"
_SETUP = b"\x05"


def _nothing(answer) -> None:
    """Before the first question."""


class Device(Driver):
    """The device at `address` behind `port`.

    version: of the protocol, as agreed
    unit_type: 0 for a plain validator
    """

    def __init__(self, port, address: int = 0, secret=None):
        Driver.__init__(self, EVENTS, self._identify)
        self.version = 0
        self.unit_type = 0
        self.link = Link(port, address, secret)
        self._then = _nothing
        self._question = b""
        self._version_index = 0
        self._key_attempts = 0
        self._keyless = False  # told already
        self._gap = False  # it was silent for long and has answered since

    def retire(self) -> None:
        """The cabinet has another device in its place now. Nothing is shared on this line."""

    def poll(self, now_ms: int) -> None:
        """Go on from where the device or the time has come. A driver whose events nobody takes asks nothing more."""
        self._now_ms = now_ms
        link = self.link
        link.poll(now_ms)
        state = link.state
        if state == DONE:
            answer = link.take()
            if answer is None:
                self._break()
            elif answer[0] == KEY_NOT_SET:
                self._set_keys()
            else:
                self._then(answer)
        elif state == IDLE:
            if self._timer is not None and now_ms >= self._wake_ms and self._events.room() >= ROOM:
                timer, self._timer = self._timer, None
                timer()
        elif self.online and link.silent_ms(now_ms) > OFFLINE_MS:
            self._go_offline()
            self._gap = True

    def _ask(self, data: bytes, then, plain: bool = False) -> None:
        self._then = then
        self._question = data
        self.link.ask(data, plain)

    def _break(self) -> None:
        """No answer to the end: the chain of sequence bits is broken, and keys are worth nothing any more."""
        self._go_offline()
        if self.link.secret is not None:
            self.link.secret.forget()
        self._lost_touch()
        self._pause(SEARCH_MS, self._identify)

    def _lost_touch(self) -> None:
        """What the driver believed of the device is uncertain from here on."""

    # Identification.

    def _identify(self) -> None:
        self._gap = False
        self._key_attempts = 0
        self._version_index = 0
        self._ask(SYNC, self._synced, plain=True)

    def _synced(self, answer: bytes) -> None:
        self._ask_version()

    def _ask_version(self) -> None:
        self._ask(bytes((0x06, VERSIONS[self._version_index])), self._got_version)

    def _got_version(self, answer: bytes) -> None:
        """The highest version that it takes; one that takes none of them says in its setup what it speaks."""
        if answer[0] == OK:
            self.version = VERSIONS[self._version_index]
        else:
            self._version_index += 1
            if self._version_index < len(VERSIONS):
                self._ask_version()
                return
            self.version = 0
        self._ask(_SERIAL, self._got_serial)

    def _got_serial(self, answer: bytes) -> None:
        """Four bytes, most significant first."""
        if answer[0] != OK or len(answer) < 5:
            self._pause(SEARCH_MS, self._identify)
            return
        serial = int.from_bytes(answer[1:5], "big")
        if serial != self.serial:
            self._go_offline()  # another device stands there
        self.serial = serial
        self._ask(_SETUP, self._got_setup)

    def _got_setup(self, answer: bytes) -> None:
        """A driver goes on from here."""
        self._come_online()

    # Keys.

    def _set_keys(self) -> None:
        """It wants encrypted packets: agree on keys, then ask the same again."""
        secret = self.link.secret
        self._key_attempts += 1
        if secret is None or self._key_attempts > KEY_ATTEMPTS:
            self._go_offline()
            self._lost_touch()
            if not self._keyless:
                self._keyless = True
                self._events.push(("fault", "key"))
            self._pause(KEYLESS_MS, self._identify)
            return
        question, then = self._question, self._then
        own = secret.begin()

        def exchanged(answer: bytes) -> None:
            if answer[0] != OK or len(answer) < 9:
                self._pause(SEARCH_MS, self._identify)
                return
            secret.agree(int.from_bytes(answer[1:9], "little"))
            self._ask(question, then, plain=question == SYNC)

        def modulus_set(answer: bytes) -> None:
            self._ask(figure(KEY_EXCHANGE, own), exchanged, plain=True)

        def generator_set(answer: bytes) -> None:
            self._ask(figure(SET_MODULUS, MODULUS), modulus_set, plain=True)

        self._ask(figure(SET_GENERATOR, GENERATOR), generator_set, plain=True)
