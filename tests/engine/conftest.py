"""Lets the tests of the engine import each other's helpers however pytest was started; knows no rule."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # tests.engine.* belongs to no installed package
