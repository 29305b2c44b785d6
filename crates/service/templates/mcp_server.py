"""An MCP server: generation models as tools for assistants that support the Model Context Protocol.

This file was written by the generation service from its models' own schemas; the models are in
MODELS below.

Needs Python 3.10 or newer and two packages:

    pip install "mcp>=2,<3" requests

An assistant on this machine starts the server itself and uses it over stdio. Its configuration
usually looks like this:

    {
      "mcpServers": {
        "{{ server_name }}": {
          "command": "python",
          "args": ["/the/folder/of/{{ module }}.py"],
          "env": {"SERVICE_UID": "your User ID", "SERVICE_TOKEN": "your Access Token"}
        }
      }
    }

Or serve it over streamable HTTP, only to this machine, at http://127.0.0.1:8000/mcp:

    SERVICE_UID=... SERVICE_TOKEN=... python {{ module }}.py --http 8000

Any program that reaches this port can use your account: don't forward it to other machines.

    SERVICE_BASE_URL   only to call another address than BASE_URL below{{ secrets }}
    SERVICE_FILES      folders whose files an assistant may send, separated as in PATH (default: none)
    SERVICE_TIMEOUT    seconds to wait for a result (default: {{ timeout }})
    SERVICE_WAIT       seconds after which a call is answered with the task's id instead, if its
                       client does not ask for progress (default: 45)

An image, video or audio file is given as its address, as a data: URI with base64, or, over stdio, as the
path of a file in the folders of SERVICE_FILES. It is uploaded if the service takes uploads, otherwise
sent within the request.

A generation takes seconds to minutes; many clients wait for one minute. A client that asks for
progress receives it once a second, with the task's id. Other clients receive the id before that
minute has passed, and fetch the result with the tool "fetch_result". The tool "cancel_task" cancels a
task, if the service can do that.

What costs money: a task continues after its client has timed out. An equal call does not start a
second task while the first one runs, or if the first response may not have arrived: it returns the
result of the first task. A call with other arguments starts a new task.
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
from mcp import MCPError, types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

BASE_URL = {{ base_url }}

# The total time in seconds that a call waits for a result.
DEFAULT_TIMEOUT = {{ timeout }}

# The models by the names of their functions. `function` is the JSON schema. Inputs are validated
# against `parameters` before anything is sent.
MODELS = {{ models }}


{% include "workflow.py" %}


{% include "arguments.py" %}


# ---------------------------------------------------------------------------
# Tasks, which continue after their client has timed out.
# ---------------------------------------------------------------------------

# A response within these seconds has arrived, because clients wait longer.
CERTAIN = 25

# Seconds for which an equal call returns a result that may not have arrived.
KEEP = 600


class Run:
    """A task in a separate thread. `work(run)` returns the URLs of its results."""

    def __init__(self, name, work):
        self.name, self.task_id, self.words = name, None, ["sending"]
        self.progress = None, ""
        self.ended, self.urls, self.error, self.has_arrived = None, None, None, False
        threading.Thread(target=self._run, args=(work,), daemon=True).start()

    def service(self):
        service = Service(model=MODELS[self.name])
        service.on_progress = lambda *progress: setattr(self, "progress", progress)
        return service

    def _run(self, work):
        try:
            self.urls = work(self)
        except Exception as error:
            self.error = error
        finally:
            self.ended = time.monotonic()

    def is_late(self):
        """Whether the wait ended early: the task may still be running, or may be completed."""
        is_over = isinstance(self.error, GenerationFailed)
        is_unknown = getattr(self.error, "status", None) in (404, 410)
        return self.task_id is not None and self.error is not None and not (is_over or is_unknown)

    def answers_again(self):
        """Whether an equal call joins this run."""
        if self.ended is None:
            return True
        return time.monotonic() - self.ended < KEEP and (self.is_late() or not self.has_arrived)

    def answered(self, seconds):
        """Records that a call was answered after `seconds`; its client may have timed out before."""
        may_be_paid = self.urls is not None or isinstance(self.error, OutcomeUnknown)
        self.has_arrived = self.has_arrived or seconds < CERTAIN or not may_be_paid


# The runs by their calls. Only the event loop's thread uses this.
_runs = {}


def inputs_of(name, arguments):
    """Returns the inputs for a call of this tool; raises InvalidInput or MissingCredentials."""
    parameters = without_secrets(MODELS[name]["parameters"])
    inputs = check_inputs(read_arguments(arguments, parameters), parameters)
    add_secrets(inputs, MODELS[name]["parameters"])  # Refuses a call whose secret is missing.
    return inputs


def run_of(name, inputs):
    """Returns the run for a call of this tool, and whether an earlier call has started it."""

    def work(run):
        service, deadline = run.service(), time.monotonic() + _timeout()
        run.task_id = service.start(inputs, deadline, run.words.append)
        print("%s: task %s was started." % (name, run.task_id), file=sys.stderr, flush=True)
        return service.finish(run.task_id, deadline, run.words.append)

    return _join(json.dumps([name, inputs], sort_keys=True), name, work)


def task_of(tool_name, arguments):
    """Returns the id in a call of FETCH or CANCEL, and the name of the tool that has started the task."""
    unknown = sorted(set(arguments) - {"task_id", "tool"})
    if unknown:
        raise InvalidInput(["%s is no argument of %s" % (word, tool_name) for word in unknown])
    task_id = str(arguments.get("task_id") or "").strip()
    if not task_id:
        raise InvalidInput(["task_id is required"])
    names = [run.name for run in _runs.values() if run.task_id == task_id]
    name = arguments.get("tool") or (names or list(MODELS))[0]
    if name not in MODELS or not (names or arguments.get("tool") or len(MODELS) == 1):
        raise InvalidInput(["tool must be the name of the tool that has started the task"])
    return task_id, name


def run_of_task(arguments):
    """Returns the run that fetches the result of a task. It starts no task."""
    task_id, name = task_of(FETCH, arguments)
    for run in _runs.values():
        if run.task_id == task_id and run.answers_again() and not run.is_late():
            return run
    return _join(task_id, name, _finish(name, task_id))[0]


async def cancel(arguments):
    """Cancels a task. An equal call then starts another one."""
    task_id, name = task_of(CANCEL, arguments)
    is_canceled = await asyncio.to_thread(lambda: Service(model=MODELS[name]).cancel(task_id))
    result = {"task_id": task_id, "canceled": is_canceled}
    if is_canceled:
        for key in [key for key, run in _runs.items() if run.task_id == task_id]:
            del _runs[key]
    else:
        result["note"] = "The task has ended, or the service can't cancel it: call %s." % FETCH
    return answer(json.dumps(result), structured_content=result)


def _finish(name, task_id):
    def work(run):
        run.task_id = task_id
        deadline = time.monotonic() + _timeout()
        return run.service().finish(task_id, deadline, run.words.append)

    return work


def _join(key, name, work):
    for old in [key for key, run in _runs.items() if not run.answers_again()]:
        del _runs[old]
    known = _runs.get(key)
    if known is not None and not known.is_late():
        return known, True
    if known is not None:
        work = _finish(name, known.task_id)
    _runs[key] = Run(name, work)
    return _runs[key], known is not None


# ---------------------------------------------------------------------------
# The server.
# ---------------------------------------------------------------------------


def unused(name):
    """Returns the name, with a number if a model has it."""
    numbered = ["%s_%d" % (name, number) for number in range(2, len(MODELS) + 3)]
    return next(candidate for candidate in [name] + numbered if candidate not in MODELS)


# The tools that fetch a result and cancel a task.
FETCH = unused("fetch_result")
CANCEL = unused("cancel_task")

OUTPUT = {
    "type": "object",
    "properties": {
        "urls": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The addresses of the results.",
        },
        "status": {
            "type": "string",
            "enum": ["completed", "processing"],
            "description": "processing: call %s with the task_id." % FETCH,
        },
        "task_id": {"type": "string"},
        "note": {"type": "string"},
    },
    "required": ["urls", "status"],
}


async def list_tools(context, request):
    return types.ListToolsResult(tools=[tool(name) for name in MODELS] + [fetch_tool(), cancel_tool()])


def tool(name):
    model = MODELS[name]
    return types.Tool(
        name=name,
        title=model["name"],
        description="%s%s If the answer has no URLs yet, call %s with its task_id. An equal call while the "
        "task runs, or up to %d minutes later if its answer may have been lost, joins that task; "
        "change an argument to make another."
        % (model["function"]["description"], files_note(model), FETCH, KEEP // 60),
        input_schema=model["function"]["parameters"],
        output_schema=OUTPUT,
        # An equal call joins the same task only for some minutes. Later, or once the response has arrived, it
        # starts another task, which may cost money.
        annotations=types.ToolAnnotations(
            read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True
        ),
    )


def files_note(model):
    """Returns how a call names files, if the model takes any."""
    if not any(parameter.get("media") for parameter in model["parameters"]):
        return ""
    folders = os.environ.get("SERVICE_FILES", "").strip()
    paths = ", or as the path of a file in %s" % folders if folders else ""
    return " A file is given as its address, as a data: URI with base64%s." % paths


def task_schema():
    """Returns the schema of the arguments that name a task."""
    properties = {
        "task_id": {"type": "string", "description": "The id of a task that was started."},
        "tool": {
            "type": "string",
            "enum": list(MODELS),
            "description": "The name of the tool that has started it.",
        },
    }
    return {
        "type": "object",
        "properties": properties,
        "required": ["task_id"],
        "additionalProperties": False,
    }


def fetch_tool():
    return types.Tool(
        name=FETCH,
        title="Fetch a result",
        description="Waits for a task that was started, and returns the URLs of its results. "
        "It starts no task and costs nothing.",
        input_schema=task_schema(),
        output_schema=OUTPUT,
        annotations=types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=True
        ),
    )


def cancel_tool():
    properties = {
        "task_id": {"type": "string"},
        "canceled": {"type": "boolean", "description": "Whether the task is canceled."},
        "note": {"type": "string"},
    }
    return types.Tool(
        name=CANCEL,
        title="Cancel a task",
        description="Cancels a task that waits or runs. A task that has ended stays as it is.",
        input_schema=task_schema(),
        output_schema={"type": "object", "properties": properties, "required": ["task_id", "canceled"]},
        annotations=types.ToolAnnotations(
            read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=True
        ),
    )


async def call_tool(context, request):
    if request.name not in MODELS and request.name not in (FETCH, CANCEL):
        raise MCPError(types.INVALID_PARAMS, "There is no tool %s." % request.name)
    began = time.monotonic()
    # Reports progress before anything is sent, because a fast response might come before the first report.
    await context.session.report_progress(0, None, "sending, 0 s")
    run = None
    try:
        if request.name == CANCEL:
            return await cancel(request.arguments or {})
        if request.name == FETCH:
            run, is_joined = run_of_task(request.arguments or {}), False
        else:
            # In a thread, because files are read.
            inputs = await asyncio.to_thread(inputs_of, request.name, request.arguments or {})
            run, is_joined = run_of(request.name, inputs)
        wants_progress = (request.meta or {}).get("progress_token") is not None
        await wait_for(run, context, math.inf if wants_progress else _wait())
        if run.ended is not None:
            run.answered(time.monotonic() - began)
        if run.error is not None:
            raise run.error
    except GenerationError as error:
        # The assistant reads this text, and may call again with other arguments.
        text = "%s: %s" % (type(error).__name__, error)
        task_id = getattr(run, "task_id", None)
        if task_id is not None and task_id not in text:
            text += " The task %s was started; %s fetches its result." % (task_id, FETCH)
        return answer(text, is_error=True)
    return answer_of(run, is_joined)


async def wait_for(run, context, timeout):
    """Reports progress until the run has ended, for at most `timeout` seconds. A client that cancels
    its call ends this wait, but not the run."""
    began, shown = time.monotonic(), None
    while run.ended is None and time.monotonic() - began < timeout:
        fraction, message = run.progress
        task = run.task_id and "task %s" % run.task_id
        words = ", ".join(filter(None, [run.words[-1], message, task]))
        seconds = int(time.monotonic() - began)
        if shown != (words, seconds):
            shown = words, seconds
            # The value has to grow with each message, so it is the time, and the total an estimate.
            total = seconds / fraction if fraction and seconds else None
            await context.session.report_progress(seconds, total, "%s, %d s" % shown)
        await asyncio.sleep(0.1)


def answer_of(run, is_joined):
    result, notes = {"urls": run.urls or []}, []
    result["status"] = "processing" if run.urls is None else "completed"
    if run.task_id is not None:
        result["task_id"] = run.task_id
    if is_joined:
        notes.append(
            "This is the task of an earlier call with the same arguments, not a second one; "
            "change an argument to make another."
        )
    if run.urls is None and run.task_id is None:
        notes.append("The task is still on its way. Make the same call again: it starts no second one.")
    elif run.urls is None:
        call = json.dumps({"task_id": run.task_id, "tool": run.name})
        notes.append("The task is still running. Call %s with %s." % (FETCH, call))
    if notes:
        result["note"] = " ".join(notes)
    links = [link(run, number, url) for number, url in enumerate(run.urls or ())]
    return answer(json.dumps(result), links, structured_content=result)


def link(run, number, url):
    """Returns a link to a result, with a name that is unique to its task."""
    if url.startswith("data:"):
        kind = mimetypes.guess_type(url)[0]
        ending = mimetypes.guess_extension(kind or "") or ""
    else:
        ending = _ending(url)
        kind = KINDS.get(ending.lower()) or mimetypes.guess_type("x" + ending, strict=False)[0]
    name = "%s_%s_%d%s" % (run.name, (run.task_id or "")[:8], number + 1, ending)
    return types.ResourceLink(uri=url, name=name, mime_type=kind)


def _ending(url):
    try:
        return os.path.splitext(urlsplit(url).path)[1]
    except ValueError:
        return ""


# MIME types that not every system's table has.
KINDS = {
    ".flac": "audio/flac",
    ".glb": "model/gltf-binary",
    ".jxl": "image/jxl",
    ".m4a": "audio/mp4",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".wav": "audio/wav",
    ".webm": "video/webm",
    ".webp": "image/webp",
}


def answer(text, links=(), **rest):
    return types.CallToolResult(content=[types.TextContent(text=text), *links], **rest)


def _timeout():
    return _seconds("SERVICE_TIMEOUT", DEFAULT_TIMEOUT)


def _wait():
    return _seconds("SERVICE_WAIT", 45)


def _seconds(variable, otherwise):
    try:
        return max(1.0, float(os.environ[variable]))
    except (KeyError, ValueError):
        return otherwise


def server():
    return Server({{ server_name_literal }}, on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_stdio():
    mcp = server()
    async with stdio_server() as (incoming, outgoing):
        await mcp.run(incoming, outgoing, mcp.create_initialization_options())


def serve_http(port):
    import uvicorn

    # Other programs on this machine can call the server, so it reads no files for them.
    os.environ.pop("SERVICE_FILES", None)
    app = server().streamable_http_app(host="127.0.0.1")
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


def main():
    """python THIS_FILE [--http PORT]"""
    if sys.argv[1:2] == ["--http"]:
        serve_http(int(sys.argv[2]) if len(sys.argv) > 2 else 8000)
    else:
        asyncio.run(serve_stdio())


if __name__ == "__main__":
    main()
