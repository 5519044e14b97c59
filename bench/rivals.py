"""The engine's yardsticks: other people's games, driven from Python the way their own users drive them.

Each plays whole games until at least `decisions` decisions are made. `bench/run.sh` installs the packages for
the benchmarks alone; where one is missing its yardstick is left out.
"""

# The packages carry no types, and are absent where this file is checked.
# mypy: disable-error-code="import-not-found,import-untyped"
# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

import importlib.util
import random
import time
from collections.abc import Callable
from typing import NamedTuple

from bench.harness import Sample


def rlcard_uno(seats: int, decisions: int, seed: int) -> Sample:
    """RLCard's raw UNO game: the legal actions listed before every step, one of them chosen uniformly."""
    import numpy
    from rlcard.games.uno import Game

    choice = random.Random(seed).choice
    game = Game(num_players=seats)
    game.np_random = numpy.random.RandomState(seed)
    count = 0
    begun = time.process_time()
    while count < decisions:
        game.init_game()
        while not game.is_over():
            game.step(choice(game.get_legal_actions()))
            count += 1
    return Sample(count, time.process_time() - begun)


def rlcard_uno_unlisted(seats: int, decisions: int, seed: int) -> Sample:
    """The same games, with the legal actions that come along with the state that `step` returns."""
    import numpy
    from rlcard.games.uno import Game

    choice = random.Random(seed).choice
    game = Game(num_players=seats)
    game.np_random = numpy.random.RandomState(seed)
    count = 0
    begun = time.process_time()
    while count < decisions:
        state, _ = game.init_game()
        while not game.is_over():
            state, _ = game.step(choice(state["legal_actions"]))
            count += 1
    return Sample(count, time.process_time() - begun)


def openspiel_crazy_eights(seats: int, decisions: int, seed: int) -> Sample:
    """OpenSpiel's C++ crazy_eights, with its skip, reverse and draw two, through its Python binding.

    Chance nodes are played as OpenSpiel's own examples play them, and are not counted as decisions.
    """
    import pyspiel

    choice = random.Random(seed).choice
    rules = {"players": seats, "use_special_cards": True, "reshuffle": True}
    game = pyspiel.load_game("crazy_eights", rules)
    count = 0
    begun = time.process_time()
    while count < decisions:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(choice(state.chance_outcomes())[0])
            else:
                state.apply_action(choice(state.legal_actions()))
                count += 1
    return Sample(count, time.process_time() - begun)


class Rival(NamedTuple):
    """A yardstick by the name in the table; `package` is what it imports, `target` the least ratio wanted."""

    name: str
    package: str
    play: Callable[[int, int, int], Sample]
    target: float | None

    @property
    def installed(self) -> bool:
        return importlib.util.find_spec(self.package) is not None


RIVALS = (
    Rival("RLCard UNO", "rlcard", rlcard_uno, 5.0),
    Rival("the same, no list of its own", "rlcard", rlcard_uno_unlisted, None),
    Rival("OpenSpiel crazy_eights", "pyspiel", openspiel_crazy_eights, None),
)
