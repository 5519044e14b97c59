"""Whether a match was noisy: the arithmetic, where the system counts and where it does not, and in log and ledger."""

from pathlib import Path

import pytest

from lastcard.referee import noise
from lastcard.referee.memory_channel import MemoryChannel
from lastcard.referee.noise import BUSY, LEAST_STALL_MS, SHARE, NoiseMeter, cores, is_short, stall_seconds
from tests.referee.scripted import honest, mock_time, play, seated

PRESSURE = """\
some avg10=0.00 avg60=0.00 avg300=0.00 total={total}
full avg10=0.00 avg60=0.00 avg300=0.00 total=7
"""


@pytest.fixture
def pressure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's file, to be written by the test."""
    path = tmp_path / "cpu"
    monkeypatch.setattr(noise, "PRESSURE", path)
    return path


@pytest.mark.parametrize(
    ("stall_ms", "wall_ms", "short"),
    [
        (LEAST_STALL_MS, LEAST_STALL_MS, False),  # too little to have moved a decision
        (LEAST_STALL_MS + 1, LEAST_STALL_MS + 1, True),
        (300, 1000, False),  # matches side by side, one for each core
        (SHARE * 1000, 1000, False),
        (SHARE * 1000 + 1, 1000, True),
        (0, 0, False),
    ],
)
def test_what_is_short_of_cores(stall_ms: float, wall_ms: float, *, short: bool) -> None:
    assert is_short(stall_ms, wall_ms) is short


@pytest.mark.parametrize(("load", "short"), [(0.0, False), (BUSY, False), (BUSY + 0.1, True)])
def test_without_pressure_the_load_decides(monkeypatch: pytest.MonkeyPatch, load: float, *, short: bool) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load * cores(), 0.0, 0.0))
    assert is_short(None, 1000) is short


@pytest.mark.parametrize("text", [None, "", "some total=\n", "some avg10=0.00 total=x\n", "full total=3\n", "\xff"])
def test_a_system_that_does_not_count_says_nothing(pressure: Path, text: str | None) -> None:
    """Old kernels have no file, others one that cannot be read; that is no error."""
    if text is not None:
        pressure.write_bytes(text.encode("latin-1"))
    assert stall_seconds() is None
    meter = NoiseMeter()
    meter.begin()
    assert meter.read().stall_ms is None


def test_the_count_of_the_system_is_in_microseconds(pressure: Path) -> None:
    pressure.write_text(PRESSURE.format(total=2_500_000))
    assert stall_seconds() == 2.5


def test_only_what_was_added_during_the_match_counts(pressure: Path) -> None:
    pressure.write_text(PRESSURE.format(total=9_000_000))
    meter = NoiseMeter()
    meter.begin()
    assert (meter.read().stall_ms, meter.read().noisy) == (0, False)
    pressure.write_text(PRESSURE.format(total=9_900_000))
    seen = meter.read()
    assert seen.stall_ms == pytest.approx(900)
    assert seen.noisy is True, "far more than the milliseconds that this test took"


def test_lag_over_the_margin_is_noise(pressure: Path) -> None:
    pressure.write_text(PRESSURE.format(total=0))
    meter = NoiseMeter()
    meter.begin()
    for lag in (3.0, 50.0, 1.0):
        meter.heard(lag, 50)
    assert (meter.read().lag_ms, meter.read().late, meter.read().noisy) == (50, 0, False)
    meter.heard(50.1, 50)
    assert (meter.read().lag_ms, meter.read().late, meter.read().noisy) == (50.1, 1, True)


@mock_time
async def test_the_log_says_how_far_its_times_can_be_trusted(tmp_path: Path) -> None:
    """In a member `t`: the digest is the same on a busy machine."""

    class Late(MemoryChannel):
        async def receive(self, deadline: float) -> bytes | None:
            data = await super().receive(deadline)
            self.lag = 0.2
            return data

    async with seated(honest(), honest()) as hall:
        quiet = await hall.play(tmp_path / "quiet", seed="n")
        hall.connections[1][0].channel.__class__ = Late
        busy = await hall.play(tmp_path / "busy", seed="n")
    assert (quiet.outcome.noise.late, quiet.outcome.noise.lag_ms) == (0, 0)
    asked = len(busy.decisions(1, "asked"))
    assert asked > 2
    assert (busy.outcome.noise.late, busy.outcome.noise.lag_ms, busy.outcome.noise.noisy) == (asked, 200, True)
    for game in (quiet, busy):
        (result,) = game.logged("result")
        assert {name: result["t"][name] for name in ("lag_ms", "late", "noisy")} == {
            "lag_ms": game.outcome.noise.lag_ms,
            "late": game.outcome.noise.late,
            "noisy": game.outcome.noise.noisy,
        }
    assert quiet.outcome.digest == busy.outcome.digest


@mock_time
async def test_where_the_system_does_not_count_the_log_leaves_it_out(pressure: Path, tmp_path: Path) -> None:
    game = await play(tmp_path / "log", honest(), honest())
    (result,) = game.logged("result")
    assert set(result["t"]) == {"lag_ms", "late", "wall_ms", "noisy"}
