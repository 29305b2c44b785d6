"""Calls the service's own MCP server with the official client, in both revisions of the protocol."""

import asyncio
import base64
import importlib.metadata
import json
import sys
import uuid

import jsonschema
import mcp
import requests
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

base_url = sys.argv[1]
url = requests.get(base_url + "/api/models", timeout=30).json()["mcp"]


def client(mode, token="t", statuses=None):
    http = create_mcp_http_client(headers={"Authorization": "Bearer " + token} if token else None)

    async def record(response):
        if statuses is not None:
            statuses.append(response.status_code)

    http.event_hooks["response"] = [record]
    return mcp.Client(streamable_http_client(url, http_client=http), mode=mode)


async def proof(mode):
    begun = asyncio.Queue()

    async def progress(value, total, message):
        begun.put_nowait(message)

    async with client(mode) as service:
        tools = {tool.name: tool for tool in (await service.list_tools()).tools}
        general = ["list_models", "describe_model", "generate", "get_task", "cancel_task"]
        assert list(tools)[:5] == general and "image_tessera" in tools, list(tools)
        for tool in tools.values():
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert tools["generate"].annotations.read_only_hint is False
        assert tools["get_task"].annotations.read_only_hint is True

        found = await service.call_tool("list_models", {"search": "glass"})
        model = found.structured_content["models"][0]["model"]
        described = await service.call_tool("describe_model", {"model": model})
        assert described.structured_content["parameters"]["required"][0]["name"] == "prompt"

        arguments = {"model": model, "input": {"prompt": "an evening, " + mode, "num_outputs": 2}, "wait_seconds": 60}
        result = await service.call_tool("generate", arguments)
        assert not result.is_error, result
        task = result.structured_content
        assert task["status"] == "completed" and json.loads(result.content[0].text) == task
        links = [block for block in result.content if block.type == "resource_link"]
        images = [block for block in result.content if block.type == "image"]
        assert [str(link.uri) for link in links] == task["output"] and len(images) == 2
        files = [requests.get(link, timeout=30).content for link in task["output"]]
        assert [base64.b64decode(image.data) for image in images] == files

        typed = await service.call_tool(model.replace("/", "_"), {"prompt": "typed, " + mode, "wait_seconds": 60})
        assert typed.structured_content["model"] == model and not typed.is_error, typed

        # The client gives up once it knows that the task exists, and asks again.
        slow = {"model": "image/slow", "input": {"prompt": mode}, "wait_seconds": 300}
        waiting = asyncio.create_task(service.call_tool("generate", slow, progress_callback=progress))
        message = await asyncio.wait_for(begun.get(), 60)
        waiting.cancel()
        await asyncio.wait([waiting])
        assert waiting.cancelled(), waiting
        joined = (await service.call_tool("generate", dict(slow, wait_seconds=0))).structured_content
        assert joined["status"] == "processing" and "earlier call" in joined["note"], joined
        assert joined["task_id"] in message, message
        again = dict(slow, wait_seconds=0, request_id=uuid.uuid4().hex)
        other = (await service.call_tool("generate", again)).structured_content
        assert other["task_id"] != joined["task_id"]
        waited = await service.call_tool("get_task", {"task_id": joined["task_id"], "wait_seconds": 0.1})
        assert waited.structured_content["status"] == "processing"
        for id in (joined["task_id"], other["task_id"]):
            canceled = (await service.call_tool("cancel_task", {"task_id": id})).structured_content
            assert canceled["canceled"] is True, canceled

        refused = await service.call_tool("generate", {"model": "image/nothing", "input": {}})
        assert refused.is_error and "There is no model" in refused.content[0].text
        try:
            await service.call_tool("paint", {})
            raise AssertionError("there is no such tool")
        except mcp.MCPError as error:
            assert "paint" in str(error)


async def without_a_token(mode):
    statuses = []
    try:
        async with client(mode, token=None, statuses=statuses) as service:
            await service.list_tools()
    except Exception:
        pass
    assert statuses and set(statuses) == {401}, statuses


for mode in ("auto", "legacy"):
    asyncio.run(proof(mode))
    asyncio.run(without_a_token(mode))
print("mcp", importlib.metadata.version("mcp"))
