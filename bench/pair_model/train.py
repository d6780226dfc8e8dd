"""Trains the parameters for some minutes and writes them to a file. Prints how many of the held-out pairs are right."""

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.nn import functional

from bench.pair_model import network
from bench.pair_model.examples import Example, by_group, drawn, groups, near, single
from bench.pair_model.variations import variations
from chie.knowledge.review import pair_model

BATCH, ROUND = 32, 3_200  # pairs in a step, and about as many in a round
SINGLE_SHARE, NEAR_SHARE = 0.2, 0.02  # of a round; the others are of groups
VARIED = 4  # variations that a group gives to one round
RECENT, LESS = 800, 0.5  # the last groups are about what the model got wrong; each use of them counts only so much
ADDED_RATE = 5  # times the rate, for what starts from nothing
WARM_UP, LAST = 0.04, 0.02  # share of the time in which the rate rises; what is left of it at the end
SMOOTHING, DECAY, MAX_GRADIENT = 0.05, 0.01, 1.0
MEAN_FROM, MEAN_EVERY = 0.7, 20  # the share of the time after which parameters count for their mean, and the steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--start", help="parameters to continue from; `shipped` are those of the package")
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--rate", type=float, default=1e-4, help="5e-5 is enough for parameters that are trained")
    parser.add_argument("--keep", type=float, default=0.0, help="the share of the start in the parameters of the end")
    options = parser.parse_args()
    torch.manual_seed(1)
    if options.start == "shipped":
        parameters = network.shipped()
    else:
        parameters = torch.load(options.start) if options.start else network.initial()
    start = {name: value.clone() for name, value in parameters.items()}
    end = train(parameters, options.rate, options.minutes * 60, fresh=not options.start)
    torch.save({name: options.keep * start[name] + (1 - options.keep) * end[name] for name in end}, options.out)


def train(parameters: network.Parameters, rate: float, seconds: float, *, fresh: bool) -> network.Parameters:
    """The mean of the parameters in the last part of the time, which is better than the last ones."""
    for value in parameters.values():
        value.requires_grad_(True)
    tables, check, rounds, mean = network.fixed(), single(held=True), Rounds(), Mean()
    optimizer, began, steps = _optimizer(parameters, fresh=fresh), time.monotonic(), 0
    while True:
        losses = []
        for batch, labels in rounds.next():
            passed = (time.monotonic() - began) / seconds
            if passed >= 1:
                print(f"the mean: {accuracy(mean.parameters, tables, check):.3f} of {len(check)} right", flush=True)
                return mean.parameters
            for group in optimizer.param_groups:
                group["lr"] = rate * group["times"] * min(1, passed / WARM_UP) * max(LAST, 1 - passed)
            with torch.autocast("cpu", dtype=torch.bfloat16):  # twice as fast where the processor has it
                odds = network.forward(parameters, tables, batch, training=True)
            loss = functional.cross_entropy(odds.float(), labels, label_smoothing=SMOOTHING)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters.values(), MAX_GRADIENT)
            optimizer.step()
            losses.append(loss.item())
            steps += 1
            if passed > MEAN_FROM and steps % MEAN_EVERY == 0:
                mean.add(parameters)
        right = accuracy(parameters, tables, check)
        print(f"{passed:.2f}: loss {sum(losses) / len(losses):.3f}, {right:.3f} of {len(check)} right", flush=True)


def _optimizer(parameters: network.Parameters, *, fresh: bool) -> Any:
    added = [value for name, value in parameters.items() if name.startswith(network.ADDED)]
    known = [value for name, value in parameters.items() if not name.startswith(network.ADDED)]
    groups = [{"params": known, "times": 1}, {"params": added, "times": ADDED_RATE if fresh else 1}]
    return torch.optim.AdamW(groups, weight_decay=DECAY, fused=True)


class Mean:
    def __init__(self) -> None:
        self.parameters: network.Parameters = {}
        self._count = 0

    def add(self, parameters: network.Parameters) -> None:
        self._count += 1
        if not self.parameters:
            self.parameters = {name: value.detach().clone() for name, value in parameters.items()}
        for name, value in self.parameters.items():
            value.add_((parameters[name].detach() - value) / self._count)


class Rounds:
    """Each draws from the groups that were used least, so that all of them are used about equally often."""

    def __init__(self) -> None:
        self._pick = random.Random(1)
        self._alone, self._near, self._groups = single(held=False), near(held=False), by_group(held=False)
        self._used: dict[str, float] = defaultdict(float)

    def next(self) -> Iterator[tuple[Any, Any]]:
        pick = self._pick
        chosen = pick.sample(self._alone, round(ROUND * SINGLE_SHARE))
        chosen += pick.sample(self._near, round(ROUND * NEAR_SHARE))
        for name in sorted(self._groups, key=lambda name: (self._used[name], pick.random())):
            if len(chosen) >= ROUND:
                break
            self._used[name] += LESS if int(name) >= len(groups()) - RECENT else 1
            varied = list(variations(groups()[int(name)], pick))
            chosen += [*drawn(self._groups[name], pick), *pick.sample(varied, VARIED)]
        return batches([pick.choice((one, one.swapped)) for one in chosen], pick)


def batches(examples: Sequence[Example], pick: random.Random) -> Iterator[tuple[Any, Any]]:
    """Pairs of the same length together, so that little is computed for padding; in random order."""
    rows = [(pair_model.inputs(*pair_model.tokens(one.a, one.b)), one.label) for one in examples]
    rows = sorted(pick.sample(rows, len(rows)), key=lambda row: len(row[0][0]))
    parts = [rows[at : at + BATCH] for at in range(0, len(rows), BATCH)]
    for part in pick.sample(parts, len(parts)):
        yield _tensors([row for row, _ in part]), torch.tensor([label for _, label in part])


def _tensors(rows: Sequence[tuple[list[int], ...]]) -> Any:
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
