"""How benchmarks measure: medians of repeats, wall and CPU seconds, peak memory, one table."""

from __future__ import annotations

import os
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Seconds:
    """Medians over repeats."""

    wall: float
    cpu: float


def timed(run: Callable[[], object]) -> Seconds:
    """Time one run."""
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return Seconds(time.perf_counter() - wall, time.process_time() - cpu)


def median(run: Callable[[], object], repeats: int) -> Seconds:
    """Time `repeats` runs."""
    runs = [timed(run) for _ in range(repeats)]
    return Seconds(
        statistics.median(one.wall for one in runs), statistics.median(one.cpu for one in runs)
    )


def peak_megabytes() -> float:
    """Peak resident memory of this process so far.

    From Linux's own count for this process: getrusage passes on the peak of the parent.
    """
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024  # type: ignore[index]


def fresh_process(program: str, repeats: int) -> Seconds:
    """Time a program in a process of its own, children's CPU seconds included; its modules are compiled, as after pip."""
    compiled = {key: os.environ[key] for key in os.environ if key != "PYTHONDONTWRITEBYTECODE"}

    def run() -> None:
        subprocess.run([sys.executable, "-c", program], check=True, env=compiled)

    run()
    wall, cpu = [], []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall.append(timed(run).wall)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return Seconds(statistics.median(wall), statistics.median(cpu))


def memory_of(prepare: str, run: str, *arguments: str) -> tuple[float, float, list[float]]:
    """Run two pieces of a program in a process of its own; return its peak before and after `run`.

    Megabytes, and the numbers that `run` printed. `arguments` are the program's sys.argv[1:].
    """
    program = (
        "import sys\nfrom benchmarks.timing import peak_megabytes\n"
        f"{prepare}\nbefore = peak_megabytes()\n{run}\nprint(before, peak_megabytes())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True
    )
    *printed, before, after = (float(word) for word in done.stdout.split())
    return before, after, printed
