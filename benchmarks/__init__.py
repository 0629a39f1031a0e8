"""What the limiter costs, as ratios within one run. See docs/benchmarks.md for the figures.

Each contender is one small file below `contenders/` and runs in a fresh process.
"""
