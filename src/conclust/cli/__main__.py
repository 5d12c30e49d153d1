"""``python -m conclust.cli``: the command line where the script is not on the path."""

import sys

from conclust.cli import main

sys.exit(main())
