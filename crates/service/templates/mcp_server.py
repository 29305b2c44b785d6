"""An MCP server: generation models as tools for assistants that speak the Model Context Protocol.

This file was written by the generation service from its models' own schemas; the models are in
MODELS below.

Needs Python 3.10 or newer and two packages:

    pip install "mcp>=2,<3" requests

An assistant on this machine starts it by itself and talks to it by stdio. Tell it in its
configuration, which mostly looks like this:

    {
      "mcpServers": {
        "{{ server_name }}": {
          "command": "python",
          "args": ["/the/folder/of/{{ module }}.py"],
          "env": {"SERVICE_UID": "your User ID", "SERVICE_TOKEN": "your Access Token"}
        }
      }
    }

Or serve it by streamable HTTP, to this machine alone, at http://127.0.0.1:8000/mcp:

    SERVICE_UID=... SERVICE_TOKEN=... python {{ module }}.py --http 8000

Whoever reaches that port generates on your account: leave it on this machine.

    SERVICE_BASE_URL   only to call another address than BASE_URL below
    SERVICE_TIMEOUT    seconds to wait for a result (default: {{ timeout }})

A generation takes seconds to minutes. Who asks for progress is told of it, which keeps the call of
most assistants from running into their time limit.
"""

import asyncio
import json
import math
import os
import random
import sys
import threading
import time
from email.utils import parsedate_to_datetime

import requests
from mcp import MCPError, types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

BASE_URL = {{ base_url }}

# Seconds that a call waits for a result, all in all.
DEFAULT_TIMEOUT = {{ timeout }}

# The models, each by the name of its function. `function` is its JSON schema, `parameters` what its
# inputs are checked by before anything is sent.
MODELS = {{ models }}


{% include "workflow.py" %}


{% include "arguments.py" %}


# ---------------------------------------------------------------------------
# The server.
# ---------------------------------------------------------------------------

OUTPUT = {
    "type": "object",
    "properties": {
        "urls": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The addresses of the results.",
        }
    },
    "required": ["urls"],
}


async def list_tools(context, request):
    return types.ListToolsResult(tools=[tool(name) for name in MODELS])


def tool(name):
    model = MODELS[name]
    return types.Tool(
        name=name,
        title=model["name"],
        description=model["function"]["description"],
        input_schema=model["function"]["parameters"],
        output_schema=OUTPUT,
        # Every call starts a task, which may cost money.
        annotations=types.ToolAnnotations(
            read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True
        ),
    )


async def call_tool(context, request):
    model = MODELS.get(request.name)
    if model is None:
        raise MCPError(types.INVALID_PARAMS, "There is no tool %s." % request.name)
    words, began, told = ["sending"], time.monotonic(), [None]

    async def tell():
        seconds = int(time.monotonic() - began)
        if told[0] != (words[-1], seconds):
            told[0] = words[-1], seconds
            await context.session.report_progress(seconds, None, "%s, %d s" % told[0])

    def work(pause):
        inputs = read_arguments(request.arguments or {}, model["parameters"])
        service = Service(pause=pause, model=model)
        return service.run(inputs, timeout=_timeout(), on_status=words.append)

    # Before the call is sent: a fast answer would otherwise be the first thing told.
    await tell()
    try:
        urls = await in_background(work, tell)
    except GenerationError as error:
        # For the assistant to read, and perhaps to call again with other arguments.
        return answer("%s: %s" % (type(error).__name__, error), is_error=True)
    links = [types.ResourceLink(uri=url, name=url.rsplit("/", 1)[-1] or url) for url in urls]
    return answer(json.dumps({"urls": urls}), links, structured_content={"urls": urls})


def answer(text, links=(), **rest):
    return types.CallToolResult(content=[types.TextContent(text=text), *links], **rest)


def _timeout():
    try:
        return max(1.0, float(os.environ["SERVICE_TIMEOUT"]))
    except (KeyError, ValueError):
        return DEFAULT_TIMEOUT


def server():
    return Server({{ server_name_literal }}, on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_stdio():
    mcp = server()
    async with stdio_server() as (incoming, outgoing):
        await mcp.run(incoming, outgoing, mcp.create_initialization_options())


def serve_http(port):
    import uvicorn

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
