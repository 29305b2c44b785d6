# Needs SERVICE_TOKEN and SERVICE_UID in the environment.
import json
import os
import sys
import time
import urllib.request

SERVICE = @SERVICE@
HEADERS = {
    "Content-Type": "application/json",
    "Authorization": "Bearer " + os.environ["SERVICE_TOKEN"],
}


def call(path, body):
    request = urllib.request.Request(SERVICE + path, json.dumps(body).encode(), HEADERS)
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)["data"]


task = {
    "uid": os.environ["SERVICE_UID"],
    # @MODEL@
}
values = {
    # @VALUES@
}

task["id"] = call("/v2/generate", {**task, **values})["id"]
print("task", task["id"], file=sys.stderr)

while True:
    progress = call("/v2/status", task)
    if progress["status"] == "completed":
        break
    if progress["status"] == "failed":
        sys.exit(f"failed: {progress.get('error')}")
    time.sleep(2)

for url in call("/v2/response", task)["output"]:
    print(url)
