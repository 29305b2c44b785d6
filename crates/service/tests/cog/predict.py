"""A small predictor for tests of the service with real cog servers. It has no weights and writes real files."""

import os
import time
from typing import List, Optional

from cog import BasePredictor, Input, Path
from PIL import Image, ImageDraw


class Predictor(BasePredictor):
    def setup(self) -> None:
        pass

    def predict(
        self,
        prompt: str = Input(description="What the picture says"),
        colour: str = Input(description="Of the ground", choices=["red", "green", "blue"], default="green"),
        size: int = Input(description="Side in pixels", ge=16, le=512, default=64),
        strength: float = Input(description="Of the contrast", ge=0, le=1, default=0.5),
        count: int = Input(description="How many pictures", ge=1, le=4, default=1),
        seed: Optional[int] = Input(description="Leave it out for a random one", default=None),
        image: Optional[Path] = Input(description="A picture to put on top", default=None),
        seconds: float = Input(description="How long it takes", ge=0, le=3600, default=0),
        fail: bool = Input(description="Fail after the work", default=False),
    ) -> List[Path]:
        # Lets a test count the runs.
        journal = os.environ.get("PREDICTIONS")
        if journal:
            with open(journal, "a") as file:
                file.write(prompt + "\n")
        end = time.monotonic() + seconds
        step = 0
        while time.monotonic() < end:
            step += 1
            print(f"step {step}", flush=True)
            time.sleep(0.2)
        if fail:
            raise ValueError("the paint has run out")
        paths = []
        for n in range(count):
            picture = Image.new("RGB", (size, size), colour)
            if image is not None:
                picture.paste(Image.open(str(image)).convert("RGB").resize((size // 2, size // 2)), (0, 0))
            ImageDraw.Draw(picture).text((2, size // 2), f"{prompt} {seed}", fill="white")
            path = f"/tmp/atelier-cog-{os.getpid()}-{n}.png"
            picture.save(path)
            paths.append(Path(path))
        return paths
