"""Writes the values of oracle_pack.Game as a pack of version 2, from native/MECHANICS.md and nothing else."""

import hashlib
import struct
from collections.abc import Sequence

from tests.native.oracle_pack import Game

TAGS = (  # any order is good; this is the one that encode writes
    *("GAME", "BETS", "SYMB", "PAYS", "LINE", "SCAT", "SETS", "STRP", "MODE", "STEP"),
    *("TABL", "PRIZ", "POTS", "BGRP", "BORD", "FEAT", "OPTN", "GAMB", "TEXT"),
)


def sections(game: Game) -> dict[str, bytearray]:
    """The content of each section."""
    text = bytearray()

    def name(string: str) -> int:
        offset = len(text)
        text.extend(string.encode() + b"\0")
        return offset

    def rows(layout: str, values: Sequence[Sequence[int]]) -> bytes:
        return b"".join(struct.pack("<" + layout, *row) for row in values)

    def heads(parts: Sequence[Sequence]) -> list[tuple[int, int]]:
        """(first row, rows) of parts that lie one behind the other."""
        lengths = [len(part) for part in parts]
        return [(sum(lengths[:number]), length) for number, length in enumerate(lengths)]

    def filled(values: Sequence[int], length: int) -> list[int]:
        return [*values, *[0] * (length - len(values))]

    def ends(options: dict) -> tuple[int, int]:
        return min(options), max(options)

    reels, cells = game.reels, game.reels * game.rows
    strips = [strip for one_set in game.sets for strip in one_set]
    flags = game.needs_natural | game.spin_chance << 1
    gambles = game.gamble.rows if game.gamble else []
    shape = [reels, game.rows, *map(len, (game.symbols, game.lines, game.modes, game.sets, game.features)), game.rule]
    parts = [flags, *map(len, (game.tables, game.pots, game.boards, gambles))]
    content = {
        "GAME": struct.pack("<13B3xQIH10x", *shape, *parts, game.cap, game.max_unit, game.stake),
        "BETS": struct.pack("<HH", game.levels, len(game.coin_values)) + rows("I", [(c,) for c in game.coin_values]),
        "SYMB": rows("HBBI4x", [(name(s.name), s.wild | s.scatter << 1, s.multiplier, s.mask) for s in game.symbols]),
        "PAYS": rows(f"{reels}I", [filled(s.pays, reels) for s in game.symbols]),
        "LINE": rows(f"{reels}B", game.lines),
        "SCAT": rows(f"{cells}I", [filled(s.view, cells) for s in game.symbols if s.scatter]),
        "SETS": rows("IHxx", heads(strips)),
        "STRP": b"".join(map(bytes, strips)),
        "MODE": rows("HBBHHII8x", [(name(m.name), m.evaluation, m.set, m.cost, m.flags, *m.rtp) for m in game.modes]),
        "STEP": rows(
            "4BHxxIII",
            [
                (mode, step.op, step.index, step.most, step.least, step.symbols, step.needed, step.credits)
                for mode, row in enumerate(game.modes)
                for step in row.steps
            ],
        ),
        "TABL": rows("HH", heads(game.tables)),
        "PRIZ": rows("IBBxxI", [(p.weight, p.kind, p.index, p.number) for table in game.tables for p in table]),
        "POTS": rows("HBxI", [(name(p.name), p.tokens, p.credits) for p in game.pots]),
        "BGRP": rows(
            "HHHxx",
            [(g.mode, *h) for g, h in zip(game.boards, heads([g.stops for g in game.boards]), strict=True)],
        ),
        "BORD": rows(f"{reels}H", [stops for group in game.boards for stops in group.stops]),
        "FEAT": rows(
            "H10BHxxI4x",
            [
                (
                    name(f.name),
                    f.mode,
                    f.opening,
                    f.index,
                    f.level,
                    f.collects,
                    *ends(f.options),
                    *f.bowls,
                    f.most,
                    f.symbols,
                )
                for f in game.features
            ],
        ),
        "OPTN": rows(
            "BBHHxx",
            [
                (number, count, spins, multiplier)
                for number, f in enumerate(game.features)
                for count in sorted(f.options)
                for spins, multiplier in f.options[count]
            ],
        ),
        "GAMB": b"",
        "TEXT": b"",
    }
    if game.gamble:
        g = game.gamble
        content["GAMB"] = struct.pack("<IIIHxx", g.payback_ppm, g.offered_from, g.limit, g.most) + rows(
            "HBBHHHB5xQ",
            [
                (name(r.name), r.kind, r.feature, r.numerator, r.denominator, r.spins, r.only_cash_after, r.value_micro)
                for r in g.rows
            ],
        )
    content["TEXT"] = bytes(text)
    return {tag: bytearray(content[tag]) for tag in TAGS}


def seal(pack: bytes | bytearray) -> bytes:
    """The pack with the hash that its bytes ask for."""
    return bytes(pack[:32]) + hashlib.sha256(bytes(pack[:32]) + bytes(pack[64:])).digest() + bytes(pack[64:])


def assemble(content: dict[str, bytearray], name: str = "test") -> bytes:
    """Header, section table in the order of content, sections."""
    offset = 64 + 12 * len(content)
    table, body = b"", b""
    for tag, data in content.items():
        table += struct.pack("<4sII", tag.encode(), offset + len(body), len(data))
        body += bytes(data) + bytes(-len(data) % 4)
    total = offset + len(body)
    header = struct.pack("<4sHHIHH16s32x", b"CABG", 2, 64, total, len(content), 0, name.encode())
    return seal(header + table + body)


def encode(game: Game) -> bytes:
    return assemble(sections(game), game.name)
