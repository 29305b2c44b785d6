"""A ComfyUI node for one generation model, named in MODEL_NAME below.

Written by the generation service from the model's own schema.

Placement: save this file as

    ComfyUI/custom_nodes/{{ module }}_node.py

and start ComfyUI again. ComfyUI's own Python already has the one package that is needed,
requests. The node is found in the menu (double-click the canvas to search) under the group named
after the model's category.

Configuration: set these environment variables before you start ComfyUI:

    SERVICE_UID        your User ID
    SERVICE_TOKEN      your Access Token (it is never saved in a workflow)
    SERVICE_BASE_URL   only to call another address than BASE_URL below
    SERVICE_TIMEOUT    seconds to wait for a result (default: 900)

The node's output is the URL of the result; with several results, one URL a line. Connect it to a
"Preview as Text" node to read it, or to any node that loads from a URL.

A run with the same inputs is taken from ComfyUI's cache and not billed again: change the seed, or
let ComfyUI change it ("control after generate"), to get another result. Seeds may be as large as 64
bits; ComfyUI's own editor rounds those above 9007199254740991 when you type them.
"""

import json
import math
import os
import random
import time
from email.utils import parsedate_to_datetime

import requests
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

MODEL_NAME = {{ model_name }}
DESCRIPTION = {{ description }}
CATEGORY = {{ category }}
SUBCATEGORY = {{ subcategory }}
BASE_URL = {{ base_url }}

# Seconds to wait for a result, unless SERVICE_TIMEOUT says otherwise.
DEFAULT_TIMEOUT = 900

# The model's parameters, as its schema says.
PARAMETERS = {{ parameters }}

# INPUTS: the parameters as ComfyUI's types. CHOICES: what each entry of a combo stands for.
{{ parts }}


{% include "workflow.py" %}


# ---------------------------------------------------------------------------
# The node.
# ---------------------------------------------------------------------------


def _pause(seconds):
    """Waits in short steps, so that ComfyUI's Cancel button works."""
    end = time.monotonic() + seconds
    while True:
        _stop_if_interrupted()
        left = end - time.monotonic()
        if left <= 0:
            return
        time.sleep(min(0.2, left))


def _stop_if_interrupted():
    try:
        from comfy import model_management
    except ImportError:
        return  # Outside ComfyUI nobody interrupts.
    model_management.throw_exception_if_processing_interrupted()


class _Progress:
    """The node's progress bar: taken in, processing, done."""

    STEPS = {"starting": 1, "queued": 1, "processing": 2, "completed": 3}

    def __init__(self):
        self._done = 0
        try:
            from comfy.utils import ProgressBar
        except ImportError:
            self._bar = None
        else:
            self._bar = ProgressBar(3)

    def __call__(self, status):
        self._done = max(self._done, self.STEPS.get(status, 2))
        if self._bar is not None:
            self._bar.update_absolute(self._done)


def _timeout():
    try:
        return max(1.0, float(os.environ["SERVICE_TIMEOUT"]))
    except (KeyError, ValueError):
        return DEFAULT_TIMEOUT


def inputs_from_widgets(widgets):
    """What the widgets say, as the model's inputs; a widget left blank leaves its parameter out."""
    inputs, problems = {}, []
    for parameter in PARAMETERS:
        name, kind = parameter["name"], parameter["kind"]
        if name not in widgets:
            continue
        value = widgets[name]
        if kind == "enum":
            if isinstance(value, str) and value in CHOICES[name]:
                value = CHOICES[name][value]
            elif value == {{ left_out }}:
                continue
        elif kind == "text" and value == "" and not parameter.get("default"):
            continue
        elif kind in ("array", "object", "any") and isinstance(value, str):
            if not value.strip():
                continue
            try:
                value = json.loads(value)
            except ValueError as error:
                problems.append("%s must be JSON: %s" % (name, error))
                continue
        inputs[name] = value
    if problems:
        raise InvalidInput(problems)
    return inputs


class GenerationNode:
    """Runs the model and gives the URL of its result."""

    DESCRIPTION = DESCRIPTION
    CATEGORY = CATEGORY
    FUNCTION = "run"
    RETURN_TYPES = ("STRING",)
    RETURN_NAMES = ("url",)
    OUTPUT_TOOLTIPS = ("The URL of the result; with several, one a line.",)
    # So that a graph of this node alone can run.
    OUTPUT_NODE = True

    @classmethod
    def INPUT_TYPES(cls):
        return {
            group: {name: (kind, dict(options)) for name, (kind, options) in inputs.items()}
            for group, inputs in INPUTS.items()
        }

    # Parameters may have any name, `self` included: hence the slash.
    def run(self, /, **widgets):
        _stop_if_interrupted()
        progress = _Progress()
        inputs = inputs_from_widgets(widgets)
        urls = Service(pause=_pause).run(inputs, timeout=_timeout(), on_status=progress)
        return ("\n".join(urls),)


# The key is unique among all custom nodes; workflows are saved with it.
NODE_CLASS_MAPPINGS = {% raw %}{{% endraw %}{{ node_key }}: GenerationNode}
NODE_DISPLAY_NAME_MAPPINGS = {% raw %}{{% endraw %}{{ node_key }}: MODEL_NAME}
