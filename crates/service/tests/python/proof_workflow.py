"""Compiles, imports and runs both files of every model with the running service."""

import asyncio
import logging
import os
import py_compile
import struct
import sys
import time

import requests
from PIL import Image

import support

base_url = sys.argv[1]
models = requests.get(base_url + "/api/models", timeout=30).json()["data"]
comfy = support.Comfy()

assert len(models) >= 6
picture = None
for model in models:
    identity = "%s/%s" % (model["category"], model["subcategory"])
    function_path = support.download(base_url, "openai-function", identity)
    node_path = support.download(base_url, "comfyui-node", identity)
    assert function_path != node_path
    for path in (function_path, node_path):
        py_compile.compile(path, doraise=True)
    module = support.import_function(function_path)
    assert module.BASE_URL == base_url and module.CATEGORY == model["category"]

    try:
        saved = os.environ.pop("SERVICE_TOKEN")
        module.execute({"prompt": "x"})
        raise AssertionError("ran without a token")
    except module.MissingCredentials as error:
        assert "SERVICE_TOKEN" in str(error)
    finally:
        os.environ["SERVICE_TOKEN"] = saved

    inputs = {"prompt": "a calm evening", "seed": 2**64 - 1}
    names = {parameter["name"]: parameter for parameter in module.PARAMETERS}
    if "duration" in names:
        inputs["duration"] = names["duration"]["minimum"]
    if "image_url" in names:
        inputs["image_url"] = picture
    if "num_outputs" in names:
        inputs["num_outputs"] = 2
    words = []
    urls = module.execute(inputs, on_status=words.append)
    assert words[0] == "starting" and words[-1] == "completed", words
    assert len(urls) == inputs.get("num_outputs", 1)
    first = requests.get(urls[0], timeout=30)
    assert first.status_code == 200 and len(first.content) > 1000
    if picture is None:
        picture = urls[0]
        assert struct.unpack(">II", first.content[16:24])[0] == 1024

    try:
        module.execute(dict(inputs, prompt="please [fail]"))
        raise AssertionError("did not fail")
    except module.GenerationFailed as error:
        assert "on purpose" in str(error) and error.task_id
    try:
        module.execute(dict(inputs, prompt=" ", nonsense=1))
        raise AssertionError("accepted")
    except module.InvalidInput as error:
        assert len(error.problems) == 2, error.problems

    # The node: loaded outside ComfyUI, run inside.
    comfy.remove()
    node_module, node, fetch = support.load_node(node_path)
    key = "%s_%s" % (model["category"], model["subcategory"])
    assert node.CATEGORY == fetch.CATEGORY == "Atelier/" + model["category"]
    assert node_module.NODE_DISPLAY_NAME_MAPPINGS == {
        key: model["name"] + " (Atelier)", key + "_fetch": "Fetch result: %s (Atelier)" % model["name"]}
    # An unconnected node does not run. The node that fetches results costs nothing, so it runs.
    assert node.OUTPUT_NODE is False and fetch.OUTPUT_NODE is True
    kind = {"image": "IMAGE", "video": "VIDEO", "audio": "AUDIO"}[model["category"]]
    assert node.RETURN_TYPES == fetch.RETURN_TYPES == ("STRING", kind)
    shown = node.INPUT_TYPES()
    assert {**shown["required"], **shown["optional"]}.keys() == names.keys()
    assert shown["required"]["prompt"][1]["multiline"] is True
    assert shown["optional"]["seed"][1]["max"] == 2**64 - 1
    assert shown["optional"]["seed"][1]["min"] == shown["optional"]["seed"][1]["default"] == -1
    assert shown["optional"]["seed"][1]["control_after_generate"] is True
    comfy.install()
    widgets = dict(support.defaults(node), **inputs)

    def refused(values, types=()):
        return str(support.refusal(node, values, types))

    # Invalid inputs are refused before anything runs, with a single message.
    assert refused(dict(widgets, prompt=" ")) == "prompt is required"
    assert "must have at most" in refused(dict(widgets, prompt="x" * 10001))
    assert refused(widgets, {"seed": "STRING"}) == "seed takes INT, not STRING"
    support.validated(node, dict(widgets, prompt=""), {"prompt": "STRING"})
    if "image_url" in names:
        support.validated(node, widgets, {"image_url": "IMAGE"})
        assert "not VIDEO" in refused(widgets, {"image_url": "VIDEO"})
        support.validated(node, widgets, {"image_url": "STRING"})
    for name, parameter in names.items():
        for value in parameter.get("values", []):
            # A value of an enumeration of numbers, as its label or as a number.
            for held in (value, str(value)):
                checked = node_module.inputs_from_widgets(support.validated(node, dict(widgets, **{name: held})))
                assert checked[name] == value

    starts = []
    start = node_module.Service.start

    def counted(self, *rest):
        starts.append(start(self, *rest))
        return starts[-1]

    node_module.Service.start = counted
    outcome = support.run_node(node, widgets)
    addresses, made = outcome["result"]
    assert len(addresses) == len(urls) == len(outcome["ui"]["text"])
    assert requests.get(addresses[0], timeout=30).content == first.content, "same input, same file"
    files = outcome["ui"]["audio" if kind == "AUDIO" else "images"]
    for file, address in zip(files, addresses):
        assert file["type"] == "temp" and file["subfolder"] == ""
        with open(os.path.join(support.FOLDER, "temp", file["filename"]), "rb") as saved:
            assert saved.read() == requests.get(address, timeout=30).content
    if kind == "IMAGE":
        (batch,) = made
        assert batch.shape[0] == len(urls) and batch.shape[3] == 3 and batch.dtype == "float32"
        assert 0.0 <= batch.min() < batch.max() <= 1.0
        sizes = [os.path.join(support.FOLDER, name) for name in ("a.png", "b.png")]
        for path, size in zip(sizes, ((4, 2), (2, 2))):
            Image.new("LA", size).save(path)
        assert [picture.shape for picture in node_module._load(sizes)] == [(1, 2, 4, 3), (1, 2, 2, 3)]
    elif kind == "VIDEO":
        assert made[0].save_to("x")[1] == "mp4" and made[0].save_to("x", "webm")[1] == "webm"
        assert outcome["ui"]["animated"] == (True,)
    else:
        (sound,) = made
        assert sound["waveform"].ndim == 3 and sound["waveform"].shape[0] == 1
        length = sound["waveform"].shape[2] / sound["sample_rate"]
        assert abs(length - inputs["duration"]) < 1.0, length
        assert 0.01 < abs(sound["waveform"]).max() <= 1.0
    assert comfy.progress[-1] == (100, 100)
    assert comfy.texts[-1] == ("\n".join(addresses), "7")
    assert any("task " + starts[0] in text for text, _ in comfy.texts), comfy.texts

    if identity != "image/strata":
        # The remaining code is the same in every file.
        print(identity)
        continue

    # The same inputs are paid for once, also without ComfyUI's cache. Runs without a seed are new tasks.
    again = support.run_node(node, widgets)
    assert again["result"][0] == addresses and len(starts) == 1
    assert support.run_node(fetch, {"id": " %s " % starts[0]})["result"][0] == addresses
    support.run_node(node, dict(widgets, seed=-1))
    support.run_node(node, dict(widgets, seed=-1))
    assert len(starts) == 3
    os.environ["SERVICE_REUSE"] = "0"
    support.run_node(node, widgets)
    del os.environ["SERVICE_REUSE"]
    assert len(starts) == 4
    # Two concurrent nodes with the same inputs.
    twice = dict(widgets, seed=3)

    async def both():
        run = getattr(node(), node.FUNCTION)
        return await asyncio.gather(run(**twice), run(**twice))

    one, other = asyncio.run(both())
    assert one["result"][0] == other["result"][0] and len(starts) == 5
    # A task that the service no longer has is started again. Failed tasks are not stored.
    node_module._remember(node_module._key(node_module.check_inputs(
        node_module.inputs_from_widgets(widgets))), "nonsense")
    assert support.run_node(node, widgets)["result"][0] != [] and len(starts) == 6
    for count in (7, 8):
        try:
            support.run_node(node, dict(widgets, prompt="[fail]"))
            raise AssertionError("did not fail")
        except node_module.GenerationFailed as error:
            assert "on purpose" in str(error) and len(starts) == count
    # The number of stored ids is limited.
    for number in range(node_module.MOST_IDS + 5):
        if number < 5 or number > node_module.MOST_IDS:
            node_module._remember(str(number), "x")
    node_module.MOST_IDS = 3
    node_module._remember("last", "x")
    assert len(node_module._ids()) == 3 and "last" in node_module._ids()
    try:
        support.run_node(fetch, {"id": "nonsense"})
        raise AssertionError("fetched")
    except node_module.ServiceRefused as error:
        assert "nonsense" in str(error)
    assert "id is needed" in str(support.refusal(fetch, {"id": " "}))
    print(identity)

# Cancel works while the service does not respond. The id is logged, and the task can be fetched.
records = []
logging.getLogger().addHandler(support.Records(records))
logging.getLogger().setLevel(logging.INFO)
node_module, node, fetch = support.load_node(
    support.download(base_url, "comfyui-node", "image/strata"))
widgets = dict(support.defaults(node), prompt="a", seed=9)
data = {"id": "task-9", "status": "processing"}
answered = 200, {}, {"success": True, "data": data}


def slow(_):
    comfy.interrupted = True
    time.sleep(3)
    return answered


for held, words in (("status", "Canceled. Task task-9 goes on"), ("generate", "Canceled. A task")):
    service = support.Script(generate=[slow if held == "generate" else answered],
                             status=[slow if held == "status" else answered], response=[answered])
    os.environ["SERVICE_BASE_URL"] = service.url
    comfy.texts.clear()
    began = time.monotonic()
    try:
        support.run_node(node, widgets)
        raise AssertionError("was not interrupted")
    except support.InterruptProcessingException:
        assert time.monotonic() - began < (2.0 if held == "status" else 1.0)
    assert comfy.texts[-1][0].startswith(words), comfy.texts
    until = time.monotonic() + 10
    while not any("task-9" in record and "canceled" in record for record in records):
        assert time.monotonic() < until, records
        time.sleep(0.05)
    assert any("task-9 was started" in record for record in records)
    # The id of a task that was being sent when Cancel was pressed is stored, too.
    assert node_module._ids()[node_module._key(node_module.check_inputs(
        node_module.inputs_from_widgets(widgets)))] == "task-9"
    records.clear()
    service.close()
del os.environ["SERVICE_BASE_URL"]
