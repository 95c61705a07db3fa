"""Information pages: what a player must be able to read before betting (G8, C8), opened by a button or at the console."""

from firmware.play import pages

_LINES_A_TURN = 3  # written in one turn of the loop


class InfoPages:
    """Pages opened with `info`, turned with `left` and `right`, closed with `info` or by playing.

    A page is written a few lines a turn, and shown when it is whole.
    """

    def __init__(self, play, show):
        self._play = play
        self._show = show
        self.open = False
        self._page = 0
        self._title = ""
        self._lines = []
        self._writing = None

    def press(self, name: str) -> bool:
        """Handles a button. True when the pages used it."""
        if name == "info":
            self.open = not self.open
            self._page = 0
        elif self.open and name in ("left", "right"):
            self._page += 1 if name == "right" else -1
        else:
            return False
        if not self.open:
            self._writing = None
            self._show({"e": "info", "page": "", "lines": []})
            return True
        titles = self.titles()
        self._page %= len(titles)
        self._title, self._lines = titles[self._page], []
        self._writing = self.page(self._title)
        return True

    def poll(self) -> None:
        """Goes on with the page that was asked for."""
        if self._writing is None:
            return
        for _ in range(_LINES_A_TURN):
            try:
                line = next(self._writing)
            except StopIteration:
                self._writing = None
                self._show({"e": "info", "page": self._title, "lines": self._lines})
                self._lines = []
                return
            if line is not None:
                self._lines.append(line)

    def close(self) -> None:
        if self.open:
            self.press("info")

    def titles(self):
        """The pages that the selected game has."""
        return pages.titles(self._play.pack)

    def page(self, title: str):
        """Generator of the lines of one page, money at the current bet; None where a turn of the loop may end."""
        return pages.WRITERS[title](self._play.pack, self._play.bets, self._play.pile())
