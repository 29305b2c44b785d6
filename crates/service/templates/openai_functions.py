"""All models of a generation service as functions that a chat model can call.

This file was written by the service from its models' own schemas: MODELS contains all of them,
call_function() runs the function that a chat model calls, chat() and respond() show their use.

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

BASE_URL = {{ base_url }}

# The total time in seconds that a call waits for a result.
DEFAULT_TIMEOUT = {{ timeout }}

# The models by the names of their functions. `function` is the JSON schema. Inputs are validated
# against `parameters` before anything is sent.
MODELS = {{ models }}


{% include "workflow.py" %}


{% include "tools.py" %}