"""Update server on the console line: SMP (mcumgr), groups os and image and one of ours, versions 1 and 2.

A message is 8 bytes of header (operation and version, flags, length, group, sequence, command) and a CBOR map. Whoever
asks waits for the answer; an answer repeats the sequence number. What is asked twice, since an answer was lost, is
done once: an upload always answers with the place where it goes on.

Nothing here decides what may run. Slots (slots.py) hold, judge and choose images; `allowed` says whether credit, an open
round or money owed stand in the way (CAB-PRG rules). A refusal carries its reason in words where the version of
the protocol has room for it (version 1), and as a line for people on the console.
"""

import struct

import native
from firmware.update import cbor, framing
from firmware.update.image import HEADER_BYTES

BUFFER_BYTES = 2048  # as mcumgr counts: a message and 4 bytes of its frame
BUFFERS = 1
REPLIES = 4  # waiting for the line; who asks more without listening is not answered
# The last piece of an image is answered when the image has been judged, unless that takes longer than peers wait.
PATIENCE_MS = 1200
RESET_MS = 250  # from a reset's answer to the reset: the line carries some hundred bytes first
QUIET_MS = 2000  # so long after a frame what looks like a mistyped command is taken for a damaged frame
_ECHO_BYTES = 1024
_ABOUT_BYTES = 1024  # of an image's own account of itself, in one answer
_CHECK_BYTES = 4096  # compared with one checksum
_NAME_BYTES = 8  # of an upload's SHA-256, by which it is known again behind a reset

_HEADER = ">BBHHBB"
_HEADER_BYTES = 8
_READ, _WRITE = 0, 2
_OS, _IMAGE = 0, 1
_CABINET = 0xCAB  # ours; mcumgr leaves 64 and above to whoever makes a device

# What any group can answer (mcumgr's MGMT_ERR_...).
UNKNOWN, TOO_LARGE, INVALID, NOT_THERE, BAD_STATE, UNSUPPORTED, CORRUPT, BUSY, DENIED = 1, 2, 3, 5, 6, 8, 9, 10, 11
TOO_NEW = 13

# What the group image can answer in version 2 (IMG_MGMT_ERR_...), with what version 1 says instead.
_V1 = {3: NOT_THERE, 9: BAD_STATE, 14: INVALID, 20: INVALID, 21: INVALID, 24: CORRUPT, 30: TOO_LARGE, 31: INVALID}
_V1[32] = _V1[33] = BAD_STATE
NO_IMAGE, NO_FREE_SLOT, INVALID_SLOT, NO_OFFSET, NO_LENGTH, BAD_IMAGE, IMAGE_TOO_LARGE, OVERRUN = (
    3,
    9,
    14,
    20,
    21,
    24,
    30,
    31,
)
NO_CONFIRMATION, NO_TEST = 32, 33


class Refused(Exception):
    """The answer is an error. code: of all groups, or with `image` of the group image."""

    def __init__(self, code: int, reason: str, image: bool = False):
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.image = image


def _bytes(values: dict, name: str) -> bytes:
    """The bytes of that name, b"" if there are none."""
    value = values.get(name)
    if value is None:
        return b""
    if not isinstance(value, memoryview):
        raise Refused(INVALID, "%s: bytes" % name)
    return bytes(value)


class NoSlots:
    """A board that keeps no application in slots."""

    SIZE = 0
    running = -1

    def image(self, slot: int):
        return None


class Target:
    """What the server works on, besides slots.

    board: identity of the board, as images name it; name: of this cabinet; version: of what runs
    allowed(): "", or why nothing may be changed now; reset(): restarts; say(line): tells people
    """

    board = ""
    name = ""
    version = ""

    def allowed(self) -> str:
        return ""

    def reset(self) -> None:
        pass

    def say(self, line: str) -> None:
        pass


class Server:
    """Answers what arrives on a line; replies are taken from `replies`, each as the whole lines of one frame."""

    def __init__(self, slots, target):
        self.replies = []
        self.receiver = framing.Receiver(BUFFER_BYTES - 4, self._message)
        self._slots = slots
        self._target = target
        self._now_ms = 0
        self._heard_ms = -QUIET_MS
        self._reset_ms = -1  # when the board is to be reset, -1: never
        # The upload: slot it goes to (-1: there is none), bytes of the image, the peer's name of it, bytes that are there.
        self._slot, self._size, self._sha, self._offset = -1, 0, b"", 0
        self._judging = None  # a generator, while a complete image is judged
        self._verdict = ""
        self._waiting = None  # who asked with the last piece: the answer waits for the verdict
        self._judged_ms = 0

    def take(self, data: bytes, now_ms: int) -> bytes:
        """What has arrived on the line. Returns what of it is text."""
        self._now_ms = now_ms
        begun = self.receiver.begun
        text = self.receiver.take(data)
        if self.receiver.begun != begun:
            self._heard_ms = now_ms
        return text

    def talking(self, now_ms: int) -> bool:
        """Frames have come just now."""
        return now_ms - self._heard_ms < QUIET_MS

    def poll(self, now_ms: int) -> None:
        self._now_ms = now_ms
        if self._judging is not None:
            self._judge()
        if self._waiting is not None and (self._judging is None or now_ms - self._judged_ms >= PATIENCE_MS):
            self._answer_last()
        if 0 <= self._reset_ms <= now_ms:
            self._reset_ms = -1
            self._target.reset()

    # --- messages ------------------------------------------------------------------------------------------------------

    def _message(self, message) -> None:
        if len(message) < _HEADER_BYTES:
            self.receiver.bad += 1
            return
        first, _, length, group, sequence, command = struct.unpack(_HEADER, message[:_HEADER_BYTES])
        operation, version = first & 7, first >> 3 & 3
        if operation not in (_READ, _WRITE) or length != len(message) - _HEADER_BYTES:
            self.receiver.bad += 1  # also what a line echoes of our own answers
            return
        if len(self.replies) >= REPLIES:
            return
        asked = (operation, version, group, sequence, command)
        try:
            if version > 1:
                raise Refused(TOO_NEW, "this server speaks versions 1 and 2 of SMP")
            handler = _HANDLERS.get((group, command, operation))
            if handler is None:
                raise Refused(UNSUPPORTED, "this cabinet has no such command")
            try:
                values = cbor.read_map(message[_HEADER_BYTES:])
            except ValueError as error:
                raise Refused(INVALID, "the request cannot be read: %s" % error)  # noqa: B904 - the boards know no `from`
            told = handler(self, values, asked)
        except Refused as refused:
            self._refuse(asked, refused)
            return
        if told is not None:
            self._reply(asked, told)

    def _reply(self, asked, values: dict) -> None:
        operation, version, group, sequence, command = asked
        body = cbor.write(values)
        head = struct.pack(_HEADER, version << 3 | operation + 1, 0, len(body), group, sequence, command)
        self.replies.append(framing.lines(head + body))

    def _refuse(self, asked, refused) -> None:
        version, group = asked[1], asked[2]
        if not refused.image:
            values = {"rc": refused.code, "rsn": refused.reason}
        elif version == 0:
            values = {"rc": _V1.get(refused.code, UNKNOWN), "rsn": refused.reason}
        else:
            values = {"err": {"group": group, "rc": refused.code}}
        self._target.say("update: %s" % refused.reason)
        self._reply(asked, values)

    def _change(self) -> None:
        """Refused while nothing may be changed: `allowed` says why."""
        why = self._target.allowed()
        if why:
            raise Refused(BAD_STATE, why)
        if self._slots.SIZE <= 0:
            raise Refused(UNSUPPORTED, "this board keeps no application in slots")

    # --- group os ------------------------------------------------------------------------------------------------------

    def _echo(self, values: dict, asked) -> dict:
        text = values.get("d", "")
        if not isinstance(text, str) or len(text.encode()) > _ECHO_BYTES:
            raise Refused(INVALID, "d: a text of at most %d bytes" % _ECHO_BYTES)
        return {"r": text}

    def _reset(self, values: dict, asked) -> dict:
        why = self._target.allowed()
        if why:
            raise Refused(BUSY, why)
        if self._judging is not None:
            raise Refused(BUSY, "an image is being judged; ask again")
        self._reset_ms = self._now_ms + RESET_MS
        return {}

    def _parameters(self, values: dict, asked) -> dict:
        return {"buf_size": BUFFER_BYTES, "buf_count": BUFFERS}

    def _info(self, values: dict, asked) -> dict:
        """Letters as mcumgr's: s program, n name of the cabinet, r and v its version, m and p processor, i board, o system."""
        wanted = values.get("format", "s")
        target = self._target
        fields = (
            ("s", "cabinet"),
            ("n", target.name),
            ("r", target.version),
            ("v", target.version),
            ("m", target.board),
            ("p", target.board),
            ("i", target.board),
            ("o", "MicroPython"),
        )
        if not isinstance(wanted, str):
            raise Refused(INVALID, "format: letters of s n r v m p i o, or a for all")
        known = [letter for letter, _ in fields]
        for letter in wanted:
            if letter != "a" and letter not in known:
                raise Refused(INVALID, "format: letters of s n r v m p i o, or a for all")
        return {"output": " ".join([value for letter, value in fields if letter in wanted or "a" in wanted])}

    # --- group image ---------------------------------------------------------------------------------------------------

    def _states(self, values: dict, asked) -> dict:
        found = []
        for slot in (0, 1):
            image = self._slots.image(slot)
            if image is None:
                continue
            told = {"slot": slot, "version": image.version, "hash": image.hash}
            for flag in ("bootable", "pending", "confirmed", "active", "permanent"):
                if getattr(image, flag):
                    told[flag] = True  # what is not said is false, and a bad line likes short answers
            found.append(told)
        return {"images": found}

    def _set_state(self, values: dict, asked) -> dict:
        """Without `confirm`: the image is to be tried. With it: what runs is good; of another image, back to that one."""
        self._change()
        if self._judging is not None:
            raise Refused(BUSY, "an image is being judged; ask again")
        wanted, confirm = _bytes(values, "hash"), values.get("confirm", False)
        running = self._slots.image(self._slots.running) if self._slots.running >= 0 else None
        if not wanted:
            if not confirm:
                raise Refused(BAD_IMAGE, "say which image: its hash is missing", True)
            if running is None:
                raise Refused(NO_IMAGE, "no image in a slot runs, so there is none to confirm", True)
            wanted = running.hash
        if self._image_of(wanted) is None:
            raise Refused(NO_IMAGE, "no slot holds an image with this hash; list them", True)
        if not confirm:
            why, code = self._slots.test(wanted), NO_TEST
        elif running is not None and wanted == running.hash:
            why, code = self._slots.confirm(wanted), NO_CONFIRMATION
        else:
            why, code = self._slots.revert(), NO_CONFIRMATION
        if why:
            raise Refused(code, why, True)
        return self._states(values, asked)

    def _image_of(self, wanted: bytes):
        for slot in (0, 1):
            image = self._slots.image(slot)
            if image is not None and bytes(image.hash) == wanted:
                return image
        return None

    def _erase(self, values: dict, asked) -> dict:
        self._change()
        if self._judging is not None:
            raise Refused(BUSY, "an image is being judged; ask again")
        slot = values.get("slot")
        if slot is None:
            slot = 1 if self._slots.running == 0 else 0
        if slot not in (0, 1):
            raise Refused(INVALID_SLOT, "there are slots 0 and 1", True)
        if slot == self._slot:
            self._slot = -1
        why = self._slots.erase(slot)
        if why:
            raise Refused(NO_FREE_SLOT, why, True)
        return {}

    def _upload(self, values: dict, asked):
        """A piece of an image. The answer is where the next one begins, whatever came (so an upload resumes)."""
        offset, data = values.get("off"), values.get("data", b"")  # data is a view: the only bytes that are many
        if not isinstance(offset, int) or offset < 0:
            raise Refused(NO_OFFSET, "off: where the piece belongs", True)
        if not isinstance(data, (memoryview, bytes)):
            raise Refused(INVALID, "data: the bytes of the piece")
        if offset == 0:
            self._begin_upload(values)
        if self._slot < 0:
            if self._verdict:
                raise Refused(BAD_IMAGE, self._verdict, True)  # asked again: the answer was lost
            return {"off": 0}
        if offset != self._offset:
            if self._judging is None:
                return {"off": self._offset}
            self._waiting = asked
            return None
        if len(data) > self._size - offset:
            raise Refused(OVERRUN, "more bytes than the image was said to have", True)
        if data:
            self._change()
            why = self._slots.write(self._slot, offset, data)
            if why:
                self._slot = -1
                raise Refused(UNKNOWN, why)
            self._offset = offset + len(data)
        if self._offset < self._size:
            return {"off": self._offset}
        if self._judging is None:
            self._judging = self._slots.finish(self._slot)
            self._verdict = ""
            self._judged_ms = self._now_ms
        self._waiting = asked
        return None

    def _begin_upload(self, values: dict) -> None:
        """The first piece: a new image, or one of which some is there already."""
        size, sha = values.get("len"), _bytes(values, "sha")
        if not isinstance(size, int) or size <= 0:
            raise Refused(NO_LENGTH, "len: bytes of the image", True)
        if values.get("image", 0) not in (0, 1):  # the one application; tools that count slots say 1
            raise Refused(INVALID_SLOT, "image: this cabinet has one application, 0", True)
        if self._slot >= 0 and size == self._size and sha == self._sha and (sha or self._offset == 0):
            return  # it goes on
        if self._judging is not None:
            raise Refused(BUSY, "an image is being judged; ask again")
        self._change()
        if size > self._slots.SIZE:
            raise Refused(IMAGE_TOO_LARGE, "%d bytes, and a slot has %d" % (size, self._slots.SIZE), True)
        self._slot, self._verdict = -1, ""
        slot = self._begin(size, sha[:_NAME_BYTES])
        self._slot, self._size, self._sha, self._offset = slot, size, sha, self._slots.written(slot)

    def _begin(self, size: int, name: bytes) -> int:
        """The slot that the upload goes to. Of what a reset interrupted there may be some in it already."""
        if name:
            for slot in (0, 1):
                if self._slots.writing(slot) == (size, name):
                    return slot
        why = ""
        for slot in (0, 1):
            if slot != self._slots.running:
                why = self._slots.begin(slot, size, name)
                if not why:
                    return slot
        raise Refused(NO_FREE_SLOT, why, True)

    def _judge(self) -> None:
        """One step of the verdict on a complete image."""
        try:
            next(self._judging)  # pyright: ignore[reportArgumentType] - called only while there is one
        except StopIteration as done:
            self._judging, self._verdict = None, done.value
        else:
            return
        if self._verdict:
            self._slot = -1  # it has to come anew
            if self._waiting is None:
                self._target.say("update: %s" % self._verdict)

    def _answer_last(self) -> None:
        asked, self._waiting = self._waiting, None
        if len(self.replies) >= REPLIES:
            return
        if self._verdict:
            self._refuse(asked, Refused(BAD_IMAGE, self._verdict, True))
        else:
            self._reply(asked, {"off": self._size})

    # --- group cabinet -------------------------------------------------------------------------------------------------

    def _about(self, values: dict, asked) -> dict:
        """A piece of what the image in a slot says of itself: its header, then its TLVs, without the payload between them."""
        slot, offset, most = values.get("slot"), values.get("off", 0), values.get("most", _ABOUT_BYTES)
        if slot not in (0, 1) or not isinstance(offset, int) or not isinstance(most, int):
            raise Refused(INVALID, "slot: 0 or 1; off: where the piece begins; most: bytes of it")
        image = self._slots.image(slot)
        if image is None:
            raise Refused(NOT_THERE, "slot %d holds no complete image" % slot)
        size = image.size - image.payload
        if not 0 <= offset < size or most <= 0:
            raise Refused(INVALID, "off: within the %d bytes that there are; most: above 0" % size)
        if offset < HEADER_BYTES:
            first, end = offset, HEADER_BYTES
        else:
            first, end = offset + image.payload, image.size
        end = min(end, first + min(most, _ABOUT_BYTES))
        return {"off": offset, "len": size, "data": self._slots.view(slot)[first:end]}

    def _check(self, values: dict, asked) -> dict:
        """Whether a part of an upload is here as it was sent, by its CRC-32; one that is not comes again.

        A frame's 16 bits take one of 65,536 damaged ones for whole, and a bad line damages as many. The answer is an upload's:
        where the next piece begins.
        """
        offset, length, crc = values.get("off"), values.get("len"), values.get("crc")
        if not isinstance(offset, int) or not isinstance(length, int) or not isinstance(crc, int):
            raise Refused(INVALID, "off, len: the part; crc: its CRC-32")
        if offset < 0 or not 0 < length <= _CHECK_BYTES:
            raise Refused(INVALID, "len: 1 to %d, from off on" % _CHECK_BYTES)
        if self._slot < 0:
            return {"off": 0}
        if self._judging is not None or offset + length > self._offset:
            return {"off": self._offset}
        if native.crc32(self._slots.view(self._slot)[offset : offset + length]) != crc:
            self._change()
            why = self._slots.rewind(self._slot, offset)
            if why:
                raise Refused(UNKNOWN, why)
            self._offset = offset
        return {"off": self._offset}


_HANDLERS = {
    (_OS, 0, _WRITE): Server._echo,
    (_OS, 0, _READ): Server._echo,
    (_OS, 5, _WRITE): Server._reset,
    (_OS, 6, _READ): Server._parameters,
    (_OS, 7, _READ): Server._info,
    (_IMAGE, 0, _READ): Server._states,
    (_IMAGE, 0, _WRITE): Server._set_state,
    (_IMAGE, 1, _WRITE): Server._upload,
    (_IMAGE, 5, _WRITE): Server._erase,
    (_CABINET, 0, _READ): Server._about,
    (_CABINET, 1, _WRITE): Server._check,
}
