"""A generation model as a function that a chat model can call.

The model is named in MODEL_NAME below. This file was written by the generation service from the
model's own schema: FUNCTION is its JSON schema, execute() runs it, main() shows its use.

Needs Python 3.9 or newer and two packages:

    pip install requests openai

Set these environment variables:

    SERVICE_UID        your User ID
    SERVICE_TOKEN      your Access Token (never write it into a file)
    SERVICE_BASE_URL   only to call another address than BASE_URL below
    OPENAI_API_KEY     for the example in main(); OPENAI_BASE_URL and OPENAI_MODEL if you wish

Then either

    python {{ module }}.py "what you would like to have"

or, from your own code,

    from {{ module }} import TOOLS, call_function, execute

Importing it does nothing else: no call is made, no variable is read.
"""

import json
import math
import os
import random
import sys
import time
from email.utils import parsedate_to_datetime

import requests
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

MODEL_NAME = {{ model_name }}
CATEGORY = {{ category }}
SUBCATEGORY = {{ subcategory }}
BASE_URL = {{ base_url }}

# Seconds that execute() waits for a result, all in all.
DEFAULT_TIMEOUT = 600

# The model's parameters, as its schema says.
PARAMETERS = {{ parameters }}

# The function, as a JSON schema.
{{ parts }}

# What the chat client takes as `tools`.
TOOLS = [{"type": "function", "function": FUNCTION}]


{% include "workflow.py" %}


# ---------------------------------------------------------------------------
# The function.
# ---------------------------------------------------------------------------


def execute(arguments, timeout=DEFAULT_TIMEOUT, on_status=None):
    """Runs the model with these arguments (a dict, or a JSON text); returns a list of URLs.

    Raises a GenerationError: see the classes above.
    """
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError as error:
            raise InvalidInput(["the arguments are not JSON: %s" % error]) from error
    if not isinstance(arguments, dict):
        raise InvalidInput(["the arguments must be an object"])
    return Service().run(arguments, timeout=timeout, on_status=on_status)


def call_function(name, arguments):
    """Answers a tool call: a JSON text for the chat model, with the URLs or what went wrong."""
    if name != FUNCTION["name"]:
        return json.dumps({"error": "There is no function %s." % name})
    try:
        return json.dumps({"urls": execute(arguments)})
    except GenerationError as error:
        return json.dumps({"error": "%s: %s" % (type(error).__name__, error)}, ensure_ascii=False)


def main():
    """Lets a chat model use the function: python THIS_FILE "a request"."""
    from openai import OpenAI

    request = " ".join(sys.argv[1:]) or "Make something beautiful with %s." % MODEL_NAME
    client = OpenAI()
    messages = [{"role": "user", "content": request}]
    # A few turns: the chat model may correct its call after an error.
    for _ in range(5):
        reply = client.chat.completions.create(
            model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"),
            messages=messages,
            tools=TOOLS,
        )
        message = reply.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            print(message.content)
            return
        for call in message.tool_calls:
            print("Calling %s ..." % call.function.name, file=sys.stderr)
            messages.append(
                {
                    "role": "tool",
                    "tool_call_id": call.id,
                    "content": call_function(call.function.name, call.function.arguments),
                }
            )
    raise SystemExit("The chat model kept calling the function without coming to an end.")


if __name__ == "__main__":
    main()
