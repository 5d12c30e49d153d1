#!/bin/sh
# Checks for what the set-up needs and says how to install what is absent. Downloads nothing.
set -u
python=${PYTHON:-python3}
missing=0

need() { # need WHAT COMMAND
    missing=1
    printf 'conclust needs %s. Install it with: %s\n' "$1" "$2" >&2
}

if ! command -v "$python" >/dev/null 2>&1; then
    need "python3 (3.11 or newer)" "sudo apt-get install python3"
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    need "python3 3.11 or newer ($("$python" --version 2>&1) found)" "sudo apt-get install python3"
else
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        need "python3-venv" "sudo apt-get install python3-venv"
    header=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include") + "/Python.h")')
    [ -f "$header" ] || need "python3-dev (Python.h)" "sudo apt-get install python3-dev"
fi
command -v "${CXX:-g++}" >/dev/null 2>&1 || need "g++" "sudo apt-get install g++"
command -v make >/dev/null 2>&1 || need "make" "sudo apt-get install make"
exit $missing
