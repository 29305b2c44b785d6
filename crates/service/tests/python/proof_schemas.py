"""Checks that providers accept the functions' schemas, and that texts in the schemas are parsed as values."""

import json
import re
import sys

import requests

import support

base_url = sys.argv[1]
paths = [support.download_all(base_url, "mcp"), support.download_all(base_url, "openai-functions")]
every = [support.import_function(path) for path in paths]
one = support.import_function(support.download(base_url, "openai-function", "image/every-kind"))


def refused(at, schema):
    """Yields the reasons for which Gemini would refuse a schema, and with it all tools of the request."""
    if not isinstance(schema.get("type"), str):
        yield at, "has not one type", schema
    for value in schema.get("enum", ()):
        if not isinstance(value, str) or not value or schema.get("type") != "string":
            yield at, "enum of anything but texts", value
    if schema.get("type") == "array" and "type" not in schema.get("items", {}):
        yield at, "items without a type", schema
    if schema.get("type") not in ("integer", "number") and {"minimum", "maximum"} & set(schema):
        yield at, "bounds of no number", schema
    if schema.get("type") == "string" and not isinstance(schema.get("default", ""), str):
        yield at, "default of another type", schema
    for name, inner in schema.get("properties", {}).items():
        if not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name):
            yield at, "name", name
        yield from refused("%s.%s" % (at, name), inner)


for module in every + [one]:
    for name, model in module.MODELS.items():
        assert list(refused(name, model["function"]["parameters"])) == []
        labelled = 0
        for parameter in model["parameters"]:
            if "values" not in parameter:
                continue
            argument = parameter.get("argument", parameter["name"])
            shown = model["function"]["parameters"]["properties"][argument]
            # Each text is parsed as its value, and each value is accepted unchanged.
            read = [module.check_inputs({argument: text}, [parameter])[parameter["name"]]
                    for text in shown["enum"]]
            assert [json.dumps(value) for value in read] == [json.dumps(v) for v in parameter["values"]]
            for value in parameter["values"]:
                sent = module.check_inputs({argument: value}, [parameter])[parameter["name"]]
                assert json.dumps(sent) == json.dumps(value)
            labelled += any(not isinstance(value, str) for value in parameter["values"])
        assert labelled >= 3 or name != "image_every-kind", labelled

# The service receives values instead of texts.
urls = one.execute({"prompt": "a", "num_outputs": "4", "scale": "0.5", "upscale": "true", "mixed": "1 (2)"})
sent = json.loads(requests.get(urls[0], timeout=30).text)
expected = {"prompt": "a", "num_outputs": 4, "scale": 0.5, "upscale": True, "mixed": 1}
assert json.dumps({name: sent[name] for name in expected}) == json.dumps(expected), sent
# Strict mode if possible, and plain functions for other providers.
(function,) = [tool["function"] for tool in one.chat_tools(strict_mode=False)]
assert function == dict(one.FUNCTION, strict=False)
(tool,) = one.responses_tools(strict_mode=False)
assert tool == dict(function, type="function")
assert one.chat_tools()[0]["function"]["strict"] is False, "lists and objects can't be strict"

# Arguments encoded twice, and of any type.
anything = [{"name": "a b", "argument": "a_b", "kind": "any", "required": False},
            {"name": "text", "kind": "text", "required": False}]
for text, value in [("[1]", [1]), ('{"a": 2}', {"a": 2}), ("0.5", 0.5), ("some words", "some words"),
                    ('"1"', "1"), ("NaN", "NaN"), ("", "")]:
    assert one.read_arguments({"a_b": text, "text": "[1]"}, anything) == {"a_b": value, "text": "[1]"}
assert one.read_arguments(json.dumps(json.dumps({"text": "a"})), anything) == {"text": "a"}
# A null is omitted, also as JSON.
assert one.read_arguments({"a_b": "null"}, anything) == one.read_arguments({"a b": None}, anything) == {}
# The items of a list without declared items may have any type.
urls = one.execute({"prompt": "a", "loras": ["a", "0.5", '{"scale": 1}', '"2"', "true", 3]})
sent = json.loads(requests.get(urls[0], timeout=30).text)
assert sent["loras"] == ["a", 0.5, {"scale": 1}, "2", True, 3], sent
loras = one.FUNCTION["parameters"]["properties"]["loras"]
assert loras["items"] == {"type": "string"} and "items other than text as JSON" in loras["description"], loras
for wrong in ("", "null", "[]", "{", '"a"'):
    try:
        assert one.read_arguments(wrong, anything) == {} and wrong == ""
    except one.InvalidInput:
        assert wrong != ""

# A filler text is not the address of a file. The function refuses it before anything is sent, and so does the service.
for word in ("null", "None", " undefined "):
    answer = json.loads(one.call_function("image_every-kind", {"prompt": "a", "image": word}))
    assert "image must be the address of a file" in answer["error"], answer
    body = {"uid": "me", "category": "image", "subcategory": "every-kind", "prompt": "a", "image": word}
    reply = requests.post(base_url + "/v2/generate", json=body, timeout=30,
                          headers={"Authorization": "Bearer t"})
    assert reply.status_code == 422 and "image must be the address" in reply.text, reply.text
assert one.check_inputs({"prompt": "a", "image": None}) == {"prompt": "a"}
print("schemas")
