"""Calls the MCP server files with the official client, over stdio and over streamable HTTP."""

import asyncio
import importlib.metadata
import json
import os
import socket
import subprocess
import sys
import time

import jsonschema
import mcp
import requests

import support

base_url = sys.argv[1]
models = requests.get(base_url + "/api/models", timeout=30).json()["data"]
every = support.download_all(base_url, "mcp")
one = support.download(base_url, "mcp", "image/tessera")
credentials = {
    name: os.environ[name] for name in ("SERVICE_UID", "SERVICE_TOKEN", "NO_PROXY") if name in os.environ
}


async def proof(target, expected):
    told = []

    async def progress(value, total, message):
        told.append(message)

    async with mcp.Client(target) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == expected + ["fetch_result", "cancel_task"], list(tools)
        assert tools["fetch_result"].annotations.read_only_hint is True
        assert tools["cancel_task"].annotations.destructive_hint is True
        for model in models:
            name = "%s_%s" % (model["category"], model["subcategory"])
            if name not in tools:
                continue
            tool = tools[name]
            assert tool.title == model["name"] and tool.description.startswith(model["description"])
            assert "fetch_result" in tool.description
            # The description says when an equal call joins a task.
            assert "An equal call while the task runs, or up to 10 minutes later" in tool.description
            assert tool.annotations.idempotent_hint is False
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            schema = requests.get(
                "%s/api/schema/%s/%s" % (base_url, model["category"], model["subcategory"]), timeout=30
            ).json()["data"]["parameters"]
            names = [p["name"] for group in ("required", "optional") for p in schema[group]]
            assert list(tool.input_schema["properties"]) == names
            assert tool.annotations.read_only_hint is False

        # A whole generation with its progress messages.
        result = await client.call_tool(
            "image_tessera", {"prompt": "a calm evening", "num_outputs": 2, "seed": 2**64 - 1},
            progress_callback=progress)
        assert not result.is_error, result
        urls = result.structured_content["urls"]
        assert len(urls) == 2 and json.loads(result.content[0].text) == result.structured_content
        jsonschema.validate(result.structured_content, tools["image_tessera"].output_schema)
        links = result.content[1:]
        assert [str(link.uri) for link in links] == urls
        task_id = result.structured_content["task_id"]
        assert [(link.name, link.mime_type) for link in links] == [
            ("image_tessera_%s_%d.png" % (task_id[:8], number), "image/png") for number in (1, 2)]
        assert any("task " + task_id in message for message in told), told
        # Fetched by its id.
        again = await client.call_tool("fetch_result", {"task_id": task_id, "tool": "image_tessera"})
        assert again.structured_content == result.structured_content
        # A task that has ended stays as it is.
        kept = await client.call_tool("cancel_task", {"task_id": task_id, "tool": "image_tessera"})
        assert kept.structured_content["canceled"] is False, kept
        jsonschema.validate(kept.structured_content, tools["cancel_task"].output_schema)
        assert requests.get(urls[0], timeout=30).content.startswith(b"\x89PNG")
        assert any(message.startswith("sending") for message in told), told

        # Errors that the assistant can read and correct.
        for inputs, words in [({"prompt": " "}, "prompt is required"),
                              ({"prompt": "[fail]"}, "on purpose"),
                              ({"prompt": "a", "nonsense": 1}, "nonsense")]:
            result = await client.call_tool("image_tessera", inputs)
            assert result.is_error and words in result.content[0].text, (inputs, result)
        for inputs, words in [({}, "task_id is required"), ({"task_id": "x", "uid": "y"}, "uid"),
                              ({"task_id": "x", "tool": "nonsense"}, "tool must be"),
                              ({"task_id": "nonsense", "tool": "image_tessera"}, "refused")]:
            for tool in ("fetch_result", "cancel_task"):
                result = await client.call_tool(tool, inputs)
                assert result.is_error and words in result.content[0].text, (tool, inputs, result)
        try:
            await client.call_tool("nonsense", {})
            raise AssertionError("there is no such tool")
        except mcp.MCPError as error:
            assert "nonsense" in str(error)

        if "audio_reverie" in tools:
            # Independent calls run concurrently.
            results = await asyncio.gather(*[
                client.call_tool("image_tessera", {"prompt": "a", "seed": n}) for n in range(2)])
            assert all(not result.is_error for result in results)


def by_stdio(path, environment):
    return mcp.StdioServerParameters(command=sys.executable, args=[path], env=environment)


names = ["%s_%s" % (model["category"], model["subcategory"]) for model in models]
asyncio.run(proof(by_stdio(every, credentials), names))
asyncio.run(proof(by_stdio(one, credentials), ["image_tessera"]))


async def without_a_token():
    environment = dict(credentials, SERVICE_TOKEN="")
    async with mcp.Client(by_stdio(one, environment)) as client:
        result = await client.call_tool("image_tessera", {"prompt": "a"})
        assert result.is_error and "SERVICE_TOKEN" in result.content[0].text


asyncio.run(without_a_token())

free = socket.socket()
free.bind(("127.0.0.1", 0))
port = free.getsockname()[1]
free.close()
server = subprocess.Popen([sys.executable, every, "--http", str(port)])
try:
    until = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            assert server.poll() is None and time.monotonic() < until, "the server does not listen"
            time.sleep(0.1)
    asyncio.run(proof("http://127.0.0.1:%d/mcp" % port, names))
    # Web pages in a browser on this machine may not call the server.
    page = requests.post(
        "http://127.0.0.1:%d/mcp" % port, json={}, timeout=30,
        headers={"Origin": "https://elsewhere.example", "Accept": "application/json, text/event-stream"})
    assert page.status_code == 403, page.status_code
finally:
    server.terminate()
    server.wait(30)
print("mcp", importlib.metadata.version("mcp"))
