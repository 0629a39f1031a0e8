"""The strategy lab: ways to keep inside WB's budgets, each against the same WB, in virtual time.

`python -m benchmarks.lab` plays every strategy through every scenario and makes
docs/strategies.md of it. Ours is the real limiter, on the real event loop; only time and WB are
simulated. Figures are the same to the last digit wherever they are computed.
"""
