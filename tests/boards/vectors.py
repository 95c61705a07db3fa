"""What the C core must answer alike on every board. In MicroPython's subset; prints one line of JSON.

    python vectors.py ROUNDS FILE...      micropython vectors.py ROUNDS FILE...     (files: game packs)

A board without files runs the same source and calls `report(packs, rounds)` with the packs where they lie. Everything
else follows from numbers: the seed of round i is SHA-256 of i as four bytes, little endian; its mode, unit, wager, choices
and gambles come from the seed.
"""

import json
import struct
import sys

import native


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


# RFC 6979, A.2.5: key, and signatures (r, s) of SHA-256 of "sample" and "test".
P256_KEY = (
    "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
    "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
)
P256_SIGNATURES = (
    (
        b"sample",
        "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
        "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8",
    ),
    (
        b"test",
        "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367"
        "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083",
    ),
)
P256_ORDER = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"


def signatures() -> list:
    """ECDSA on P-256: published signatures, then each with something wrong, and refused lengths."""
    key = bytes.fromhex(P256_KEY)
    told = []
    for message, signature in P256_SIGNATURES:
        digest, good = native.sha256(message), bytes.fromhex(signature)
        told.append(native.p256_verify(key, digest, good))
        for place in (0, 31, 32, 63):
            wrong = bytearray(good)
            wrong[place] ^= 1
            told.append(native.p256_verify(key, digest, wrong))
        wrong = bytearray(key)
        wrong[40] ^= 1  # no point of the curve
        told.append(native.p256_verify(wrong, digest, good))
        told.append(native.p256_verify(key, native.sha256(digest), good))
        for number in (bytes(32), bytes.fromhex(P256_ORDER), b"\xff" * 32):
            told.append(native.p256_verify(key, digest, number + good[32:]))
            told.append(native.p256_verify(key, digest, good[:32] + number))
    for lengths in ((64, 32, 64), (65, 31, 64), (65, 32, 63)):
        try:
            told.append(native.p256_verify(bytes(lengths[0]), bytes(lengths[1]), bytes(lengths[2])))
        except ValueError:
            told.append("ValueError")
    return told


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
            text(native.record(0xA5, 7, (0, 1, 2, 3, 4), {0: 0, 1: 1, 2: 256, 3: 1 << 40, 4: (1 << 64) - 1})),
            text(native.record(0x5A, 1, None, [0, 255, b"", 65535, 10**12 - 1, b"one"])),
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
            refusal(lambda: native.record(0, 0, (1,), {1: -1})),
            refusal(lambda: native.record(0, 0, (1,), {1: 1 << 64})),
            refusal(lambda: native.record(0, 0, (65536,), {65536: b""})),
            refusal(lambda: native.record(0, 0, (1,), {1: bytes(256)})),
            refusal(lambda: native.record(0, 0, None, [bytes(255)] * 300)),
            refusal(lambda: native.hmac_sha256("key")),
            refusal(lambda: native.hmac_sha256(b"key", "text")),
        ],
    }


def health() -> list:
    """What the health tests answer to noise, to each kind of fault, in pieces, and to cutoffs that make no sense."""
    noise = bytearray()
    block = bytes(32)
    while len(noise) < 2048:
        block = native.sha256(block)
        noise += block
    noise = bytes(noise)
    found = []
    for data in (
        noise,
        noise[:700] + noise[300:400],
        noise[:100] + bytes(9),
        bytes([byte & 0xFB for byte in noise]),
        bytes([byte | noise[(i * 7 + 1) % 2048] for i, byte in enumerate(noise)]),
        bytes([0x5A if i % 6 == 0 else byte for i, byte in enumerate(noise)]),
    ):
        for piece in (1, 50, len(data)):
            tests, at = native.Health(9, 61, 71, 10, 2290), 0
            while at < len(data) and not tests.feed(memoryview(data)[at : at + piece]):
                at += piece
            found.append(at)
        tests.reset()
        found.append(tests.feed(data))
    found.append(refusal(lambda: native.Health(1, 61, 71, 10, 2290)))
    found.append(refusal(lambda: native.Health(9, 61, 71, 10, 65536)))
    found.append(refusal(lambda: native.Health(9, 61, 71, 10, 2290).feed("text")))
    return found


def lists(value):
    """Tuples as lists, bytes as text; names too, since the two json modules do not write a £ alike."""
    if isinstance(value, tuple):
        return [lists(item) for item in value]
    if isinstance(value, str):
        return text(value.encode())
    return text(value) if isinstance(value, bytes) else value


def every(call) -> list:
    """call(0), call(1), … up to the first that is refused."""
    found = []
    try:
        while True:
            found.append(lists(call(len(found))))
    except native.CoreError:
        return found


def fields(pack) -> list:
    """All that a pack tells, as lists."""
    symbols = range(len(pack.symbols))
    modes = range(len(pack.modes))
    cells = range(1, pack.reels * pack.rows + 1)
    names = (
        "name sha256 reels rows levels win_cap_pence max_unit_pence symbols modes lines coin_values features pots wilds "
        "gambles gamble_payback_ppm gamble_from gamble_limit most_gambles stake spin_chance"
    )
    return [
        [lists(getattr(pack, name)) for name in names.split()],
        [[pack.cost(mode), pack.flags(mode), pack.evaluation(mode), lists(pack.rtp_ppm(mode))] for mode in modes],
        [[pack.pay(symbol, count) for count in range(1, pack.reels + 1)] for symbol in symbols],
        [[pack.scatter_pay(symbol, count) for count in cells] for symbol in symbols],
        every(lambda set: tuple(pack.strip(set, reel) for reel in range(pack.reels))),
        every(pack.steps),
        every(pack.table),
        every(pack.boards),
        every(pack.bowls),
    ]


def field_refusals(pack) -> list:
    symbols, modes = len(pack.symbols), len(pack.modes)
    return [
        refusal(lambda: pack.cost(modes)),
        refusal(lambda: pack.cost(-1)),
        refusal(lambda: pack.flags(1 << 40)),
        refusal(lambda: pack.rtp_ppm("0")),
        refusal(lambda: pack.evaluation(modes)),
        refusal(lambda: pack.steps(modes)),
        refusal(lambda: pack.steps(-1)),
        refusal(lambda: pack.table(255)),
        refusal(lambda: pack.boards(255)),
        refusal(lambda: pack.bowls(255)),
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


def look(play) -> list:
    """All that a round shows of itself."""
    shown = (play.stops(), play.window(), play.frames(), play.values(), play.matrix(), play.options())
    return [lists(shown), play.offer, play.pile, play.award_pence, play.finished]


def round_refusals(pack) -> list:
    """Calls that a round refuses, before, in and after it; after each it looks as it did before."""
    zero = bytes(32)
    calls = [
        lambda: native.Round(pack, len(pack.modes), 1, zero),
        lambda: native.Round(pack, 256, 1, zero),
        lambda: native.Round(pack, -1, 1, zero),
        lambda: native.Round(pack, 0, 0, zero),
        lambda: native.Round(pack, 0, pack.max_unit_pence + 1, zero),
        lambda: native.Round(pack, 0, 1 << 32, zero),
        lambda: native.Round(pack, 0, 1, zero[:31]),
        lambda: native.Round(pack, 0, "1", zero),
        lambda: native.Round(pack, 0, 1, zero, pack.cost(0)),
        lambda: native.Round(pack, 0, 1, zero, wager_pence=1 << 32),
        lambda: native.Round(pack, 0, 1, zero, wager_pence=-1),
        lambda: native.Round(pack, 0, 1, zero, pile=65536),
        lambda: native.Round(pack, 0, 1, zero, 0, True, -1),
    ]
    told = [refusal(call) for call in calls]
    names, digest = {}, bytes(32)
    for number in range(100):
        play = native.Round(pack, 0, 1, seed(number), gamble=True)
        digest = wrong_calls(play, names, digest)
        while not play.finished:
            kind = play.next()[0]
            if kind == native.CHOICE:
                digest = wrong_calls(play, names, digest)
                play.choose(0)
            elif kind == native.GAMBLE_OFFER:
                digest = wrong_calls(play, names, digest)
                play.collect()
        digest = wrong_calls(play, names, digest)
    return [told, sorted(names), text(digest)]


def wrong_calls(play, names: dict, digest: bytes) -> bytes:
    """Calls that are wrong now: their refusals become keys of `names`, and go with what the round shows into the digest."""
    before = look(play)
    calls = [
        lambda: play.choose(-1),
        lambda: play.choose(len(play.options())),
        lambda: play.choose(1 << 33),
        lambda: play.gamble(255, 1),
        lambda: play.gamble(-1, 1),
        lambda: play.gamble(0, 0),
        lambda: play.gamble(0, play.offer + 1),
        lambda: play.gamble(0, 1 << 63),
        lambda: play.gamble(0, 1 << 64),
        lambda: play.gamble(0, -1),
        lambda: play.gamble(0, "1"),
    ]
    if play.options() or play.offer or play.finished:
        calls.append(play.next)
    if not play.offer:
        calls.append(play.collect)
    for call in calls:
        name = refusal(call)
        names[name] = True
        digest = native.sha256(digest + name.encode())
    if look(play) != before:
        names["changed by a refused call"] = True
    return native.sha256(digest + json.dumps(before).encode())


def answer(play, kind: int, drawn: bytes) -> None:
    """Takes an option or a gamble that the seed chooses; collects if the gamble is refused, or if the seed says so."""
    if kind == native.CHOICE:
        play.choose(drawn[5] % len(play.options()))
    elif kind == native.GAMBLE_OFFER:
        row, offer = drawn[6 + play.pile % 4] % 6, play.offer
        pence = offer if drawn[7] % 2 else 1 + int.from_bytes(drawn[8:16], "little") % offer
        if refusal(lambda: play.gamble(row, pence)) != "none":
            play.collect()


def replay(pack, rounds: int) -> dict:
    """Rounds from their seeds: how often each kind of event came, and a SHA-256 over all that was told and shown."""
    playable = [mode for mode in range(len(pack.modes)) if pack.flags(mode) & native.MODE_SELECTABLE]
    digest = bytes(32)
    kinds, award, best, pile = {}, 0, 0, 0
    for number in range(rounds):
        drawn = seed(number)
        mode = playable[drawn[4] % len(playable)]
        unit = 1 + int.from_bytes(drawn[:4], "little") % pack.max_unit_pence
        wager = unit * pack.cost(mode) // 2 if pack.spin_chance and drawn[16] < 32 else 0
        play = native.Round(pack, mode, unit, drawn, wager, drawn[17] < 192, pile)
        while not play.finished:
            event = play.next()
            digest = native.sha256(digest + struct.pack("<BBBHIQ", *event))
            kinds[event[0]] = kinds.get(event[0], 0) + 1
            if event[0] in (native.SPIN, native.FREE_SPINS_END, native.GAMBLE_OFFER, native.CHOICE):
                digest = native.sha256(digest + json.dumps(look(play)).encode())
            answer(play, event[0], drawn)
        digest = native.sha256(digest + json.dumps(look(play)).encode())
        pile = play.pile
        award += play.award_pence
        best = max(best, play.award_pence)
    return {
        "rounds": rounds,
        "events": [[kind, kinds[kind]] for kind in sorted(kinds)],
        "award_pence": award,
        "best_pence": best,
        "sha256": text(digest),
    }


def report(packs, rounds: int) -> None:
    """Prints one line of JSON about `packs`, any buffers; equal on every board, character by character."""
    told = [primitives()[name] for name in ("crc32", "crc32_chained", "sha256", "arguments")] + [signatures(), health()]
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
