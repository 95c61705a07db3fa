"""The commands of SMP that are a cabinet's own (firmware/update/smp.py), as smpclient's users write them."""

from typing import Final

from smp import error, message

GROUP: Final = 0xCAB
UNSUPPORTED: Final = 8  # mcumgr's MGMT_ERR_ENOTSUP: the firmware is too old


class _ErrorV1(error.ErrorV1):
    _GROUP_ID = GROUP


class _ErrorV2(error.ErrorV2[error.MGMT_ERR]):
    _GROUP_ID = GROUP


class _AboutResponse(message.ReadResponse):
    _GROUP_ID = GROUP
    _COMMAND_ID = 0

    off: int
    len: int
    data: bytes


class AboutRead(message.ReadRequest):
    """Asks for a piece of the header and TLVs of the image in a slot. off: where it begins; most: bytes of it."""

    _GROUP_ID = GROUP
    _COMMAND_ID = 0
    _Response = _AboutResponse
    _ErrorV1 = _ErrorV1
    _ErrorV2 = _ErrorV2

    slot: int
    off: int
    most: int


class _CheckResponse(message.WriteResponse):
    _GROUP_ID = GROUP
    _COMMAND_ID = 1

    off: int


class CheckWrite(message.WriteRequest):
    """Asks whether a part of an upload arrived as it was sent. crc: CRC-32. The answer says where the next piece begins."""

    _GROUP_ID = GROUP
    _COMMAND_ID = 1
    _Response = _CheckResponse
    _ErrorV1 = _ErrorV1
    _ErrorV2 = _ErrorV2

    off: int
    len: int
    crc: int
