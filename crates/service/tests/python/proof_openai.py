"""Runs the function file with the real `openai` package and a chat endpoint that calls tools."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jsonschema
import openai
import requests
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import TypeAdapter

import support

base_url = sys.argv[1]
models = requests.get(base_url + "/api/models", timeout=30).json()["data"]
modules = {}
for model in models:
    identity = "%s/%s" % (model["category"], model["subcategory"])
    path = support.download(base_url, "openai-function", identity)
    module = modules[identity] = support.import_function(path)
    # The requirements of OpenAI for functions, and of JSON Schema for schemas.
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
                expected = parameter.get(theirs)
                if "enum" in shown and ours == "enum":
                    expected = [v if isinstance(v, str) else json.dumps(v) for v in expected]
                elif "enum" in shown and expected is not None:
                    expected = expected if isinstance(expected, str) else json.dumps(expected)
                assert shown.get(ours) == expected, (parameter, shown)
    assert function["parameters"]["required"] == [
        parameter["name"] for parameter in schema["parameters"]["required"]
    ]

    # Strict mode: every argument is required, optional ones may be null, and no unsupported keywords occur.
    (tool,) = module.chat_tools()
    strict = tool["function"]
    TypeAdapter(ChatCompletionFunctionToolParam).validate_python(tool)
    assert strict["strict"] is True and strict["name"] == function["name"]
    (flat,) = module.responses_tools()
    TypeAdapter(FunctionToolParam).validate_python(flat)
    assert flat == {"type": "function", **strict}
    parameters = strict["parameters"]
    assert parameters["required"] == list(parameters["properties"]) == list(properties)
    assert parameters["additionalProperties"] is False
    jsonschema.Draft202012Validator.check_schema(parameters)
    for shown in parameters["properties"].values():
        assert set(shown) <= {"type", "enum", "description", "pattern", "minimum", "maximum"}, shown
    least = {name: ("a calm evening" if name in function["parameters"]["required"] else None)
             for name in properties}
    jsonschema.validate(least, parameters)
    assert module.check_inputs(least) == {
        name: value for name, value in least.items() if value is not None}

# A function that strict mode does not support stays unchanged.
odd = {"name": "x", "description": "", "parameters": {"type": "object", "required": [],
       "additionalProperties": False, "properties": {"a": {"type": "array", "items": {}, "description": ""}}}}
assert module.strict(odd) == dict(odd, strict=False)

# All models in one file, with one dispatcher.
every = support.import_function(support.download_all(base_url, "openai-functions"))
names = [module.FUNCTION["name"] for module in modules.values()]
assert list(every.MODELS) == names
assert every.chat_tools() == [tool for module in modules.values() for tool in module.chat_tools()]
assert every.responses_tools([names[1]]) == modules[list(modules)[1]].responses_tools()
for name, module in zip(names, modules.values()):
    assert every.MODELS[name]["parameters"] == module.PARAMETERS
    answer = json.loads(every.call_function(name, {"prompt": " "}))
    assert "prompt is required" in answer["error"]
(url,) = json.loads(every.call_function("image_tessera", {"prompt": "a", "seed": 1}))["urls"]
assert requests.get(url, timeout=30).content.startswith(b"\x89PNG")
assert "no function nonsense" in json.loads(every.call_function("nonsense", {}))["error"]


async def together():
    """Checks that calls of one turn run concurrently, and that cancelling a call ends its wait at once."""
    answers = await asyncio.gather(
        every.call_function_async("image_tessera", '{"prompt": "a", "seed": 2}'),
        every.call_function_async("image_tessera", {"prompt": " "}),
        modules["image/tessera"].call_function_async("image_tessera", {"prompt": "a", "seed": 1}))
    good, bad, other = map(json.loads, answers)
    assert good["urls"] and other["urls"] and "prompt is required" in bad["error"]
    script = support.Script(generate=[lambda _: time.sleep(3) or (200, {}, {})])
    os.environ["SERVICE_BASE_URL"] = script.url
    began = time.monotonic()
    try:
        await asyncio.wait_for(every.execute_async("image_strata", {"prompt": "a"}), 0.3)
        raise AssertionError("was not cancelled")
    except asyncio.TimeoutError:
        assert time.monotonic() - began < 1.0
    del os.environ["SERVICE_BASE_URL"]


asyncio.run(together())

seen = []


class Chat(BaseHTTPRequestHandler):
    """Calls the tool with an invalid input, then with a valid one, then returns a message with the result."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        seen.append(request)
        if self.path.endswith("/responses"):
            return self.send(self.response_to(request))
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
        self.send(reply)

    def response_to(self, request):
        """The Responses API: an invalid and a valid call in one turn, then a message with the result."""
        results = [item for item in request["input"] if item.get("type") == "function_call_output"]
        output = [
            {"type": "function_call", "id": "fc_%d" % n, "call_id": "call_%d" % n, "status": "completed",
             "name": "image_fluxfield", "arguments": json.dumps({"prompt": "gold", "strokes": strokes})}
            for n, strokes in enumerate((100000, 300))
        ]
        if results:
            answers = [json.loads(item["output"]) for item in results]
            assert "strokes" in answers[0]["error"], answers
            text = "Here it is: " + answers[1]["urls"][0]
            output = [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                       "content": [{"type": "output_text", "text": text, "annotations": []}]}]
        return {"id": "resp_1", "object": "response", "created_at": 0, "model": request["model"],
                "output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}

    def send(self, reply):
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
assert seen[0]["tools"] == modules["image/fluxfield"].chat_tools()
for program in (path, every.__file__):
    seen.clear()
    run = subprocess.run([sys.executable, program, "--responses", "something"], env=environment,
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    url = run.stdout.strip().removeprefix("Here it is: ")
    assert requests.get(url, timeout=30).content.startswith(b"\x89PNG"), run.stdout
    assert len(seen) == 2 and seen[0]["tools"][0]["strict"] is True
print("openai", openai.__version__, url)
