"""Checks that secret parameters come from the environment or the caller, not from a chat model or a workflow."""

import json
import os
import sys
import time

import requests

import support

base_url = sys.argv[1]
KEY, VARIABLE = "sk-CASE-SECRET-123", "ATELIER_API_KEY"
one = support.import_function(support.download(base_url, "openai-function", "text/secret"))
every = support.import_function(support.download_all(base_url, "openai-functions"))
mcp = support.import_function(support.download_all(base_url, "mcp"))
comfy = support.Comfy()
comfy.install()
node_module, node, _ = support.load_node(support.download(base_url, "comfyui-node", "text/secret"))
for module in (one, every, mcp, node_module):
    assert VARIABLE in module.__doc__ and "ATELIER_ORG_ID" in module.__doc__, module.__doc__


def sent(urls):
    return json.loads(requests.get(urls[0], timeout=30).text)


def error(work):
    try:
        work()
    except Exception as error:
        return "%s: %s" % (type(error).__name__, error)
    raise AssertionError("no error")


# The schemas don't contain secret parameters.
for function in (one.FUNCTION, every.MODELS["text_secret"]["function"], mcp.MODELS["text_secret"]["function"]):
    assert list(function["parameters"]["properties"]) == ["prompt"], function
    assert function["parameters"]["required"] == ["prompt"]
assert list(mcp.tool("text_secret").input_schema["properties"]) == ["prompt"]
assert list(node.INPUT_TYPES()["required"]) == ["prompt"] and not node.INPUT_TYPES()["optional"]

# A missing secret causes an error before anything is sent.
os.environ.pop(VARIABLE, None)
script = support.Script(generate=[(500, {}, {})])
os.environ["SERVICE_BASE_URL"] = script.url
asks = [
    lambda: one.execute({"prompt": "a"}),
    lambda: every.execute("text_secret", {"prompt": "a"}),
    lambda: mcp.run_of("text_secret", mcp.inputs_of("text_secret", {"prompt": "a"})),
    lambda: support.validated(node, {"prompt": "a"}),
]
for ask in asks:
    assert "Set the environment variable %s, which holds the secret api_key." % VARIABLE in error(ask), error(ask)
assert VARIABLE in json.loads(one.call_function("text_secret", {"prompt": "a"}))["error"]
# A chat model can't set a secret.
os.environ[VARIABLE] = KEY
for call in (one.call_function, every.call_function):
    answer = json.loads(call("text_secret", {"prompt": "a", "api_key": "sk-mine"}))
    assert "api_key is no parameter" in answer["error"], answer
assert "api_key is no parameter" in error(lambda: mcp.run_of("text_secret", mcp.inputs_of("text_secret", {"prompt": "a", "api_key": "x"})))
# The error does not contain an invalid value.
os.environ["ATELIER_ORG_ID"] = "x" * 50
assert "x" not in error(asks[0]).split("org-id")[1] and "org-id must have at most" in error(asks[0]), error(asks[0])
del os.environ["ATELIER_ORG_ID"]
assert script.count("generate") == 0
del os.environ["SERVICE_BASE_URL"]

# The environment or the caller sets the secret; the caller's value takes precedence.
assert sent(one.execute({"prompt": "a"})) == {"prompt": "a", "api_key": KEY}
assert sent(every.execute("text_secret", {"prompt": "a"}, secrets={"api_key": "sk-2", "org-id": "o"})) == {
    "prompt": "a", "api_key": "sk-2", "org-id": "o"}
run, _ = mcp.run_of("text_secret", mcp.inputs_of("text_secret", {"prompt": "a"}))
until = time.monotonic() + 60
while run.ended is None:
    assert time.monotonic() < until
    time.sleep(0.02)
assert sent(run.urls)["api_key"] == KEY, run.error
assert KEY not in "".join(mcp._runs)

# A node stores no secret: neither in its widgets nor in the file of ids.
outcome = support.run_node(node, {"prompt": "a"})
assert sent(outcome["result"][0])["api_key"] == KEY
with open(node_module._IDS_FILE, encoding="utf-8") as file:
    assert KEY not in file.read()
assert KEY not in json.dumps(comfy.texts)
print("secrets")
