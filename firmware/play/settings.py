"""The player's settings that stay: quick spin, volume and mute (C8)."""

from firmware.store import keys

MAX_VOLUME = 10


class Settings:
    """Kept in the journal as three bytes; the defaults are normal spin, volume 7, sound on."""

    def __init__(self, journal):
        self._journal = journal
        data = journal.get(keys.SETTINGS) or bytes([0, 7, 0])
        self.quick_spin = bool(data[0])
        self.volume = data[1]
        self.mute = bool(data[2])

    def set(self, name: str, value: int) -> None:
        """Sets "quick_spin" or "mute" (0, 1) or "volume" (0 … 10). ValueError names what is out of range."""
        if name == "volume":
            if not 0 <= value <= MAX_VOLUME:
                raise ValueError("volume goes from 0 to %d" % MAX_VOLUME)
            self.volume = value
        elif name in ("quick_spin", "mute"):
            setattr(self, name, bool(value))
        else:
            raise ValueError("there is no setting %s: use quick_spin, volume or mute" % name)
        self._journal.commit(((keys.SETTINGS, bytes([self.quick_spin, self.volume, self.mute])),))
