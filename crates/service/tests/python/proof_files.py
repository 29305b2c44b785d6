"""Passes files of this machine to the function, the ComfyUI node and the MCP server."""

import asyncio
import base64
import io
import json
import os
import pathlib
import sys
import time
import types
import wave

import mcp
import numpy
import requests
from PIL import Image

import support

base_url = sys.argv[1]
folder = pathlib.Path(support.FOLDER, "files")
folder.mkdir()


def png(shade, size=(4, 3)):
    file = io.BytesIO()
    Image.new("RGB", size, (shade, 20, 30)).save(file, "PNG")
    return file.getvalue()


def received(urls):
    """Returns the input of the program, with the bytes of files instead of their paths."""

    def read(value):
        if isinstance(value, list):
            return [read(item) for item in value]
        return pathlib.Path(value).read_bytes() if value.startswith("/") else value

    given = requests.get(urls[0], timeout=30).json()
    return {name: read(value) for name, value in given.items()}


def refusal(call, kind):
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError("was not refused")


module = support.import_function(support.download(base_url, "openai-function", "image/own-files"))
uploads = []
post = requests.post


def counted(url, **options):
    uploads.extend([url] if url.endswith("/v2/uploads") else [])
    return post(url, **options)


requests.post = counted


def execute(arguments, of=module):
    return of.execute(arguments, pause=lambda seconds: time.sleep(min(seconds, 0.02)))


# A path, bytes, an open file and an address. Equal files are uploaded once.
path = folder / "a.png"
path.write_bytes(png(1))
for given in (path, png(1), io.BytesIO(png(1))):
    assert received(execute({"image": given})) == {"image": png(1)}
assert len(uploads) == 1
both = received(execute({"images": [path, png(2), path], "prompt": "a"}))
assert both == {"images": [png(1), png(2), png(1)], "prompt": "a"} and len(uploads) == 2
address = next(iter(module._uploads.values()))[0]
assert received(execute({"image": address})) == {"image": png(1)}
data_uri = "data:image/png;base64," + base64.b64encode(png(3)).decode()
assert received(execute(json.dumps({"image": data_uri}))) == {"image": png(3)}
assert len(uploads) == 3
for given, words in (
    (folder / "none.png", "there is none"),
    (b"", "empty"),
    (io.StringIO("a"), "binary"),
    (folder, "must be a file"),
):
    assert words in refusal(lambda: execute({"image": given}), module.InvalidInput)
assert "is no parameter" in refusal(lambda: execute({"nonsense": path}), module.InvalidInput)
# The service refuses other types. The message contains that of the service.
(folder / "a.svg").write_bytes(b"<svg/>")
said = refusal(lambda: execute({"image": folder / "a.svg"}), module.ServiceRefused)
assert said.startswith("a.svg was not uploaded.") and "HTTP 415" in said, said

# A text is a path only in the folders of SERVICE_FILES. Links don't lead out of them.
outside = pathlib.Path(support.FOLDER, "outside.png")
outside.write_bytes(png(4))
(folder / "link.png").symlink_to(outside)
(folder / "notes.txt").write_text("a secret")
(folder / ".hidden").mkdir()
(folder / ".hidden" / "a.png").write_bytes(png(1))
texts = [str(path), "./a.png", path.as_uri(), "~/a.png", "../outside.png", str(outside), str(folder / "notes.txt"),
         "./.hidden/a.png", "//host/share/a.png", "\\\\host\\share\\a.png", "./link.png"]
for text in texts:
    assert "SERVICE_FILES" in json.loads(module.call_function(module.FUNCTION["name"], {"image": text}))["error"]
os.environ["SERVICE_FILES"] = os.pathsep.join([str(folder / "none"), str(folder)])
for text in texts[:3]:
    assert received(execute({"image": text})) == {"image": png(1)}
assert received(execute({"images": ["a.png"], "prompt": "a.png"})) == {"images": [png(1)], "prompt": "a.png"}
# A name that is in none of the folders may be known to the service.
assert "HTTP 4" in refusal(lambda: execute({"image": "none.png"}), module.ServiceRefused)
for text in texts[3:]:
    assert "SERVICE_FILES" in refusal(lambda: execute({"image": text}), module.InvalidInput)
assert len(uploads) == 4

# A built-in model repaints a file.
repaint = support.import_function(support.download(base_url, "openai-function", "image/repaint"))
(url,) = execute({"prompt": "teal", "image_url": path, "seed": 1}, repaint)
assert Image.open(io.BytesIO(requests.get(url, timeout=30).content)).size == (4, 3)

# An expired upload is repeated, and so is one that breaks off. One task is started for each call.
task = 200, {}, {"success": True, "data": {"id": "1", "status": "completed"}}
result = 200, {}, {"success": True, "data": {"status": "completed", "output": ["http://a/b"]}}
stored = 200, {}, {"success": True, "data": {"url": "http://a/upload"}}
module.time = types.SimpleNamespace(monotonic=module.time.monotonic, time=module.time.time)


def scripted(limits, inputs, **answers):
    answers = {"generate": [task], "status": [task], "response": [result], "uploads": [stored], **answers}
    service = support.Script({"data": [], "uploads": limits} if limits else None, **answers)
    one = module.Service(base_url=service.url, pause=lambda seconds: None)
    try:
        for given in inputs:
            one.run(given)
    except module.GenerationError as error:
        return service, error
    return service, None


lasting, short = {"max_bytes": 1000, "ttl_seconds": 3600}, {"max_bytes": 1000, "ttl_seconds": 0}
service, error = scripted(lasting, [{"image": path}] * 2, uploads=["drop", (503, {}, {}), stored])
assert error is None and service.count("uploads") == 3 and service.count("generate") == 2
sent = [body["image"] for called, body, _ in service.calls if called == "/v2/generate"]
assert sent == ["http://a/upload"] * 2
service, error = scripted(short, [{"image": path}] * 2)
assert error is None and service.count("uploads") == 2 and service.count("generate") == 2
# The service has deleted the upload before its time.
gone = 400, {}, {"success": False, "error": {"message": "no such file"}}
service, error = scripted(lasting, [{"image": path}] * 2, generate=[task, gone, task])
assert error is None and service.count("uploads") == 2 and service.count("generate") == 3
service, error = scripted(lasting, [{"image": path}], generate=[gone])
assert "no such file" in str(error) and service.count("generate") == 1
# A lost answer to an upload costs nothing; a lost answer to a submission is not repeated.
service, error = scripted(lasting, [{"image": path}], generate=["drop"])
assert isinstance(error, module.OutcomeUnknown) and service.count("generate") == 1
service, error = scripted(lasting, [{"image": png(1, (900, 900))}])
assert isinstance(error, module.InvalidInput) and "up to 0.0 MB" in str(error) and not service.count("generate")
# A call that is canceled during an upload starts no task.
canceled = []


def slow_upload(_):
    canceled.append(True)
    return stored


def pause(_):
    if canceled:
        raise module.Cancelled("canceled")


service = support.Script({"data": [], "uploads": lasting}, uploads=[slow_upload], generate=[task])
refusal(lambda: module.Service(base_url=service.url, pause=pause).run({"image": path}), module.Cancelled)
assert canceled and not service.count("generate")
# Other parameters take no files.
assert "must be a text" in refusal(lambda: execute({"prompt": b"a"}), module.InvalidInput)
# Without uploads, small files are sent within the request.
service, error = scripted(None, [{"image": path, "images": [png(2)]}])
sent = next(body for called, body, _ in service.calls if called == "/v2/generate")
assert error is None and sent["image"] == "data:image/png;base64," + base64.b64encode(png(1)).decode()
assert sent["images"][0].startswith("data:image/png;base64,") and not service.count("uploads")
for large in ([{"image": os.urandom(600_000)}], [{"image": b"\x89PNG" + os.urandom(600_000)}]):
    service, error = scripted(None, large)
    assert isinstance(error, module.InvalidInput) and "takes no uploads" in str(error), error
    assert not service.count("generate")

# ComfyUI: pictures, masks, sounds and videos of other nodes.
comfy = support.Comfy()
comfy.install()
node_module, node, _ = support.load_node(support.download(base_url, "comfyui-node", "image/own-files"))
shown = node.INPUT_TYPES()["optional"]
assert [shown[name][0] for name in ("image", "mask", "video", "audio", "images")] == [
    "STRING,IMAGE", "STRING,IMAGE,MASK", "STRING,VIDEO", "STRING,AUDIO", "STRING,IMAGE"]
assert all(shown[name][1]["widgetType"] == "STRING" for name in ("image", "images"))


class Video:
    def save_to(self, path, format):
        assert format == "mp4"
        pathlib.Path(path).write_bytes(b"\0\0\0\x18ftypisom")


def linked(**values):
    kinds = {"image": "IMAGE", "mask": "MASK", "video": "VIDEO", "audio": "AUDIO", "images": "IMAGE"}
    support.validated(node, support.defaults(node), {name: kinds[name] for name in values})
    outcome = asyncio.run(node().run(**dict(support.defaults(node), **values)))
    return received(outcome["result"][0])


def pixels(data):
    return numpy.asarray(Image.open(io.BytesIO(data)))


batch = numpy.random.default_rng(1).integers(0, 256, (2, 3, 5, 3)).astype("uint8")
links = {
    "image": batch / 255.0, "images": batch / 255.0, "mask": batch[:1, :, :, 0] / 255.0, "video": Video(),
    "audio": {"waveform": numpy.array([[[0.0, 1.0, -1.0], [0.5, 0.0, 0.25]]]), "sample_rate": 8000}}
given = linked(**links)
assert (pixels(given["image"]) == batch[0]).all() and (pixels(given["mask"]) == batch[0, :, :, 0]).all()
assert [(pixels(data) == picture).all() for data, picture in zip(given["images"], batch)] == [True, True]
assert given["video"].endswith(b"ftypisom")
with wave.open(io.BytesIO(given["audio"])) as sound:
    assert (sound.getnchannels(), sound.getframerate(), sound.getnframes()) == (2, 8000, 3)
    assert list(numpy.frombuffer(sound.readframes(3), "<i2")) == [0, 16384, 32767, 0, -32767, 8192]
# The user sees that only one picture of the batch is used.
assert "image takes one file: the first of 2 is used" in comfy.texts[-1][0], comfy.texts[-1]
assert "not VIDEO" in str(support.refusal(node, support.defaults(node), {"image": "VIDEO"}))
assert "takes VIDEO" in refusal(lambda: linked(video=batch), node_module.InvalidInput)
# Equal files are paid for once.
linked(**links)
assert len(node_module._ids()) == 1

# MCP: a path in a permitted folder, and data.
server = support.download(base_url, "mcp", "image/own-files")


async def calls():
    names = ("SERVICE_UID", "SERVICE_TOKEN", "NO_PROXY", "SERVICE_FILES")
    environment = {name: os.environ[name] for name in names}
    parameters = mcp.StdioServerParameters(command=sys.executable, args=[server], env=environment)
    async with mcp.Client(parameters) as client:
        tool = (await client.list_tools()).tools[0]
        assert "path of a file in %s" % os.environ["SERVICE_FILES"] in tool.description
        given = ("a.png", data_uri, str(outside))
        return await asyncio.gather(*[client.call_tool(tool.name, {"image": image}) for image in given])


by_path, by_data, refused = asyncio.run(calls())
assert received(by_path.structured_content["urls"]) == {"image": png(1)}
assert received(by_data.structured_content["urls"]) == {"image": png(3)}
assert refused.is_error and "SERVICE_FILES" in refused.content[0].text

# Over HTTP, other programs on this machine can call the server, so it reads no files.
sys.modules["uvicorn"] = types.SimpleNamespace(run=lambda *_, **options: None)
support.import_function(server).serve_http(0)
assert "SERVICE_FILES" not in os.environ
