"""Keys of the journal: one number for each fact that must survive. A number is never reused for another meaning."""

# 0x0000-0x003F: accounts of the ledger (money/ledger.py)
ACCOUNT_BASE = 0x0000
# 0x0040-0x007F: occurrence meters (money/meters.py)
METER_BASE = 0x0040

# 0x0080-0x00BF: single facts
ACCEPTOR_COUNTER = 0x0080  # event counter of the coin acceptor up to which coins are booked
ACCEPTOR_ACCEPTED = 0x0081  # its lifetime accept counter at the last booking
PAYOUT = 0x0082  # payout under way (money/payout.py), b"" if none
ROUND = 0x0083  # round under way (play/rounds.py), b"" if none
ROUND_DECISIONS = 0x0084  # picks, gambles and collects committed in it
ROUND_STEP = 0x0085  # events of it already shown
TILTS = 0x0086  # bit mask of latched tilts (tilt.py)
EM_IN_PENCE = 0x0087  # money that the electromechanical meter of coins in has still to count
EM_OUT_PENCE = 0x0088
EM_IN_FLIGHT = 0x0089  # 1 while a pulse may or may not have been counted
EM_OUT_FLIGHT = 0x008A
EVENTS_TOTAL = 0x008B
RECALLS_TOTAL = 0x008C
GAME = 0x008D  # name of the selected game
COIN_VALUE = 0x008E  # index of the selected coin value
LEVEL = 0x008F  # selected bet level - 1
SETTINGS = 0x0090  # quick spin, volume, mute, gamble (play/settings.py)
PACK_HASH = 0x0091  # SHA-256 over all games' packs, to notice a program change
LAST_AWARD = 0x0092  # award of the last finished round, pence
LAST_BET = 0x0093
DOORS_OPEN = 0x0094  # bit mask of doors seen open last
MODE = 0x0095  # selected mode of play

# 0x0100-0x017F: ring of significant events (events.py)
EVENT_BASE = 0x0100
EVENT_SLOTS = 128
# 0x0180-0x018F: ring of finished rounds (play/rounds.py)
RECALL_BASE = 0x0180
RECALL_SLOTS = 10
# 0x0190-0x019F: piles of the games (play/pile.py)
PILE_BASE = 0x0190
PILE_SLOTS = 16
