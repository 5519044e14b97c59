"""Lets the tests of the sandbox import their helpers however pytest was started; knows no level."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # tests.sandbox.* belongs to no installed package
