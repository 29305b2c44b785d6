"""Reads the recipes in output files with the libraries that other programs use: Pillow and FFmpeg (PyAV)."""

import io
import json
import sys

import av
import PIL.Image
import requests

given = json.load(sys.stdin)


def get(url):
    reply = requests.get(url, timeout=30)
    assert reply.status_code == 200, reply.text
    return io.BytesIO(reply.content)


def check(line, recipe, model):
    assert line.startswith("a fox, ÄÖ\n"), line
    assert "Seed: 7, " in line and "Model: %s, " % model in line, line
    recipe = json.loads(recipe)
    assert recipe["model"] == model and recipe["inputs"]["prompt"] == "a fox, ÄÖ", recipe


picture = PIL.Image.open(get(given["image/strata"]))
picture.load()
check(picture.text["parameters"], picture.text["atelier"], "image/strata")

with av.open(get(given["video/silk"])) as video:
    tags = {name.lower(): text for name, text in video.metadata.items()}
    check(tags["parameters"], tags["atelier"], "video/silk")
    assert tags["digital_source_type"].endswith("/algorithmicMedia"), tags
    assert sum(1 for _ in video.decode(video=0)) > 1

with av.open(get(given["audio/reverie"])) as sound:
    assert sound.metadata["comment"].startswith("a fox, ÄÖ\n"), sound.metadata
    assert sum(1 for _ in sound.decode(audio=0)) > 1
