"""Shared by the proofs: loading the two files as their users do, and a server that misbehaves."""

import http.server
import importlib.util
import json
import os
import sys
import tempfile
import threading
import types

import requests

FOLDER = tempfile.mkdtemp()


def download(base_url, kind, model):
    """Saves a file under the name that the service gives it; returns its path."""
    reply = requests.get("%s/api/%s/%s" % (base_url, kind, model), timeout=30)
    assert reply.status_code == 200, reply.text
    assert reply.headers["Content-Type"] == "text/x-python; charset=utf-8"
    disposition = reply.headers["Content-Disposition"]
    assert disposition.startswith("attachment; filename="), disposition
    name = disposition.split('"')[1]
    assert name.endswith(".py") and name[:-3].isidentifier(), name
    path = os.path.join(FOLDER, name)
    with open(path, "wb") as file:
        file.write(reply.content)
    return path


def import_function(path):
    """As `import {category}_{subcategory}` does. Without credentials, without a network."""
    saved = {name: os.environ.pop(name, None) for name in ("SERVICE_UID", "SERVICE_TOKEN")}
    connect, requests.post = requests.post, None
    sys.path.insert(0, FOLDER)
    try:
        return importlib.import_module(os.path.basename(path)[:-3])
    finally:
        sys.path.remove(FOLDER)
        requests.post = connect
        os.environ.update({name: value for name, value in saved.items() if value})


class InterruptProcessingException(Exception):
    """ComfyUI's own exception for its Cancel button."""


class Comfy:
    """What the node uses of ComfyUI, which can't be installed as a package."""

    def __init__(self):
        self.interrupted = False
        self.progress = []

    def install(self):
        comfy = types.ModuleType("comfy")
        comfy.model_management = types.ModuleType("comfy.model_management")
        comfy.utils = types.ModuleType("comfy.utils")

        def throw():
            if self.interrupted:
                raise InterruptProcessingException()

        outer = self

        class ProgressBar:
            def __init__(self, total):
                self.total = total

            def update_absolute(self, value, total=None, preview=None):
                outer.progress.append((value, self.total))

        comfy.model_management.throw_exception_if_processing_interrupted = throw
        comfy.utils.ProgressBar = ProgressBar
        for module in (comfy, comfy.model_management, comfy.utils):
            sys.modules[module.__name__] = module


def load_node(path):
    """As ComfyUI's load_custom_node does; returns the one class it offers."""
    name = path.replace(".", "_x_")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    assert isinstance(module.NODE_CLASS_MAPPINGS, dict) and len(module.NODE_CLASS_MAPPINGS) == 1
    assert module.NODE_CLASS_MAPPINGS.keys() == module.NODE_DISPLAY_NAME_MAPPINGS.keys()
    (node,) = module.NODE_CLASS_MAPPINGS.values()
    node.RELATIVE_PYTHON_MODULE = "custom_nodes." + os.path.basename(path)[:-3]
    return module, node


def validated(node, values):
    """As ComfyUI's validate_inputs and get_input_data do: converts and checks what the widgets
    hold, then returns the arguments of the node's function. Raises ValueError as it refuses."""
    arguments = {}
    inputs = node.INPUT_TYPES()
    assert set(inputs) <= {"required", "optional", "hidden"}
    for group in ("required", "optional"):
        for name, (kind, options) in inputs[group].items():
            if name not in values:
                if group == "required":
                    raise ValueError("required input is missing: " + name)
                continue
            value = values[name]
            if kind == "INT":
                value = int(value)
            elif kind == "FLOAT":
                value = float(value)
            elif kind == "STRING":
                value = str(value)
            elif kind == "BOOLEAN":
                value = bool(value)
            if "min" in options and value < options["min"]:
                raise ValueError("smaller than min")
            if "max" in options and value > options["max"]:
                raise ValueError("bigger than max")
            if isinstance(kind, list) and value not in kind:
                raise ValueError("not in list")
            arguments[name] = value
    return arguments


def defaults(node):
    """What the widgets hold when the node is put on the canvas."""
    values = {}
    for group in node.INPUT_TYPES().values():
        for name, (kind, options) in group.items():
            assert "default" in options and isinstance(options["tooltip"], str)
            if isinstance(kind, list):
                assert options["default"] in kind
            values[name] = options["default"]
    return values


def run_node(node, values):
    """As ComfyUI's execution does."""
    result = getattr(node(), node.FUNCTION)(**validated(node, values))
    assert isinstance(result, tuple) and len(result) == len(node.RETURN_TYPES)
    assert node.RETURN_TYPES == ("STRING",) and isinstance(result[0], str)
    return result[0]


class Script:
    """A service that answers as it is told: a list of answers for each path, the last repeated.

    An answer is (status, headers, body), "drop" (closes the connection after reading the request)
    or a function of the request's body that returns one of these.
    """

    def __init__(self, **answers):
        self.answers = {"/v2/" + name: list(given) for name, given in answers.items()}
        self.calls = []
        script = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                script.calls.append((self.path, json.loads(body), dict(self.headers)))
                waiting = script.answers[self.path]
                answer = waiting.pop(0) if len(waiting) > 1 else waiting[0]
                if callable(answer):
                    answer = answer(json.loads(body))
                if answer == "drop":
                    self.close_connection = True
                    return
                status, headers, reply = answer
                data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d" % self.server.server_port

    def count(self, name):
        return sum(path == "/v2/" + name for path, _, _ in self.calls)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
