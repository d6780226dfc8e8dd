"""Half an hour of work while things break: `make soak`, or `make soak ARGS="--minutes 5"`.

The model goes down, the tool server is killed, the disk is full, the clock jumps a day and back, over and over; near
the end Chie itself is killed and started again. Afterwards everything acknowledged must exist, every answer must be
complete or have ended with an error, and memory must be flat.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
from tests.soak.environment import DAY, FAKETIME, Environment
from tests.soak.ledger import Ledger
from tests.soak.load import Worker

Action = Callable[[], None]

WORKERS = 6
SAMPLE_SECONDS = 5
MAX_GROWTH = 1.10  # of memory, from the second quarter of the run to the last


def main() -> None:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    minutes = parser.parse_args().minutes
    if not FAKETIME.exists():
        sys.exit("The clock cannot be made to jump: install Debian's package `faketime`.")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        environment = Environment(home)
        environment.open()
        try:
            sys.exit(asyncio.run(soak(environment, minutes * 60)))
        finally:
            environment.close()


async def soak(environment: Environment, seconds: float) -> int:
    ledger, over, memory = Ledger(), asyncio.Event(), list[float]()
    async with httpx2.AsyncClient(base_url=environment.address, timeout=60) as client:
        workers = [asyncio.create_task(Worker(n, client, ledger).work(over)) for n in range(WORKERS)]
        sampling = asyncio.create_task(_sample(environment, memory))
        await _break_things(environment, ledger, time.monotonic() + seconds)
        sampling.cancel()
        await _inject("app killed", environment.kill_app, environment.start_app, 1.0, ledger)
        over.set()
        await asyncio.gather(*workers)
        await ledger.verify(client)
    return _report(ledger, memory)


async def _break_things(environment: Environment, ledger: Ledger, end: float) -> None:
    outages: list[tuple[str, Action, Action, float]] = [
        ("model down", environment.stop_model, environment.start_model, 6),
        ("tool server killed", environment.kill_tools, lambda: None, 1),
        ("disk full", environment.fill_disk, environment.free_disk, 5),
        ("clock a day ahead", lambda: environment.jump_clock(DAY), lambda: None, 5),
        ("clock a day behind", lambda: environment.jump_clock(-DAY), lambda: environment.jump_clock(0), 5),
    ]
    while time.monotonic() < end:
        for outage in outages:
            await asyncio.sleep(6)
            await _inject(*outage, ledger)


async def _inject(
    name: str, begin: Callable[[], None], end: Callable[[], None], seconds: float, ledger: Ledger
) -> None:
    await asyncio.to_thread(begin)
    await asyncio.sleep(seconds)
    await asyncio.to_thread(end)
    ledger.count(f"outage: {name}")


async def _sample(environment: Environment, memory: list[float]) -> None:
    while True:
        memory.append(environment.memory_mb())
        await asyncio.sleep(SAMPLE_SECONDS)


def _report(ledger: Ledger, memory: list[float]) -> int:
    for what, times in sorted(ledger.tally.items()):
        print(f"{times:8,}  {what}")
    quarter = max(1, len(memory) // 4)
    early, late = (_median(memory[quarter : 2 * quarter]), _median(memory[-quarter:]))
    print(f"kept: {len(ledger.notes)} notes, {len(ledger.questions)} questions, {len(ledger.answers)} complete answers")
    print(
        f"memory: {early:.0f} MB in the second quarter, {late:.0f} in the last: "
        f"{late / early:.2f} x (at most {MAX_GROWTH})"
    )
    print("by eighths of the run: " + " ".join(f"{part:.0f}" for part in _by_eighths(memory)))
    for loss in ledger.losses[:50]:
        print(f"LOST: {loss}")
    good = not ledger.losses and late / early <= MAX_GROWTH
    print("Nothing was lost and memory is flat." if good else f"{len(ledger.losses)} losses.")
    return 0 if good else 1


def _by_eighths(memory: list[float]) -> list[float]:
    step = max(1, len(memory) // 8)
    return [_median(memory[at : at + step]) for at in range(0, step * 8, step) if memory[at : at + step]]


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


if __name__ == "__main__":
    main()
