"""Where accepted coins fall: into the hopper of their value while it can take them, else into the cashbox (CAB-HOP-03).

The acceptor's sorter is told a path for each coin (ccTalk header 210) and reports with each credit the path that it used
(header 229), so the drop is what was reported, not what was wished. Cashbox is where coins fall until a hopper is known to
have room (CAB-COI-01), and what an acceptor without a sorter is taken to do.
"""

CASHBOX = 1
PATHS = {"hopper_100": 2, "hopper_10": 3}  # how the default cabinet's chutes are mounted
_ACCOUNTS = {2: "to_hopper_100", 3: "to_hopper_10"}


class Sorter:
    def __init__(self, acceptor, hoppers):
        self._acceptor = acceptor
        self._hoppers = hoppers

    def follow(self) -> None:
        """Leads coins away from a hopper that is full, does not answer, or cannot tell how full it is."""
        for index in range(len(self._hoppers.rows)):
            account, pence, driver = self._hoppers.rows[index]
            room = self._hoppers.online[index] and driver.full is False
            self._acceptor.route(pence, PATHS[account] if room else CASHBOX)


def fell(path: int, pence: int, transaction) -> None:
    """Books where an accepted coin fell; the drop is what fell into no hopper."""
    if path in _ACCOUNTS:
        transaction.count(_ACCOUNTS[path], pence)
