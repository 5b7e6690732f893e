"""The ladder's training: stacked models beside the plain loop of separate modules, and a whole run end to end.

    python benchmarks/ladder.py [--size quick]

The plain loop is what a person would write: one torch.nn.Module and one default torch.optim.AdamW a model. One
thread each. Then a real run through the engine and the store: seconds to the first stored point with a warm worker,
and to the verdict.
"""

from __future__ import annotations

import argparse
import copy
import functools
import tempfile
import time
from pathlib import Path

import torch

from explorer.lab import Lab
from explorer.training.ladder import Group
from explorer.training.residual_mlp import ResidualMLP

WIDTHS, SEEDS, BATCH, SYMBOLS = (16, 32, 64, 160), (0, 1, 2), 256, 97


def milliseconds(step, steps: int) -> float:  # type: ignore[no-untyped-def]
    for _ in range(5):
        step()
    begin = time.process_time()
    for _ in range(steps):
        step()
    return 1e3 * (time.process_time() - begin) / steps


def plain_loop(width: int, windows: torch.Tensor):  # type: ignore[no-untyped-def]
    """One step of each seed's own module with its own optimiser and its own average."""
    models = [ResidualMLP(width, [seed], SYMBOLS) for seed in SEEDS]
    averages = [copy.deepcopy(model) for model in models]
    optimisers = [torch.optim.AdamW(model.parameters(), lr=4e-3) for model in models]

    def step() -> None:
        for k, (model, optimiser) in enumerate(zip(models, optimisers, strict=True)):
            optimiser.zero_grad()
            model.losses(windows[k : k + 1]).sum().backward()
            optimiser.step()
            with torch.no_grad():
                for mean, weight in zip(averages[k].parameters(), model.parameters(), strict=True):
                    mean.lerp_(weight, 0.01)

    return step


def step_times() -> None:
    torch.set_num_threads(1)
    print(f"{len(SEEDS)} seeds of a width, batch {BATCH}: CPU milliseconds a step of all seeds")
    total_plain = total_stacked = 0.0
    for width in WIDTHS:
        windows = torch.randint(0, SYMBOLS, (len(SEEDS), BATCH, ResidualMLP.context + 1))
        group = Group(ResidualMLP(width, SEEDS, SYMBOLS), 4e-3)
        stacked = milliseconds(functools.partial(group.train, windows, 100), 60)

        loop = milliseconds(plain_loop(width, windows), 60)
        total_plain += loop
        total_stacked += stacked
        print(
            f"  width {width:4}: plain loop {loop:6.2f}, stacked {stacked:6.2f}, {loop / stacked:.1f} times quicker"
        )
    print(f"  all widths: {total_plain / total_stacked:.1f} times quicker")


def whole_run(size: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder) / "runs.sqlite", device="cpu")
        try:
            lab.engine.devices()  # a worker has started, so the next one is warm
            begin = time.perf_counter()
            training = lab.train(lab.load("ladder"), size=size)
            while training.run.points == 0:
                time.sleep(0.01)
            first = time.perf_counter() - begin
            training.wait()
            print(
                f"{size} ladder: first stored point {first:.2f} s, verdict {time.perf_counter() - begin:.1f} s"
            )
            for one in training.agreements():
                print(f"  {one.verdict}: {one.value:.4f} against {one.threshold}")
        finally:
            lab.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="default")
    size = parser.parse_args().size
    step_times()
    whole_run(size)


if __name__ == "__main__":
    main()
