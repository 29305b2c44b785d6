# ---------------------------------------------------------------------------
# The arguments of a call, as chat models write them.
# ---------------------------------------------------------------------------


def read_arguments(arguments, parameters):
    """Returns the arguments as a dict; raises InvalidInput if they are invalid.

    They may be a dict or its JSON text, which may be encoded twice. Arguments and list items of any type
    are texts in the function's schema: texts that are JSON are parsed, and other texts stay unchanged. An
    argument of any type that is null is omitted.
    """
    for _ in range(2):
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments or "{}")
            except ValueError as error:
                raise InvalidInput(["the arguments are not JSON: %s" % error]) from error
    if not isinstance(arguments, dict):
        raise InvalidInput(["the arguments must be an object"])
    of_any_type, lists_of_any_type = set(), set()
    for parameter in parameters:
        names = {parameter["name"], parameter.get("argument", parameter["name"])}
        if parameter["kind"] == "any":
            of_any_type |= names
        elif parameter.get("items") == "any":
            lists_of_any_type |= names
    read = {}
    for name, value in arguments.items():
        if name in of_any_type:
            value = _json_or_text(value)
            if value is None:
                continue
        elif name in lists_of_any_type and isinstance(value, list):
            value = [_json_or_text(item) for item in value]
        read[name] = value
    return read


def _json_or_text(value):
    try:
        return json.loads(value, parse_constant=_no_constant) if isinstance(value, str) else value
    except ValueError:
        return value


def _no_constant(word):
    raise ValueError("%s is not JSON" % word)
