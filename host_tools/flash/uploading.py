"""One transfer of an image: which piece next, how large, how long to wait, and whether what arrived is what was sent."""

import hashlib
import zlib
from dataclasses import dataclass
from typing import Any, Final, Protocol

from smp.header import Version
from smpclient.generics import error, success
from smpclient.requests.image_management import ImageUploadWrite

from host_tools.cabinet import exits
from host_tools.flash.cabinet_group import UNSUPPORTED, CheckWrite
from host_tools.flash.failure import FlashError, reason
from host_tools.flash.link import Link, Unplugged

ASK_S: Final = 2.0  # for the answer that says where to begin: a slot may have to be erased
SOON_AGAIN: Final = 5  # questions after which that answer is either soon there or lost
AGAIN_S: Final = 0.2
VERDICT_S: Final = 4.0  # for the answer to the last piece, which waits for the verdict
LEAST_BYTES: Final = 24  # of a piece, on the worst of lines: with each less, most of a frame is no image
GROW_AFTER: Final = 8  # pieces in a row that arrived
SPARE_S: Final = 0.15  # of the first answers; then what answers take
LEAST_SPARE_S: Final = 0.05
IMPATIENT: Final = 0.4  # of it behind a loss: on a bad line nearly all of the time is waiting for what never comes
CHECK_BYTES: Final = 4096  # compared with one question
MOST_DAMAGED: Final = 5  # times in a row that the same part is not what was sent: the memory does not keep it
CORRUPT: Final = 9  # mcumgr's MGMT_ERR_ECORRUPT: the image was judged


@dataclass
class Transfer:
    """How an upload went. retries: pieces that were asked for again; replugs: how often the line came back.

    damaged: parts that had arrived otherwise than they were sent, and came again; restarts: whole images of which that was so
    """

    total: int
    began_at: int = 0  # bytes that were there already
    offset: int = 0
    seconds: float = 0.0  # until the last byte was on the line
    verdict_s: float = 0.0  # then, until the cabinet had judged the whole
    retries: int = 0
    replugs: int = 0
    restarts: int = 0
    damaged: int = 0
    pieces: int = 0

    @property
    def rate(self) -> float:
        """Bytes of the image a second."""
        return (self.offset - self.began_at) / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class Refusal:
    """Why the device does not take an image that it has whole."""

    why: str

    @property
    def damaged(self) -> bool:
        """It may have been damaged on the way: then it is sent again."""
        return "hash" in self.why or "truncated" in self.why


class Peer(Protocol):
    """A device at the end of a line that may go and come back."""

    link: Link
    patience_s: float

    def request(self, request: Any, spare_s: float) -> Any:
        """The answer, an error too. Errors: TimeoutError, Unplugged."""
        ...

    def replug(self) -> None:
        """Waits until the line is there again. Errors: FlashError."""
        ...

    def told(self, answer: Any) -> Any:
        """The answer. Errors: FlashError when it is a refusal."""
        ...

    def on_progress(self, transfer: Transfer, /) -> None: ...


class Upload:
    """An image on its way into the free slot of `peer`. What happens is told in `transfer`.

    Where something gets lost, something else may get through damaged: 16 bits of CRC take one damaged frame of 65,536 for whole.
    So behind a loss, and behind an upload that was broken off, what is there is compared, part by part, before it goes on.
    """

    def __init__(self, peer: Peer, data: bytes, transfer: Transfer) -> None:
        self._peer = peer
        self._data = data
        self._transfer = transfer
        self._name = hashlib.sha256(data).digest()
        self._most = peer.link.max_unencoded_size - 80  # of header and map
        self._piece = self._most
        self._in_a_row = 0
        self._offset = -1  # where the next piece begins, as the device says; -1: it has to be asked
        self._checked = 0  # what is there up to here need not be compared any more
        self._doubt = False
        self._can_check = True
        self._damaged = 0  # times in a row that the part from _checked on was not what was sent
        self._spare_s = SPARE_S
        self._began_s = self._moved_s = peer.link.wire.now_s()

    def run(self) -> Refusal | None:
        """To the end. Returns None, or how the image was judged. Errors: FlashError."""
        begun = False
        while self._offset < len(self._data):
            request = self._next()
            data = getattr(request, "data", b"")
            last = self._offset >= 0 and self._offset + len(data) == len(self._data)
            sent_s = self._now_s()
            line_s = self._peer.link.line_s(request.BYTES)
            try:
                answer: Any = self._peer.request(request, self._patience_s(last))
            except (TimeoutError, Unplugged) as fault:
                self._lost(isinstance(fault, Unplugged))
                continue
            if isinstance(request, CheckWrite):
                self._compared(request, answer)
                continue
            if error(answer) and getattr(answer, "rc", None) == CORRUPT:
                return Refusal(reason(answer))
            told = self._peer.told(answer)
            if self._offset > 0 or last:
                self._learn(self._now_s() - sent_s - line_s)
            if not begun:
                begun, self._transfer.began_at = True, told.off
                self._doubt = self._doubt or told.off > 0
            self._arrived(told.off)
            if last:
                self._transfer.seconds = sent_s + line_s - self._began_s
                self._transfer.verdict_s = self._now_s() - self._began_s - self._transfer.seconds
            self._peer.on_progress(self._transfer)
        return None

    def _now_s(self) -> float:
        return self._peer.link.wire.now_s()

    def _next(self) -> Any:
        """What is asked next."""
        begin = max(self._offset, 0)
        data = self._data[begin : begin + self._piece] if self._offset >= 0 else b""
        unchecked = self._offset - self._checked
        due = unchecked >= CHECK_BYTES or begin + len(data) == len(self._data)
        if self._doubt and self._can_check and unchecked > 0 and due:
            part = self._data[self._checked : self._checked + min(unchecked, CHECK_BYTES)]
            return CheckWrite(version=Version.V1, off=self._checked, len=len(part), crc=zlib.crc32(part))
        if begin:
            return ImageUploadWrite(version=Version.V1, off=begin, data=data)
        return ImageUploadWrite(version=Version.V1, off=0, data=data, len=len(self._data), sha=self._name)

    def _patience_s(self, last: bool) -> float:
        if last:
            return VERDICT_S if self._in_a_row else AGAIN_S
        if self._offset < 0:
            return ASK_S if self._transfer.retries < SOON_AGAIN else AGAIN_S
        return self._spare_s if self._in_a_row else IMPATIENT * self._spare_s

    def _learn(self, spare_s: float) -> None:
        """How long answers take besides the line: four times that is patience enough."""
        self._spare_s = max(LEAST_SPARE_S, 0.875 * self._spare_s + 0.125 * 4 * spare_s)

    def _lost(self, unplugged: bool) -> None:
        """A question, or its answer."""
        self._transfer.retries += 1
        self._in_a_row = 0
        self._piece = max(self._piece // 2, LEAST_BYTES)
        self._doubt = True
        if unplugged:
            self._peer.replug()
            self._transfer.replugs += 1
            self._offset = -1  # it may have lost its power meanwhile
        elif self._now_s() - self._moved_s > self._peer.patience_s:
            there = f"{self._transfer.offset} of {self._transfer.total} bytes are there"
            raise FlashError(
                exits.BROKEN_OFF,
                f"nothing arrives for {self._peer.patience_s:.0f} s; {there}",
                "check the line, then run the same command again: it goes on where it broke off",
            ) from None

    def _arrived(self, offset: int) -> None:
        """The device says where the next piece begins."""
        self._transfer.pieces += 1
        self._in_a_row += 1
        if self._in_a_row >= GROW_AFTER:
            self._in_a_row, self._piece = 1, min(self._piece * 2, self._most)
        self._move(offset)
        if not self._doubt and offset - self._checked >= 2 * CHECK_BYTES:
            self._checked += CHECK_BYTES  # nothing is lost on this line
        self._transfer.seconds = self._now_s() - self._began_s

    def _move(self, offset: int) -> None:
        if offset != self._offset:
            self._moved_s = self._now_s()
        self._offset = self._transfer.offset = offset
        self._checked = min(self._checked, offset)

    def _compared(self, request: CheckWrite, answer: Any) -> None:
        if not success(answer) and getattr(answer, "rc", None) == UNSUPPORTED:
            self._can_check = False  # the hash will tell, at the end
            return
        told = self._peer.told(answer)
        if told.off == self._offset:
            self._checked, self._damaged = request.off + request.len, 0
            self._moved_s = self._now_s()
            self._doubt = self._checked < self._offset
        else:
            self._transfer.damaged += 1
            self._damaged += 1
            if self._damaged >= MOST_DAMAGED:
                raise FlashError(
                    exits.NOT_VALID,
                    f"from byte {request.off} on the cabinet does not keep what is written",
                    "the image before still runs; the memory of its slots is damaged: see to the board",
                )
            self._move(told.off)
