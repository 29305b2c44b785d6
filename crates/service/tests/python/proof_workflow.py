"""Both files of every model: compiled, imported, run against the running service."""

import os
import py_compile
import struct
import sys

import requests

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

    # The node, first as it is outside ComfyUI, then inside.
    for name in ("comfy", "comfy.utils", "comfy.model_management"):
        sys.modules.pop(name, None)
    node_module, node = support.load_node(node_path)
    assert node.CATEGORY == model["category"]
    assert node_module.NODE_DISPLAY_NAME_MAPPINGS[
        "%s_%s" % (model["category"], model["subcategory"])
    ] == model["name"]
    shown = node.INPUT_TYPES()
    assert {**shown["required"], **shown["optional"]}.keys() == names.keys()
    assert shown["required"]["prompt"][1]["multiline"] is True
    assert shown["optional"]["seed"][1]["max"] == 2**64 - 1
    widgets = dict(support.defaults(node), **inputs)
    text = support.run_node(node, widgets)
    assert text.count("\n") == len(urls) - 1
    made = requests.get(text.split("\n")[0], timeout=30)
    assert made.content == first.content, "the same input and seed give the same file"

    comfy.install()
    comfy.progress.clear()
    comfy.interrupted = False
    support.run_node(node, widgets)
    assert comfy.progress[-1] == (3, 3), comfy.progress
    comfy.interrupted = True
    try:
        support.run_node(node, widgets)
        raise AssertionError("was not interrupted")
    except support.InterruptProcessingException:
        pass
    comfy.interrupted = False
    try:
        support.run_node(node, dict(widgets, prompt="[fail]"))
        raise AssertionError("did not fail")
    except node_module.GenerationFailed as error:
        assert "on purpose" in str(error)
    print(identity)
