"""How a symbol looks: two rows of drawing, a name, a colour. Any game works; these names have drawings of their own."""

from dataclasses import dataclass, replace
from functools import cache


@dataclass(frozen=True)
class Look:
    """`art`: two rows of at most nine columns. `ink`: colour of drawing and name. `special`: wilds and scatters."""

    art: tuple[str, str]
    ink: str
    special: bool = False
    name: str = ""


_GOLD, _PINK, _MINT, _SKY, _LILAC, _CORAL = "#f2c14e", "#f08fb0", "#5fd0a0", "#63b3ed", "#b79cf2", "#f08a5d"
_STEEL = "#a9b6cf"

_LOOKS = {
    "wild": Look(("★ ★ ★", "▀▀▀▀▀"), "#ffd75e", True),
    "scatter": Look(("▗▄▚▞▄▖", "▐█▌▐█▌"), "#ff6b81", True),
    "money bag": Look((" ▗▟▙▖ ", "▟█££█▙"), _GOLD),
    "gold card": Look(("▛▀▀▀▀▜", "▙▄▪▪▄▟"), "#e8a33d"),
    "keys": Look(("O━━━┳┳", "O━━━━┳"), _SKY),
    "wallet": Look(("▟▀▀▀▀▙", "█▄▄▄▪█"), _CORAL),
    "piggy bank": Look(("▗▟▀██▄▞", "▝▜▛▀▜▛ "), _PINK),
    "ace": Look(("▄▀█", "█▀█"), "#ff8a8a"),
    "king": Look(("█▄▀", "█ █"), _LILAC),
    "queen": Look(("▞▀▚ ", "▚▄▚▖"), _MINT),
    "jack": Look(("  █", "█▄█"), _SKY),
    "ten": Look(("▄█ █▀█", "▗█▖█▄█"), _STEEL),
    "nine": Look(("█▀█", "▀▀█"), "#c98b5a"),
    "bonus": Look(("╭─▄▄─╮", "╰▐██▌╯"), "#ff9f43", True),
    "cat (red)": Look(("▟▙▁▁▟▙", "█•▾▾•█"), "#ff7a6b"),
    "chef cat": Look(("▗███▖", "▟•▾•▙"), "#f4f1e8"),
    "cat (green)": Look(("▲▁▁▲", "█◕◕█"), "#66d17a"),
    "champagne bucket": Look(("▗▌┃▐▖", "▝███▘"), _SKY),
    "dish cover": Look(("▗▄█▄▖", "▀▀▀▀▀▀▀"), _STEEL),
    "collect": Look(("▚▖ ▗▞", "▐███▌"), _MINT, True),
    "bonus entry": Look(("▛▀▀▀▜", "▌ → ▐"), _LILAC, True),
    "cash": Look(("▗▟▀▙▄▞", "▝▜█▛▜▘"), _PINK, True),
    "big cash": Look(("▗▟▀██▙▄▞", "▝▜███▛▜▘"), _GOLD, True),
    "prize pot token": Look(("▗▛▀▜▖", "▝▙▄▟▘"), _CORAL, True),
    "extra spin": Look(("╭─╮ ╷", "╰→╯╶┼╴"), _MINT, True),
    "blank": Look(("", ""), "#3f4b63"),
    "christmas tree": Look(("▗▟▙▖", "▀▜▛▀"), "#4ecb8d"),
    "gift": Look(("▗▞▚▖", "█▐▌█"), "#e5676d"),
    "stocking": Look(("▐█▌ ", "▐█▄▖"), "#ff7a6b"),
    "bell": Look(("▗▟▙▖", "▀▀●▀"), _GOLD),
}
_ALSO = {
    "bag": "money bag",
    "card": "gold card",
    "purse": "wallet",
    "pig": "piggy bank",
    "a": "ace",
    "k": "king",
    "q": "queen",
    "j": "jack",
    "t": "ten",
    "10": "ten",
    "9": "nine",
}
_INKS = (_GOLD, _MINT, _SKY, _LILAC, _CORAL, _PINK, _STEEL)


@cache
def look(name: str, number: int, special: bool) -> Look:
    """The look of symbol `number` called `name`; `special` for scatters that the name does not give away."""
    key = name.lower()
    known = _LOOKS.get(_ALSO.get(key, key))
    if known is not None:
        return replace(known, name=name.upper())
    special = special or "wild" in key or "scatter" in key
    art = ("◆ ◆ ◆", "▔▔▔▔▔") if special else ("▗▟▙▖", "▝▜▛▘")
    return Look(art, _INKS[number % len(_INKS)], special, name.upper())
