"""First set-up, settings, RAM clear and unrecoverable memory: what a technician does, and what nobody else can."""

from pathlib import Path

import pytest

from firmware.store.journal import AREAS, BANKS, CONTROL_BYTES
from host_tools.cabinet import games
from host_tools.hil import commission
from host_tools.hil.rig import Rig
from host_tools.hil.script import parse
from tests.hil.decay import spoil_both_banks

SCRIPTS = Path(__file__).parent / "scripts"
SET_UP = commission.script(games.packs())
TYPED = "\n".join(f'console "{text}"' for text in commission.answers_for(games.packs()))
CLEAR = "turn technician\nopen logic\nconsole ramclear\nwait 2s\n"
CLEARED = "wait until setup within 30s\nwait 2s\n"


@pytest.fixture
def rig(request):
    """rig(script): a cabinet that has lived through the script, from before its first power-on."""
    made = []

    def begin(script: str) -> Rig:
        made.append(Rig(games.packs(), board=request.config.getoption("--board")))
        made[-1].run(parse(script))
        return made[-1]

    yield begin
    for it in made:
        it.close()


def tell(it: Rig, script: str) -> str:
    """Runs the lines; what the console has said since the last one typed."""
    it.run(parse(script))
    return "\n".join(it.world.console.text)


@pytest.mark.parametrize("name", ["first_setup", "ram_clear", "change_setting", "read_meters"])
def test_the_technicians_scripts(rig, name):
    rig((SCRIPTS / f"{name}.rig").read_text())


# --- first set-up ----------------------------------------------------------------------------------------------------


def test_a_blank_memory_accepts_plays_and_pays_nothing(rig):
    """CAB-NVM-06: no configuration is assumed."""
    it = rig("memory blank\npower on\nwait 5s\nexpect state == setup\ncoin 100\npress start\npress cash_out\nwait 1s")
    assert it.world.acceptor.returned == [100]
    books = it.query()
    assert (books["credit"], books["games"], books["payouts"], books["state"]) == (0, 0, 0, "setup")
    assert "no configuration" in tell(it, "console config")
    assert tell(it, "power off\npower on\nwait 5s\nexpect state == setup\nexpect lamp.tower == on\nconsole status")


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("0", "error: cabinet must be 1 to 9999999; not 0"),
        ("x1", "error: cabinet must be 1 to 9999999"),
        ("12 13", "error: cabinet must be"),
        ("99999999999999", "error: cabinet must be"),
        ("7\nconsole 9", "error: pulse must be £0.10 to £100.00"),
        ("7\nconsole £1.5", "error: pulse must be"),
        ("7\nconsole £1\nconsole 10 30", "error: coins must be some of 10 20 50 100 200, or all, or none"),
        ("7\nconsole £1\nconsole all\nconsole 500,700", "error: notes must be some of 500"),
        ("7\nconsole back", "1 of 12  cabinet"),
    ],
)
def test_a_wrong_answer_is_told_and_loses_nothing(rig, typed, says):
    it = rig("memory blank\npower on\nturn technician\nconsole setup")
    assert says in tell(it, f"console {typed}")
    assert "state    setup" in tell(it, "console status")


def test_a_first_game_that_is_not_enabled_is_refused(rig):
    it = rig("memory blank\npower on\nturn technician\nconsole setup")
    answers = commission.answers_for(games.packs())
    before = answers[: list(commission.USUAL).index("games")]
    typed = "\n".join(f'console "{text}"' for text in [*before, "dog_diner piggy_bank", "piggy_riches"])
    assert "error: first_game piggy_riches is not one of games" in tell(it, typed)
    assert "type " in tell(it, "console piggy_bank\nconsole none\nconsole none\nwait 500ms")


@pytest.mark.parametrize("end", ["console cancel", "unturn technician", "power off\npower on\nturn technician"])
def test_a_set_up_that_is_not_finished_keeps_nothing(rig, end):
    it = rig(f"memory blank\npower on\nturn technician\nconsole setup\n{TYPED}\nwait 500ms\n{end}\nwait 3s")
    assert it.query()["state"] == "setup"
    assert "error: there is no command 77" in tell(it, "turn technician\nconsole 77")
    assert "there is no configuration yet" in tell(it, "console config")


def test_a_wrong_token_keeps_nothing(rig):
    it = rig(f"memory blank\npower on\nturn technician\nconsole setup\n{TYPED}\nwait 500ms")
    asked = it._asked()
    assert f"error: that is not {asked}" in tell(it, f"console {int(asked) + 1 if asked != '9999' else '0000'}")
    assert it.query()["state"] == "setup"
    tell(it, f"console {asked}\nwait until service")


def test_the_set_up_is_asked_for_once(rig):
    it = rig("power on\nturn technician\nwait until service")
    assert "error: the cabinet is set up" in tell(it, "console setup")


def test_a_power_cut_in_the_set_up_leaves_all_or_nothing(rig, request):
    """CAB-NVM-06: behind each byte that the set-up writes on the host, behind some on other boards."""
    host = request.config.getoption("--board") == "host"
    it = rig(f"memory blank\npower on\nturn technician\nwait 3s\nconsole setup\n{TYPED}\nwait 500ms")
    blank = bytes(it.session.nvram.memory)
    before = it.session.nvram.written
    tell(it, "console {asked}\nwait until service")
    whole = it.session.nvram.written - before
    states = set()
    for cut in range(1, whole, 7 if host else whole // 3):
        it.power_off()
        it.session.nvram.memory[:] = blank
        tell(it, f"wait 300ms\npower on\nwait 3s\nconsole setup\n{TYPED}\nwait 500ms")
        it.session.nvram.cut_after = cut
        tell(it, "console {asked}\nwait 2s")
        if it.session.on:
            continue  # the cut did not come before the boot
        tell(it, "power on\nwait 3s")
        books = it.query()
        states.add(books["state"])
        said = tell(it, "console config\nwait 300ms")
        if books["state"] == "setup":
            assert "there is no configuration yet" in said
        else:
            assert books["state"] == "service"
            for line in ("cabinet       1", "credit_limit  £500.00", "first_game    dog_diner"):
                assert line in said
    assert not host or states == {"setup", "service"}


# --- settings --------------------------------------------------------------------------------------------------------


def test_a_setting_needs_key_no_credit_no_debt_and_no_round(rig):
    """CAB-CFG-01."""
    it = rig("entropy seed 7\npower on\nconsole set quick_spin on\nconsole game piggy_riches\ncoin 200")
    assert "error: turn the technician key first" in tell(it, "console config win_limit £50")
    tell(it, "want free_spins\npress start\nwait until choosing\nturn technician\nwait until service")
    assert "error: a round is open" in tell(it, "console config win_limit £50")
    tell(it, "unturn technician\npress start\nwait until idle within 5m\nturn technician")
    assert "is on the machine or owed: pay it first" in tell(it, "console config win_limit £50")
    assert "win_limit £1000.00" in tell(it, "console config win_limit")


@pytest.mark.parametrize("item", ["cabinet 3", "pulse £2"])
def test_locked_items_change_only_by_a_ram_clear(rig, item):
    """CAB-NVM-07."""
    it = rig("power on\nturn technician\nwait until service")
    assert "is locked: it changes only by a RAM clear" in tell(it, f"console config {item}")


def test_the_hopper_limit_and_the_win_limit_hold(rig):
    """CAB-HOP-04."""
    it = rig("entropy seed 7\npower on\nturn technician\nwait until service\nconsole config hopper_limit £2")
    tell(it, "console config win_limit £10\nunturn technician\nwait until idle\nconsole set quick_spin on")
    tell(
        it,
        "coin 200\ncoin 200\npress cash_out\nwait until handpay\nexpect paid == 200\nexpect meter.handpay_due == 200",
    )
    tell(it, "turn attendant\nunturn attendant\nwait until idle\nconsole game piggy_riches\ncoin 200\ncoin 200")
    tell(
        it,
        "press level_up\n" * 9 + "console set gamble off\nwant win >= 10x\npress start\nwait until handpay within 5m",
    )
    books = it.query()
    assert books["bet"] * 10 <= books["last_win"] == books["large_win_due"]
    assert books["audit"] == 0


def test_games_that_are_not_enabled_cannot_be_selected(rig):
    it = rig("power on\nturn technician\nwait until service")
    assert "error: first_game dog_diner is not one of games" in tell(it, "console config games piggy_bank")
    tell(
        it,
        "console config first_game piggy_bank\nwait 100ms\nexpect game == piggy_bank\nconsole config games piggy_bank",
    )
    tell(it, "unturn technician\nwait until idle\nexpect game == piggy_bank")
    assert "error: say game and one of: piggy_bank" in tell(it, "console game dog_diner")


def test_the_first_game_comes_back_at_power_up_when_nobody_has_credit(rig):
    it = rig("power on\nconsole game piggy_riches\ncoin 100\npower off\npower on\nexpect game == piggy_riches")
    tell(it, "press cash_out\nwait until idle\npower off\npower on\nexpect game == dog_diner")


def test_a_refused_coin_that_falls_in_nevertheless_is_credited(rig):
    """An acceptor with a mask of its own: the money is in the cabinet, whatever the setting."""
    it = rig(
        "power on\nturn technician\nwait until service\nconsole config coins 100\nunturn technician\nwait until idle"
    )
    tell(it, "coin 50\nexpect credit == 0")
    assert it.world.acceptor.returned == [50]
    tell(it, "coin 100\nexpect credit == 100\nturn technician\nwait 1s")
    assert it.query()["credit"] == it.world.swallowed_pence


# --- programs --------------------------------------------------------------------------------------------------------


def test_another_program_is_not_played_until_a_technician_accepts_it(rig):
    """CAB-NVM-09."""
    it = rig("power on\ncoin 200\npower off")
    it.session.packs = {name: data for name, data in games.packs().items() if name != "piggy_bank"}
    tell(it, "power on\nwait 3s\nexpect tilt == program_new\npress start\nwait 1s\nexpect games == 0")
    assert "error: turn the technician key first" in tell(it, "console program\nconsole {asked}")
    tell(it, "turn attendant\nunturn attendant\nexpect tilt == program_new\nturn technician\nconsole program")
    assert "error: type the first eight digits" in tell(it, "console program accept 00000000")
    assert "accepted       the same" in tell(it, "console program\nconsole {asked}")
    tell(
        it,
        "unturn technician\nwait until idle\npress cash_out\nwait until idle\nexpect paid == 200\nexpect tilt == none",
    )
    assert "program accepted by a technician" in tell(
        it, "power off\npower on\nwait until idle\nconsole events\nwait 500ms"
    )


# --- RAM clear -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("access", "says"),
    [
        ("wait 10ms", "turn the technician key and open the logic door"),
        ("open logic", "turn the technician key"),
        ("turn technician", "open the logic door"),
        ("turn attendant\nopen main\nopen cashbox", "turn the technician key and open the logic door"),
        ("turn technician\nopen logic\nfault panel offline\nwait 2s", "the I/O board does not answer"),
    ],
)
def test_memory_is_never_cleared_without_key_and_door(rig, access, says):
    it = rig(f"power on\ncoin 50\n{access}\nconsole ramclear")
    assert says in "\n".join(it.world.console.text)
    assert it.query()["credit"] == 50


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        ("console cancel", "nothing was changed"),
        ("unturn technician\nwait 100ms", "RAM clear given up: turn the technician key"),
        ("close logic\nwait 100ms", "RAM clear given up: open the logic door"),
        ("wait 121s", "RAM clear given up: nothing was typed for 120 s"),
    ],
)
def test_a_ram_clear_that_is_given_up_changes_nothing(rig, spoil, says):
    it = rig(f"power on\ncoin 50\n{CLEAR}console {{asked}}\nwait 500ms")
    asked = it._asked()
    it.world.console.text.clear()
    assert says in tell(it, spoil)
    tell(it, f"close logic\nunturn technician\nturn technician\nopen logic\nconsole {asked}\nwait 2s")
    assert it.query()["credit"] == 50
    assert "there is no command" in "\n".join(it.world.console.text)


def test_a_wrong_amount_and_a_wrong_token_clear_nothing(rig):
    it = rig(f"power on\ncoin 50\n{CLEAR}")
    assert "error: type 50, the amount in pence" in tell(it, "console 51")
    tell(it, "console 50\nwait 500ms")
    asked = it._asked()
    assert f"error: that is not {asked}" in tell(it, f"console {asked}0")
    assert it.query()["credit"] == 50


def test_a_ram_clear_leaves_nothing_of_the_old_memory(rig):
    """CAB-NVM-06: every byte is initialised, what follows is a new memory's."""
    it = rig("entropy seed 7\npower on\nconsole game piggy_riches\ncoin 200\nwant win\npress start\nwait until idle")
    tell(it, f"{CLEAR}console {{asked}}\nwait 500ms\nconsole {{asked}}\n{CLEARED}console recall\nwait 300ms")
    assert "no game has been played yet" in "\n".join(it.world.console.text)
    books = it.query()
    assert {name: books[name] for name in ("state", "credit", "coins_in", "games", "last_win", "last_bet", "audit")} == {
        "state": "setup", "credit": 0, "coins_in": 0, "games": 0, "last_win": 0, "last_bet": 0, "audit": 0,
    }  # fmt: skip
    assert books["ram_clears"] == 1
    said = tell(it, "console memory\nwait 300ms")
    used = int(said.split("journal  ")[1].split()[0])
    memory = bytes(it.session.nvram.memory)
    area = (len(memory) - CONTROL_BYTES) // (BANKS * AREAS)
    for place in range(BANKS * AREAS):
        written = used if place % AREAS == 0 else 0
        assert memory[place * area + written : (place + 1) * area].strip(b"\xff") == b""
    assert memory[BANKS * AREAS * area :].strip(b"\xff") == b""


def test_the_count_of_ram_clears_is_carried_over(rig):
    it = rig("power on\nwait 100ms")
    for number in range(1, 4):
        tell(
            it,
            f"{CLEAR}console {{asked}}\n{CLEARED}expect meter.ram_clears == {number}\nclose logic\nunturn technician",
        )


def test_coins_from_before_a_ram_clear_are_not_credited_to_the_new_memory(rig):
    """The acceptor still shows its last five events, and its counter goes on."""
    it = rig("power on\ncoin 100\ncoin 50\ncoin 20\npress cash_out\nwait until idle")
    tell(it, f"{CLEAR}console {{asked}}\n{CLEARED}close logic\nconsole setup\n{TYPED}\nwait 500ms\nconsole {{asked}}")
    tell(
        it,
        "wait until service\nunturn technician\nwait until idle\nwait 2s\nexpect credit == 0",
    )
    it.cut_power()
    tell(
        it,
        "power on\nwait until idle\nwait 2s\nexpect credit == 0\ncoin 200\nexpect credit == 200\nexpect coins_in == 200",
    )
    it.cut_power()
    tell(it, "power on\nwait until idle\nwait 1s\nexpect credit == 200\nexpect audit == ok")


def test_the_first_coin_after_a_ram_clear_is_disputed_when_it_dies_with_the_mains(rig):
    """The acceptor was not restarted by the clear: where its count of coins stood is taken over when it is met."""
    it = rig("power on\ncoin 100\npress cash_out\nwait until idle")
    tell(it, f"{CLEAR}console {{asked}}\n{CLEARED}close logic\nconsole setup\n{TYPED}\nwait 500ms\nconsole {{asked}}")
    tell(it, "wait until service\nunturn technician\nwait until idle\nwait 1s")
    before = it.world.swallowed_pence
    it.world.acceptor.insert(200, it.now_ms * 1000)
    assert it.run_until(lambda: it.world.swallowed_pence > before, 5000)
    tell(it, "power off\nwait 300ms\npower on\nwait 2s\nexpect tilt == coins_lost\nexpect credit == 0")
    assert it.query()["coins_disputed"] == 1
    assert it.query()["audit"] == 0


def test_an_interrupted_ram_clear_waits_for_a_technician(rig, request):
    """CAB-NVM-05: half a clear is neither an old memory nor a new one."""
    cuts = (1, 2, 300, 16_000, 40_000, 65_536, 65_600) if request.config.getoption("--board") == "host" else (2, 40_000)
    for cut in cuts:
        it = rig(f"power on\ncoin 50\n{CLEAR}console {{asked}}\nwait 500ms")
        it.session.nvram.cut_after = cut
        tell(it, "console {asked}\nwait 3s")
        assert not it.session.on
        tell(
            it,
            "close logic\nunturn technician\npower on\nwait 2s\nexpect state == locked\ncoin 100\npress start\nwait 1s",
        )
        assert it.world.acceptor.returned[-1] == 100
        tell(it, "power off\npower on\nwait 2s\nexpect state == locked")
        assert "turn the technician key" in tell(it, "console ramclear")
        said = tell(it, CLEAR)
        if "is on the machine" in said:  # what the first half of the clear has left
            tell(it, "console {asked}\nwait 500ms")
        tell(it, f"console {{asked}}\n{CLEARED}expect credit == 0\nexpect audit == ok")


# --- unrecoverable memory --------------------------------------------------------------------------------------------


def test_meters_of_unrecoverable_memory_are_shown_as_far_as_they_can_be_read(rig):
    """CAB-MTR-09: what the last sound snapshot and the records behind it hold."""
    it = rig("power on\ncoin 200\npower off")
    spoil_both_banks(it.session.nvram.memory)
    tell(it, "power on\nexpect state == locked")
    for command, part in (
        ("meters", "memory is unrecoverable: these are the last readings"),
        ("status", "only a RAM clear leads out"),
        ("tilts", "E52"),
        ("version", "cabinet firmware"),
        ("lines", "cctalk"),
        ("help", "ramclear"),
    ):
        assert part in tell(it, f"console {command}\nwait 1s")
    assert "coins_200" in tell(it, "console meters\nwait 1s")
    for command in ("events", "recall", "credit", "memory", "query"):
        assert "Traceback" not in tell(it, f"console {command}\nwait 500ms")
    for command in ("setup", "game dog_diner", "config win_limit £50", "program accept 0", "set volume 3"):
        assert "error: " in tell(it, f"turn technician\nconsole {command}\nwait 300ms")
    assert it.query()["state"] == "locked"


@pytest.mark.parametrize("loss", ["one record", "everything"])
def test_a_ram_clear_leads_out_of_unrecoverable_memory(rig, loss):
    """CAB-NVM-05: and nothing else does."""
    it = rig("power on\ncoin 200\npower off")
    if loss == "everything":
        it.session.nvram.memory[:] = bytes(range(256)) * (len(it.session.nvram.memory) // 256)
    else:
        spoil_both_banks(it.session.nvram.memory)
    tell(it, "power on\nexpect state == locked\nturn attendant\nunturn attendant\nturn technician\nunturn technician")
    tell(it, "open logic\nclose logic\nexpect state == locked\npower off\npower on\nexpect state == locked")
    said = tell(it, CLEAR)
    assert ("no reading can be recovered" in said) == (loss == "everything")
    if "is on the machine" in said:
        tell(it, "console {asked}\nwait 500ms")
    tell(it, f"console {{asked}}\n{CLEARED}expect credit == 0\nexpect meter.ram_clears == 1\nclose logic")
    tell(
        it,
        f"console setup\n{TYPED}\nwait 500ms\nconsole {{asked}}\nwait until service\nunturn technician\nwait until idle",
    )
    tell(it, "coin 100\nexpect credit == 100")


def test_a_locked_machine_goes_on_reading_key_and_door(rig):
    """More changes than the panel's queue holds, and the panel unplugged in between."""
    it = rig("power on\npower off")
    spoil_both_banks(it.session.nvram.memory)
    tell(it, "power on\nexpect state == locked\n" + "turn attendant\nunturn attendant\n" * 40)
    tell(it, "fault panel offline\nwait 2s\nclear panel\nwait 2s")
    assert "within 120 s" in tell(
        it, CLEAR + "console {asked}\nwait 500ms" if "machine" in tell(it, CLEAR) else "wait 10ms"
    )
