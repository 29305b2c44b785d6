"""Generates and edits images with the real `openai` package."""

import base64
import io
import sys

import openai
import requests
from PIL import Image

base_url = sys.argv[1]
client = openai.OpenAI(base_url=base_url + "/v1", api_key="t", max_retries=2)

assert "image/tessera" in [model.id for model in client.models.list()]

images = client.images.generate(
    model="image/tessera", prompt="a sea at dawn", n=2, size="1024x1024", quality="high",
    response_format="url", extra_body={"seed": 3})
assert len(images.data) == 2 and images.created > 1_000_000_000
files = [requests.get(image.url, timeout=30).content for image in images.data]
assert all(Image.open(io.BytesIO(file)).format == "PNG" for file in files)

edited = client.images.edit(
    model="image/repaint", image=("photo.png", files[0]), prompt="gold and indigo",
    response_format="b64_json")
picture = Image.open(io.BytesIO(base64.b64decode(edited.data[0].b64_json)))
assert picture.format == "PNG" and picture.width > 0

for wrong, error in [
        (dict(model="image/tessera", prompt="a", n=2, extra_body={"sepia": 1}), openai.BadRequestError),
        (dict(model="image/nothing", prompt="a"), openai.NotFoundError)]:
    try:
        client.images.generate(**wrong)
        raise AssertionError("was accepted: %s" % wrong)
    except error as raised:
        assert raised.body["message"] and raised.body["code"], raised.body
try:
    client.images.edit(model="image/repaint", image=[files[0], files[1]], prompt="a")
    raise AssertionError("two images were accepted")
except openai.BadRequestError as raised:
    assert "one image" in raised.body["message"], raised.body
