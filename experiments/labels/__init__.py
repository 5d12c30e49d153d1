"""The default on labels: pools that people, systems and algorithms made, and the rent of each part of the law."""
