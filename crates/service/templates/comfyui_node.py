"""A ComfyUI node for one generation model, named in MODEL_NAME below, and one to fetch results.

Written by the generation service from the model's own schema.

Placement: save this file as

    ComfyUI/custom_nodes/{{ module }}_node.py

and restart ComfyUI (0.3.45 or newer). Its Python needs one package: `pip install requests`. The
nodes are in the menu (double-click the canvas to search), in the group named after the service and
the model's category.

Configuration: set these environment variables before you start ComfyUI:

    SERVICE_UID        your User ID
    SERVICE_TOKEN      your Access Token (it is never saved in a workflow)
    SERVICE_BASE_URL   only to call another address than BASE_URL below{{ secrets }}
    SERVICE_FILES      folders whose files a text may name, separated as in PATH (default: none)
    SERVICE_TIMEOUT    seconds to wait for a result (default: 900)
    SERVICE_REUSE      0 to pay for the same inputs again (see below)

Outputs: `url`, the addresses of the results as a list of STRINGs{% if makes %}, and the results
themselves as {{ makes_words }} for ComfyUI's own nodes. The node also shows them. Link an output to
a "{{ saver }}" or "Preview Any" node.{% else %}. Link it to a "Preview Any" node to read
them.{% endif %}

An input for a picture takes a linked IMAGE (one for a mask also a MASK), an input for a video a VIDEO, and
one for a sound an AUDIO: as a PNG, MP4 or WAV file, it is uploaded if the service takes uploads, otherwise
sent within the request. The address of a file works as well. Of a batch, an input for a list takes all
pictures, and any other input the first one.

What costs money:

  * The node runs only if a node that saves or shows its result depends on it: like ComfyUI's own paid
    nodes, it is not an "output node". An unconnected node on the canvas costs nothing.
  * The same inputs with the same seed are paid for once: the ids of the last {{ most_ids }} tasks are stored
    in {{ module }}_node.ids.json next to this file, and the result of such a task is fetched
    again. Delete that file, or set SERVICE_REUSE=0, to pay again. Without a seed every run is a new
    task, unless ComfyUI itself has cached the result.
  * Cancel also cancels the task, if the service can do that. Otherwise the task continues. Its id is
    shown on the node and in ComfyUI's log: run the same inputs again, or enter the id in the node "Fetch
    result".

ComfyUI saves the values of widgets by position. This file gives its editor a script that also saves their
names: if the model's inputs change later, the workflow is restored by name, and the editor reports the
changes. Workflows in API format contain the names anyway.

Seeds may be as large as 64 bits; ComfyUI's own editor rounds those above 9007199254740991 when you
type them.

This file uses ComfyUI's V1 interface, which every version supports. V3 (comfy_api.latest) describes
inputs as Python objects instead of the tables below; a file for both would be twice as long.
"""

import asyncio
import base64
import collections
import contextlib
import hashlib
import io
import json
import logging
import math
import mimetypes
import os
import pathlib
import random
import re
import threading
import time
import uuid
import wave
from email.utils import parsedate_to_datetime
from urllib.parse import unquote_to_bytes, urlsplit
from urllib.request import url2pathname, urlopen

import requests
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

MODEL_NAME = {{ model_name }}
SERVICE_NAME = {{ service_name }}
DESCRIPTION = {{ description }}
CATEGORY = {{ category }}
SUBCATEGORY = {{ subcategory }}
BASE_URL = {{ base_url }}

# Seconds to wait for a result, unless SERVICE_TIMEOUT is set.
DEFAULT_TIMEOUT = 900

# The model's parameters, from its schema.
PARAMETERS = {{ parameters }}

MODEL = {"category": CATEGORY, "subcategory": SUBCATEGORY, "parameters": PARAMETERS}

# INPUTS: the parameters with ComfyUI's types. CHOICES: the value of each entry of a combo box.
# BLANK: the widget value that omits a parameter; SEEDS: the seeds among these parameters.
# MEDIA: the type of the file, for inputs that accept a file or its address.
{{ parts }}


{% include "workflow.py" %}


# ---------------------------------------------------------------------------
# Converting the values of widgets to the model's inputs.
# ---------------------------------------------------------------------------


def inputs_from_widgets(widgets, notes=None):
    """Returns the inputs for these widget values; a blank widget omits its parameter.

    notes: a list to which notes for the user are added.
    """
    inputs, problems = {}, []
    for parameter in PARAMETERS:
        name, kind = parameter["name"], parameter["kind"]
        if name not in widgets:
            continue
        value = widgets[name]
        if name in BLANK and _same(value, BLANK[name]):
            continue
        if kind == "enum" and isinstance(value, str) and value in CHOICES[name]:
            value = CHOICES[name][value]
        elif name in MEDIA and not isinstance(value, str):
            if kind == "array" and isinstance(value, list):
                inputs[name] = value
                continue
            try:
                value = _files_of(value, MEDIA[name])
            except ValueError as error:
                problems.append("%s %s" % (name, error))
                continue
            if kind != "array":
                if len(value) > 1 and notes is not None:
                    notes.append("%s takes one file: the first of %d is used" % (name, len(value)))
                value = value[0]
        elif kind == "text" and value == "" and not parameter.get("default"):
            continue
        elif kind in ("several", "array", "object", "any") and isinstance(value, str):
            if not value.strip():
                continue
            try:
                value = json.loads(value)
            except ValueError as error:
                problems.append("%s must be JSON: %s" % (name, error))
                continue
        inputs[name] = value
    if problems:
        raise InvalidInput(problems)
    return inputs


def _files_of(value, kind):
    """Returns the files for the value of a link: one for each item of a batch; raises ValueError."""
    import numpy

    def array(tensor):
        values = tensor.detach().cpu().float() if hasattr(tensor, "detach") else tensor
        return numpy.nan_to_num(numpy.asarray(values))

    if kind == "IMAGE" and hasattr(value, "shape"):
        pictures = array(value)
        # A batch of images has four dimensions, a batch of masks three, and a single mask two.
        return [_png(picture) for picture in (pictures[None] if pictures.ndim == 2 else pictures)]
    if kind == "AUDIO" and isinstance(value, dict) and "waveform" in value:
        return [_wav(waves, value["sample_rate"]) for waves in array(value["waveform"])]
    if kind == "VIDEO" and hasattr(value, "save_to"):
        return [_mp4(value)]
    raise ValueError("takes %s or the address of a file, not %s" % (kind, type(value).__name__))


def _png(pixels):
    import numpy
    from PIL import Image

    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if pixels.ndim == 3 and pixels.shape[2] not in (3, 4):
        raise ValueError("takes pictures with 1, 3 or 4 channels, not %d" % pixels.shape[2])
    file = io.BytesIO()
    values = numpy.rint(numpy.clip(pixels, 0.0, 1.0) * 255.0).astype("uint8")
    Image.fromarray(values).save(file, "PNG", compress_level=4)
    return OwnFile(file.getvalue())


def _wav(waves, rate):
    """Returns the samples of all channels as a file with 16 bits."""
    import numpy

    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(waves.shape[0])
        sound.setsampwidth(2)
        sound.setframerate(int(rate))
        samples = numpy.rint(numpy.clip(waves, -1.0, 1.0) * 32767.0)
        sound.writeframes(samples.astype("<i2").T.tobytes())
    return OwnFile(file.getvalue())


def _mp4(video):
    """Saves a video in ComfyUI's folder for previews, which ComfyUI empties."""
    import folder_paths
    from comfy_api.util import VideoContainer

    folder = folder_paths.get_temp_directory()
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "{{ module }}_%s.mp4" % uuid.uuid4().hex)
    video.save_to(path, format=VideoContainer.MP4)
    return OwnFile(pathlib.Path(path))


def _check_before_anything_runs(widgets, types):
    """Refuses a workflow before any node runs, so that no earlier node is paid for.

    Linked inputs have no value yet; only their types are known.
    """
    linked = set(types)
    inputs, problems = {}, []
    try:
        inputs = inputs_from_widgets({k: v for k, v in widgets.items() if k not in linked})
    except InvalidInput as error:
        problems += error.problems
    options = {**INPUTS["required"], **INPUTS["optional"]}
    for name, kind in types.items():
        if name in options and not _fits(kind, options[name][0]):
            problems.append("%s takes %s, not %s" % (name, options[name][0], kind))
    known = [p for p in PARAMETERS if p["name"] in widgets and p["name"] not in linked]
    try:
        check_inputs(inputs, known)
    except InvalidInput as error:
        problems += error.problems
    if problems:
        raise InvalidInput(problems)
    add_secrets({}, PARAMETERS)


def _types(kind):
    return {part.strip() for part in kind.split(",")} if isinstance(kind, str) else {"COMBO"}


def _fits(given, wanted):
    """Whether types can be linked, by ComfyUI's rule: `*` is any type, and a combo accepts texts."""
    if given == wanted or not isinstance(wanted, str):
        return given == wanted or _types(given) & {"*", "STRING", "COMBO"}
    return _types(given) & (_types(wanted) | {"*"}) or "*" in _types(wanted)


# ---------------------------------------------------------------------------
# The ids of started tasks, by their inputs.
# ---------------------------------------------------------------------------

MOST_IDS = {{ most_ids }}
_IDS_FILE = os.path.splitext(os.path.abspath(__file__))[0] + ".ids.json"

_log = logging.getLogger(__name__)
_file_lock = threading.Lock()
_start_locks = collections.defaultdict(threading.Lock)


def _key(inputs):
    """Returns a digest of the inputs; None if later runs must not reuse the task."""
    if os.environ.get("SERVICE_REUSE", "").strip() == "0":
        return None
    if any(name not in inputs for name in SEEDS):
        return None
    who = [os.environ.get("SERVICE_BASE_URL", BASE_URL), os.environ.get("SERVICE_UID", "")]
    text = json.dumps([who, CATEGORY, SUBCATEGORY, inputs], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _ids():
    try:
        with open(_IDS_FILE, encoding="utf-8") as file:
            ids = json.load(file)
    except (OSError, ValueError):
        return {}
    return ids if isinstance(ids, dict) else {}


def _remember(key, task_id):
    """Stores the id of a task by its key; None removes it."""
    if key is None:
        return
    with _file_lock:
        ids = _ids()
        ids.pop(key, None)
        if task_id is not None:
            ids[key] = task_id
        newest = dict(list(ids.items())[-MOST_IDS:])
        try:
            with open(_IDS_FILE + ".new", "w", encoding="utf-8") as file:
                json.dump(newest, file)
            os.replace(_IDS_FILE + ".new", _IDS_FILE)
        except OSError as error:
            _log.warning("%s: ids of tasks can't be stored: %s", MODEL_NAME, error)


# ---------------------------------------------------------------------------
# The progress that the user sees.
# ---------------------------------------------------------------------------


def _stop_if_interrupted():
    try:
        from comfy import model_management
    except ImportError:
        return  # Outside ComfyUI there is no Cancel.
    model_management.throw_exception_if_processing_interrupted()


class _Display:
    """The node's progress bar and the text below it: the service's status and the task's id."""

    def __init__(self):
        self._word, self._id, self._began, self._shown = "sending", None, time.monotonic(), None
        self._fraction, self._message = None, ""
        self._bar, self._server, self._node, self.notes = None, None, None, []
        try:
            from comfy.utils import ProgressBar
            from comfy_execution.utils import get_executing_context
            from server import PromptServer
        except ImportError:
            return
        context = get_executing_context()
        self._node = context.node_id if context else None
        self._bar = ProgressBar(100)
        self._server = getattr(PromptServer, "instance", None)

    def word(self, word):
        self._word = word

    def progress(self, fraction, message):
        self._fraction, self._message = fraction, message

    def task(self, task_id):
        self._id = task_id

    async def tick(self):
        """Raises an exception after Cancel; otherwise updates the display once a second."""
        _stop_if_interrupted()
        seconds = int(time.monotonic() - self._began)
        words = " · ".join(filter(None, [self._word, self._message]))
        if (words, self._fraction, seconds) == self._shown:
            return
        self._shown = words, self._fraction, seconds
        if self._bar and self._fraction is not None:
            self._bar.update_absolute(int(100 * self._fraction))
        elif self._bar:
            # Without a number, the bar approaches its end within about a minute.
            self._bar.update_absolute(int(95 * (1 - math.exp(-seconds / 25))))
        self.say("%s · %d s%s" % (words, seconds, " · task %s" % self._id if self._id else ""))

    def done(self, urls):
        if self._bar:
            self._bar.update_absolute(100)
        self.say("\n".join(urls + self.notes))

    def stopped(self):
        if self._id is None:
            self.say("Canceled. A task may still be started; ComfyUI's log then contains its id.")
        else:
            self.say(
                "Canceled. Task %s goes on if the service can't cancel it: run this again, or fetch it by its id."
                % self._id
            )

    def say(self, text):
        if self._server and self._node and hasattr(self._server, "send_progress_text"):
            self._server.send_progress_text(text, self._node)


# ---------------------------------------------------------------------------
# Results in ComfyUI's types.
# ---------------------------------------------------------------------------
{% if makes %}
# The permitted extensions of result files. The first one replaces all others.
ENDINGS = {{ endings }}


class ResultGone(GenerationError):
    """The task is completed, but its result is no longer at the address."""


def _download(url, pause):
    """Saves a result in ComfyUI's folder for previews, which ComfyUI empties; returns the path."""
    import folder_paths

    folder = folder_paths.get_temp_directory()
    os.makedirs(folder, exist_ok=True)
    ending = os.path.splitext(urlsplit(url).path)[1].lower()
    name = "{{ module }}_%s%s" % (uuid.uuid4().hex, ending if ending in ENDINGS else ENDINGS[0])
    path = os.path.join(folder, name)
    if url.startswith("data:"):
        with urlopen(url) as data, open(path, "wb") as file:
            file.write(data.read())
        return path
    for attempt in range(4):
        try:
            # Without the token, because the address may be on another server.
            with requests.get(url, stream=True, timeout=(10, 30)) as reply:
                if reply.status_code in (403, 404, 410):
                    raise ResultGone("HTTP %d at %s" % (reply.status_code, url))
                reply.raise_for_status()
                with open(path, "wb") as file:
                    for chunk in reply.iter_content(1 << 18):
                        pause(0)
                        file.write(chunk)
            return path
        except requests.exceptions.RequestException as error:
            if attempt == 3 or isinstance(error, _MISTAKES):
                raise NetworkError("%s can't be fetched: %s" % (url, _short(error))) from error
            pause(2.0**attempt)

{% if makes == "IMAGE" %}
def _load(paths):
    """Returns one batch of all pictures if they have the same size, otherwise a batch for each."""
    import numpy
    import torch
    from PIL import Image, ImageOps

    pictures = []
    for path in paths:
        with Image.open(path) as picture:
            pixels = numpy.array(ImageOps.exif_transpose(picture).convert("RGB"), dtype="float32")
        pictures.append(torch.from_numpy(pixels / 255.0)[None,])
    if len({picture.shape for picture in pictures}) == 1:
        return [torch.cat(pictures)]
    return pictures
{% elif makes == "VIDEO" %}
def _load(paths):
    from comfy_api.input_impl import VideoFromFile
    from comfy_api.util import VideoContainer

    class Film(VideoFromFile):
        """"Save Video" writes MP4 files. This class converts the video also with the format "auto"."""

        def save_to(self, path, format=VideoContainer.AUTO, *rest, **options):
            if format == VideoContainer.AUTO:
                format = VideoContainer.MP4
            return super().save_to(path, format, *rest, **options)

    return [Film(path) for path in paths]
{% else %}
def _load(paths):
    return [_sound(path) for path in paths]


def _sound(path):
    import av
    import numpy
    import torch

    with av.open(path) as file:
        stream = file.streams.audio[0]
        planar = av.AudioResampler(format="fltp")
        decoded = [part for frame in file.decode(stream) for part in planar.resample(frame)]
        decoded += planar.resample(None)
        rate = stream.codec_context.sample_rate
    waves = numpy.concatenate([part.to_ndarray() for part in decoded], axis=1)
    return {"waveform": torch.from_numpy(waves)[None,], "sample_rate": rate}
{% endif %}

def _results(urls, pause):
    """Returns the node's outputs, and the files and texts that it shows."""
    paths = [_download(url, pause) for url in urls]
    files = [{"filename": os.path.basename(p), "subfolder": "", "type": "temp"} for p in paths]
    shown = {"text": urls, {{ shown_as }}: files}{% if makes == "VIDEO" %}
    shown["animated"] = (True,){% endif %}
    return {"ui": shown, "result": (urls, _load(paths))}
{% else %}

def _results(urls, pause):
    """Returns the node's outputs, and the texts that it shows."""
    return {"ui": {"text": urls}, "result": (urls,)}
{% endif %}

# ---------------------------------------------------------------------------
# The nodes.
# ---------------------------------------------------------------------------


def _timeout():
    try:
        return max(1.0, float(os.environ["SERVICE_TIMEOUT"]))
    except (KeyError, ValueError):
        return DEFAULT_TIMEOUT


def _start(service, inputs, key, deadline, display, pause):
    """Returns the id of the task for these inputs: an earlier task, or a new one."""
    # Of two nodes with the same inputs, the second one uses the task of the first.
    with _start_locks[key] if key else threading.Lock():
        task_id = _ids().get(key) if key else None
        if task_id is None:
            pause(0)
            task_id = service.start(inputs, deadline, display.word)
            # Logged also after Cancel, because the id is the only way to a paid result.
            _log.info("%s: task %s was started.", MODEL_NAME, task_id)
            _remember(key, task_id)
    display.task(task_id)
    return task_id


def _run(inputs, task_id, display, pause):
    deadline = time.monotonic() + _timeout()
    service = Service(pause=pause)
    service.on_progress = display.progress
    is_fetched = bool(task_id)
    key = None if task_id else _key(inputs)
    known = bool(task_id or (key and key in _ids()))
    task_id = task_id or _start(service, inputs, key, deadline, display, pause)
    display.task(task_id)
    try:
        urls = service.finish(task_id, deadline, display.word)
        return urls, _results(urls, pause)
    except GenerationError as error:
        gone = isinstance(error, ServiceRefused) and error.status in (404, 410)
        if gone or isinstance(error, GenerationFailed){% if makes %} or (known and isinstance(error, ResultGone)){% endif %}:
            _remember(key, None)
        if gone and known and key:
            # The service no longer has the stored task.
            return _run(inputs, None, display, pause)
        if isinstance(error, Cancelled) and not is_fetched and service.try_cancel(task_id):
            _remember(key, None)
            error.args = ("The task was canceled.",)
        _log.warning("%s: task %s: %s", MODEL_NAME, task_id, error)
        if not isinstance(error, (Cancelled, GenerationFailed)) and str(task_id) not in str(error):
            error.args = ("Task %s: %s" % (task_id, error),)
        raise


async def _run_and_show(inputs, task_id=None, notes=()):
    _stop_if_interrupted()
    display = _Display()
    display.notes += notes
    for note in notes:
        _log.warning("%s: %s", MODEL_NAME, note)
    try:
        urls, results = await in_background(
            lambda pause: _run(inputs, task_id, display, pause), display.tick
        )
    except GenerationError:
        raise
    except BaseException:
        display.stopped()
        raise
    display.done(urls)
    return results


class GenerationNode:
    """Runs the model and returns its results."""

    DESCRIPTION = DESCRIPTION
    CATEGORY = {{ menu }}
    FUNCTION = "run"
{% if makes %}    RETURN_TYPES = ("STRING", {{ makes }})
    RETURN_NAMES = ("url", {{ result_name }})
    # `url` stays the first output, for workflows that were saved with an earlier file.
    OUTPUT_IS_LIST = (True, True)
    OUTPUT_TOOLTIPS = ("The addresses of the results.", "The results themselves.")
{% else %}    RETURN_TYPES = ("STRING",)
    RETURN_NAMES = ("url",)
    OUTPUT_IS_LIST = (True,)
    OUTPUT_TOOLTIPS = ("The addresses of the results.",)
{% endif %}    # Prevents accidental costs: see "What costs money" at the top.
    OUTPUT_NODE = False

    @classmethod
    def INPUT_TYPES(cls):
        return {
            group: {name: (kind, dict(options)) for name, (kind, options) in inputs.items()}
            for group, inputs in INPUTS.items()
        }

    @classmethod
    def VALIDATE_INPUTS(cls, /, input_types=None, **widgets):
        # ComfyUI reports a raised error once, but a returned one for every input.
        _check_before_anything_runs(widgets, input_types or {})
        return True

    # The slash permits a parameter named `self`.
    async def run(self, /, **widgets):
        notes = []
        inputs = inputs_from_widgets(widgets, notes)
        inputs = check_inputs(inputs, without_secrets(PARAMETERS))
        return await _run_and_show(inputs, notes=notes)


class FetchResult(GenerationNode):
    """Returns the results of a task that was started earlier, by its id. Costs nothing."""

    DESCRIPTION = (
        "Fetches the results of a task by its id: one that was canceled or took too long, or one "
        "that was started elsewhere. Costs nothing."
    )
    OUTPUT_NODE = True

    @classmethod
    def INPUT_TYPES(cls):
        tooltip = "The task's id: it is shown on the node that started it, and in ComfyUI's log."
        return {"required": {"id": ("STRING", {"default": "", "tooltip": tooltip})}}

    @classmethod
    def VALIDATE_INPUTS(cls, id):
        return id is None or bool(id.strip()) or "a task's id is needed"

    async def run(self, id):
        return await _run_and_show({}, id.strip())


# The script for ComfyUI's editor, which saves the names of inputs with their values and restores by name.
EDITOR_SCRIPT = {{ editor_script }}


def _web_directory():
    """Returns the folder with EDITOR_SCRIPT that ComfyUI serves. A node pack has its own folder."""
    if __package__:
        return None
    try:
        import folder_paths
    except ImportError:
        return None  # Not in ComfyUI.
    folder = os.path.join(folder_paths.get_temp_directory(), "{{ module }}_web")
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "inputs.js"), "w", encoding="utf-8") as file:
            file.write(EDITOR_SCRIPT)
    except OSError as error:
        _log.warning("%s: workflows are saved without names: %s", MODEL_NAME, error)
        return None
    return folder


WEB_DIRECTORY = _web_directory()

# The keys are unique among all custom nodes, and saved workflows contain them.
NODE_CLASS_MAPPINGS = {
    {{ node_key }}: GenerationNode,
    {{ fetch_key }}: FetchResult,
}
NODE_DISPLAY_NAME_MAPPINGS = {
    {{ node_key }}: {{ display_name }},
    {{ fetch_key }}: {{ fetch_name }},
}
