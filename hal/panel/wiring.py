"""The default cabinet's wiring of the panel line, as plain data.

Two OPP boards on one chain. Board 0x20: wing 0 drives the electromechanical meters, wings 1 to 3 read buttons, doors
and key switches. Board 0x21: lamps only. A bit is `8 * wing + pin`; solenoids are numbered `4 * wing + pin`.

The driver, the rig's model of the panel and the front panel all read this one table, so a cabinet that is wired
another way needs another table and no other code. It holds no protocol: frames are `opp.py`'s business.
"""

# Wing types of the OPP Gen2 protocol, as command 0D reports them.
WING_NONE = 0x00
WING_SOLENOIDS = 0x01
WING_INPUTS = 0x02
WING_LAMPS = 0x03

INPUT_BOARD = 0x20
LAMP_BOARD = 0x21

BUTTONS = (
    "start",
    "autoplay",
    "max_bet",
    "stake_up",
    "stake_down",
    "level_up",
    "level_down",
    "collect",
    "gamble",
    "left",
    "right",
    "info",
    "fortune_bet",
    "fortune_spins",
    "no_thanks",
    "cash_out",
)
DOORS = ("main", "cashbox", "note_box", "logic")
KEYS = ("attendant", "technician")
LAMPS = BUTTONS + ("tower",)  # noqa: RUF005 - MicroPython has no star in a tuple display


class Wiring:
    """What hangs where on the panel line.

    boards: tuple of (address, (type of wing 0, 1, 2, 3)); the first board's serial number stands for the panel
    buttons, doors, keys: tuples of (name, board address, bit 0 to 31)
    lamps: tuple of (name, board address, bit 0 to 31)
    solenoids: tuple of (name, board address, number 0 to 15, pulse_ms 1 to 255, off_factor 0 to 15); after a pulse the
        board keeps the coil off for at least pulse_ms * off_factor
    senses: tuples of (name of a solenoid, board address, bit 0 to 31): an input that is closed while the coil draws
        current, by an optocoupler in series with it. A coil without one is believed
    """

    def __init__(
        self,
        boards: tuple,
        buttons: tuple,
        doors: tuple,
        keys: tuple,
        lamps: tuple,
        solenoids: tuple,
        senses: tuple = (),
    ):
        self.boards = boards
        self.buttons = buttons
        self.doors = doors
        self.keys = keys
        self.lamps = lamps
        self.solenoids = solenoids
        self.senses = senses


def _in_a_row(names: tuple, board: int, first_bit: int) -> tuple:
    return tuple((name, board, first_bit + place) for place, name in enumerate(names))


# Wing 1 starts at bit 8. An electromechanical meter counts ten a second: 50 ms on, at least 50 ms off.
DEFAULT = Wiring(
    boards=(
        (INPUT_BOARD, (WING_SOLENOIDS, WING_INPUTS, WING_INPUTS, WING_INPUTS)),
        (LAMP_BOARD, (WING_LAMPS, WING_LAMPS, WING_LAMPS, WING_LAMPS)),
    ),
    buttons=_in_a_row(BUTTONS, INPUT_BOARD, 8),
    doors=_in_a_row(DOORS, INPUT_BOARD, 8 + len(BUTTONS)),
    keys=_in_a_row(KEYS, INPUT_BOARD, 8 + len(BUTTONS) + len(DOORS)),
    lamps=_in_a_row(LAMPS, LAMP_BOARD, 0),
    solenoids=(
        ("em_in", INPUT_BOARD, 0, 50, 1),
        ("em_out", INPUT_BOARD, 1, 50, 1),
    ),
    senses=(("em_in", INPUT_BOARD, 30), ("em_out", INPUT_BOARD, 31)),
)
