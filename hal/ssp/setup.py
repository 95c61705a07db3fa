"""What an SSP note acceptor tells of itself: the answer to SETUP_REQUEST (05), in both of its forms.

    [unit type][firmware, 4][country, 3][value multiplier, 3][channels n][value, n][security, n]
    [real value multiplier, 3][protocol version]        and from version 6 on        [country, 3 n][value, 4 n]

Figures of several bytes are most significant byte first, but for the values of the longer form. A channel is worth its
value times both multipliers, in the smallest unit of its currency (pence). The longer form has values and currencies of
its own and leaves the value multiplier aside.
"""

MAX_CHANNELS = 16  # bits of the inhibit mask
_FIXED = 12  # bytes before the channels
_TRAILER = 4  # real value multiplier and version


def channel_values(answer: bytes, currency: str):
    """(protocol version, tuple of pence by channel, 0 for one of another currency); None if the answer makes no sense.

    Channel 1 is at index 0. Channels beyond 16 cannot be enabled and are left out.
    """
    if len(answer) < _FIXED:
        return None
    channels = answer[11]
    end = _FIXED + 2 * channels
    if not channels or len(answer) < end + _TRAILER:
        return None
    wanted = currency.encode()
    real = int.from_bytes(answer[end : end + 3], "big")
    version = answer[end + 3]
    end += _TRAILER
    number = min(channels, MAX_CHANNELS)
    if version >= 6 and len(answer) >= end + 7 * channels:
        values = end + 3 * channels
        pence = [
            int.from_bytes(answer[values + 4 * index : values + 4 * index + 4], "little") * real
            if answer[end + 3 * index : end + 3 * index + 3] == wanted
            else 0
            for index in range(number)
        ]
    elif answer[5:8] == wanted:
        multiplier = int.from_bytes(answer[8:11], "big") * real
        pence = [answer[_FIXED + index] * multiplier for index in range(number)]
    else:
        pence = [0] * number
    return (version, tuple(pence))
