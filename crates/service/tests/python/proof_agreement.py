"""Checks that the contract (form and service), the function's JSON schema, the function itself and the
node accept the same value of each parameter. Values of enumerations are texts in the function's schema."""

import json
import sys

import jsonschema

import support

# [{model, base, parameter, kind, value, accepted}]; `accepted` is the result of the contract's validation.
base_url, cases = sys.argv[1], json.load(sys.stdin)
loaded = {}
counts = {"schema": 0, "function": 0, "node": 0}

for case in cases:
    model, name, value = case["model"], case["parameter"], case["value"]
    if model not in loaded:
        function = support.import_function(support.download(base_url, "openai-function", model))
        validator = jsonschema.Draft202012Validator(function.FUNCTION["parameters"])
        loaded[model] = function, validator, support.load_node(
            support.download(base_url, "comfyui-node", model))
    function, validator, (node_module, node, _) = loaded[model]
    inputs = dict(case["base"], **{name: value})
    # The schema has a text for each value of an enumeration. The function accepts texts and values.
    texts = function.FUNCTION["parameters"]["properties"][name].get("enum")
    is_text_only = texts is not None and value in texts and not case["accepted"]
    if case["absent"]:
        del inputs[name]

    try:
        sent = function.check_inputs(inputs)
        accepted = True
    except function.InvalidInput:
        accepted = False
    assert accepted == (case["accepted"] or is_text_only), ("function", case)
    if case["accepted"]:
        assert json.dumps(sent.get(name)) == json.dumps(case["sent"]), ("function sends", case, sent)
    counts["function"] += 1

    # The only difference: in the JSON schema, null does not omit a parameter.
    if value is not None or case["absent"]:
        expected = case["accepted"] if texts is None or case["absent"] else value in texts
        assert validator.is_valid(inputs) == expected, ("schema", case)
        counts["schema"] += 1

    # Whether a widget of this kind can have this value.
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    holds = {
        "text": isinstance(value, str),
        "integer": number and not isinstance(value, float),
        "number": number,
        "boolean": isinstance(value, bool),
        "enum": isinstance(value, (str, int)) and not isinstance(value, bool),
    }[case["kind"]]
    # -1 omits a seed, because ComfyUI's editor can't clear a number.
    if case["absent"] or not holds or (value == -1 and name in node_module.BLANK):
        continue
    widgets = support.defaults(node)
    widgets.update(case["base"])
    widgets[name] = value
    if case["kind"] == "enum":
        # A label selects its value. Values without a label can't be selected.
        labels = [l for l, v in node_module.CHOICES[name].items() if type(v) is type(value) and v == value]
        widgets[name] = labels[0] if labels else "no such label"
    for other, choices in node_module.CHOICES.items():
        if other != name:
            widgets[other] = next(l for l, v in choices.items() if v == widgets[other] or l == widgets[other])
    try:
        checked = node_module.check_inputs(
            node_module.inputs_from_widgets(support.validated(node, widgets)))
        accepted = True
    except (ValueError, node_module.InvalidInput):
        accepted = False
    assert accepted == case["accepted"], ("node", case)
    if accepted and case["sent"] is not None:
        assert checked.get(name) == case["sent"], ("node sends", case, checked)
    counts["node"] += 1

assert min(counts.values()) > 100, counts
print(counts)
