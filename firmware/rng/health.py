"""Health tests of the random source: from which count on each alarms, worked out in integers from what is claimed.

Entropy is claimed as bits a sample, numerator / denominator, and the chance of a false alarm as 2^-alpha_bits. Boards have
single-precision floats at best, so nothing here uses any; README.md says why these tests and this claim.
"""

from native import (
    ALARM_BALANCE,
    ALARM_LANE,
    ALARM_PROPORTION,
    ALARM_REPETITION,
    ALARM_SEQUENCE,
    Health,
)

PROPORTION_WINDOW = 512  # bytes, SP 800-90B 4.4.2 for samples that are not binary
HISTORY_BYTES = 512  # in which a sequence may not come again, and whose ones are counted
ENTROPY_BITS = (4, 1)  # claimed for a byte of a whitened serial device
ALPHA_BITS = 30
BALANCE_ALPHA_BITS = 40  # this one is looked at ten times a second, and fair bits come as near to it as the figure says

# The alarms beyond the core's own.
ALARM_DEVICE = 6  # the device says itself that it is not healthy
ALARM_NO_DATA = 7
ALARM_KNOWN_ANSWER = 8

NAMES = {
    0: "",
    ALARM_REPETITION: "repetition count",
    ALARM_LANE: "stuck bit",
    ALARM_PROPORTION: "adaptive proportion",
    ALARM_SEQUENCE: "repeated sequence",
    ALARM_BALANCE: "balance of ones",
    ALARM_DEVICE: "device status",
    ALARM_NO_DATA: "no data",
    ALARM_KNOWN_ANSWER: "known answer",
}

# Which tilt each alarm raises (tilt.py): repetitions of any kind, shares of any kind, and the rest by name.
TILTS = {
    ALARM_REPETITION: "rng_repetition",
    ALARM_LANE: "rng_repetition",
    ALARM_SEQUENCE: "rng_repetition",
    ALARM_PROPORTION: "rng_proportion",
    ALARM_BALANCE: "rng_proportion",
    ALARM_NO_DATA: "rng_no_data",
    ALARM_KNOWN_ANSWER: "rng_known_answer",
    ALARM_DEVICE: "rng_device",
}
TILT_NAMES = ("rng_repetition", "rng_proportion", "rng_no_data", "rng_known_answer", "rng_device")

_FRACTION_BITS = 32  # of a probability that is no power of two


def _ceiling(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


def repetition_cutoff(entropy=ENTROPY_BITS, alpha_bits: int = ALPHA_BITS) -> int:
    """Equal samples in a row that alarm: 1 + ceil(-log2(alpha) / H) (SP 800-90B 4.4.1)."""
    return 1 + _ceiling(alpha_bits * entropy[1], entropy[0])


def _likeliest(entropy):
    """(p, bits): the likeliest sample of such entropy has probability p / 2**bits, rounded to the next below."""
    numerator, denominator = entropy
    if numerator % denominator == 0:
        return 1, numerator // denominator
    # The root of degree `denominator` of 2^(bits x denominator - numerator), bit by bit from the top.
    target, root = 1 << (_FRACTION_BITS * denominator - numerator), 0
    for bit in range(_FRACTION_BITS, -1, -1):
        if (root | 1 << bit) ** denominator <= target:
            root |= 1 << bit
    return root, _FRACTION_BITS


def proportion_cutoff(window: int = PROPORTION_WINDOW, entropy=ENTROPY_BITS, alpha_bits: int = ALPHA_BITS) -> int:
    """Samples of a window equal to its first that alarm: 1 + the quantile 1 - alpha of the binomial distribution of
    `window` draws at probability 2^-H (SP 800-90B 4.4.2). Exact: all terms are integers over (2^bits)^window."""
    p, bits = _likeliest(entropy)
    q = (1 << bits) - p
    # Terms from 0 upwards, each from the one before: C(n, k+1) = C(n, k) (n - k) / (k + 1). While more than alpha is left
    # above, k is below the quantile.
    left = 1 << bits * window
    allowed = left >> alpha_bits
    binomial, count = 1, 0
    power = q**window  # p^k q^(n-k)
    while True:
        left -= binomial * power
        if left <= allowed:
            return count + 1
        binomial = binomial * (window - count) // (count + 1)
        power = power // q * p
        count += 1


def lane_cutoff(entropy=ENTROPY_BITS, alpha_bits: int = ALPHA_BITS) -> int:
    """Bytes in a row in which one bit keeps its value: the repetition count of a bit that has an eighth of the entropy."""
    return repetition_cutoff((entropy[0], 8 * entropy[1]), alpha_bits)


def sequence_cutoff(entropy=ENTROPY_BITS, alpha_bits: int = ALPHA_BITS) -> int:
    """Bytes that may not come again within the history: so many that, at any of its places, that is rarer than alpha."""
    places_bits = 0
    while 1 << places_bits < HISTORY_BYTES:
        places_bits += 1
    return _ceiling((alpha_bits + places_bits) * entropy[1], entropy[0])


def balance_cutoff(alpha_bits: int = BALANCE_ALPHA_BITS) -> int:
    """Ones among the bits of a history that alarm, and as many zeros. Hoeffding's bound for n fair bits: more than t beyond
    the half has a chance below exp(-2 t^2 / n), twice that for both sides. It lies a little above the exact quantile, and
    costs a square root instead of sums over 4,096 terms."""
    bits = 8 * HISTORY_BYTES
    square = bits * (alpha_bits + 1) * 69314719 // (2 * 10**8) + 1  # n ln(2) (alpha_bits + 1) / 2
    root = 0
    while root * root < square:
        root += 1
    return bits // 2 + root


_worked_out = {}  # cutoffs by claim: the sum over large integers takes a board a tenth of a second, so it is done once


def cutoffs(entropy=ENTROPY_BITS, alpha_bits: int = ALPHA_BITS):
    """(repetition, lane, proportion, sequence, balance) of a claim. ValueError: it is not 0 < H <= 8 bits, 2^-20 to 2^-40."""
    if not (0 < entropy[0] <= 8 * entropy[1] and 20 <= alpha_bits <= 40):
        raise ValueError("claim more than 0 and at most 8 bits a byte, and false alarms of 2^-20 to 2^-40")
    claim = (entropy, alpha_bits)
    if claim not in _worked_out:
        _worked_out.clear()  # one claim at a time
        _worked_out[claim] = _work_out(entropy, alpha_bits)
    return _worked_out[claim]


def make_tests(entropy=ENTROPY_BITS, alpha_bits: int = ALPHA_BITS) -> Health:
    """All tests with the cutoffs of a claim."""
    return Health(*cutoffs(entropy, alpha_bits))


def _work_out(entropy, alpha_bits: int):
    return (
        repetition_cutoff(entropy, alpha_bits),
        lane_cutoff(entropy, alpha_bits),
        proportion_cutoff(PROPORTION_WINDOW, entropy, alpha_bits),
        sequence_cutoff(entropy, alpha_bits),
        balance_cutoff(),
    )
