"""The function file driven by the real `openai` package and a chat endpoint that calls tools."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jsonschema
import openai
import requests

import support

base_url = sys.argv[1]
models = requests.get(base_url + "/api/models", timeout=30).json()["data"]
modules = {}
for model in models:
    identity = "%s/%s" % (model["category"], model["subcategory"])
    path = support.download(base_url, "openai-function", identity)
    module = modules[identity] = support.import_function(path)
    # What OpenAI demands of a function, and what JSON Schema demands of a schema.
    function = module.FUNCTION
    assert 1 <= len(function["name"]) <= 64
    assert all(c.isascii() and (c.isalnum() or c in "_-") for c in function["name"])
    assert module.TOOLS == [{"type": "function", "function": function}]
    jsonschema.Draft202012Validator.check_schema(function["parameters"])
    assert function["parameters"]["additionalProperties"] is False
    schema = requests.get("%s/api/schema/%s" % (base_url, identity), timeout=30).json()["data"]
    properties = function["parameters"]["properties"]
    for group in ("required", "optional"):
        for parameter in schema["parameters"][group]:
            shown = properties[parameter["name"]]
            assert shown["description"] == parameter["description"]
            for ours, theirs in (("enum", "allowedValues"), ("default", "default"),
                                 ("minimum", "minimum"), ("maximum", "maximum")):
                assert shown.get(ours) == parameter.get(theirs), (parameter, shown)
    assert function["parameters"]["required"] == [
        parameter["name"] for parameter in schema["parameters"]["required"]
    ]

seen = []


class Chat(BaseHTTPRequestHandler):
    """Calls the tool wrongly, then rightly, then speaks of what came of it."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        seen.append(request)
        results = [m for m in request["messages"] if m["role"] == "tool"]
        function = request["tools"][0]["function"]
        arguments = {"prompt": "gold and indigo", "strokes": 100000 if not results else 300}
        message = {"role": "assistant", "content": None}
        if len(results) < 2:
            message["tool_calls"] = [{
                "id": "call_%d" % len(results), "type": "function",
                "function": {"name": function["name"], "arguments": json.dumps(arguments)},
            }]
        else:
            message["content"] = "Here it is: " + json.loads(results[-1]["content"])["urls"][0]
        reply = {
            "id": "x", "object": "chat.completion", "created": 0, "model": request["model"],
            "choices": [{"index": 0, "message": message,
                         "finish_reason": "stop" if len(results) == 2 else "tool_calls"}],
        }
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


chat = ThreadingHTTPServer(("127.0.0.1", 0), Chat)
threading.Thread(target=chat.serve_forever, daemon=True).start()
environment = dict(
    os.environ,
    OPENAI_API_KEY="local",
    OPENAI_BASE_URL="http://127.0.0.1:%d/v1" % chat.server_port,
    OPENAI_MODEL="local-model",
)
path = modules["image/fluxfield"].__file__
run = subprocess.run(
    [sys.executable, path, "something", "golden"], env=environment, capture_output=True, text=True
)
assert run.returncode == 0, run.stderr
url = run.stdout.strip().removeprefix("Here it is: ")
assert requests.get(url, timeout=30).content.startswith(b"\x89PNG"), run.stdout
assert len(seen) == 3 and seen[0]["model"] == "local-model"
assert seen[0]["messages"][0]["content"] == "something golden"
refused = json.loads(seen[1]["messages"][-1]["content"])
assert "strokes" in refused["error"] and "8000" in refused["error"], refused
print("openai", openai.__version__, url)
