"""What a shell needs of the command line: completion, the manual page, examples, versions."""
