"""Checks that the files report the progress of a scripted service, and ignore what is no progress."""

import os
import sys

import requests

import support

base_url = sys.argv[1]
models = requests.get(base_url + "/api/models", timeout=30).json()["data"]
(picture,) = [model["preview"] for model in models if model["subcategory"] == "strata"]


def status(**data):
    return 200, {}, {"success": True, "data": dict(data, id="7")}


def script(*running):
    """Returns a service that gives these statuses to a task before it is completed."""
    return support.Script(
        generate=[status(status="starting")],
        status=[status(status="processing", **data) for data in running] + [status(status="completed")],
        response=[(200, {}, {"success": True, "data": {"status": "completed", "output": [picture]}})])


module = support.import_function(support.download(base_url, "openai-function", "image/strata"))
seen = []
service = script(
    {}, {"progress": 0.25, "message": "step 5\r\n of 20"}, {"progress": 1, "message": None},
    {"progress": 1.5, "message": 5}, {"progress": "40%"}, {"progress": True}, {"message": "x" * 500})
os.environ["SERVICE_BASE_URL"] = service.url
module.execute({"prompt": "a"}, pause=lambda seconds: None, on_progress=lambda *report: seen.append(report))
assert seen == [(None, ""), (0.25, "step 5 of 20"), (1, ""), (None, ""), (None, ""), (None, ""),
                (None, "x" * 200)], seen
service.close()

# The node's bar shows the fraction, and its text the message.
comfy = support.Comfy()
comfy.install()
node_module, node, _ = support.load_node(support.download(base_url, "comfyui-node", "image/strata"))
service = script(*[{"progress": 0.4, "message": "step 8 of 20"}] * 2)
os.environ["SERVICE_BASE_URL"] = service.url
support.run_node(node, dict(support.defaults(node), prompt="a"))
assert (40, 100) in comfy.progress, comfy.progress
assert any("processing · step 8 of 20 · " in text and "task 7" in text for text, _ in comfy.texts), comfy.texts
service.close()
