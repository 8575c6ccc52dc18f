"""``python -m sessionlab``: the command line."""

from sessionlab.cli import main

if __name__ == "__main__":
    main()
