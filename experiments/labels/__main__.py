"""The battery of labels."""

from experiments.labels.battery import main

main()
