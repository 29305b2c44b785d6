"""The contract (form and service), the function's JSON schema and the function itself know the same
values of an enumeration, and send the same. The schema has a text for each."""

import json
import sys
import types

import jsonschema

cases = json.load(sys.stdin)
count = 0

for case in cases:
    module = types.ModuleType("enumeration")
    exec(compile(case["file"], "enumeration", "exec"), module.__dict__)
    validator = jsonschema.Draft202012Validator(module.FUNCTION["parameters"])
    labels = module.FUNCTION["parameters"]["properties"]["n"]["enum"]
    read = [json.dumps(module.check_inputs({"n": label})["n"]) for label in labels]
    assert read == [json.dumps(value) for value in case["allowed"]], (labels, read)
    for verdict in case["verdicts"]:
        inputs = {"n": verdict["value"]}
        try:
            sent = module.check_inputs(inputs)
            accepted = True
        except module.InvalidInput:
            accepted, sent = False, None
        if verdict["value"] in labels and not verdict["accepted"]:
            continue
        assert accepted == verdict["accepted"], ("function", module.PARAMETERS, verdict)
        assert json.dumps(sent) == json.dumps(verdict["sent"]), ("sends", module.PARAMETERS, verdict, sent)
        assert validator.is_valid(inputs) == (verdict["value"] in labels), ("schema", verdict)
        count += 1

assert count > 100, count
print(count)
