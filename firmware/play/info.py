"""Information pages: what a player must be able to read before betting (G8, C8): pays at the current bet, rules, RTP."""

import native
from firmware.money.amounts import pounds


class InfoPages:
    """Pages opened with `info`, turned with `left` and `right`, closed with `info` or by playing."""

    def __init__(self, play, show):
        self._play = play
        self._show = show
        self.open = False
        self._page = 0

    def press(self, name: str) -> bool:
        """Handles a button. True when the pages used it."""
        if name == "info":
            self.open = not self.open
            self._page = 0
        elif self.open and name in ("left", "right"):
            self._page = (self._page + (1 if name == "right" else -1)) % len(self.titles())
        else:
            return False
        if self.open:
            title = self.titles()[self._page]
            self._show({"e": "info", "page": title, "lines": self.page(title)})
        else:
            self._show({"e": "info", "page": "", "lines": []})
        return True

    def close(self) -> None:
        if self.open:
            self.press("info")

    @staticmethod
    def titles():
        return ("paytable", "features", "lines", "rtp")

    def page(self, title: str):
        """Lines of text of one page, money at the current bet."""
        return getattr(self, "_" + title)()

    def _paytable(self):
        pack, unit = self._play.pack, self._play.bets.unit()
        lines = ["bet %s, %s a line" % (pounds(self._play.bet()), pounds(unit))]
        for symbol in range(len(pack.symbols)):
            pays = []
            for count in range(1, pack.reels + 1):
                credits = pack.pay(symbol, count)
                if credits:
                    pays.append("%d: %s" % (count, pounds(credits * unit)))
            if pays:
                lines.append("%s  %s" % (pack.symbols[symbol], "  ".join(pays)))
        return lines

    def _features(self):
        pack, bet = self._play.pack, self._play.bet()
        lines = []
        for symbol in range(len(pack.symbols)):
            pays = []
            for count in range(1, pack.reels * pack.rows + 1):
                multiple = pack.scatter_pay(symbol, count)
                if multiple and (count == 1 or multiple != pack.scatter_pay(symbol, count - 1)):
                    pays.append("%d: %s" % (count, pounds(multiple * bet)))
            if pays:
                lines.append("%s anywhere  %s" % (pack.symbols[symbol], "  ".join(pays)))
        for feature in pack.features:
            for count, spins, multiplier in feature[1]:
                lines.append("%d %s: %d free spins x%d" % (count, pack.symbols[feature[0]], spins, multiplier))
        return lines

    def _lines(self):
        lines = self._play.pack.lines
        return ["%d: %s" % (i + 1, " ".join([str(row + 1) for row in lines[i]])) for i in range(len(lines))]

    def _rtp(self):
        pack = self._play.pack
        lines = []
        for mode in range(len(pack.modes)):
            if pack.flags(mode) & native.MODE_SELECTABLE:
                low, high = pack.rtp_ppm(mode)
                lines.append(
                    "%s: return to player %d.%02d %% to %d.%02d %% by choice of free spins"
                    % (pack.modes[mode], low // 10000, low % 10000 // 100, high // 10000, high % 10000 // 100)
                )
        if pack.win_cap_pence:
            lines.append("a round pays %s at most" % pounds(pack.win_cap_pence))
        lines.append("malfunction voids all pays and plays")
        return lines
