"""Shared code of the tests: loads the two files as their users do, and provides a scripted server."""

import asyncio
import http.server
import importlib.util
import inspect
import json
import logging
import os
import sys
import tempfile
import threading
import types

import numpy
import requests

FOLDER = tempfile.mkdtemp()


def download(base_url, kind, model):
    """Saves a file under the name that the service gives it; returns its path."""
    return download_all(base_url, "%s/%s" % (kind, model))


def download_all(base_url, kind):
    reply = requests.get("%s/api/%s" % (base_url, kind), timeout=30)
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
    """Imports a file as `import {category}_{subcategory}` does, without credentials and network."""
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
    """Stands in for ComfyUI's exception for its Cancel button."""


class Comfy:
    """Stubs for the parts of ComfyUI and torch that the node uses: ComfyUI can't be installed as a package,
    and torch is too large. The complete list of stubs: comfy.model_management's interruption,
    comfy.utils.ProgressBar, comfy_execution.utils.get_executing_context, server.PromptServer's
    progress texts, folder_paths.get_temp_directory, comfy_api's VideoFromFile and VideoContainer,
    torch.from_numpy and torch.cat. numpy, Pillow and PyAV are real. `./dev test comfyui` has no stub.
    """

    def __init__(self):
        self.interrupted = False
        self.progress = []
        self.texts = []

    NAMES = ("comfy", "comfy.model_management", "comfy.utils", "comfy_execution", "comfy_execution.utils",
             "server", "folder_paths", "comfy_api", "comfy_api.input_impl", "comfy_api.util", "torch")

    def remove(self):
        for name in self.NAMES:
            sys.modules.pop(name, None)

    def install(self):
        outer = self

        def throw():
            if outer.interrupted:
                # Raised once, as in ComfyUI.
                outer.interrupted = False
                raise InterruptProcessingException()

        class ProgressBar:
            def __init__(self, total):
                self.total = total

            def update_absolute(self, value, total=None, preview=None):
                outer.progress.append((value, self.total))

        class PromptServer:
            def send_progress_text(self, text, node_id, sid=None):
                outer.texts.append((text, node_id))

        PromptServer.instance = PromptServer()

        class VideoFromFile:
            def __init__(self, file):
                self.file = file

            def save_to(self, path, format="auto", codec="auto", metadata=None):
                return path, format, codec, metadata

        context = types.SimpleNamespace(node_id="7", prompt_id="p", list_index=None)
        video = types.SimpleNamespace(AUTO="auto", MP4="mp4")
        for name, parts in {
            "comfy": {},
            "comfy.model_management": {"throw_exception_if_processing_interrupted": throw},
            "comfy.utils": {"ProgressBar": ProgressBar},
            "comfy_execution": {},
            "comfy_execution.utils": {"get_executing_context": lambda: context},
            "server": {"PromptServer": PromptServer},
            "folder_paths": {"get_temp_directory": lambda: os.path.join(FOLDER, "temp")},
            "comfy_api": {},
            "comfy_api.input_impl": {"VideoFromFile": VideoFromFile},
            "comfy_api.util": {"VideoContainer": video},
            "torch": {"from_numpy": lambda array: array, "cat": numpy.concatenate},
        }.items():
            module = sys.modules[name] = types.ModuleType(name)
            vars(module).update(parts)
            parent, _, last = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], last, module)


def load_node(path):
    """Loads a file as ComfyUI's load_custom_node does; returns the module, the model's node and the fetch node."""
    name = path.replace(".", "_x_")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    assert isinstance(module.NODE_CLASS_MAPPINGS, dict) and len(module.NODE_CLASS_MAPPINGS) == 2
    assert module.NODE_CLASS_MAPPINGS.keys() == module.NODE_DISPLAY_NAME_MAPPINGS.keys()
    for node in module.NODE_CLASS_MAPPINGS.values():
        node.RELATIVE_PYTHON_MODULE = "custom_nodes." + os.path.basename(path)[:-3]
    return module, *module.NODE_CLASS_MAPPINGS.values()


def validated(node, values, types=()):
    """Converts and checks the values of widgets as ComfyUI's validate_inputs and get_input_data do. Returns
    the arguments of the node's function; raises ValueError if ComfyUI would refuse the values.

    A node with VALIDATE_INPUTS receives the types of linked inputs, and None as their values. ComfyUI then
    does not check bounds, lists and types itself.
    """
    arguments, types = {}, dict(types)
    inputs = node.INPUT_TYPES()
    assert set(inputs) <= {"required", "optional", "hidden"}
    takes = inspect.getfullargspec(node.VALIDATE_INPUTS)
    assert takes.varkw is None or "input_types" in takes.args
    for group in ("required", "optional"):
        for name, (kind, options) in inputs[group].items() if group in inputs else ():
            if name not in values:
                if group == "required":
                    raise ValueError("required input is missing: " + name)
                continue
            value = values[name]
            if name in types:
                value = None
            elif kind == "INT":
                value = int(value)
            elif kind == "FLOAT":
                value = float(value)
            elif kind == "STRING":
                value = str(value)
            elif kind == "BOOLEAN":
                value = bool(value)
            arguments[name] = value
    given = dict(arguments, input_types=types) if takes.varkw else arguments
    try:
        answer = node.VALIDATE_INPUTS(**given)
    except Exception as error:
        raise ValueError(str(error)) from error
    if answer is not True:
        raise ValueError(str(answer))
    return arguments


def refusal(node, values, types=()):
    """Returns the error with which ComfyUI would refuse the values."""
    try:
        validated(node, values, types)
    except ValueError as error:
        return error
    raise AssertionError("was not refused")


class Records(logging.Handler):
    """Records log messages."""

    def __init__(self, records):
        super().__init__()
        self.records = records

    def emit(self, record):
        self.records.append(record.getMessage())


def defaults(node):
    """Returns the default values of the node's widgets."""
    values = {}
    for group in node.INPUT_TYPES().values():
        for name, (kind, options) in group.items():
            assert "default" in options and isinstance(options["tooltip"], str)
            if isinstance(kind, list):
                assert options["default"] in kind
            values[name] = options["default"]
    return values


def run_node(node, values):
    """Runs a node as ComfyUI does."""
    function = getattr(node(), node.FUNCTION)
    assert inspect.iscoroutinefunction(function)
    outcome = asyncio.run(function(**validated(node, values)))
    assert set(outcome) == {"ui", "result"}
    assert len(outcome["result"]) == len(node.RETURN_TYPES) == len(node.OUTPUT_IS_LIST)
    for output, is_list in zip(outcome["result"], node.OUTPUT_IS_LIST):
        assert is_list and isinstance(output, list)
    assert all(isinstance(shown, (list, tuple)) for shown in outcome["ui"].values())
    return outcome


class Script:
    """A scripted service: a list of responses for each path. The last response is repeated.

    An answer is (status, headers, body), "drop" (closes the connection after reading the request)
    or a function of the request's body that returns one of these.
    """

    def __init__(self, models=None, **answers):
        self.answers = {"/v2/" + name: list(given) for name, given in answers.items()}
        self.answers["/api/models"] = [(200, {}, models or {"success": True, "data": []})]
        self.calls = []
        script = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.reply(None)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.reply(body if self.path == "/v2/uploads" else json.loads(body))

            def reply(self, body):
                script.calls.append((self.path, body, dict(self.headers)))
                waiting = script.answers[self.path]
                answer = waiting.pop(0) if len(waiting) > 1 else waiting[0]
                if callable(answer):
                    answer = answer(body)
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
