# ---------------------------------------------------------------------------
# The tools, in the formats of OpenAI's two APIs.
# ---------------------------------------------------------------------------


def strict(function):
    """Returns a function in strict mode, in which the chat model follows the schema exactly.

    Strict mode requires every argument, so optional arguments may be null. It does not support
    defaults and lengths, so these are in the descriptions. A function with lists, objects, or null
    among its values can't be strict and stays unchanged. Arguments are validated in both modes.
    """
    given = function["parameters"]
    properties = {}
    for name, of_model in given["properties"].items():
        kind = of_model.get("type")
        if kind in ("array", "object") or "null" in of_model.get("enum", ()):
            return dict(function, strict=False)
        shown, notes = dict(of_model), [of_model["description"]]
        if "default" in shown:
            notes.append("Default: %s." % json.dumps(shown.pop("default"), ensure_ascii=False))
        if "maxLength" in shown:
            notes.append("At most %d characters." % shown.pop("maxLength"))
        if name not in given["required"]:
            notes.append("null leaves it out.")
            shown["type"] = [kind, "null"]
            if "enum" in shown:
                shown["enum"] = shown["enum"] + [None]
        shown["description"] = " ".join(notes).strip()
        properties[name] = shown
    parameters = dict(given, properties=properties, required=list(properties))
    return dict(function, parameters=parameters, strict=True)


def chat_tools(only=None, strict_mode=True):
    """Returns `tools` for client.chat.completions.create(), in strict mode if possible. `only` selects
    functions by name.

    Strict mode is specific to OpenAI. Other providers may refuse its types: use strict_mode=False.
    """
    return [{"type": "function", "function": f} for f in _functions(only, strict_mode)]


def responses_tools(only=None, strict_mode=True):
    """Returns `tools` for client.responses.create(); see chat_tools()."""
    return [dict(f, type="function") for f in _functions(only, strict_mode)]


def _functions(only, strict_mode):
    functions = [m["function"] for name, m in MODELS.items() if only is None or name in only]
    return [strict(f) if strict_mode else dict(f, strict=False) for f in functions]


{% include "arguments.py" %}


# ---------------------------------------------------------------------------
# Running the functions.
# ---------------------------------------------------------------------------


{% if many -%}
def execute(
    name, arguments, timeout=DEFAULT_TIMEOUT, on_status=None, pause=time.sleep, secrets=None, on_progress=None
):
    """Runs the model of this function with these arguments (a dict, or a JSON text); returns a list
    of URLs.
{%- else -%}
def execute(
    arguments, timeout=DEFAULT_TIMEOUT, on_status=None, pause=time.sleep, secrets=None, on_progress=None
):
    """Runs the model with these arguments (a dict, or a JSON text); returns a list of URLs.
{%- endif %}

    secrets: the values of secret parameters by name, such as {"api_key": "..."}; missing ones come
    from the environment. The arguments, which a chat model may have written, can't set them.
    on_status: called with each status word. on_progress: called while the task runs, with the completed
    fraction (0 to 1, None if it is unknown) and a message.
    Raises a GenerationError: see the classes above.
    """
{%- if many %}
    if name not in MODELS:
        raise InvalidInput(["there is no function %s" % name])
{%- endif %}
    service = Service(pause=pause{% if many %}, model=MODELS[name]{% endif %})
    parameters = without_secrets({% if many %}MODELS[name]["parameters"]{% else %}PARAMETERS{% endif %})
    inputs = check_inputs(read_arguments(arguments, parameters), parameters)
    inputs.update(secrets or {})
    service.on_progress = on_progress
    return service.run(inputs, timeout=timeout, on_status=on_status)


{% if many -%}
def fetch_result(name, task_id, timeout=DEFAULT_TIMEOUT, on_status=None, pause=time.sleep):
{%- else -%}
def fetch_result(task_id, timeout=DEFAULT_TIMEOUT, on_status=None, pause=time.sleep):
{%- endif %}
    """Waits for a task that was started, such as the `task_id` of a GenerationTimeout; returns a list
    of URLs."""
{%- if many %}
    if name not in MODELS:
        raise InvalidInput(["there is no function %s" % name])
{%- endif %}
    service = Service(pause=pause{% if many %}, model=MODELS[name]{% endif %})
    return service.finish(task_id, time.monotonic() + timeout, on_status)


def cancel({% if many %}name, {% endif %}task_id, timeout=30):
    """Cancels a task that was started, such as the `task_id` of a GenerationTimeout; returns whether it is
    canceled. A task that has ended stays as it is, and not every service can cancel tasks."""
{%- if many %}
    if name not in MODELS:
        raise InvalidInput(["there is no function %s" % name])
{%- endif %}
    return Service({% if many %}model=MODELS[name]{% endif %}).cancel(task_id, timeout)


async def execute_async(
    {% if many %}name, {% endif %}arguments, timeout=DEFAULT_TIMEOUT, on_status=None, secrets=None, on_progress=None
):
    """As execute(), without blocking the event loop. Cancelling it stops the wait, and
    cancels the task if the service can do that."""
    return await in_background(
        lambda pause: execute({% if many %}name, {% endif %}arguments, timeout, on_status, pause, secrets, on_progress)
    )


def call_function(name, arguments):
    """Runs a tool call; returns a JSON text for the chat model, with the URLs or an error."""
    if name not in MODELS:
        return json.dumps({"error": "There is no function %s." % name})
    try:
        return json.dumps({"urls": execute({% if many %}name, {% endif %}arguments)})
    except GenerationError as error:
        return _error_text(error)


async def call_function_async(name, arguments):
    """As call_function(); several calls can be awaited together with asyncio.gather()."""
    if name not in MODELS:
        return json.dumps({"error": "There is no function %s." % name})
    try:
        return json.dumps({"urls": await execute_async({% if many %}name, {% endif %}arguments)})
    except GenerationError as error:
        return _error_text(error)


def _error_text(error):
    answer = {"error": "%s: %s" % (type(error).__name__, error)}
    if getattr(error, "task_id", None) is not None:
        answer["task_id"] = error.task_id
    return json.dumps(answer, ensure_ascii=False)


# ---------------------------------------------------------------------------
# Examples: a conversation with either API.
# ---------------------------------------------------------------------------


def chat(client, request):
    """Uses Chat Completions; returns the last message of the chat model."""
    messages = [{"role": "user", "content": request}]
    # A few turns: the chat model may correct its call after an error.
    for _ in range(5):
        reply = client.chat.completions.create(
            model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"),
            messages=messages,
            tools=chat_tools(),
        )
        message = reply.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            print("Calling %s ..." % call.function.name, file=sys.stderr)
            answer = call_function(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": answer})
    raise SystemExit("The chat model kept calling functions without coming to an end.")


async def respond(client, request):
    """Uses the Responses API with an AsyncOpenAI client; the calls of one turn run concurrently."""
    items = [{"role": "user", "content": request}]
    for _ in range(5):
        reply = await client.responses.create(
            model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"),
            input=items,
            tools=responses_tools(),
        )
        items += reply.output
        calls = [item for item in reply.output if item.type == "function_call"]
        if not calls:
            return reply.output_text
        for call in calls:
            print("Calling %s ..." % call.name, file=sys.stderr)
        answers = await asyncio.gather(
            *[call_function_async(call.name, call.arguments) for call in calls]
        )
        for call, answer in zip(calls, answers):
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": answer})
    raise SystemExit("The chat model kept calling functions without coming to an end.")


def main():
    """Lets a chat model use {% if many %}the functions{% else %}the function{% endif %}: python THIS_FILE [--responses] "a request"."""
    import openai

    words = sys.argv[1:]
    by_responses = "--responses" in words
    request = " ".join(word for word in words if word != "--responses")
    request = request or "Make something beautiful{% if not many %} with %s." % MODEL_NAME{% else %}."{% endif %}
    if by_responses:
        print(asyncio.run(respond(openai.AsyncOpenAI(), request)))
    else:
        print(chat(openai.OpenAI(), request))


if __name__ == "__main__":
    main()
