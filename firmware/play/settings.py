"""The player's settings that stay: quick spin, volume and mute (C8), and whether wins may be gambled (G5)."""

from firmware.store import keys

MAX_VOLUME = 10
SWITCHES = ("quick_spin", "mute", "gamble")


class Settings:
    """Kept in the journal as four bytes; the defaults are normal spin, volume 7, sound on, gamble on."""

    def __init__(self, journal):
        self._journal = journal
        data = journal.get(keys.SETTINGS)
        data = data + bytes([0, 7, 0, 1])[len(data) :]
        self.quick_spin = bool(data[0])
        self.volume = data[1]
        self.mute = bool(data[2])
        self.gamble = bool(data[3])

    def set(self, name: str, value: int) -> None:
        """Sets one of SWITCHES (0, 1) or "volume" (0 … 10). ValueError names what is out of range."""
        if name == "volume":
            if not 0 <= value <= MAX_VOLUME:
                raise ValueError("volume goes from 0 to %d" % MAX_VOLUME)
            self.volume = value
        elif name in SWITCHES:
            setattr(self, name, bool(value))
        else:
            raise ValueError("there is no setting %s: use %s or volume" % (name, ", ".join(SWITCHES)))
        self._journal.commit(((keys.SETTINGS, bytes([self.quick_spin, self.volume, self.mute, self.gamble])),))
