"""One file for each thing that is measured; `python -m benchmarks.contenders.NAME JOB` runs it."""
