"""Trains the parameters and writes them to a file. After each epoch: how many of the held-out pairs are right."""

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.nn import functional

from bench.pair_model import network
from bench.pair_model.examples import Example, drawn, grouped, near, single
from chie.knowledge.review import pair_model

BATCH = 16
ADDED_RATE = 5  # times the rate, for what starts from nothing
WARM_UP, LAST = 0.06, 0.02  # share of the steps in which the rate rises; what is left of it at the end
SMOOTHING, DECAY, MAX_GRADIENT = 0.05, 0.01, 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--start", help="parameters to continue from")
    parser.add_argument("--batches", type=int, default=8, help="only the groups of the first ones")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=1e-4)
    options = parser.parse_args()
    torch.manual_seed(1)
    parameters = torch.load(options.start) if options.start else network.initial()
    for value in parameters.values():
        value.requires_grad_(True)
    train(parameters, options)
    torch.save({name: value.detach() for name, value in parameters.items()}, options.out)


def train(parameters: network.Parameters, options: argparse.Namespace) -> None:
    pick, tables = random.Random(1), network.fixed()
    alone = single(held=False) + (near(held=False) if options.start else [])
    groups = grouped(held=False, batches=options.batches)
    check = single(held=True) + drawn(grouped(held=True), pick)
    steps = options.epochs * (len(alone) + len(drawn(groups, pick))) // BATCH + 1
    optimizer, schedule = _optimizer(parameters, options.rate, steps)
    for epoch in range(options.epochs):
        began, chosen = time.monotonic(), alone + drawn(groups, pick)
        for batch, labels in batches([pick.choice((one, one.swapped)) for one in chosen], pick):
            odds = network.forward(parameters, tables, batch, training=True)
            loss = functional.cross_entropy(odds, labels, label_smoothing=SMOOTHING)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters.values(), MAX_GRADIENT)
            optimizer.step()
            schedule.step()
        right = accuracy(parameters, tables, check)
        print(f"epoch {epoch + 1}: {right:.3f} of {len(check)} right, {time.monotonic() - began:.0f} s", flush=True)


def _optimizer(parameters: network.Parameters, rate: float, steps: int) -> tuple[Any, Any]:
    added = [value for name, value in parameters.items() if name.startswith(network.ADDED)]
    known = [value for name, value in parameters.items() if not name.startswith(network.ADDED)]
    groups = [{"params": known, "lr": rate}, {"params": added, "lr": rate * ADDED_RATE}]
    optimizer = torch.optim.AdamW(groups, weight_decay=DECAY)

    def share(step: int) -> float:
        return min(1, (step + 1) / (WARM_UP * steps + 1)) * max(LAST, 1 - step / steps)

    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, share)


def batches(examples: Sequence[Example], pick: random.Random) -> Iterator[tuple[Any, Any]]:
    """Pairs of about the same length together, in random order."""
    order = pick.sample(examples, len(examples))
    parts: list[list[Example]] = []
    for start in range(0, len(order), BATCH * 20):
        some = sorted(order[start : start + BATCH * 20], key=lambda one: len(one.a) + len(one.b))
        parts += [some[at : at + BATCH] for at in range(0, len(some), BATCH)]
    pick.shuffle(parts)
    for part in parts:
        yield _tensors(part), torch.tensor([one.label for one in part])


def _tensors(examples: Sequence[Example]) -> Any:
    rows = [pair_model.inputs(pair_model.tokens(one.a), pair_model.tokens(one.b)) for one in examples]
    longest = max(len(row[0]) for row in rows)
    arrays = [torch.tensor([row[at] + [0] * (longest - len(row[at])) for row in rows]) for at in range(4)]
    mask = torch.tensor([[at < len(row[0]) for at in range(longest)] for row in rows])
    return [*arrays, mask]


def accuracy(parameters: network.Parameters, tables: network.Parameters, examples: Sequence[Example]) -> float:
    right = 0
    with torch.no_grad():
        for batch, labels in batches(examples, random.Random(1)):
            odds = network.forward(parameters, tables, batch, training=False)
            right += int((odds.argmax(1) == labels).sum())
    return right / len(examples)


if __name__ == "__main__":
    main()
