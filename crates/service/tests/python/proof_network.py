"""Tests the shared workflow with errors of the network and the service."""

import json
import os
import socket
import sys
import time

import requests

import support

base_url = sys.argv[1]
module = support.import_function(support.download(base_url, "openai-function", "image/strata"))
INPUTS = {"prompt": "a", "seed": 2**64 - 1}
ACCEPTED = (200, {}, {"success": True, "data": {"id": "7", "status": "starting"}})
PROCESSING = (200, {}, {"success": True, "data": {"id": "7", "status": "warming-up"}})
COMPLETED = (200, {}, {"success": True, "data": {"id": "7", "status": "completed"}})
OUTPUT = (200, {}, {"success": True, "data": {"status": "completed", "output": ["u"]}})
NO_JSON = (200, {}, b"<html>")

waits = []


def run(timeout=600, **answers):
    """Runs the workflow against scripted responses, without waiting."""
    script = support.Script(**{
        "generate": [ACCEPTED], "status": [COMPLETED], "response": [OUTPUT], **answers
    })
    waits.clear()
    try:
        return script, module.Service(base_url=script.url, pause=waits.append).run(INPUTS, timeout)
    except module.GenerationError as error:
        return script, error
    finally:
        script.close()


def fails(script_and_error, kind, *words):
    script, error = script_and_error
    assert type(error) is kind, (type(error), error)
    for word in words:
        assert word in str(error), error
    return script


script, urls = run()
assert urls == ["u"] and [path for path, _, _ in script.calls] == [
    "/v2/generate", "/v2/status", "/v2/response"]
_, body, headers = script.calls[0]
assert body == {"uid": "me", "category": "image", "subcategory": "strata", **INPUTS}
assert headers["Authorization"] == "Bearer t" and headers["Content-Type"] == "application/json"
assert script.calls[1][1] == {"uid": "me", "category": "image", "subcategory": "strata", "id": "7"}
assert waits == [1.0]

# A .netrc must not replace the token.
netrc = os.path.join(support.FOLDER, "netrc")
with open(netrc, "w") as file:
    file.write("machine 127.0.0.1 login x password y\n")
os.environ["NETRC"] = netrc
script, urls = run()
assert urls == ["u"] and script.calls[0][2]["Authorization"] == "Bearer t"
del os.environ["NETRC"]

# A generate request that may have been received is not repeated.
for answer in ["drop", NO_JSON, (500, {}, {}), (502, {"Retry-After": "1"}, {}), (503, {}, {}),
               (504, {}, b""), (200, {}, {"success": True, "data": {}})]:
    script = fails(run(generate=[answer, ACCEPTED]), module.OutcomeUnknown)
    assert script.count("generate") == 1, answer

# A refused request is repeated after the time of Retry-After.
script, urls = run(generate=[(429, {"Retry-After": "7"}, {}), (503, {"Retry-After": "3"}, {}), ACCEPTED])
assert urls == ["u"] and script.count("generate") == 3 and waits[:2] == [7.0, 3.0]
date = {"Retry-After": "Wed, 21 Oct 2026 07:28:10 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}
script, urls = run(generate=[(429, {}, {}), (429, {"Retry-After": "soon"}, {}), ACCEPTED])
assert urls == ["u"] and 0.7 < waits[0] < 1.3 and 1.4 < waits[1] < 2.6
assert module._retry_after(date) == 10.0
fails(run(generate=[(429, {"Retry-After": "9999"}, {})]), module.GenerationTimeout)

# Refusals.
for status in (400, 401, 403, 404, 413, 422):
    script = fails(run(generate=[(status, {}, {"success": False, "message": "no luck"})]),
                   module.ServiceRefused, str(status), "no luck")
    assert script.count("generate") == 1
fails(run(generate=[(200, {}, {"success": False, "error": {"message": "no credit"}})]),
      module.ServiceRefused, "no credit")
# The token does not follow a redirect.
target = support.Script(generate=[ACCEPTED])
script = fails(run(generate=[(307, {"Location": target.url + "/v2/generate"}, {})]), module.ServiceRefused)
assert target.calls == []
target.close()

# Polls and fetches have no side effects, so they are repeated.
script, urls = run(status=["drop", (500, {}, {}), NO_JSON, (429, {"Retry-After": "4"}, {}), PROCESSING, COMPLETED],
                   response=["drop", (503, {}, {}), OUTPUT])
assert urls == ["u"] and script.count("generate") == 1 and 4.0 in waits
fails(run(status=[(404, {}, {"message": "unknown task"})]), module.ServiceRefused, "unknown task")
script, error = run(status=[(200, {}, {"data": {"status": "failed", "error": {"message": "too dark"}}})])
assert isinstance(error, module.GenerationFailed) and error.task_id == "7" and str(error) == "too dark"
fails(run(status=[(200, {}, {"data": {"status": "FAILED"}})]), module.GenerationFailed, "no reason")

# Outputs in all forms.
for output, expected in [("u", ["u"]), (["a", "b"], ["a", "b"]), ([{"url": "a"}], ["a"]), ([], [])]:
    assert run(response=[(200, {}, {"data": {"status": "completed", "output": output}})])[1] == expected
assert run(response=[(200, {}, {"data": {"status": "completed"}})])[1] == []

# A timeout contains the task's id, so that the result can be fetched later.
module.time = type("Clock", (), {"monotonic": lambda self, t=[0.0]: t.__setitem__(0, t[0] + 1) or t[0],
                                 "time": time.time, "sleep": time.sleep})()
script, error = run(timeout=60, status=[PROCESSING])
assert isinstance(error, module.GenerationTimeout) and error.task_id == "7", error
assert waits[0] == 1.0 and 2.0 in waits, waits
# The status is requested at least once, also with a short timeout.
script, error = run(timeout=4.5, status=[PROCESSING])
assert isinstance(error, module.GenerationTimeout) and error.task_id == "7" and "7" in str(error), error
assert script.count("status") == 1 and waits == [0.5], waits
module.time = time
# Nothing is sent if the timeout is zero.
script, error = run(timeout=0)
assert isinstance(error, module.GenerationTimeout) and error.task_id is None and not script.calls, error
# The error for the chat model contains the id, and the result can be fetched with it.
script = support.Script(generate=[ACCEPTED], status=[PROCESSING], response=[OUTPUT])
os.environ["SERVICE_BASE_URL"] = script.url
try:
    module.execute(INPUTS, timeout=2)
    raise AssertionError("did not time out")
except module.GenerationTimeout as error:
    answer = json.loads(module._error_text(error))
    assert answer["task_id"] == "7" and "Task 7" in answer["error"], answer
script.answers["/v2/status"] = [COMPLETED]
assert module.fetch_result("7") == ["u"] and script.count("generate") == 1
del os.environ["SERVICE_BASE_URL"]
script.close()

# Without a server, nothing was sent, so the request is repeated before the error.
free = socket.socket()
free.bind(("127.0.0.1", 0))
address = "http://127.0.0.1:%d" % free.getsockname()[1]
free.close()
waits.clear()
try:
    module.Service(base_url=address, pause=waits.append).run(INPUTS)
    raise AssertionError("reached nobody")
except module.NetworkError:
    assert len(waits) == 4, waits
# If the time ends before the attempts do, the reason is not lost.
try:
    module.Service(base_url=address, pause=time.sleep).run(INPUTS, timeout=2)
    raise AssertionError("reached nobody")
except module.GenerationTimeout as error:
    assert error.task_id is None and "refused" in str(error), error
fails(run(generate=[(429, {"Retry-After": "9999"}, {"message": "too many"})]),
      module.GenerationTimeout, "HTTP 429", "too many")
for wrong in ("nonsense", "127.0.0.1:8080", "localhost:8080", "ftp://127.0.0.1/", "http://"):
    try:
        module.Service(base_url=wrong, pause=waits.append).run(INPUTS)
        raise AssertionError(wrong)
    except module.NetworkError as error:
        assert not waits and wrong in str(error) and "must begin with http://" in str(error), error
# A token that is invalid in a header is refused before anything is sent.
for wrong in ("t\u00f6ken", "token\u201d", "to\nken"):
    try:
        module.Service(base_url=address, token=wrong)
        raise AssertionError(wrong)
    except module.MissingCredentials as error:
        assert "SERVICE_TOKEN" in str(error) and "copy" in str(error) and wrong not in str(error), error
# Guards against not fetching the output of a service that reports "succeeded".
SUCCEEDED = (200, {}, {"success": True, "data": {"id": "7", "status": "succeeded"}})
script, urls = run(status=[SUCCEEDED])
assert urls == ["u"] and script.count("response") == 1, (urls, script.calls)
NOT_YET = (404, {}, {"success": False, "message": "no output"})
script, urls = run(status=[SUCCEEDED, SUCCEEDED, COMPLETED], response=[NOT_YET, OUTPUT])
assert urls == ["u"] and script.count("response") == 2, (urls, script.calls)
# Guards against hiding an error that comes with an undefined status.
ABORTED = (200, {}, {"data": {"id": "7", "status": "aborted", "error": "the worker was restarted"}})
fails(run(timeout=2.5, status=[ABORTED]),
      module.GenerationTimeout, "Task 7", "aborted", "the worker was restarted")
print("network")
