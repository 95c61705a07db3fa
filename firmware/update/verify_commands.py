"""Console command of what runs: the hashes that an inspector compares, and when they were last found right."""

from firmware.programs import VERSION
from firmware.update import trust
from firmware.update.image import ImageError
from firmware.update.selfcheck import GOOD, VERDICTS


def _hex(digest: bytes) -> str:
    return "".join(["%02x" % byte for byte in digest])


def _verify(cabinet, words, now_ms):
    check, slots = cabinet.check, cabinet.slots
    if words == ["again"]:
        check.again(now_ms)
    elif words:
        raise ValueError("say verify, or verify again")
    if slots.running < 0:
        yield "runs         the resident image's own application %s" % VERSION
    else:
        yield "runs         slot %d, version %s" % (slots.running, check.version)
        yield "application  %s" % _hex(check.hash)
        try:
            about = slots.image(slots.running).manifest()
        except (ImageError, AttributeError):
            about = {}
        for name in ("firmware", "core"):
            yield "  %-10s %s" % (name, about.get(name, "?"))
        packs = about.get("packs", {})
        for name in sorted(packs):
            yield "  pack %s %s" % (name, packs[name])
    if check.resident_hash:
        yield "resident     %s" % _hex(check.resident_hash)
    if check.under_way:
        yield "checked      now; the last check: %s" % VERDICTS[check.verdict]
    elif check.verdict:
        yield "checked      %d s ago: %s" % ((now_ms - check.checked_ms) // 1000, VERDICTS[check.verdict])
        if check.verdict != GOOD:
            yield "             flash a good application; what runs now must not be played"
    else:
        yield "checked      not yet since power-up"
    if trust.DEVELOPMENT in trust.KEYS:
        yield "warning      applications signed with the development key are started: not for a cabinet with money in it"


COMMANDS = {"verify": (_verify, "[again]: hashes of what runs, and when they were last found right")}
