"""Runs the node files in ComfyUI's own server over HTTP, without stubs.

COMFYUI_DIR is a checkout, COMFYUI_PYTHON an interpreter with its requirements (default:
`.venv/bin/python` or `venv/bin/python` in the checkout). The checkout is not changed: nodes, outputs and
previews are in a temporary folder. If CHROMEDRIVER is set, the example workflows are opened in ComfyUI's
editor in Chromium.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests

import support

base_url = sys.argv[1]
checkout = os.path.abspath(os.environ["COMFYUI_DIR"])
assert os.path.isfile(os.path.join(checkout, "main.py")), checkout + " is not a checkout of ComfyUI"


def interpreter():
    named = os.environ.get("COMFYUI_PYTHON")
    if named:
        return named
    for folder in (".venv", "venv"):
        path = os.path.join(checkout, folder, "bin", "python")
        if os.path.exists(path):
            return path
    raise SystemExit("Set COMFYUI_PYTHON to an interpreter with ComfyUI's requirements.")


class Watched(BaseHTTPRequestHandler):
    """A proxy of the service that records calls, and can block the calls of a path."""

    calls = []
    held = None  # (path, event)

    def do_GET(self):
        self.respond(requests.get(base_url + self.path, timeout=60))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_file = self.path == "/v2/uploads"
        Watched.calls.append((self.path, time.monotonic(), None if is_file else json.loads(body)))
        held = Watched.held
        if held and held[0] == self.path:
            held[1].wait(60)
        reply = requests.post(base_url + self.path, data=body, timeout=60, headers={
            "Content-Type": "application/json", "Authorization": self.headers["Authorization"]})
        self.respond(reply)

    def respond(self, reply):
        try:
            self.send_response(reply.status_code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply.content)))
            self.end_headers()
            self.wfile.write(reply.content)
        except OSError:
            pass  # The client has disconnected.

    def log_message(self, *_):
        pass


def generated():
    return sum(path == "/v2/generate" for path, _, _ in Watched.calls)


watched = ThreadingHTTPServer(("127.0.0.1", 0), Watched)
threading.Thread(target=watched.serve_forever, daemon=True).start()

place = tempfile.mkdtemp()
nodes = os.path.join(place, "custom_nodes")
os.makedirs(nodes)
models = requests.get(base_url + "/api/models", timeout=30).json()["data"]
for model in models:
    identity = "%s/%s" % (model["category"], model["subcategory"])
    shutil.copy(support.download(base_url, "comfyui-node", identity), nodes)

free = socket.socket()
free.bind(("127.0.0.1", 0))
port = free.getsockname()[1]
free.close()
comfy = "http://127.0.0.1:%d" % port
log_path = os.path.join(place, "comfyui.log")
environment = dict(os.environ, SERVICE_BASE_URL="http://127.0.0.1:%d" % watched.server_port)


def start():
    process = subprocess.Popen(
        [interpreter(), "main.py", "--cpu", "--listen", "127.0.0.1", "--port", str(port),
         "--base-directory", place, "--disable-auto-launch"],
        cwd=checkout, env=environment, stdout=open(log_path, "ab"), stderr=subprocess.STDOUT)
    until = time.monotonic() + 300
    while True:
        assert process.poll() is None and time.monotonic() < until, log()
        try:
            if requests.get(comfy + "/queue", timeout=5).ok:
                return process
        except requests.exceptions.ConnectionError:
            time.sleep(0.5)


def log():
    with open(log_path, encoding="utf-8", errors="replace") as file:
        return file.read()


def queue(graph):
    return requests.post(comfy + "/prompt", json={"prompt": graph}, timeout=30)


def wait(reply, limit=180):
    assert reply.status_code == 200, reply.text
    prompt = reply.json()["prompt_id"]
    until = time.monotonic() + limit
    while time.monotonic() < until:
        history = requests.get("%s/history/%s" % (comfy, prompt), timeout=30).json()
        if prompt in history:
            return history[prompt]
        time.sleep(0.05)
    raise AssertionError("no end of " + prompt + "\n" + log()[-4000:])


def run(graph):
    done = wait(queue(graph))
    assert done["status"]["status_str"] == "success", json.dumps(done["status"])[:4000]
    return done["outputs"]


def error_of(done):
    return [m[1] for m in done["status"]["messages"] if m[0] == "execution_error"][0]["exception_message"]


def refused(graph):
    before = generated()
    reply = queue(graph)
    assert reply.status_code == 400, reply.text
    assert generated() == before
    answer = reply.json()
    return json.dumps(answer["node_errors"]) + json.dumps(answer["error"])


def node(kind, **inputs):
    return {"class_type": kind, "inputs": inputs}


def defaults(kind):
    """Returns the default values of a node's widgets."""
    held = {}
    for group in ("required", "optional"):
        for name, (_, options) in about[kind]["input"].get(group, {}).items():
            held[name] = options["default"]
    return held


class Browser:
    """ComfyUI's editor in Chromium, controlled over WebDriver."""

    def __init__(self):
        free = socket.socket()
        free.bind(("127.0.0.1", 0))
        self.port = free.getsockname()[1]
        free.close()
        self.driver = subprocess.Popen([os.environ["CHROMEDRIVER"], "--port=%d" % self.port],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        url = "http://127.0.0.1:%d/session" % self.port
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                            "--disable-background-networking", "--disable-sync"]}
        ask = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options,
                                                "timeouts": {"script": 120000}}}}
        until = time.monotonic() + 60
        while True:
            try:
                answer = requests.post(url, json=ask, timeout=60)
                break
            except requests.exceptions.ConnectionError:
                assert time.monotonic() < until
                time.sleep(0.2)
        self.session = "%s/%s" % (url, answer.json()["value"]["sessionId"])
        requests.post(self.session + "/url", json={"url": comfy}, timeout=120)

    def run(self, script):
        """Runs an asynchronous function with this body; returns its result."""
        whole = """const done = arguments[0];
            (async () => { %s })().then(done, error => done({error: String(error)}))""" % script
        answer = requests.post(self.session + "/execute/async", timeout=150,
                               json={"script": whole, "args": []}).json()["value"]
        assert not (isinstance(answer, dict) and answer.get("error")), answer
        return answer

    def close(self):
        requests.delete(self.session, timeout=30)
        self.driver.terminate()
        self.driver.wait(30)


process = start()
try:
    about = requests.get(comfy + "/object_info", timeout=60).json()

    # The nodes, as ComfyUI understands them.
    for model in models:
        identity = "%s/%s" % (model["category"], model["subcategory"])
        key = identity.replace("/", "_")
        shown, schema = about[key], requests.get(
            "%s/api/schema/%s" % (base_url, identity), timeout=30).json()["data"]["parameters"]
        makes = {"image": "IMAGE", "video": "VIDEO", "audio": "AUDIO"}[model["category"]]
        assert shown["output"] == ["STRING", makes] and shown["output_is_list"] == [True, True]
        assert shown["category"] == "Atelier/" + model["category"] and not shown["output_node"]
        assert shown["display_name"] == model["name"] + " (Atelier)"
        assert shown["description"] == model["description"]
        for group in ("required", "optional"):
            assert shown["input_order"][group] == [p["name"] for p in schema[group]]
            for parameter in schema[group]:
                _, options = shown["input"][group][parameter["name"]]
                assert options["tooltip"].startswith(parameter["description"])
        fetch = about[key + "_fetch"]
        assert fetch["output_node"] and fetch["output"] == shown["output"]

    # Nodes that would cost money by accident.
    strata = dict(defaults("image_strata"), prompt="a calm evening", seed=1)
    assert "prompt_no_outputs" in refused({"1": node("image_strata", **strata)})
    before = generated()
    run({"1": node("image_strata", **strata), "2": node("PreviewAny", source="something else")})
    assert generated() == before, "an unconnected node has run"

    # Refused before any node runs, including the nodes before the invalid one.
    repaint = dict(defaults("image_repaint"), prompt="indigo and coral", seed=1)
    upstream = {"1": node("image_strata", **dict(strata, seed=77))}
    blank = dict(repaint, image_url=["1", 0], prompt="  ")
    said = refused(dict(upstream, **{"2": node("image_repaint", **blank),
                                     "3": node("SaveImage", images=["2", 1], filename_prefix="x")}))
    assert "prompt is required" in said and said.count("prompt is required") < 5, said
    said = refused({"1": node("image_strata", **dict(strata, num_outputs=99)),
                    "2": node("PreviewAny", source=["1", 0])})
    assert "num_outputs must be at most" in said, said
    said = refused({"1": node("image_strata", **dict(strata, seed=["9", 0])), "9": node("StringConcatenate", string_a="a", string_b="b", delimiter=""),
                    "2": node("PreviewAny", source=["1", 0])})
    assert "seed takes INT, not STRING" in said, said

    # Two pictures, which are saved, and repainted: both by their addresses, and the first one by a link.
    before = generated()
    outputs = run({
        "1": node("image_strata", **dict(strata, num_outputs=2)),
        "2": node("SaveImage", images=["1", 1], filename_prefix="strata"),
        "3": node("image_repaint", **dict(repaint, image_url=["1", 0])),
        "4": node("SaveImage", images=["3", 1], filename_prefix="repaint"),
        "5": node("PreviewAny", source=["1", 0]),
        "6": node("image_repaint", **dict(repaint, image_url=["1", 1])),
        "7": node("SaveImage", images=["6", 1], filename_prefix="linked"),
    })
    assert generated() - before == 4
    assert len(outputs["7"]["images"]) == 1, outputs["7"]
    assert len(outputs["1"]["images"]) == 2 and len(outputs["1"]["text"]) == 2, outputs["1"]
    assert len(outputs["2"]["images"]) == 2 and len(outputs["4"]["images"]) == 2, outputs
    addresses = outputs["1"]["text"]
    for shown, address in zip(outputs["1"]["images"], addresses):
        seen = requests.get(comfy + "/view", params=shown, timeout=30)
        assert seen.content == requests.get(address, timeout=30).content
    sent = {call["image_url"] for path, _, call in Watched.calls
            if path == "/v2/generate" and call["subcategory"] == "repaint"}
    assert sent > set(addresses) and len(sent) == 3, sent
    assert sum(path == "/v2/uploads" for path, _, _ in Watched.calls) == 1

    # A video and a sound in ComfyUI's types; a value of an enumeration of numbers, given as a number.
    film = dict(defaults("video_silk"), prompt="slow water", seed=5)
    numbers = [n for n, (kind, _) in about["video_silk"]["input"]["optional"].items()
               if isinstance(kind, list) and all(str(x).isdigit() for x in kind)]
    assert numbers, "no list of numbers"
    for name in numbers:
        film[name] = int(about["video_silk"]["input"]["optional"][name][0][0])
    music = dict(defaults("audio_reverie"), prompt="a quiet room", seed=5)
    for held, kind in ((film, "video_silk"), (music, "audio_reverie")):
        if "duration" in held:
            held["duration"] = about[kind]["input"]["optional"]["duration"][1]["min"]
    began, before = time.monotonic(), len(Watched.calls)
    outputs = run({
        "1": node("video_silk", **film),
        "2": node("SaveVideo", video=["1", 1], filename_prefix="silk", format="auto", codec="auto"),
        "3": node("audio_reverie", **music),
        "4": node("SaveAudio", audio=["3", 1], filename_prefix="reverie"),
        "5": node("image_tessera", **dict(defaults("image_tessera"), prompt="tiles", seed=5)),
        "6": node("SaveImage", images=["5", 1], filename_prefix="tessera"),
    })
    assert outputs["1"]["images"] and outputs["1"]["animated"] and outputs["3"]["audio"]
    for saved, kind in (("2", "images"), ("4", "audio"), ("6", "images")):
        assert requests.get(comfy + "/view", params=outputs[saved][kind][0], timeout=30).ok
    # All three run concurrently: the last one was started before the first one was fetched.
    calls = Watched.calls[before:]
    started = max(at for path, at, _ in calls if path == "/v2/generate")
    fetched = min(at for path, at, _ in calls if path == "/v2/response")
    assert started < fetched, "one after the other"

    # The third run repeats the first seed and starts no task. A run without a seed starts one.
    before = generated()
    for seed in (11, 12, 11, -1):
        run({"1": node("image_strata", **dict(strata, seed=seed)), "2": node("PreviewAny", source=["1", 0])})
    assert generated() - before == 3, generated() - before
    assert "seed" not in Watched.calls[-3][2] or "seed" not in [
        c for p, _, c in Watched.calls if p == "/v2/generate"][-1]

    # Cancel while the service does not respond.
    for path, known in (("/v2/status", True), ("/v2/generate", False)):
        release = threading.Event()
        Watched.held = (path, release)
        graph = {"1": node("image_strata", **dict(strata, seed=21 if known else 22)),
                 "2": node("SaveImage", images=["1", 1], filename_prefix="later")}
        before = len([c for c in Watched.calls if c[0] == path])
        reply = queue(graph)
        while len([c for c in Watched.calls if c[0] == path]) == before:
            time.sleep(0.02)
        began = time.monotonic()
        requests.post(comfy + "/interrupt", json={}, timeout=30)
        done = wait(reply)
        took = time.monotonic() - began
        assert took < 1.0, "Cancel took %.1f s" % took
        assert any(m[0] == "execution_interrupted" for m in done["status"]["messages"])
        Watched.held = None
        release.set()
        until = time.monotonic() + 10
        words = "canceled"
        while log().count(words) < (1 if known else 2):
            assert time.monotonic() < until, log()[-3000:]
            time.sleep(0.1)
        line = [l for l in log().splitlines() if words in l][-1]
        task = line.split("task ")[1].split(":")[0]
        print("Cancel took %.2f s; task %s" % (took, task))
        # The task has ended at the service as well, so the same inputs start another one.
        before = generated()
        outputs = run(graph)
        assert generated() == before + 1 and outputs["2"]["images"]
        done = wait(queue({"1": node("image_strata_fetch", id=task)}))
        assert "Canceled" in error_of(done), done
        assert generated() == before + 1

    # A task that fails, and an unknown task.
    done = wait(queue({"1": node("image_strata", **dict(strata, prompt="[fail]")),
                       "2": node("PreviewAny", source=["1", 0])}))
    assert "on purpose" in error_of(done), done
    done = wait(queue({"1": node("image_strata_fetch", id="nonsense")}))
    assert "nonsense" in error_of(done), done

    # The node pack instead of the separate files.
    process.terminate()
    process.wait(60)
    shutil.rmtree(nodes)
    os.makedirs(nodes)
    reply = requests.get(base_url + "/api/comfyui-nodes.zip", timeout=30)
    with open(os.path.join(place, "pack.zip"), "wb") as file:
        file.write(reply.content)
    zipfile.ZipFile(os.path.join(place, "pack.zip")).extractall(nodes)
    process = start()
    packed = requests.get(comfy + "/object_info", timeout=60).json()
    for key, shown in about.items():
        if shown["category"].startswith("Atelier/"):
            assert dict(packed[key], python_module="") == dict(shown, python_module=""), key
    templates = requests.get(comfy + "/api/workflow_templates", timeout=30).json()["atelier-nodes"]
    keys = sorted(key for key in packed if key + "_fetch" in packed)
    assert sorted(templates) == keys, templates
    for key in keys:
        page = requests.get("%s/extensions/atelier-nodes/docs/%s.md" % (comfy, key), timeout=30)
        assert page.ok and page.text.startswith("# "), page.text
    if os.environ.get("CHROMEDRIVER"):
        browser = Browser()
        try:
            browser.run("""while (!(window.app && window.app.graph && window.LiteGraph &&
                window.LiteGraph.registered_node_types.image_strata))
                await new Promise(later => setTimeout(later, 100));""")
            for key in keys:
                graph = browser.run("""
                    const url = "/api/workflow_templates/atelier-nodes/%s.json";
                    await window.app.loadGraphData(await (await fetch(url)).json());
                    return (await window.app.graphToPrompt()).output;""" % key)
                (held,) = [n["inputs"] for n in graph.values() if n["class_type"] == key]
                options = dict(packed[key]["input"]["required"], **packed[key]["input"]["optional"])
                assert set(held) == set(options), (key, held)
                before = generated()
                outputs = run(graph)
                # The results of an earlier workflow are reused.
                most = len([n for n in graph.values() if n["class_type"] in keys])
                assert len(outputs) >= 3 and generated() - before <= most, outputs
            print("opened and run in its editor:", ", ".join(keys))
        finally:
            browser.close()

    version = requests.get(comfy + "/system_stats", timeout=30).json()["system"]
    print("ComfyUI", version["comfyui_version"], "Python", version["python_version"].split()[0])
finally:
    process.terminate()
    process.wait(30)
    shutil.rmtree(place, ignore_errors=True)
