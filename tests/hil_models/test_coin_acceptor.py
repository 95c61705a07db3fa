"""The coin acceptor: what happens to coins, and what the host is told of it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host_tools.hil.models.coin_acceptor import CoinAcceptor

from .conftest import CctalkBench


def ready(**options: Any) -> tuple[CctalkBench, CoinAcceptor]:
    """An acceptor with all coins enabled, just polled."""
    model = CoinAcceptor(**options)
    bench = CctalkBench(model)
    assert bench.ask(2, 231, b"\xff\xff") == (0, b"")
    assert bench.ask(2, 228, b"\x01") == (0, b"")
    assert events(bench) == [0] * 11
    return bench, model


def events(bench: CctalkBench) -> list[int]:
    answer = bench.ask(2, 229)
    assert answer is not None
    return list(answer[1])


def insert(bench: CctalkBench, model: CoinAcceptor, pence: int) -> None:
    model.insert(pence, bench.now_us)
    bench.run(200)


def test_each_coin_has_its_position() -> None:
    bench, model = ready()
    assert [bench.ask(2, 184, bytes([place])) for place in (1, 2, 3, 4, 5, 6)] == [
        (0, text) for text in (b"GB010A", b"GB020A", b"GB050A", b"GB100A", b"GB200A", b"......")
    ]
    assert bench.ask(2, 184, b"\x11") == (5, b"")
    for place, pence in enumerate((10, 20, 50, 100, 200), 1):
        insert(bench, model, pence)
        assert events(bench)[:3] == [place, place, 1]
    assert model.swallowed == [10, 20, 50, 100, 200]
    assert bench.ask(2, 225) == (0, b"\x05\x00\x00")
    assert events(bench) == [5, 5, 1, 4, 1, 3, 1, 2, 1, 1, 1]


def test_a_coin_takes_its_time() -> None:
    bench, model = ready()
    model.insert(100, bench.now_us)
    bench.run(149)
    assert model.swallowed == []
    bench.run(2)
    assert model.swallowed == [100]


def test_nothing_is_accepted_before_it_is_enabled() -> None:
    model = CoinAcceptor()
    bench = CctalkBench(model)
    assert events(bench) == [0] * 11
    insert(bench, model, 100)
    assert (model.swallowed, model.returned) == ([], [100])
    bench.ask(2, 231, b"\x07\x00")
    events(bench)
    insert(bench, model, 100)
    bench.ask(2, 228, b"\x01")
    events(bench)
    insert(bench, model, 100)
    assert (model.swallowed, model.returned) == ([], [100] * 3)
    assert events(bench)[:3] == [1, 0, 2], "only the individually inhibited coin is reported"
    insert(bench, model, 20)
    assert model.swallowed == [20]
    assert bench.ask(2, 230) == (0, b"\x07\x00")
    assert bench.ask(2, 227) == (0, b"\x01")


def test_unknown_and_close_coins_come_back() -> None:
    bench, model = ready()
    insert(bench, model, 5)
    assert events(bench)[:3] == [1, 0, 1]
    model.insert(50, bench.now_us)
    bench.run(20)
    model.insert(50, bench.now_us)
    bench.run(200)
    assert (model.swallowed, model.returned) == ([50], [5, 50])
    assert events(bench)[:5] == [3, 3, 1, 0, 8]


def test_an_unpolled_acceptor_stops() -> None:
    bench, model = ready()
    bench.run(1100)
    assert not model.accepting
    insert(bench, model, 100)
    assert model.returned == [100]
    assert events(bench)[0] == 0
    assert model.accepting


def test_the_counter_never_returns_to_zero() -> None:
    bench, model = ready(poll_watchdog_ms=0)
    for _ in range(255):
        model.fault("error", 1)
    assert events(bench)[0] == 255
    model.fault("error", 6)
    assert events(bench)[:3] == [1, 0, 6]


def test_a_restart_inhibits_everything_and_zeroes_the_counter() -> None:
    bench, model = ready()
    insert(bench, model, 100)
    assert events(bench)[0] == 1
    assert bench.ask(2, 1, ms=200) == (0, b"")
    assert events(bench) == [0] * 11
    assert bench.ask(2, 230) == (0, b"\x00\x00")
    assert bench.ask(2, 227) == (0, b"\x00")
    insert(bench, model, 100)
    assert model.returned == [100]
    assert model.lost_pence == 0, "the event had been told before the reset"


def test_an_event_wiped_before_any_answer_is_a_lost_coin() -> None:
    bench, model = ready()
    insert(bench, model, 200)
    model.fault("reset")
    bench.run(300)
    assert events(bench)[0] == 0
    assert (model.swallowed, model.lost_pence) == ([200], 200)


@pytest.mark.parametrize(("after_ms", "swallowed", "returned"), [(50, [], [100]), (120, [100], []), (160, [100], [])])
def test_power_fails_while_a_coin_falls(after_ms: int, swallowed: list[int], returned: list[int]) -> None:
    bench, model = ready()
    model.insert(100, bench.now_us)
    bench.run(after_ms)
    model.power(False, bench.now_us)
    assert (model.swallowed, model.returned) == (swallowed, returned)
    assert model.lost_pence == sum(swallowed)
    model.insert(50, bench.now_us)
    assert model.returned == [*returned, 50]
    model.power(True, bench.now_us)
    bench.run(100)
    assert bench.ask(2, 254) is None, "still starting"
    bench.run(100)
    assert bench.ask(2, 254) == (0, b"")


def test_faults_of_the_coin_path() -> None:
    bench, model = ready()
    model.fault("jam")
    insert(bench, model, 100)
    assert events(bench)[:3] == [1, 0, 14]
    assert bench.ask(2, 232) == (0, b"\x03")
    model.clear()
    model.fault("string")
    assert events(bench)[:3] == [2, 0, 20]
    assert bench.ask(2, 248) == (0, b"\x02")
    assert bench.ask(2, 193) == (0, b"\x01\x00\x00")
    assert bench.ask(2, 176) == (0, b"\x02")
    assert bench.ask(2, 176) == (0, b"\x00"), "cleared by reading"
    model.clear()
    model.fault("swallow", 1, 36)
    insert(bench, model, 200)
    assert events(bench)[:3] == [3, 0, 36]
    insert(bench, model, 50)
    assert (model.swallowed, model.lost_pence, model.returned) == ([200, 50], 200, [100])


def test_faults_of_answering() -> None:
    bench, model = ready()
    model.fault("lost_answers", 1)
    assert bench.ask(2, 228, b"\x00") is None
    assert bench.ask(2, 227) == (0, b"\x00"), "carried out all the same"
    model.fault("silent")
    assert bench.ask(2, 228, b"\x01") is None
    model.clear()
    assert bench.ask(2, 227) == (0, b"\x00"), "silence is deaf, too"
    model.fault("busy")
    assert bench.ask(2, 229) == (6, b"")
    model.clear()
    model.fault("nak")
    assert bench.ask(2, 229) == (5, b"")
    model.clear()
    model.fault("slow", 100)
    assert bench.ask(2, 254) is None
    bench.run(200)
    assert bench.line.port.read() == bytes.fromhex("01 00 02 00 FD")
    model.clear()
    model.fault("bad_checksum", "1")
    heard = bench.exchange(bytes.fromhex("02 00 01 FE FF"))
    assert heard[:-1] == bytes.fromhex("01 00 02 00")
    assert sum(heard) % 256
    assert bench.ask(2, 254) == (0, b"")
    with pytest.raises(ValueError, match=r"known: silent.*swallow"):
        model.fault("melt")


def test_a_coin_can_fall_into_a_hopper() -> None:
    bench, model = ready()
    fell: list[tuple[int, int]] = []
    model.on_coin = lambda pence, path: fell.append((pence, path))
    insert(bench, model, 100)
    assert bench.ask(2, 209, b"\x04") == (0, b"\x01")
    assert bench.ask(2, 210, b"\x04\x02") == (0, b"")
    assert bench.ask(2, 209, b"\x04") == (0, b"\x02")
    insert(bench, model, 100)
    insert(bench, model, 10)
    assert fell == [(100, 1), (100, 2), (10, 1)]
    assert events(bench)[1:7] == [1, 1, 4, 2, 4, 1]
    assert bench.ask(2, 210, b"\x04\x09") == bench.ask(2, 210, b"\x11\x01") == (5, b"")


def test_sorter_paths_are_forgotten_at_a_reset() -> None:
    bench, model = ready()
    assert bench.ask(2, 210, b"\x04\x02") == (0, b"")
    model.fault("reset")
    bench.run(400)
    assert bench.ask(2, 209, b"\x04") == (0, b"\x01")


def test_an_acceptor_without_a_sorter_reports_path_0() -> None:
    bench, model = ready(sorter=False)
    assert bench.ask(2, 210, b"\x04\x02") is None
    insert(bench, model, 100)
    assert events(bench)[:3] == [1, 4, 0]


@settings(max_examples=40, deadline=None)
@given(
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("coin"), st.sampled_from([5, 10, 20, 50, 100, 200])),
            st.tuples(st.just("wait"), st.integers(1, 400)),
            st.tuples(st.just("poll"), st.just(0)),
            st.tuples(st.just("reset"), st.just(0)),
        ),
        max_size=25,
    )
)
def test_no_coin_is_unaccounted_for(steps: list[tuple[str, int]]) -> None:
    """Every coin is swallowed or returned; a host can follow the credit of each swallowed coin, or it is lost."""
    bench, model = ready()
    pence_of = {place: pence for place, (_, pence) in model.table.items()}
    inserted, credited, last = [], 0, 0
    for step, figure in [*steps, ("wait", 200), ("poll", 0)]:
        if step == "coin":
            model.insert(figure, bench.now_us)
            inserted.append(figure)
        elif step == "wait":
            bench.run(figure)
        elif step == "reset":
            model.fault("reset")
            bench.run(260)
            last = 0
        elif (answer := bench.ask(2, 229)) is not None:
            counter, pairs = answer[1][0], answer[1][1:]
            new = (counter - last) % 255 if counter else 0
            for a in pairs[0 : 2 * min(new, 5) : 2]:
                credited += pence_of.get(a, 0)
            last = counter
    assert sorted(model.swallowed + model.returned) == sorted(inserted)
    assert credited == sum(model.swallowed) - model.lost_pence
