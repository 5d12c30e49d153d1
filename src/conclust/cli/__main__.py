"""``python -m conclust.cli``: the command line if the script is not on the path."""

from conclust.cli import process

if __name__ == "__main__":
    process()
