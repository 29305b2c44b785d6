"""The contract (form and service), the function's JSON schema and the function itself know the same
values of an enumeration, and send the same."""

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
    for verdict in case["verdicts"]:
        inputs = {"n": verdict["value"]}
        try:
            sent = module.check_inputs(inputs)
            accepted = True
        except module.InvalidInput:
            accepted, sent = False, None
        assert accepted == verdict["accepted"], ("function", module.PARAMETERS, verdict)
        assert json.dumps(sent) == json.dumps(verdict["sent"]), ("sends", module.PARAMETERS, verdict, sent)
        # JSON Schema has no "left out" that is written as null.
        if verdict["value"] is not None:
            assert validator.is_valid(inputs) == accepted, ("schema", module.PARAMETERS, verdict)
        count += 1

assert count > 100, count
print(count)
