"""Checks that the contract (form and service), the function's JSON schema and the function itself accept
the same values of an enumeration, and send the same values. The schema has a text for each value."""

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
    argument = module.FUNCTION["parameters"]["properties"]["n"]
    is_several = argument["type"] == "array"
    if is_several:
        labels = argument["items"]["enum"]
        read = [json.dumps(module.check_inputs({"n": [label]})["n"][0]) for label in labels]
    else:
        labels = argument["enum"]
        read = [json.dumps(module.check_inputs({"n": label})["n"]) for label in labels]
    assert read == [json.dumps(value) for value in case["allowed"]], (labels, read)
    for verdict in case["verdicts"]:
        inputs = {"n": verdict["value"]}
        try:
            sent = module.check_inputs(inputs)
            accepted = True
        except module.InvalidInput:
            accepted, sent = False, None
        value = verdict["value"]
        is_known = value in labels
        if is_several:
            of_labels = [item in labels for item in value] if isinstance(value, list) else [False]
            is_known = all(of_labels)
            # The function accepts lists of labels and values.
            if any(of_labels) and not verdict["accepted"]:
                continue
        if is_known and not verdict["accepted"]:
            continue
        assert accepted == verdict["accepted"], ("function", module.PARAMETERS, verdict)
        assert json.dumps(sent) == json.dumps(verdict["sent"]), ("sends", module.PARAMETERS, verdict, sent)
        assert validator.is_valid(inputs) == is_known, ("schema", verdict)
        count += 1

assert count > 100, count
print(count)
