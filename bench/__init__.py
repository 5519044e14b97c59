"""The benchmarks of `make bench`: ratios against yardsticks of the same run. lastcard never imports them."""
