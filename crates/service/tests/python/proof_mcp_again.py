"""Checks that a client of the MCP server pays once if it times out and calls again. Writes JSON-RPC messages
like a client with a time limit and without a progress token. A scripted service decides when a task ends."""

import json
import os
import queue
import subprocess
import sys
import threading
import time

import support

base_url = sys.argv[1]
path = support.download(base_url, "mcp", "image/tessera")
PATIENCE = 60


class Assistant:
    def __init__(self, service, **environment):
        environment = dict(os.environ, SERVICE_BASE_URL=service.url, **environment)
        self.process = subprocess.Popen([sys.executable, path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=environment, text=True)
        self.messages, self.last = queue.Queue(), 0
        threading.Thread(target=self.read, daemon=True).start()
        self.reply(self.ask("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "proof", "version": "1"}}))
        self.send(method="notifications/initialized")

    def read(self):
        for line in self.process.stdout:
            # Standard output contains only JSON.
            self.messages.put(json.loads(line))

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.last += 1
        self.send(id=self.last, method=method, params=params)
        return self.last

    def call(self, prompt, name="image_tessera", **more):
        arguments = {"prompt": prompt} if isinstance(prompt, str) else prompt
        return self.ask("tools/call", {"name": name, "arguments": arguments, **more})

    def give_up(self, number):
        self.send(method="notifications/cancelled", params={"requestId": number, "reason": "timeout"})
        # The server reads messages in order, so the response shows that it has read the cancellation.
        self.reply(self.ask("ping", {}))

    def message(self, is_wanted):
        until = time.monotonic() + PATIENCE
        while True:
            message = self.messages.get(timeout=max(0.1, until - time.monotonic()))
            if is_wanted(message):
                return message

    def reply(self, number):
        return self.message(lambda message: message.get("id") == number)["result"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)


class Service(support.Script):
    """A service whose tasks end when `done` is set."""

    def __init__(self):
        self.done, self.accepting = threading.Event(), threading.Event()
        self.accepting.set()
        super().__init__(generate=[self.generate], status=[self.status], response=[self.response])

    def data(self, **data):
        return 200, {}, {"success": True, "data": data}

    def generate(self, body):
        assert self.accepting.wait(PATIENCE)
        return self.data(id="task-%d" % self.count("generate"), status="starting")

    def status(self, body):
        if self.done.is_set():
            return self.data(id=body["id"], status="completed")
        return self.data(id=body["id"], status="processing", progress=0.4, message="step 8 of 20")

    def response(self, body):
        return self.data(status="completed", output=["http://127.0.0.1/%s/0.webp?x=1" % body["id"]])

    def await_calls(self, name, count):
        until = time.monotonic() + PATIENCE
        while self.count(name) < count:
            assert time.monotonic() < until, (name, self.calls)
            time.sleep(0.02)


service = Service()
assistant = Assistant(service)

# While the task runs, an equal call joins it, also with an explicit null.
first = assistant.call("a lighthouse")
service.await_calls("status", 1)
assistant.give_up(first)
second = assistant.call({"prompt": "a lighthouse", "seed": None})
other = assistant.call("another lighthouse")
service.await_calls("generate", 2)
service.done.set()
answer = assistant.reply(second)["structuredContent"]
assert answer["task_id"] == "task-1" and answer["urls"] == ["http://127.0.0.1/task-1/0.webp?x=1"], answer
assert "earlier call" in answer["note"], answer
answer = assistant.reply(other)
(link,) = answer["content"][1:]
assert link["name"] == "image_tessera_task-2_1.webp" and link["mimeType"] == "image/webp", link
assert "note" not in answer["structuredContent"] and service.count("generate") == 2
# After a response that has arrived, an equal call starts a new task.
answer = assistant.reply(assistant.call("a lighthouse"))["structuredContent"]
assert answer["task_id"] == "task-3" and service.count("generate") == 3, answer

# While the task is being sent to the service, an equal call joins it.
service.accepting.clear()
service.done.clear()
first = assistant.call("a harbour")
service.await_calls("generate", 4)
assistant.give_up(first)
second = assistant.call("a harbour")
service.accepting.set()
service.done.set()
assert assistant.reply(second)["structuredContent"]["task_id"] == "task-4"
assert service.count("generate") == 4

# After the task has ended, if its response has not arrived.
service.done.clear()
first = assistant.call("a pier")
service.await_calls("generate", 5)
assistant.give_up(first)
responses = service.count("response")
service.done.set()
service.await_calls("response", responses + 1)
assert assistant.reply(assistant.call("a pier"))["structuredContent"]["task_id"] == "task-5"
assert service.count("generate") == 5

# The progress messages contain the id and the service's message. The value is the time, and the total an estimate.
service.done.clear()
first = assistant.call("a tower", _meta={"progressToken": "p"})
assistant.message(lambda m: m.get("method") == "notifications/progress"
                  and "task task-6" in m["params"]["message"])
reported = assistant.message(lambda m: "total" in m.get("params", {}))["params"]
assert "step 8 of 20, task task-6" in reported["message"], reported
assert abs(reported["progress"] / reported["total"] - 0.4) < 0.001, reported
service.done.set()
assert assistant.reply(first)["structuredContent"]["task_id"] == "task-6"
assistant.close()

# Without progress, the response contains the id. Another process fetches the result.
service.done.clear()
assistant = Assistant(service, SERVICE_WAIT="1")
answer = assistant.reply(assistant.call("a buoy"))
if "task_id" not in answer["structuredContent"]:
    assert "same call again" in answer["structuredContent"]["note"], answer
    service.await_calls("status", 1)
    answer = assistant.reply(assistant.call("a buoy"))
answer = answer["structuredContent"]
assert answer["urls"] == [] and answer["status"] == "processing" and answer["task_id"] == "task-7"
assert 'Call fetch_result with {"task_id": "task-7", "tool": "image_tessera"}' in answer["note"], answer
answer = assistant.reply(assistant.call({"task_id": "task-7"}, "fetch_result"))["structuredContent"]
assert answer["status"] == "processing", answer
assistant.close()
service.done.set()
assistant = Assistant(service)
answer = assistant.reply(assistant.call({"task_id": "task-7"}, "fetch_result"))["structuredContent"]
assert answer["urls"] == ["http://127.0.0.1/task-7/0.webp?x=1"], answer
assert service.count("generate") == 7
assistant.close()

# After a timeout, the next call continues to wait for the same task.
service.done.clear()
assistant = Assistant(service, SERVICE_TIMEOUT="3")
answer = assistant.reply(assistant.call("a reef"))
assert answer["isError"] and "task-8" in answer["content"][0]["text"], answer
service.done.set()
while True:
    # The wait of three seconds may time out again.
    answer = assistant.reply(assistant.call("a reef"))
    if not answer.get("isError"):
        break
    assert "task-8" in answer["content"][0]["text"], answer
assert answer["structuredContent"]["task_id"] == "task-8" and service.count("generate") == 8
assistant.close()

# A refused status, for instance because of a replaced token, ends the wait but not the task.
service.answers["/v2/status"] = [(401, {}, {"success": False, "message": "wrong token"})]
assistant = Assistant(service)
answer = assistant.reply(assistant.call("a dune"))
assert answer["isError"] and "task-9" in answer["content"][0]["text"], answer
service.answers["/v2/status"] = [service.status]
answer = assistant.reply(assistant.call("a dune"))["structuredContent"]
assert answer["task_id"] == "task-9" and service.count("generate") == 9, answer
assistant.close()
service.close()
print("mcp again")
