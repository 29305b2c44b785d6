"""Unpacks the node pack, loads it as ComfyUI loads a folder of custom_nodes, and compares its workflows with
the nodes."""

import importlib.util
import io
import json
import os
import sys
import zipfile

import requests

import support

base_url = sys.argv[1]
models = requests.get(base_url + "/api/models", timeout=30).json()["data"]
reply = requests.get(base_url + "/api/comfyui-nodes.zip", timeout=30)
assert reply.headers["Content-Type"] == "application/zip"
assert 'filename="atelier-nodes.zip"' in reply.headers["Content-Disposition"]
assert reply.content == requests.get(base_url + "/api/comfyui-nodes.zip", timeout=30).content
archive = zipfile.ZipFile(io.BytesIO(reply.content))
assert archive.testzip() is None and all(n.startswith("atelier-nodes/") for n in archive.namelist())
archive.extractall(support.FOLDER)
folder = os.path.join(support.FOLDER, "atelier-nodes")

# Loads the folder as ComfyUI's load_custom_node does.
name = folder.replace(".", "_x_")
spec = importlib.util.spec_from_file_location(name, os.path.join(folder, "__init__.py"))
pack = importlib.util.module_from_spec(spec)
sys.modules[name] = pack
spec.loader.exec_module(pack)
keys = ["%s_%s" % (model["category"], model["subcategory"]) for model in models]
assert sorted(pack.NODE_CLASS_MAPPINGS) == sorted(keys + [key + "_fetch" for key in keys])
assert pack.NODE_CLASS_MAPPINGS.keys() == pack.NODE_DISPLAY_NAME_MAPPINGS.keys()
assert os.path.isdir(os.path.join(folder, pack.WEB_DIRECTORY))

if sys.version_info >= (3, 11):
    import tomllib

    with open(os.path.join(folder, "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)
    assert project["project"]["name"] == "atelier-nodes" and project["project"]["version"]
    assert project["tool"]["comfy"]["DisplayName"] == "Atelier"

for model, key in zip(models, keys):
    identity = "%s/%s" % (model["category"], model["subcategory"])
    with open(support.download(base_url, "comfyui-node", identity), encoding="utf-8") as alone:
        with open(os.path.join(folder, os.path.basename(alone.name)), encoding="utf-8") as packed:
            assert alone.read() == packed.read()
    with open(os.path.join(folder, "web", "docs", key + ".md"), encoding="utf-8") as file:
        assert model["description"] in file.read()
    with open(os.path.join(folder, "example_workflows", key + ".json"), encoding="utf-8") as file:
        workflow = json.load(file)
    nodes = {node["id"]: node for node in workflow["nodes"]}
    assert key in [node["type"] for node in nodes.values()]
    for link, source, slot, target, at, _ in workflow["links"]:
        assert link in nodes[source]["outputs"][slot]["links"]
        assert nodes[target]["inputs"][at]["link"] == link
    for node in nodes.values():
        if node["type"] not in pack.NODE_CLASS_MAPPINGS:
            continue
        of_pack = pack.NODE_CLASS_MAPPINGS[node["type"]]
        assert [o["type"] for o in node["outputs"]] == list(of_pack.RETURN_TYPES)
        # One value per widget in their order, and one for the control of the seed.
        left, values = list(node["widgets_values"]), {}
        for group in of_pack.INPUT_TYPES().values():
            for name, (_, options) in group.items():
                values[name] = left.pop(0)
                if options.get("control_after_generate"):
                    assert left.pop(0) == "fixed"
        assert left == []
        linked = {i["name"]: "STRING" for i in node["inputs"] if i["link"]}
        support.validated(of_pack, values, linked)
print(len(models))
