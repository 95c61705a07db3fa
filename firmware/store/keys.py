"""Keys of the journal: one number for each fact that must survive. A number is never reused for another meaning."""

# 0x0000-0x003F: accounts of the ledger (money/ledger.py)
ACCOUNT_BASE = 0x0000
# 0x0040-0x007F: occurrence meters (money/meters.py)
METER_BASE = 0x0040

# 0x0080-0x00BF: single facts
ACCEPTOR_COUNTER = (
    0x0080  # event counter of the coin acceptor up to which coins are booked; b"" before it was first met
)
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
PACK_HASH = 0x0091  # SHA-256 over version and packs, to notice a program change
LAST_AWARD = 0x0092  # award of the last finished round, pence
LAST_BET = 0x0093
DOORS_OPEN = 0x0094  # bit mask of doors seen open last
MODE = 0x0095  # selected mode of play
ENTROPY_KIND = 0x0096  # number of the random device's driver (hal/entropy/kinds.py)

# 0x00C0-0x00DF: single facts about money
PERIOD = 0x00C0  # when the period of the period meters began (money/period.py)
COINS_SINCE_PLAY = 0x00C1  # pence of coins since the last play began
NOTES_SINCE_PLAY = 0x00C2
RECLAIMABLE = 0x00C3  # pence of what is due by hand that a hopper failed to pay
HOPPER_COUNT_BASE = 0x00C4  # of up to eight hoppers: serial number, and dispense count up to which coins are booked
HOPPER_LEVELS = 0x00CC  # two bits a hopper: level that was told last
TEST_COINS = 0x00CD  # 1 while coins are counted as test coins
# 0x00B0-0x00BF: clock and logs
CLOCK_ALIVE = 0x00B0  # date and uptime of the last sign of life (clock.py)
PROGRAMS_TOTAL = 0x00B1
NOTES_TOTAL = 0x00B2
APPLICATION = 0x00B3  # hash of the application that ran last, b"" while it was the resident image's own
CONFIG = 0x0098  # the configuration's numbers (config.py), b"" until the first set-up
CONFIG_GAMES = 0x0099  # names of the games that can be played
CONFIG_FIRST_GAME = 0x009A
PROGRAM_ACCEPTED = 0x009B  # PACK_HASH that a technician has accepted

# 0x00E0-0x00EF: notes (money/notes_in.py)
NOTE_PENDING = 0x00E0  # note that was ordered in and whose end was not told yet, b"" if none
NOTE_TOKEN = 0x00E1  # the driver's, of the last record that had one
CONFIG_NOTE_KEY = 0x00E8  # eight bytes that the note acceptor's encryption shares with us, b"" if none (config.py)

# 0x0100-0x017F: ring of significant events (events.py)
EVENT_BASE = 0x0100
EVENT_SLOTS = 128
# 0x0180-0x018F: ring of finished rounds (play/rounds.py)
RECALL_BASE = 0x0180
RECALL_SLOTS = 10
# 0x0190-0x019F: piles of the games (play/pile.py)
PILE_BASE = 0x0190
PILE_SLOTS = 16
# 0x0200-0x027F: meters beside the ledger in pence, and what all meters stood at when the period began (money/period.py)
TALLY_BASE = 0x0200
PERIOD_ACCOUNT_BASE = 0x0210
PERIOD_METER_BASE = 0x0230
PERIOD_TALLY_BASE = 0x0270
# 0x01A0-0x01AF: ring of program changes (programs.py)
PROGRAM_BASE = 0x01A0
PROGRAM_SLOTS = 10
# 0x01B0-0x01BF: ring of the last notes (notes.py)
NOTE_BASE = 0x01B0
NOTE_SLOTS = 10
