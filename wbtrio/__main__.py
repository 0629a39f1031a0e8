"""`python -m wbtrio`: the command line."""

from wbtrio.cli import main

if __name__ == "__main__":
    main()
