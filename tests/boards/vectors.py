"""What the C core must answer alike on every board. In MicroPython's subset; prints one line of JSON.

    python vectors.py ROUNDS FILE...      micropython vectors.py ROUNDS FILE...     (files: game packs)

A board without files runs the same source and calls `report(packs, rounds)` with the packs where they lie. Everything
else follows from numbers: the seed of round i is SHA-256 of i as four bytes, little endian; its mode, unit, choices and
the places where it is saved come from the seed.
"""

import json
import struct
import sys

import native

SAVE_EVERY = 7  # events


def text(data) -> str:
    return bytes(data).hex()


def seed(number: int) -> bytes:
    return native.sha256(number.to_bytes(4, "little"))


def refusal(call) -> str:
    """The name of the CoreError that a call raises; "none", or the kind of another error."""
    try:
        call()
    except native.CoreError as error:
        return error.args[0]
    except TypeError:
        return "TypeError"
    return "none"


def primitives() -> dict:
    """CRC-32 and SHA-256 over lengths around their block sizes, over all kinds of buffers, and continued."""
    data = bytes([(7 * i + 3) & 0xFF for i in range(300)])
    crcs, hashes, chained = 0, bytes(32), 0
    for length in range(len(data) + 1):
        part = memoryview(data)[:length]
        crcs = native.crc32(part, crcs)
        hashes = native.sha256(hashes + native.sha256(part))
    for first in range(0, len(data), 13):
        chained = native.crc32(data[first : first + 13], chained)
    return {
        "crc32": [native.crc32(b"123456789"), native.crc32(bytearray(b"123456789"), start=0xFFFFFFFF), crcs],
        "crc32_chained": chained == native.crc32(data),
        "hmac": [text(native.hmac_sha256(data[:length], data[length:], hashes)) for length in (0, 1, 63, 64, 65, 200)],
        "record": [
            text(native.record(0xA5, 7, (3, 258), {258: b"", 3: data[:255]})),
            text(native.record(0x5A, 0xFFFFFFFF, None, [b"", b"one", b"", data[:200]])),
            text(native.record(0x5A, 0, None, [])),
        ],
        "sha256": [text(native.sha256(b"abc")), text(native.sha256(bytearray())), text(hashes)],
        "arguments": [
            refusal(lambda: native.crc32(b"", -1)),
            refusal(lambda: native.crc32(b"", 1 << 32)),
            refusal(lambda: native.crc32(b"", 1 << 70)),
            refusal(lambda: native.crc32(b"", -(1 << 70))),
            refusal(lambda: native.crc32("text")),
            refusal(lambda: native.sha256("text")),
            refusal(lambda: native.sha256(5)),
            refusal(lambda: native.record(256, 0, None, [])),
            refusal(lambda: native.record(0, 0, (65536,), {65536: b""})),
            refusal(lambda: native.record(0, 0, (1,), {1: bytes(256)})),
            refusal(lambda: native.record(0, 0, None, [bytes(255)] * 300)),
            refusal(lambda: native.hmac_sha256("key")),
            refusal(lambda: native.hmac_sha256(b"key", "text")),
        ],
    }


def fields(pack) -> list:
    """All that a pack tells, as lists."""
    strips = []
    for set in range(16):
        for reel in range(pack.reels):
            if refusal(lambda set=set, reel=reel: pack.strip(set, reel)) == "none":
                strips.append(text(pack.strip(set, reel)))
    symbols = range(len(pack.symbols))
    cells = range(1, pack.reels * pack.rows + 1)
    return [
        pack.name,
        text(pack.sha256),
        [pack.reels, pack.rows, pack.levels, pack.win_cap_pence, pack.max_unit_pence],
        list(pack.symbols),
        list(pack.modes),
        [list(line) for line in pack.lines],
        list(pack.coin_values),
        [[trigger, [list(option) for option in options]] for trigger, options in pack.features],
        [[pack.cost(mode), pack.flags(mode), list(pack.rtp_ppm(mode))] for mode in range(len(pack.modes))],
        [[pack.pay(symbol, count) for count in range(1, pack.reels + 1)] for symbol in symbols],
        [[pack.scatter_pay(symbol, count) for count in cells] for symbol in symbols],
        strips,
    ]


def field_refusals(pack) -> list:
    symbols, modes = len(pack.symbols), len(pack.modes)
    return [
        refusal(lambda: pack.cost(modes)),
        refusal(lambda: pack.cost(-1)),
        refusal(lambda: pack.flags(1 << 40)),
        refusal(lambda: pack.rtp_ppm("0")),
        refusal(lambda: pack.pay(symbols, 1)),
        refusal(lambda: pack.pay(0, 0)),
        refusal(lambda: pack.pay(0, pack.reels + 1)),
        refusal(lambda: pack.scatter_pay(symbols, 1)),
        refusal(lambda: pack.scatter_pay(0, 0)),
        refusal(lambda: pack.scatter_pay(0, pack.reels * pack.rows + 1)),
        refusal(lambda: pack.strip(0, pack.reels)),
        refusal(lambda: pack.strip(255, 0)),
        refusal(lambda: pack.strip(-1, 0)),
    ]


def rehashed(data: bytearray) -> bytearray:
    data[32:64] = native.sha256(bytes(data[:32]) + bytes(data[64:]))
    return data


def damaged(data) -> str:
    """SHA-256 over the refusals of damaged packs: cut short, a byte changed, and changed with the hash made to fit."""
    digest = native.sha256(refusal(lambda: native.Pack("text")).encode())
    for length in range(0, len(data), 37):
        digest = native.sha256(digest + refusal(lambda length=length: native.Pack(bytes(data[:length]))).encode())
    for position in range(len(data)):
        copy = bytearray(data)
        copy[position] ^= 1 + position % 255
        digest = native.sha256(digest + refusal(lambda copy=copy: native.Pack(copy)).encode())
        digest = native.sha256(digest + refusal(lambda copy=copy: native.Pack(rehashed(copy))).encode())
    return text(digest)


def round_refusals(pack) -> list:
    """Calls that a round refuses, before, in and after it; the last item shows that none of them changed it."""
    zero = bytes(32)
    calls = [
        lambda: native.Round(pack, len(pack.modes), 1, zero),
        lambda: native.Round(pack, -1, 1, zero),
        lambda: native.Round(pack, 0, 0, zero),
        lambda: native.Round(pack, 0, pack.max_unit_pence + 1, zero),
        lambda: native.Round(pack, 0, 1 << 32, zero),
        lambda: native.Round(pack, 0, 1, zero[:31]),
        lambda: native.Round(pack, 0, "1", zero),
        lambda: native.resume(pack, b""),
        lambda: native.resume(pack, bytes(112)),
    ]
    told = [refusal(call) for call in calls]
    play = native.Round(pack, 0, 1, zero)
    told.append([refusal(lambda: play.choose(0)), len(play.options()), len(play.stops()), len(play.window())])
    while not play.finished:
        play.next()
    told.append([refusal(play.next), refusal(lambda: play.choose(0)), refusal(lambda: play.choose(-1))])
    number, choice = 0, None
    while choice is None and number < 100_000 and pack.features:
        choice = until_choice(native.Round(pack, 0, 1, seed(number)))
        number += 1
    if choice is not None:
        before = choice.save()
        told.append([number, refusal(choice.next), [list(option) for option in choice.options()]])
        told.append([refusal(lambda: choice.choose(len(choice.options()))), refusal(lambda: choice.choose(1 << 33))])
        told.append(choice.save() == before)
        saved = bytearray(before)
        for position in range(len(saved)):
            saved[position] ^= 0x55
            told.append(refusal(lambda saved=saved: native.resume(pack, saved)))
            saved[108:112] = native.crc32(bytes(saved[:108])).to_bytes(4, "little")
            told.append(refusal(lambda saved=saved: native.resume(pack, bytes(saved))))
            saved[:] = before
    return told


def until_choice(play):
    """The round when it asks for a choice, None when it ends without."""
    while not play.finished:
        if play.next()[0] == native.CHOICE:
            return play
    return None


def replay(pack, rounds: int) -> dict:
    """Rounds from their seeds, saved and resumed on the way: counts, and a SHA-256 over all that they told."""
    playable = [mode for mode in range(len(pack.modes)) if pack.flags(mode) & native.MODE_SELECTABLE]
    digest = bytes(32)
    events, choices, features, saves, award, best = 0, 0, 0, 0, 0, 0
    for number in range(rounds):
        drawn = seed(number)
        unit = 1 + int.from_bytes(drawn[:4], "little") % pack.max_unit_pence
        play = native.Round(pack, playable[drawn[4] % len(playable)], unit, drawn)
        told = bytearray()
        while not play.finished:
            event = play.next()
            told.extend(struct.pack("<BBBHIQ", *event))
            events += 1
            if event[0] == native.SPIN:
                told.extend(play.window())
                told.extend(struct.pack(f"<{pack.reels}H", *play.stops()))
            elif event[0] == native.CHOICE:
                options = play.options()
                for spins, multiplier in options:
                    told.extend(struct.pack("<HH", spins, multiplier))
                play.choose(drawn[5] % len(options))
                choices += 1
            elif event[0] == native.FREE_SPINS_BEGIN:
                features += 1
            if events % SAVE_EVERY == 0:
                saved = play.save()
                told.extend(saved)
                play = native.resume(pack, saved)
                saves += 1
        told.extend(struct.pack("<Q", play.award_pence))
        award += play.award_pence
        best = max(best, play.award_pence)
        digest = native.sha256(digest + bytes(told))
    return {
        "rounds": rounds,
        "events": events,
        "choices": choices,
        "features": features,
        "saves": saves,
        "award_pence": award,
        "best_pence": best,
        "sha256": text(digest),
    }


def report(packs, rounds: int) -> None:
    """Prints one line of JSON about `packs`, any buffers; equal on every board, character by character."""
    told = [primitives()[name] for name in ("crc32", "crc32_chained", "sha256", "arguments")]
    for data in packs:
        pack = native.Pack(data)
        counts = replay(pack, rounds)
        told.append(
            {
                pack.name: [
                    fields(pack),
                    field_refusals(pack),
                    damaged(data),
                    round_refusals(pack),
                    [[name, counts[name]] for name in sorted(counts)],
                ]
            }
        )
    json.dump(told, sys.stdout)  # piece by piece: the line is longer than the free blocks of a small heap
    print()


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


if __name__ == "__main__" and len(sys.argv) > 2:
    report([read(path) for path in sys.argv[2:]], int(sys.argv[1]))
