"""Remote bots between and beside matches: absent, gone, wanted by two tables, deaf, silent, sent away."""

import socket
import threading
from pathlib import Path

import pytest
import trio

from lastcard.referee.limits import Limits
from lastcard.referee.net import door
from lastcard.referee.net.sockets import KEEPALIVE_IDLE, UNANSWERED_MS, prepare
from tests.net.caller import Caller, answer, honest
from tests.net.hall import Game, Hall, descriptors, opened, play_at

# ---- who is not there


async def test_absent_at_the_beginning(tmp_path: Path) -> None:
    limits = Limits(move_ms=700, start_ms=200)
    async with opened("a", "b", limits=limits, patience=0.2) as hall:
        hall.run("b", honest)
        async with hall.table("a", "b") as table:
            game = await play_at(table, tmp_path / "1", 2)
            assert game.faults == [(0, "startup")]
            assert game.record.forfeited == (0,)
            (fault,) = game.logged("fault")
            assert fault["detail"] == "not connected within 200 ms"
            assert "not here after 0 s: a" in hall.said[-1]
            hall.run("a", honest)
            await until_here(hall, "a", here=True)
            assert (await play_at(table, tmp_path / "2", 2)).faults == []


async def test_gone_between_two_matches(tmp_path: Path) -> None:
    """The one who does not come back is absent; no descriptor of the lost line stays."""
    limits = Limits(move_ms=700, start_ms=300)

    def one_match(caller: Caller) -> None:
        caller.log_in()
        while (line := caller.read())["type"] != "end":
            answer(caller, line)

    async with opened("a", "b", limits=limits, patience=20) as hall:
        run, _ = hall.run("a", one_match), hall.run("b", honest)
        async with hall.table("a", "b") as table:
            assert (await play_at(table, tmp_path / "1", 2)).faults == []
            await hall.joined(run)
            open_before = descriptors()
            for number in range(3):
                game = await play_at(table, tmp_path / str(number), 2)
                assert game.faults == [(0, "startup")]
            assert descriptors() < open_before


async def test_two_tables_want_the_same_bot(tmp_path: Path) -> None:
    """They have it one after the other; who waits for it holds nobody else."""
    async with opened("a", "b", "c", patience=20) as hall:
        for name in "abc":
            hall.run(name, honest)
        playing: set[str] = set()
        games: list[Game] = []

        async def tables(*names: str) -> None:
            for number in range(5):
                async with hall.table(*names) as table:
                    assert playing.isdisjoint(names)
                    playing.update(names)
                    games.append(await play_at(table, tmp_path / f"{names[0]}{number}", 2))
                    playing.difference_update(names)

        async with trio.open_nursery() as nursery:
            for pair in (("a", "b"), ("b", "c"), ("c", "a")):
                nursery.start_soon(tables, *pair)
    assert len(games) == 15
    assert all(game.faults == [] for game in games)


async def test_a_table_that_is_given_up(tmp_path: Path) -> None:
    """Bots in mid-match are sent away, come again, and play on at the next table."""
    limits = Limits(move_ms=60_000)
    asked = threading.Event()

    def slow_once(caller: Caller) -> None:
        caller.log_in()
        caller.until("ask")
        asked.set()
        bye = caller.until("bye")
        assert (bye["again"], bye["reason"]) == (True, "no more matches at this table")
        honest(caller)

    async with opened("a", "b", limits=limits, patience=20) as hall:
        hall.run("a", slow_once)
        hall.run("b", honest)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(hall.play, tmp_path / "1", "a", "b")
            assert await trio.to_thread.run_sync(asked.wait, 20)
            nursery.cancel_scope.cancel()
        assert (await hall.play(tmp_path / "2", "a", "b")).faults == []


async def test_beside_a_bot_of_this_machine(tmp_path: Path) -> None:
    async with opened("a", patience=20) as hall:
        hall.run("a", honest)
        assert (await hall.play(tmp_path / "m", "greedy", "a", "random")).faults == []


async def test_the_lobby_waits_for_all_at_one_time() -> None:
    """Who comes and goes again has not come."""
    async with opened("a", "b", patience=20) as hall:
        gathered = trio.Event()

        async def wait() -> None:
            async with hall.table("a", "b"):
                gathered.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            caller = hall.caller("a")
            await trio.to_thread.run_sync(caller.log_in)
            await until_here(hall, "a", here=True)
            caller.cut()
            await until_here(hall, "a", here=False)
            hall.run("b", honest)
            await until_here(hall, "b", here=True)
            await trio.sleep(0.05)
            assert not gathered.is_set()
            hall.run("a", honest)
            await gathered.wait()


async def until_here(hall: Hall, name: str, *, here: bool) -> None:
    while hall.lobby.places[name].here is not here:  # noqa: ASYNC110 - the system has no event for a leave
        await trio.sleep(0.005)


# ---- deaf and silent


async def test_a_bot_that_does_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """T-13: what the system does not take is waited for until the deadline, and then the seat is forfeited."""

    def prepare_small(sock: socket.socket) -> None:
        prepare(sock)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)

    def deaf(caller: Caller) -> None:
        caller.log_in()
        caller.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        caller.until("start")
        over.wait(60)

    monkeypatch.setattr(door, "prepare", prepare_small)
    over = threading.Event()
    limits = Limits(move_ms=50, bank_ms=0, start_ms=5000, strikes=1000, margin_ms=0)
    async with opened("a", "b", limits=limits, patience=20) as hall:
        hall.run("a", deaf)
        hall.run("b", honest)
        kinds: list[str] = []
        async with hall.table("b", "a") as table:
            for number in range(40):  # a match may be over before the line is full
                game = await play_at(table, tmp_path / f"{number}", 2, seed=str(number))
                kinds += [kind for _, kind in game.faults]
                if "stall" in kinds:
                    assert game.record.forfeited == (1,)
                    break
        over.set()
    assert set(kinds) == {"timeout", "stall"}


async def test_a_bot_that_is_silent_for_good(tmp_path: Path) -> None:
    """T-14: half-open, as far as anybody sees; its time runs."""
    over = threading.Event()

    def silent(caller: Caller) -> None:
        caller.log_in()
        over.wait(60)

    limits = Limits(move_ms=100, bank_ms=0, start_ms=5000)
    async with opened("a", "b", limits=limits, patience=20) as hall:
        hall.run("a", silent)
        hall.run("b", honest)
        game = await hall.play(tmp_path / "m", "a", "b")
        over.set()
    assert game.faults == [(0, "timeout")] * 3
    assert game.record.forfeited == (0,)


async def test_a_bot_that_can_only_listen(tmp_path: Path) -> None:
    """T-14: who has ended his own side will never answer; he comes back on a new line."""

    def half(caller: Caller) -> None:
        caller.log_in()
        caller.until("ask")
        caller.sock.shutdown(socket.SHUT_WR)
        honest(caller)

    async with opened("a", "b", patience=20) as hall:
        hall.run("a", half)
        hall.run("b", honest)
        assert (await hall.play(tmp_path / "m", "a", "b")).faults == []


def test_dead_lines_are_noticed() -> None:
    """T-14: the numbers of the specification are those of the socket."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as sock:
        prepare(sock)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == KEEPALIVE_IDLE == 15
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL) == 5
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT) == 3
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == UNANSWERED_MS == 20_000
        assert not sock.getblocking()


async def test_who_comes_after_the_last_match(tmp_path: Path) -> None:
    """T-12: he is told that the run is over, as all are."""
    async with opened("a", "b", patience=20) as hall:
        for name in "ab":
            hall.run(name, honest)
        await hall.play(tmp_path / "m", "a", "b")
        await hall.lobby.part(0.1)
        late = hall.run("a", honest)
        assert (await hall.joined(late)).heard[-1] == {"type": "bye", "reason": "the run is over"}
