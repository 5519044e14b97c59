"""Lets the tests of the checker import it however pytest was started; knows no rule."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # tests.checker.* belongs to no installed package
