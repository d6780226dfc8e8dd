"""Half an hour of work while things break: `make soak`, or `make soak ARGS="--minutes 5"`.

The model goes down, the tool server is killed, the disk is full, the clock jumps a day and back, over and over; near
the end the house itself is killed and started again. Everything that was acknowledged must be there afterwards, every
answer must have come whole or ended honestly, and memory must be flat.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
from tests.soak.ledger import Ledger
from tests.soak.load import Worker
from tests.soak.scene import DAY, FAKETIME, Scene

WORKERS = 6
SAMPLE_SECONDS = 5
WARM = 0.25  # of the time: caches fill
GROWTH = 1.10  # in memory, from the second quarter to the last, that still is flat


def main() -> None:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    minutes = parser.parse_args().minutes
    if not FAKETIME.exists():
        sys.exit("The clock cannot be made to jump: install Debian's package `faketime`.")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        scene = Scene(home)
        scene.open()
        try:
            sys.exit(asyncio.run(soak(scene, minutes * 60)))
        finally:
            scene.close()


async def soak(scene: Scene, seconds: float) -> int:
    ledger, over, memory = Ledger(), asyncio.Event(), list[float]()
    async with httpx2.AsyncClient(base_url=scene.address, timeout=60) as client:
        workers = [asyncio.create_task(Worker(n, client, ledger).work(over)) for n in range(WORKERS)]
        sampling = asyncio.create_task(_sample(scene, memory))
        await _break_things(scene, ledger, time.monotonic() + seconds)
        sampling.cancel()
        await _fault("house killed", scene.kill_house, scene.start_house, 1.0, ledger)
        over.set()
        await asyncio.gather(*workers)
        await ledger.verify(client)
    return _report(ledger, memory)


async def _break_things(scene: Scene, ledger: Ledger, end: float) -> None:
    faults: list[tuple[str, Callable[[], None], Callable[[], None], float]] = [
        ("model down", scene.stop_model, scene.start_model, 6),
        ("tool server killed", scene.kill_tools, lambda: None, 1),
        ("disk full", scene.fill_disk, scene.free_disk, 5),
        ("clock a day ahead", lambda: scene.jump_clock(DAY), lambda: None, 5),
        ("clock a day behind", lambda: scene.jump_clock(-DAY), lambda: scene.jump_clock(0), 5),
    ]
    while time.monotonic() < end:
        for fault in faults:
            await asyncio.sleep(6)
            await _fault(*fault, ledger)


async def _fault(name: str, begin: Callable[[], None], end: Callable[[], None], seconds: float, ledger: Ledger) -> None:
    await asyncio.to_thread(begin)
    await asyncio.sleep(seconds)
    await asyncio.to_thread(end)
    ledger.count(f"fault: {name}")


async def _sample(scene: Scene, memory: list[float]) -> None:
    while True:
        memory.append(scene.memory_mb())
        await asyncio.sleep(SAMPLE_SECONDS)


def _report(ledger: Ledger, memory: list[float]) -> int:
    for what, times in sorted(ledger.tally.items()):
        print(f"{times:8,}  {what}")
    quarter = max(1, len(memory) // 4)
    early, late = (_median(memory[quarter : 2 * quarter]), _median(memory[-quarter:]))
    print(f"kept: {len(ledger.notes)} notes, {len(ledger.questions)} questions, {len(ledger.answers)} whole answers")
    print(
        f"memory: {early:.0f} MB in the second quarter, {late:.0f} in the last: {late / early:.2f} x (at most {GROWTH})"
    )
    print("its course, by eighths: " + " ".join(f"{part:.0f}" for part in _course(memory)))
    for fault in ledger.faults[:50]:
        print(f"FAULT: {fault}")
    good = not ledger.faults and late / early <= GROWTH
    print("Nothing was lost and memory is flat." if good else f"{len(ledger.faults)} faults.")
    return 0 if good else 1


def _course(memory: list[float]) -> list[float]:
    step = max(1, len(memory) // 8)
    return [_median(memory[at : at + step]) for at in range(0, step * 8, step) if memory[at : at + step]]


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


if __name__ == "__main__":
    main()
