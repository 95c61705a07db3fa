"""The console's `rng`: how the random source is, and a sample of it for a technician."""

from firmware.rng import generator as rng
from firmware.rng import health, known_answers
from hal.entropy import kinds

_ROW_BYTES = 32


def _rng(cabinet, words, now_ms):
    if cabinet.machine is None:
        raise ValueError("the machine is locked")
    name = words[0] if words else "status"
    if name not in _PARTS:
        raise ValueError("say rng and one of: %s" % ", ".join(sorted(_PARTS)))
    return _PARTS[name](cabinet, words[1:], now_ms)


def _in_service(cabinet) -> None:
    if not cabinet.machine.technician_present():
        raise ValueError("only in service mode: turn the technician key")


def _status(cabinet, words, now_ms):
    generator, source = cabinet.machine.generator, cabinet.devices.entropy
    yield "state     %s%s" % (generator.state, ", %s" % health.NAMES[generator.fault] if generator.fault else "")
    for number in range(len(kinds.KINDS)):
        if isinstance(source, kinds.KINDS[number][1]):
            yield "device    %s, %s" % (kinds.NAMES[number], "online" if source.online else "offline")
    yield "line      %d time-outs, %d stray bytes, %d port faults" % (
        source.timeouts,
        source.stray_bytes,
        source.port_faults,
    )
    yield "since power-up %d bytes tested, %d reseeds, %d seeds" % (
        generator.tested_bytes,
        generator.reseeds,
        generator.seeds,
    )


def _health(cabinet, words, now_ms):
    """The known-answer tests run again with this command."""
    generator = cabinet.machine.generator
    yield "claimed   %d/%d bits of entropy a byte, false alarms 2^-%d" % (
        health.ENTROPY_BITS[0],
        health.ENTROPY_BITS[1],
        health.ALPHA_BITS,
    )
    repetition, lane, proportion, sequence, balance = health.cutoffs()
    yield "cutoffs   repetition %d, bit %d, proportion %d of %d, sequence %d, ones %d of %d" % (
        repetition,
        lane,
        proportion,
        health.PROPORTION_WINDOW,
        sequence,
        balance,
        8 * health.HISTORY_BYTES,
    )
    for alarm in sorted(generator.alarms):
        yield "alarm     %s, %d times since power-up" % (health.NAMES[alarm], generator.alarms[alarm])
    if not generator.alarms:
        yield "alarm     none since power-up"
    if generator.state != rng.READY:
        yield "known answers wait: the generator is %s" % generator.state
        return
    generator.check()
    while generator.checked_parts < len(known_answers.PARTS) and generator.state == rng.READY:
        yield None  # one part a turn of the loop
    passed = generator.state == rng.READY
    yield "known answers %s" % (
        "passed: " + ", ".join([part[0] for part in known_answers.PARTS]) if passed else "FAILED"
    )


def _sample(cabinet, words, now_ms):
    """Bytes of the device that nothing else will ever use."""
    _in_service(cabinet)
    try:
        number = int(words[0]) if len(words) == 1 else 0
    except ValueError:
        number = 0
    if not 1 <= number <= rng.MAX_SAMPLE_BYTES:
        raise ValueError("say rng sample and a number of bytes from 1 to %d" % rng.MAX_SAMPLE_BYTES)
    generator = cabinet.machine.generator
    if not generator.sample(number):
        raise ValueError("the generator is %s" % generator.state)
    while True:
        sample = generator.sampled()
        if sample is None:
            raise ValueError("the random source failed: %s" % health.NAMES[generator.fault])
        if sample:
            break
        yield None
    for place in range(0, number, _ROW_BYTES):
        yield "".join(["%02x" % byte for byte in sample[place : place + _ROW_BYTES]])


def _device(cabinet, words, now_ms):
    _in_service(cabinet)
    if len(words) != 1 or words[0] not in kinds.NAMES:
        raise ValueError("say rng device and one of: %s" % ", ".join(kinds.NAMES))
    cabinet.change_entropy(kinds.NAMES.index(words[0]), now_ms)
    yield "device    %s" % words[0]


_PARTS = {"status": _status, "health": _health, "sample": _sample, "device": _device}
COMMANDS = {
    "rng": (
        _rng,
        "[status | health | sample N | device %s]: the random source; sample and device in service mode"
        % "|".join(kinds.NAMES),
    )
}
