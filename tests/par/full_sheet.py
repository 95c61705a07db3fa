"""A small sheet that uses every mechanic once: modifier, values, collect, pile, award, respin, frames, added spins, tokens."""

FULL = """\
format = 2

[game]
source = "made for tests"
name = "full"
title = "Full"
reels = 3
rows = 3
win_cap_pence = 100_000_000
max_unit_pence = 10
stake_credits = 5
wild_rule = "highest"
needs_natural = false
spin_chance = true

[bets]
source = "made for tests"
coin_values_pence = [1, 2]
levels = 5

[symbols]
source = "made for tests"
list = [
  { id = "W", name = "Wild", wild = { multiplier = 1, substitutes = ["A", "K"] } },
  { id = "S", name = "Scatter" },
  { id = "P", name = "Pig" },
  { id = "C", name = "Collect" },
  { id = "A", name = "Ace" },
  { id = "K", name = "King" },
  { id = "T", name = "Token" },
  { id = "X", name = "Extra" },
]

[pays]
source = "made for tests"
A = [0, 2, 10]
K = [0, 0, 5]

[pots]
source = "made for tests"
list = [
  { id = "MINI", name = "Mini", credits = 20, tokens = 2 },
  { id = "GRAND", name = "Grand", credits = 500 },
]

[tables.cash]
source = "made for tests"
rows = [{ weight = 3, credits = 5 }, { weight = 1, credits = 25 }]

[tables.pile]
source = "made for tests"
rows = [{ weight = 9, nothing = true }, { weight = 1, wheel = "wheel" }]

[tables.wheel]
source = "made for tests"
rows = [{ weight = 2, pot = "GRAND" }, { weight = 3, feature = "rolled" }, { weight = 1, credits = 7 }]

[tables.more]
source = "made for tests"
rows = [{ weight = 9, nothing = true }, { weight = 1, spins = 2 }]

[tables.tokens]
source = "made for tests"
rows = [{ weight = 1, pot = "MINI" }]

[tables.dog]
source = "made for tests"
rows = [{ weight = 9, nothing = true }, { weight = 1, boards = "lucky" }]

[tables.shapes]
source = "made for tests"
rows = [{ weight = 1, shape = [2, 3] }]

[tables.bowl]
source = "made for tests"
rows = [{ weight = 1, credits = 3 }, { weight = 1, pot = "MINI" }]

[boards.lucky]
source = "made for tests"
mode = "base"
stops = [[0, 1, 2], [4, 0, 0]]

[sets.base]
source = "made for tests"
reels = ["A K S K P", "A S K W K P", "K C K S"]

[sets.free]
source = "made for tests"
reels = ["A K S K P T", "A S K W X", "K C K S"]

[modes.base]
source = "made for tests"
title = "Base"
evaluation = "ways"
set = "base"
cost_credits = 5
scatter_pays = false
player_selects = true
steps = [
  { op = "modifier", table = "dog" },
  { op = "values", symbols = ["P"], table = "cash" },
  { op = "collect", symbols = ["C"] },
  { op = "pile", symbols = ["P"], table = "pile" },
  { op = "award", symbols = ["S"], least = 3, needed = ["A"], prize = { feature = "free" } },
  { op = "respin", symbols = ["S"], exactly = 2 },
]
[modes.base.rtp]
source = "made for tests"
lowest_ppm = 0
highest_ppm = 0

[modes.free]
source = "made for tests"
title = "Free spins"
evaluation = "ways"
set = "free"
cost_credits = 5
scatter_pays = false
player_selects = false
steps = [
  { op = "values", symbols = ["P"], table = "cash" },
  { op = "collect", symbols = ["C"] },
  { op = "pile", symbols = ["P"], table = "more" },
  { op = "frames", symbols = ["S"], rule = "fill", credits = 4 },
  { op = "add_spins", symbols = ["X"], spins = 1 },
  { op = "tokens", symbols = ["T"], table = "tokens" },
]
[modes.free.rtp]
source = "made for tests"
lowest_ppm = 0
highest_ppm = 0

[features.free]
source = "made for tests"
title = "Free spins"
mode = "free"
opening = { cells = ["S"], level = 1 }
collects = true
bowls = ["bowl", "bowl", "bowl"]
max_spins = 9
[features.free.options]
source = "made for tests"
3 = [{ spins = 2, multiplier = 1 }]

[features.rolled]
source = "made for tests"
title = "Rolled"
mode = "free"
opening = { roll = ["S"] }
bowls = ["bowl", "bowl", "bowl"]
max_spins = 9
[features.rolled.options]
source = "made for tests"
1 = [{ spins = 2, multiplier = 2 }]

[features.shaped]
source = "made for tests"
title = "Shaped"
mode = "free"
opening = { shape = "shapes", level = 2 }
bowls = ["bowl", "bowl", "bowl"]
max_spins = 9
[features.shaped.options]
source = "made for tests"
1 = [{ spins = 3, multiplier = 1 }]

[gamble]
source = "made for tests"
payback_ppm = 900_000
offered_from_credits = 25
limit_credits = 1000
most_gambles = 3
rows = [
  { id = "double", name = "x2", cash = [2, 1] },
  { id = "shaped", name = "Shaped", feature = "shaped", spins = 4, value_micro = 5_000_000, only_cash_after = true },
]

[targets.base]
source = "made for tests"
rtp = { value = 95, within = 1 }
"""
