"""How strong `greedy` is against `random` by real rounds in the arena, and that the arena is fair."""

import pytest

from tests.sample_bots.arena import MakeBot, make_greedy, make_random, strength


@pytest.mark.parametrize("edition", ["mario-kart", "classic"])
def test_greedy_beats_random_in_800_rounds_of_two(edition: str) -> None:
    found = strength(edition, 2, 800)
    assert found.decided >= 790
    assert found.low > 0.55, found


@pytest.mark.parametrize("make", [make_greedy, make_random])
def test_a_bot_against_itself_wins_exactly_its_share(make: MakeBot) -> None:
    """Seeds belong to seats, so the rotations of a deal are one and the same round."""
    found = strength("mario-kart", 4, 40, one=make, others=make)
    assert (found.won * 4, found.low, found.high) == (found.decided, 0.25, 0.25)


@pytest.mark.soak
@pytest.mark.parametrize("edition", ["mario-kart", "classic"])
@pytest.mark.parametrize(("seats", "least"), [(2, 0.62), (3, 0.42), (4, 0.33), (10, 0.13)])
def test_greedy_is_far_above_its_share_at_any_table(edition: str, seats: int, least: float) -> None:
    assert strength(edition, seats, 20_000).low > least
