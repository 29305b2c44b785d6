"""A generation model as a function that a chat model can call.

The model is named in MODEL_NAME below. This file was written by the generation service from the
model's own schema: FUNCTION is its JSON schema, execute() runs it, chat() and respond() show its
use.

Needs Python 3.9 or newer and two packages:

    pip install requests openai

Set these environment variables:

    SERVICE_UID        your User ID
    SERVICE_TOKEN      your Access Token (never write it into a file)
    SERVICE_BASE_URL   only to call another address than BASE_URL below{{ secrets }}
    SERVICE_FILES      folders whose files texts may name, separated as in PATH (default: none)
    OPENAI_API_KEY     for the examples; OPENAI_BASE_URL and OPENAI_MODEL if you wish

Then either

    python {{ module }}.py [--responses] "what you would like to have"

or, from your own code,

    from {{ module }} import chat_tools, responses_tools, call_function, execute

or, in an asyncio program, call_function_async and execute_async.

An image, video or audio file is given as its address, or as pathlib.Path(...), bytes or a file that is
open in binary mode. It is uploaded if the service takes uploads, otherwise sent within the request.
Texts, which a chat model may have written, are paths only in the folders that SERVICE_FILES lists.

Importing the module makes no calls and reads no environment variables.
"""

import asyncio
import base64
import collections
import contextlib
import hashlib
import io
import json
import math
import mimetypes
import os
import pathlib
import random
import re
import sys
import threading
import time
from email.utils import parsedate_to_datetime
from urllib.parse import unquote_to_bytes, urlsplit
from urllib.request import url2pathname

import requests
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

MODEL_NAME = {{ model_name }}
CATEGORY = {{ category }}
SUBCATEGORY = {{ subcategory }}
BASE_URL = {{ base_url }}

# The total time in seconds that execute() waits for a result.
DEFAULT_TIMEOUT = 600

# The model's parameters, from its schema.
PARAMETERS = {{ parameters }}


# The function, as a JSON schema.
{{ parts }}

# The function without strict mode, for Chat Completions. chat_tools() and responses_tools() return it
# in strict mode.
TOOLS = [{"type": "function", "function": FUNCTION}]

MODEL = {
    "category": CATEGORY,
    "subcategory": SUBCATEGORY,
    "parameters": PARAMETERS,
    "function": FUNCTION,
}
MODELS = {FUNCTION["name"]: MODEL}


{% include "workflow.py" %}


{% include "tools.py" %}