"""The benchmarks belong to no installed package: they are imported from the top of the checkout."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
