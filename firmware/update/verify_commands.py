"""Console commands of what runs: the hashes that an inspector compares, when they were last found right, and the slots."""

from firmware.programs import VERSION
from firmware.update import trust
from firmware.update.image import ImageError, parse
from firmware.update.selfcheck import GOOD, VERDICTS
from firmware.update.slots import COMPLETE, STATUS, TRIED, WRITING


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


def _slots(cabinet, words, now_ms):
    slots = cabinet.slots
    if not slots.present:
        raise ValueError("this board has no slots: what runs is in its resident image")
    if words:
        yield from _keep(cabinet, words)
        return
    for slot in (0, 1):
        yield "slot %d  %s" % (slot, _about(slots, slot))
    if not slots.known:
        yield "the record that says which one counts is lost: type slots keep 0 or slots keep 1"
    elif slots.running < 0:
        yield "runs    the resident image's own application %s" % VERSION


def _about(slots, slot: int) -> str:
    """What lies in a slot and what it is to the cabinet."""
    state = slots.state
    if slots.known and state.status[slot] < COMPLETE:
        written = ", %d of %d bytes" % (slots.written(slot), state.size[slot])
        return STATUS[state.status[slot]] + (written if state.status[slot] == WRITING else "")
    try:
        image = slots.image(slot) or parse(slots.view(slot))
    except ImageError as error:
        return "no image: %s" % error
    said = ["version %s" % image.version, "hash %s…" % _hex(image.hash[:8])]
    if slots.known:
        said.append(STATUS[state.status[slot]])
    if slot == slots.running:
        said.append("running")
    elif slot == state.preferred:
        tried = state.phase == TRIED
        said.append("started again unless the running one is confirmed" if tried else "started at the next start")
    if image.pending:
        said.append("to be tried at the next start")
    if slots.failure(slot):
        said.append("left: %s" % slots.failure(slot))
    return ", ".join(said)


def _keep(cabinet, words):
    """A technician says which image counts, once the record is lost and nothing is started."""
    if len(words) != 2 or words[0] != "keep" or words[1] not in ("0", "1"):
        raise ValueError("say slots, slots keep 0 or slots keep 1")
    if cabinet.slots.known:
        raise ValueError(
            "the record of the slots is sound: what is started is changed with cabinet flash, confirm and rollback"
        )
    missing = cabinet.no_access()
    if missing:
        raise ValueError("only a technician at the open cabinet says which program counts: %s" % missing)
    yield "judging slot %s" % words[1]
    why = yield from cabinet.slots.repair(int(words[1]))
    if why:
        raise ValueError("slot %s cannot be kept: %s" % (words[1], why))
    yield "slot %s counts: switch the cabinet off and on, and it is started" % words[1]


COMMANDS = {
    "verify": (_verify, "[again]: hashes of what runs, and when they were last found right"),
    "slots": (_slots, "[keep 0|1]: the applications on this board; which one counts when their record is lost"),
}
