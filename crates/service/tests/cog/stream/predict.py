"""A small predictor for tests that streams its log and its files with versions of cog that have `streaming`."""

import os
import sys
import tempfile
import time
from typing import Iterator

import cog
from cog import BasePredictor, Input, Path

# Older versions have no streams.
streaming = getattr(cog, "streaming", lambda predict: predict)


def wait(seconds: float) -> None:
    # In steps, because a prediction is not canceled during a call.
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.05)


class Predictor(BasePredictor):
    @streaming
    def predict(
        self,
        prompt: str = Input(description="What the files contain"),
        seconds: float = Input(description="How long each of six steps takes", ge=0, le=3600, default=0),
        lines: int = Input(description="How many lines to print without a pause", ge=0, default=0),
        fail: bool = Input(description="Fail after the work", default=False),
    ) -> Iterator[Path]:
        # Lets a test count the runs.
        journal = os.environ.get("PREDICTIONS")
        if journal:
            with open(journal, "a") as file:
                file.write(prompt + "\n")
        print("progress 0.1 begun", flush=True)
        for n in range(lines):
            print("line", n, flush=True)
        folder = tempfile.mkdtemp()
        for n in range(3):
            wait(seconds)
            # As tqdm does.
            sys.stderr.write(f"\r{n * 100 // 3 + 33:4}%|##   | {n + 1}/3 [00:03<00:04,  2.66it/s]")
            sys.stderr.flush()
            wait(seconds)
            path = os.path.join(folder, f"{n}.txt")
            with open(path, "w") as file:
                file.write(f"{prompt} {n}")
            yield Path(path)
        sys.stderr.write("\n")
        if fail:
            raise ValueError("the paint has run out")
