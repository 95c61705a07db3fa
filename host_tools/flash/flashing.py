"""A new application into a cabinet over its console line, and the verbs around it: what to ask, when to ask again, when to stop.

Whoever calls gives a way to open the line, so that the same steps run over a serial port and, in tests, over a rig's line in
virtual time. The device's word counts, never what was sent: where a piece belongs, which slot it went to, and whether the
whole is valid are answers.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from smp.header import Version
from smp.image_management import ImageState
from smpclient import SMPClient
from smpclient.generics import error, success
from smpclient.requests.image_management import ImageErase, ImageStatesRead, ImageStatesWrite
from smpclient.requests.os_management import MCUMgrParametersRead, OSApplicationInfoRead, ResetWrite

from firmware.update import image as images
from host_tools.cabinet import exits
from host_tools.flash.failure import FlashError, reason
from host_tools.flash.link import Link, Unplugged, Wire
from host_tools.flash.uploading import Transfer, Upload

PATIENCE_S: Final = 60.0  # without any progress
ASK_S: Final = 2.0  # for an answer to a question that changes nothing
SOON_AGAIN: Final = 5  # questions after which the answer is either soon there or lost
ASK_TIMES: Final = 15
LOUD_S: Final = 300.0  # on a bad line: a list of images has 300 bytes, all of which have to arrive
AGAIN_S: Final = 0.2
JUDGE_S: Final = 60.0  # until a board that did not wait for it has the verdict
BOOT_S: Final = 30.0  # from a reset to the first answer
REOPEN_S: Final = 0.5
TRANSFERS: Final = 3  # damage that 16 bits of CRC did not show costs a whole one
PROGRAM: Final = "cabinet"  # what a cabinet calls itself

# Their errors are told here in other words, and a request of version 1 is no cause for a warning.
for _name in ("smp", "smpclient"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


@dataclass(frozen=True)
class Identity:
    """What the device says of itself."""

    program: str
    name: str
    version: str
    board: str


@dataclass(frozen=True)
class NewImage:
    """An image file. hash: what the device lists it by."""

    data: bytes
    hash: bytes
    version: str
    board: str

    @classmethod
    def of(cls, data: bytes) -> "NewImage":
        """The image in `data`. Errors: firmware.update.image.ImageError when it is none."""
        found = images.parse(data)
        return cls(data, found.hash, found.version, found.board)


class Cabinet:
    """A cabinet at the other end of a line.

    open_wire: opens the line. Errors: Unplugged. patience_s: how long nothing may go on before it is given up
    on_text: what its console prints meanwhile; on_progress: after each piece
    """

    def __init__(
        self,
        open_wire: Callable[[], Wire],
        patience_s: float = PATIENCE_S,
        on_text: Callable[[str], None] = lambda line: None,
        on_progress: Callable[[Transfer], None] = lambda transfer: None,
    ) -> None:
        self._open_wire = open_wire
        self.patience_s = patience_s
        self._on_text = on_text
        self.on_progress = on_progress
        self._answered = False
        self.link, self._client = self._open()
        self.identity: Identity | None = None

    def _open(self) -> tuple[Link, SMPClient]:
        try:
            link = Link(self._open_wire(), self._on_text)
        except Unplugged as fault:
            raise FlashError(
                exits.NO_PORT,
                f"the port cannot be opened: {fault}",
                "check name, cable and that no other program has it",
            ) from None
        return link, SMPClient(link, "")

    def close(self) -> None:
        self.link.wire.close()

    # --- questions -----------------------------------------------------------------------------------------------

    def request(self, request: Any, spare_s: float) -> Any:
        """The answer, an error too. Errors: TimeoutError, Unplugged."""
        self.link.timeout_s = self.link.line_s(request.BYTES) + spare_s
        answer = asyncio.run(self._client.request(request))
        self._answered = True
        return answer

    def ask(self, make: Callable[[], Any], spare_s: float = ASK_S) -> Any:
        """The answer to a question that may be asked more than once. Errors: FlashError.

        Who has answered before is there, and the line is what is bad: then it is asked for a long time.
        """
        wire = self.link.wire
        end_s = wire.now_s() + (LOUD_S if self._answered else 0)
        tries = 0
        while tries < ASK_TIMES or wire.now_s() < end_s:
            tries += 1
            try:
                return self.request(make(), spare_s if tries < SOON_AGAIN else AGAIN_S)
            except TimeoutError:
                continue
            except Unplugged:
                self.replug()
                wire = self.link.wire
        raise FlashError(
            exits.NO_ANSWER,
            "nothing on this line speaks SMP",
            "check that the port is the console of a cabinet that is switched on, at 115200 baud",
        )

    def told(self, answer: Any) -> Any:
        """The answer. Errors: FlashError when it is a refusal."""
        if error(answer):
            raise FlashError(
                exits.REFUSED,
                f"the cabinet refuses: {reason(answer)}",
                "nothing was changed; remove the cause and repeat",
            )
        assert success(answer)
        return answer

    def identify(self) -> Identity:
        """Who is there. Errors: FlashError, NO_ANSWER when it is no cabinet."""
        parameters = self.ask(lambda: MCUMgrParametersRead(), spare_s=0.5)
        if success(parameters):
            self.link.initialize(parameters.buf_size)
        fields = [
            self.told(self.ask(lambda letter=letter: OSApplicationInfoRead(format=letter))).output for letter in "snvi"
        ]
        self.identity = Identity(*fields)
        if self.identity.program != PROGRAM:
            raise FlashError(
                exits.NO_ANSWER,
                f"this is no cabinet but {self.identity.program!r} on {self.identity.board!r}",
                "name the port of the cabinet's console",
            )
        return self.identity

    def images(self) -> list[ImageState]:
        return self.told(self.ask(lambda: ImageStatesRead(version=Version.V1))).images

    def test(self, hash_: bytes) -> None:
        """The image is started once, at the next reset."""
        self.told(self.ask(lambda: ImageStatesWrite(version=Version.V1, hash=hash_)))

    def confirm(self) -> None:
        """What runs is to stay."""
        self.told(self.ask(lambda: ImageStatesWrite(version=Version.V1, confirm=True)))

    def go_back_to(self, hash_: bytes) -> None:
        """The image before the one that runs is started at the next reset."""
        self.told(self.ask(lambda: ImageStatesWrite(version=Version.V1, hash=hash_, confirm=True)))

    def erase(self, slot: int) -> None:
        self.told(self.ask(lambda: ImageErase(version=Version.V1, slot=slot)))

    def reset(self) -> list[ImageState]:
        """Restarts the cabinet and waits for it; the images afterwards."""
        self.told(self.ask(lambda: ResetWrite(version=Version.V1)))
        wire = self.link.wire
        end_s = wire.now_s() + BOOT_S
        wire.pause(1.0)  # it still answers a moment
        while True:
            try:
                answer = self.request(ImageStatesRead(version=Version.V1), 0.5)
                return self.told(answer).images
            except TimeoutError:
                pass
            except Unplugged:
                self.replug()
                wire = self.link.wire
            if wire.now_s() > end_s:
                raise FlashError(
                    exits.NO_ANSWER,
                    f"the cabinet has not answered for {BOOT_S:.0f} s since its reset",
                    "look at its console; an image that hangs is left again by itself: switch off and on if need be",
                )

    def replug(self) -> None:
        """Waits until the line is there again. Errors: FlashError."""
        wire = self.link.wire
        wire.close()
        end_s = wire.now_s() + self.patience_s
        buffer_bytes = self.link.mtu
        while True:
            wire.pause(REOPEN_S)
            try:
                self.link = Link(self._open_wire(), self._on_text)
                break
            except Unplugged as fault:
                if wire.now_s() > end_s:
                    raise FlashError(
                        exits.BROKEN_OFF,
                        f"the port is gone and did not come back within {self.patience_s:.0f} s: {fault}",
                        "plug it in and run the same command again: it goes on where it broke off",
                    ) from None
        self.link.initialize(buffer_bytes)
        self._client = SMPClient(self.link, "")

    # --- an upload ---------------------------------------------------------------------------------------------------

    def upload(self, image: NewImage) -> Transfer:
        """Brings the image into the free slot; what of it is there already is not sent again. Errors: FlashError."""
        transfer = Transfer(len(image.data))
        for left in reversed(range(TRANSFERS)):
            refusal = Upload(self, image.data, transfer).run()
            if refusal is None:
                break
            if not left or not refusal.damaged:
                raise FlashError(
                    exits.NOT_VALID,
                    f"the cabinet judged the image and does not take it: {refusal.why}",
                    "the image before still runs; build and sign the image anew for this cabinet, then flash that",
                )
            transfer.restarts += 1
        if not self._lists(image.hash):
            raise FlashError(
                exits.NOT_VALID,
                "the cabinet does not list the image that was sent",
                "the image before still runs; repeat",
            )
        return transfer

    def _lists(self, hash_: bytes) -> bool:
        """Whether the cabinet lists it. A slow board answers the last piece before it has judged the whole."""
        wire = self.link.wire
        end_s = wire.now_s() + JUDGE_S
        while not any(bytes(state.hash or b"") == hash_ for state in self.images()):
            if wire.now_s() > end_s:
                return False
            wire.pause(REOPEN_S)
        return True


def same_board(image: NewImage, identity: Identity) -> None:
    """Errors: FlashError, WRONG_BOARD."""
    if image.board != identity.board:
        raise FlashError(
            exits.WRONG_BOARD,
            f"the image is for board {image.board!r}, this cabinet is a {identity.board!r}",
            f"nothing was written; take the image for {identity.board!r}, or name the port of the other cabinet",
        )
