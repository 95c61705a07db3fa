"""How amounts are written for people."""


def pounds(pence: int) -> str:
    """Pence as pounds: 1234 is £12.34."""
    return "£%d.%02d" % (pence // 100, pence % 100)
