"""Checks that the files cancel tasks at the service, whose only worker needs minutes for each."""

import asyncio
import os
import sys
import threading
import time

import mcp
import requests

import support

base_url = sys.argv[1]
started = []


def record_tasks(module):
    """Records the ids of the tasks that a file starts."""
    start = module.Service.start

    def recording(self, *arguments):
        started.append(start(self, *arguments))
        return started[-1]

    module.Service.start = recording


def status(task_id):
    body = {"uid": "me", "category": "image", "subcategory": "strata", "id": task_id}
    headers = {"Authorization": "Bearer t"}
    return requests.post(base_url + "/v2/status", json=body, headers=headers, timeout=30).json()["data"]


def await_that(what, condition):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.05)


def is_canceled(task_id):
    return status(task_id).get("canceled") is True


module = support.import_function(support.download(base_url, "openai-function", "image/strata"))
record_tasks(module)

# A task that is canceled by its id.
task = module.Service().start({"prompt": "a"}, time.monotonic() + 30)
assert not is_canceled(task)
for _ in range(2):
    assert module.cancel(task) is True
assert is_canceled(task)
try:
    module.fetch_result(task)
    raise AssertionError("was completed")
except module.GenerationFailed as error:
    assert "Canceled" in str(error)


# Ctrl+C.
def press(_):
    raise KeyboardInterrupt


try:
    module.execute({"prompt": "b"}, pause=press)
    raise AssertionError("was not interrupted")
except KeyboardInterrupt:
    assert len(started) == 2 and is_canceled(started[1])


# An asyncio task that is canceled.
async def leave():
    work = asyncio.ensure_future(module.execute_async({"prompt": "c"}))
    until = time.monotonic() + 60
    while len(started) < 3:
        assert not work.done(), work
        assert time.monotonic() < until, "the file starts no task"
        await asyncio.sleep(0.05)
    work.cancel()
    try:
        await work
        raise AssertionError("was not canceled")
    except asyncio.CancelledError:
        pass


asyncio.run(leave())
await_that("the task is canceled", lambda: is_canceled(started[2]))

# The tool of the MCP file. The same call then starts a new task.
async def cancel_by_tool():
    path = support.download(base_url, "mcp", "image/strata")
    environment = dict(os.environ, SERVICE_WAIT="1")
    server = mcp.StdioServerParameters(command=sys.executable, args=[path], env=environment)
    tasks = []
    async with mcp.Client(server) as client:
        for _ in range(2):
            task_id = None
            while task_id is None:
                result = await client.call_tool("image_strata", {"prompt": "e", "seed": 1})
                task_id = result.structured_content.get("task_id")
            for _ in range(2):
                result = await client.call_tool("cancel_task", {"task_id": task_id})
                assert result.structured_content == {"task_id": task_id, "canceled": True}, result
            assert is_canceled(task_id)
            tasks.append(task_id)
    assert tasks[0] != tasks[1], tasks


asyncio.run(cancel_by_tool())

# ComfyUI's Cancel. Another run of the same inputs starts a new task.
comfy = support.Comfy()
comfy.install()
node_module, node, _ = support.load_node(support.download(base_url, "comfyui-node", "image/strata"))
record_tasks(node_module)


def press_cancel(count):
    await_that("the node starts a task", lambda: len(started) == count)
    comfy.interrupted = True


for count in (4, 5):
    threading.Thread(target=press_cancel, args=(count,), daemon=True).start()
    try:
        support.run_node(node, dict(support.defaults(node), prompt="d", seed=9))
        raise AssertionError("was not interrupted")
    except support.InterruptProcessingException:
        await_that("the task is canceled", lambda: is_canceled(started[-1]))
    await_that("its id is forgotten", lambda: started[-1] not in node_module._ids().values())

# A service that does not announce it is not called.
script = support.Script(cancel=[(200, {}, {"success": True, "data": {"canceled": True}})])
assert module.Service(base_url=script.url).cancel("x") is False
assert script.count("cancel") == 0
script.close()
