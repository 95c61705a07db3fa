"""Two application slots and the record that says what is in them. README.md beside this file has the states and why.

Memory: slot 0, slot 1, then STATE_BYTES with two copies of the record. Each change of the record is one write over the older
copy, so that a power cut anywhere leaves the state before or after it.
"""

import struct

import native
from firmware.update import image as images
from firmware.update import trust

STATE_BYTES = 4096
_COPY_BYTES = 64  # apart
MARK_BYTES = 4096  # written between two marks of progress

NONE = 0xFF  # no slot
EMPTY, WRITING, COMPLETE, CONFIRMED = 0, 1, 2, 3
STATUS = ("empty", "writing", "complete", "confirmed")
NO_TRIAL, PENDING, TRIED = 0, 1, 2

# Why a slot was not started, or left again.
NO_FAILURE, INVALID, HUNG, UNCONFIRMED, REVERTED = 0, 1, 2, 3, 4
FAILURES = ("", "it is not valid", "it hung or crashed", "it did not confirm itself", "a technician went back")
TOLD = 0x80  # the failure is in the event log

_VERSION = 1
# Version, active, preferred, trial, phase, status of both, failure of both; sizes, marks, uploads; floor, sequence.
_LAYOUT = "<9B3x2I2I8s8sII"
_BODY_BYTES = struct.calcsize(_LAYOUT)


class State:
    """The record in the words of README.md."""

    def __init__(self):
        self.active = NONE
        self.preferred = NONE
        self.trial = NONE
        self.phase = NO_TRIAL
        self.status = [EMPTY, EMPTY]
        self.failure = [NO_FAILURE, NO_FAILURE]
        self.size = [0, 0]
        self.mark = [0, 0]
        self.upload = [bytes(8), bytes(8)]
        self.floor = 0
        self.sequence = 0

    def pack(self) -> bytes:
        numbers = (_VERSION, self.active, self.preferred, self.trial, self.phase)
        numbers += tuple(self.status) + tuple(self.failure) + tuple(self.size) + tuple(self.mark) + tuple(self.upload)
        numbers += (self.floor, self.sequence)
        body = struct.pack(_LAYOUT, *numbers)
        return body + struct.pack("<I", native.crc32(body))


def unpack(data: bytes):
    """A State, or None when `data` is no valid copy."""
    body = data[:_BODY_BYTES]
    if struct.unpack("<I", data[_BODY_BYTES : _BODY_BYTES + 4])[0] != native.crc32(body):
        return None
    fields = struct.unpack(_LAYOUT, body)
    if fields[0] != _VERSION:
        return None
    state = State()
    state.active, state.preferred, state.trial, state.phase = fields[1:5]
    state.status, state.failure = list(fields[5:7]), list(fields[7:9])
    state.size, state.mark, state.upload = list(fields[9:11]), list(fields[11:13]), list(fields[13:15])
    state.floor, state.sequence = fields[15], fields[16]
    slots = (0, 1, NONE)
    if (
        state.active not in slots
        or state.preferred not in slots
        or state.trial not in slots
        or max(state.status) > CONFIRMED
    ):
        return None
    return state


class Slots:
    """The slots in `memory` (hal.board.SlotMemory) of a board of the name `board`.

    SIZE: bytes of a slot. known: False when neither copy of the record is valid although memory was written: then nothing is
    changed until repair().
    """

    def __init__(self, memory, board: str, keys=trust.KEYS):
        self._memory = memory
        self._board = board
        self._keys = keys
        self.SIZE = (memory.size - STATE_BYTES) // 2
        self._images: list = [None, None]
        self._at = [0, 0]  # of a slot that is being written: the next byte, at or behind its mark
        self._copy = 0  # the next record goes there
        self.state = self._load()

    @property
    def present(self) -> bool:
        """This board has slots."""
        return self.SIZE > 0

    @property
    def running(self) -> int:
        """The slot whose application runs, -1: none of them."""
        return -1 if self.state.active == NONE else self.state.active

    # --- the record ----------------------------------------------------------------------------------------------

    def _load(self) -> State:
        self.known = True
        if not self.present:
            return State()
        copies = [self._memory.read(self._place(copy), _BODY_BYTES + 4) for copy in (0, 1)]
        found = [unpack(data) for data in copies]
        first, second = found
        if second is not None and (first is None or second.sequence > first.sequence):
            state, self._copy = second, 0
        elif first is not None:
            state, self._copy = first, 1
        else:
            self.known = not self._anything()
            return State()
        self._at = list(state.mark)
        return state

    def _place(self, copy: int) -> int:
        return 2 * self.SIZE + copy * _COPY_BYTES

    def _anything(self) -> bool:
        """An image is there although no record tells of it."""
        for slot in (0, 1):
            try:
                images.parse(self.view(slot))
                return True
            except images.ImageError:
                pass
        return False

    def _save(self) -> str:
        """Writes the state, which the caller has changed. "" or why it could not be kept; then the old one is read again."""
        self.state.sequence += 1
        data = self.state.pack()
        place = self._place(self._copy)
        self._memory.write(place, data)
        if not self._memory.holds(place, data):
            self.state = self._load()
            return "the slots' memory does not keep what is written: it has to be replaced"
        self._copy = 1 - self._copy
        return ""

    # --- looking -------------------------------------------------------------------------------------------------

    def view(self, slot: int):
        """The bytes of a slot, in place."""
        return self._memory.view(slot * self.SIZE, self.SIZE)

    def image(self, slot: int):
        """The complete image in a slot, with its flags, or None."""
        state = self.state
        if state.status[slot] < COMPLETE:
            return None
        found = self._images[slot]
        if found is None:
            try:
                found = images.parse(self.view(slot))
            except images.ImageError:
                return None
            self._images[slot] = found
        found.active = slot == state.active
        found.confirmed = state.status[slot] == CONFIRMED
        found.pending = state.trial == slot and state.phase == PENDING
        return found

    def _counter(self, slot: int) -> int:
        """The security counter of its image, -1 without one."""
        found = self.image(slot)
        return -1 if found is None else found.counter

    def find(self, hash_: bytes) -> int:
        """The slot with the image of that hash, -1: none has it."""
        for slot in (0, 1):
            found = self.image(slot)
            if found is not None and found.hash == hash_:
                return slot
        return -1

    def judge(self, slot: int):
        """(Image, "") or (None, why) of a slot, from all of its bytes."""
        if self.state.status[slot] < COMPLETE:
            return None, "slot %d holds no image" % slot
        return images.judge(self.view(slot), self._board, self.state.floor, self._keys)

    def failure(self, slot: int) -> str:
        """Why its image was not started, or left again; "" when nothing is known against it."""
        return FAILURES[self.state.failure[slot] & ~TOLD]

    # --- writing an image ------------------------------------------------------------------------------------------

    def _kept(self, slot: int) -> str:
        """Why a slot must stay as it is."""
        if not self.known:
            return "the slots' record is lost: look at both slots, then say which one counts"
        if slot == self.state.active:
            return "slot %d is running: write the other one" % slot
        if slot == self.state.preferred:
            return "slot %d is what this cabinet goes back to: confirm or roll back the running image first" % slot
        return ""

    def begin(self, slot: int, size: int, upload: bytes = b"") -> str:
        """An image of `size` bytes will be written. upload: what names it, at most 8 bytes, so that it can be resumed.

        The slot is marked before its first byte changes.
        """
        why = self._kept(slot)
        if not why and not 0 < size <= self.SIZE:
            why = "the image has %d bytes, a slot %d: it does not fit" % (size, self.SIZE)
        if why:
            return why
        self._clear(slot, WRITING)
        self.state.size[slot] = size
        self.state.upload[slot] = (upload + bytes(8))[:8]
        return self._save()

    def _clear(self, slot: int, status: int) -> None:
        state = self.state
        state.status[slot], state.failure[slot] = status, NO_FAILURE
        state.size[slot] = state.mark[slot] = self._at[slot] = 0
        state.upload[slot] = bytes(8)
        if state.trial == slot:
            state.trial, state.phase = NONE, NO_TRIAL
        self._images[slot] = None

    def writing(self, slot: int):
        """(bytes that the image has, what names the upload) of a slot that is being written, else (0, b"")."""
        if self.state.status[slot] != WRITING:
            return 0, b""
        return self.state.size[slot], self.state.upload[slot]

    def written(self, slot: int) -> int:
        """Bytes that are there: the next one to write. Behind a power cut it is what surely is there."""
        return self._at[slot] if self.state.status[slot] == WRITING else 0

    def write(self, slot: int, offset: int, data) -> str:
        """The next bytes of an image, `offset` being written(slot)."""
        state = self.state
        if state.status[slot] != WRITING:
            return "slot %d is not being written: begin first" % slot
        if offset != self._at[slot] or len(data) > state.size[slot] - offset:
            return "byte %d comes next, of %d" % (self._at[slot], state.size[slot])
        self._memory.write(slot * self.SIZE + offset, data)
        self._at[slot] = offset + len(data)
        if self._at[slot] - state.mark[slot] < MARK_BYTES:
            return ""
        state.mark[slot] = self._at[slot] - self._at[slot] % MARK_BYTES
        return self._save()

    def rewind(self, slot: int, offset: int) -> str:
        """What was written from there on is not what was sent: it comes again."""
        if not 0 <= offset <= self.written(slot):
            return "of slot %d %d bytes are written" % (slot, self.written(slot))
        mark = offset - offset % MARK_BYTES
        if mark < self.state.mark[slot]:
            self.state.mark[slot] = mark
            why = self._save()
            if why:
                return why
        self._at[slot] = offset
        return ""

    def finish(self, slot: int):
        """Judges the written image piece by piece: yields after each; returns "" or why it is refused."""
        if self.state.status[slot] != WRITING or self._at[slot] != self.state.size[slot]:
            return "slot %d is not written to its end" % slot
        data = self.view(slot)[: self.state.size[slot]]
        why = yield from images.check(data, self._board, self.state.floor, self._keys)
        if not why and images.parse(data).size != len(data):
            why = "there are bytes behind the image"
        self._clear(slot, EMPTY if why else COMPLETE)
        failed = self._save()
        return why or failed

    def erase(self, slot: int) -> str:
        why = self._kept(slot)
        if why:
            return why
        self._clear(slot, EMPTY)
        return self._save()

    # --- which one is started ----------------------------------------------------------------------------------------

    def test(self, hash_: bytes) -> str:
        """The image of that hash is started once, at the next reset."""
        slot = self.find(hash_)
        if slot < 0:
            return "no slot holds that image: list the slots"
        if slot == self.state.active:
            return "that image is running"
        if self.state.phase == TRIED:
            return "the running image is on trial itself: confirm it or roll back first"
        if self._counter(slot) < self.state.floor:
            return "its security counter %d is below %d" % (self._counter(slot), self.state.floor)
        self.state.trial, self.state.phase = slot, PENDING
        self.state.failure[slot] = NO_FAILURE
        return self._save()

    def confirm(self, hash_: bytes) -> str:
        """The running image stays. From now on no image with a lower security counter is started."""
        slot = self.find(hash_)
        if slot < 0 or slot != self.state.active:
            return "only the image that runs can be confirmed: test it, reset, then confirm"
        state = self.state
        if state.preferred == slot and state.phase == NO_TRIAL:
            return ""
        if state.trial == slot:
            state.trial, state.phase = NONE, NO_TRIAL
        state.preferred = slot
        state.status[slot], state.failure[slot] = CONFIRMED, NO_FAILURE
        state.floor = max(state.floor, self._counter(slot))
        return self._save()

    def revert(self) -> str:
        """The next reset starts the image before this one: instead of a trial the preferred one, else the other confirmed."""
        state = self.state
        if state.phase != NO_TRIAL:
            state.failure[state.trial] = REVERTED | TOLD
            state.trial, state.phase = NONE, NO_TRIAL
            return self._save()
        other = 1 - state.preferred if state.preferred != NONE else NONE
        if other == NONE or state.status[other] != CONFIRMED:
            return "there is no other confirmed image to go back to: flash the one that is wanted"
        if self._counter(other) < state.floor:
            return "the other image is older than what may still run: its security counter is below %d" % state.floor
        state.preferred = other
        return self._save()

    def repair(self, slot: int):
        """A technician says which image counts, after the record was lost. Yields and returns as finish()."""
        if self.known:
            return "the slots' record is sound: use test and confirm"
        why = yield from images.check(self.view(slot), self._board, 0, self._keys)
        if not why:
            self.state = State()
            self.state.preferred = slot
            self.state.status[slot] = CONFIRMED
            self.state.floor = images.parse(self.view(slot)).counter
            self.known = True
            why = self._save()
        return why

    # --- the loader's -----------------------------------------------------------------------------------------------

    def started(self, slot: int, trial: bool) -> str:
        """`slot` (-1: none) is about to be started. Written only when it changes something."""
        state = self.state
        active = NONE if slot < 0 else slot
        if state.active == active and not trial:
            return ""
        state.active = active
        if trial:
            state.phase = TRIED
        return self._save()

    def dropped(self, failure: int) -> str:
        """The trial is over without success."""
        state = self.state
        state.failure[state.trial] = failure
        state.trial, state.phase = NONE, NO_TRIAL
        return self._save()

    def fell_back(self, slot: int) -> str:
        """The preferred image is not valid: the other confirmed one takes its place."""
        state = self.state
        state.failure[state.preferred] = INVALID
        state.status[state.preferred] = COMPLETE
        state.preferred = slot
        return self._save()

    def told(self, slot: int) -> str:
        """The failure is in the event log now."""
        self.state.failure[slot] |= TOLD
        return self._save()
