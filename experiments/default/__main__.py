"""The battery of points."""

from experiments.default.battery import main

main()
