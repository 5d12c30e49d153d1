"""The number of objects that borders need."""

from experiments.power.needed import main

main()
