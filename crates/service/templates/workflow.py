# ---------------------------------------------------------------------------
# Exceptions. All of them are GenerationErrors.
# ---------------------------------------------------------------------------


class GenerationError(Exception):
    """The generation did not give a result."""


class InvalidInput(GenerationError):
    """The model does not accept the inputs. Nothing was sent."""

    def __init__(self, problems):
        super().__init__("; ".join(problems))
        self.problems = problems


class MissingCredentials(GenerationError):
    """SERVICE_UID, SERVICE_TOKEN or the variable of a secret is not set, or is invalid. Nothing was sent."""


class ServiceRefused(GenerationError):
    """The service responded with an error. No task was started, or the service no longer has it."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


class NetworkError(GenerationError):
    """The service could not be reached. No task was started."""


class OutcomeUnknown(GenerationError):
    """The request was sent, but no usable answer came back: the task may be running, and may be
    billed. It is deliberately not sent again."""


class GenerationFailed(GenerationError):
    """The service started the task and it failed there."""

    def __init__(self, message, task_id):
        super().__init__(message)
        self.task_id = task_id


class GenerationTimeout(GenerationError):
    """No result in time. The task may still be running; `task_id` is None if none was started."""

    def __init__(self, message, task_id):
        super().__init__(message)
        self.task_id = task_id


class Cancelled(GenerationError):
    """The wait for the result was canceled. So is the task, if the service can cancel it; otherwise it
    continues there."""


# ---------------------------------------------------------------------------
# Checking inputs, by the same rules as the service.
# ---------------------------------------------------------------------------


# Texts that chat models write instead of omitting a value. None of them is the address of a file.
FILLERS = {{ fillers }}


def check_inputs(inputs, parameters{% if not many %}=PARAMETERS{% endif %}):
    """Returns the inputs to send, by parameter name; raises InvalidInput with every problem.

    None omits a parameter, unless the parameter accepts None. Values of an enumeration may be given as
    the texts of the function's schema ("4" for 4).
    """
    known = {}
    for parameter in parameters:
        known[parameter["name"]] = parameter
    for parameter in parameters:
        known.setdefault(parameter.get("argument", parameter["name"]), parameter)
    given, problems = {}, []
    for name, value in dict(inputs).items():
        if name not in known:
            problems.append("%s is no parameter of this model" % name)
        else:
            given[known[name]["name"]] = value
    checked = {}
    for parameter in parameters:
        name = parameter["name"]
        value = given.get(name)
        if name not in given or (value is None and not _takes_none(parameter)):
            if not parameter["required"]:
                continue
            if "default" not in parameter:
                problems.append("%s is required" % name)
                continue
            value = parameter["default"]
        try:
            checked[name] = _check(parameter, value)
        except ValueError as error:
            # Removes the value of a secret, which is at the end of the message.
            what = str(error).split(", not ")[0] if "variable" in parameter else error
            problems.append("%s %s" % (name, what))
    if problems:
        raise InvalidInput(problems)
    return checked


def without_secrets(parameters):
    """Returns the parameters except secrets, which chat models and workflows must not contain."""
    return [parameter for parameter in parameters if "variable" not in parameter]


def add_secrets(inputs, parameters):
    """Returns the inputs, with missing secrets from the environment; raises MissingCredentials if a
    required secret is not set."""
    whole, missing = dict(inputs), []
    for parameter in parameters:
        name, variable = parameter["name"], parameter.get("variable")
        if variable is None or whole.get(name) is not None:
            continue
        value = os.environ.get(variable, "").strip()
        if value:
            whole[name] = value
        elif parameter["required"] and "default" not in parameter:
            missing.append("%s, which holds the secret %s" % (variable, name))
    if missing:
        raise MissingCredentials("Set the environment variable %s." % " and ".join(missing))
    return whole


def _takes_none(parameter):
    if "default" in parameter and parameter["default"] is None:
        return True
    if parameter["kind"] == "enum":
        return any(value is None for value in parameter["values"])
    return parameter["kind"] == "any"


def _check(parameter, value):
    kind, allowed = parameter["kind"], parameter.get("values", [])
    value = _of_label(parameter, value)
    if value is None and "default" in parameter and parameter["default"] is None:
        return value
    if parameter.get("media") or kind in ("array", "object", "any"):
        value = with_own_files(parameter, value)
    if parameter["required"] and isinstance(value, str) and not value.strip():
        if not any(_same(value, other) for other in allowed):
            raise ValueError("is required")
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must be a finite number")
    if kind == "enum":
        value = _permitted(allowed, value)
    elif kind == "several":
        if not isinstance(value, (list, tuple)):
            raise ValueError("must be a list of values, not %r" % (value,))
        if parameter["required"] and not value:
            raise ValueError("is required: choose a value")
        value = [_permitted(allowed, _of_label(parameter, item)) for item in value]
    elif kind == "text" and not isinstance(value, str):
        raise ValueError("must be a text, not %r" % (value,))
    elif (
        parameter.get("file")
        and value != parameter.get("default")
        and value.strip().lower() in FILLERS
    ):
        raise ValueError(
            "must be the address of a file, not %r: leave it out if there is none" % value
        )
    elif kind == "number" and not number:
        raise ValueError("must be a number, not %r" % (value,))
    elif kind == "boolean" and not isinstance(value, bool):
        raise ValueError("must be True or False, not %r" % (value,))
    elif kind == "array" and not isinstance(value, (list, tuple)):
        raise ValueError("must be a list, not %r" % (value,))
    elif kind == "object" and not isinstance(value, dict):
        raise ValueError("must be a dict, not %r" % (value,))
    elif kind == "integer":
        if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
            value = int(value)
        if not number or not isinstance(value, int) or not -(2**63) <= value < 2**64:
            raise ValueError("must be a whole number, not %r" % (value,))
    if number:
        minimum, maximum = parameter.get("minimum"), parameter.get("maximum")
        if minimum is not None and value < minimum:
            raise ValueError("must be at least %s, not %s" % (minimum, value))
        if maximum is not None and value > maximum:
            raise ValueError("must be at most %s, not %s" % (maximum, value))
    longest = parameter.get("max_length")
    is_text = isinstance(value, str) and not isinstance(value, OwnFile)
    if longest is not None and is_text and len(value) > longest:
        raise ValueError("must have at most %d characters, not %d" % (longest, len(value)))
    return value


def _of_label(parameter, value):
    """Returns the value of a label in the function's schema. A permitted text is its own value."""
    if isinstance(value, str):
        if not any(_same(value, other) for other in parameter.get("values", [])):
            return parameter.get("labels", {}).get(value, value)
    return value


def _permitted(allowed, value):
    same = [other for other in allowed if _same(value, other)]
    if not same:
        shown = ", ".join(str(other) for other in allowed[:8])
        raise ValueError("must be one of %s, not %r" % (shown, value))
    # 2.0 selects the permitted value 2, which is sent.
    text = json.dumps(value, sort_keys=True)
    exact = [other for other in same if json.dumps(other, sort_keys=True) == text]
    return (exact or same)[0]


def _same(a, b):
    """Whether two values are equal as JSON: 1 and 1.0 are the same number; True and "1" differ."""
    if isinstance(a, (list, tuple)) and isinstance(b, list):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b
    return type(a) is type(b) and a == b


{% include "files.py" %}# ---------------------------------------------------------------------------
# The workflow: generate, poll the status, fetch the response.
# ---------------------------------------------------------------------------


class _Bearer(requests.auth.AuthBase):
    """Sets the token as the only credential, and ignores .netrc files."""

    def __init__(self, token):
        self._value = "Bearer " + token

    def __call__(self, request):
        request.headers["Authorization"] = self._value
        return request


class Service:
    """One model of the service: its category, its subcategory and its parameters.

    uid, token and base_url default to the environment's SERVICE_UID, SERVICE_TOKEN and
    SERVICE_BASE_URL (default: the service that this file came from). `pause(seconds)` waits; it may
    raise an exception to cancel. `on_progress(fraction, message)`, if set, is called while a task runs;
    the fraction is 0 to 1, or None if the service does not report one.
    """

    def __init__(self, uid=None, token=None, base_url=None, pause=time.sleep, *, model{% if not many %}=MODEL{% endif %}):
        self._model = model
        self._uid = uid or os.environ.get("SERVICE_UID", "").strip()
        self._token = token or os.environ.get("SERVICE_TOKEN", "").strip()
        self._base_url = (
            base_url or os.environ.get("SERVICE_BASE_URL", "").strip() or BASE_URL
        ).rstrip("/")
        self._pause = pause
        self._limits = None
        self.on_progress = None
        missing = []
        if not self._uid:
            missing.append("SERVICE_UID")
        if not self._token:
            missing.append("SERVICE_TOKEN")
        if missing:
            raise MissingCredentials("Set the environment variable %s." % " and ".join(missing))
        if not (self._token.isascii() and self._token.isprintable()):
            raise MissingCredentials(
                "SERVICE_TOKEN has a character that no token has: copy the token again."
            )
        scheme, _, host = self._base_url.partition("://")
        if scheme.lower() not in ("http", "https") or not host:
            raise NetworkError(
                "The address of the service is %r: it must begin with http:// or https://. Set "
                "SERVICE_BASE_URL, or base_url." % (base_url or self._base_url)
            )

    def run(self, inputs, timeout=DEFAULT_TIMEOUT, on_status=None):
        """Runs the model; returns the URLs of the results, as a list.

        timeout: the total time in seconds. on_status: called with each status word.
        """
        deadline = time.monotonic() + timeout
        task_id = self.start(inputs, deadline, on_status)
        try:
            return self.finish(task_id, deadline, on_status)
        except (Cancelled, KeyboardInterrupt):
            self.try_cancel(task_id)
            raise

    def start(self, inputs, deadline, on_status=None):
        """Starts a task, which may cost money; returns its id."""
        parameters = self._model["parameters"]
        body = check_inputs(add_secrets(inputs, parameters), parameters)
        files = list(dict.fromkeys(_files_in(body)))
        addresses, are_new = self._send_files(files, deadline)
        if files:
            self._pause(0)  # Raises after a cancellation during the uploads.
        try:
            task_id, status = self._generate(_with_addresses(body, addresses), deadline)
        except ServiceRefused as error:
            # The service may have deleted an earlier upload. No task was started.
            if are_new or error.status not in (400, 404, 410, 422):
                raise
            addresses, _ = self._send_files(files, deadline, renew=True)
            self._pause(0)
            task_id, status = self._generate(_with_addresses(body, addresses), deadline)
        if on_status:
            on_status(status)
        return task_id

    def finish(self, task_id, deadline, on_status=None):
        """Waits for a task that was started, now or earlier; returns the URLs of its results."""
        output = self._wait_until_completed(task_id, deadline, on_status)
        return output or self._fetch(task_id, deadline)

    def cancel(self, task_id, timeout=30):
        """Cancels a task; returns whether it is canceled.

        A task that has ended stays as it is. Returns False also if the service can't cancel tasks, or
        can't stop this one.
        """
        try:
            if not self._can_cancel(timeout):
                return False
        except requests.exceptions.RequestException as error:
            raise NetworkError("The service can't be reached: %s" % _short(error)) from error
        data = self._ask("/v2/cancel", task_id, time.monotonic() + timeout)
        return data.get("canceled") is True

    def try_cancel(self, task_id):
        """As cancel(), but tries once and for some seconds; returns False after an error."""
        try:
            if not self._can_cancel(5):
                return False
            reply = self._post("/v2/cancel", dict(self._common(), id=task_id), 5)[2]
        except requests.exceptions.RequestException:
            return False
        data = reply.get("data") if isinstance(reply, dict) else None
        return isinstance(data, dict) and data.get("canceled") is True

    def _can_cancel(self, timeout):
        """Whether the service announces that it cancels tasks."""
        reply = requests.get(
            self._base_url + "/api/models",
            headers={"Accept": "application/json"},
            auth=_Bearer(self._token),
            timeout=(min(5, timeout), timeout),
            allow_redirects=False,
        )
        try:
            models = reply.json()
        except ValueError:
            return False
        return isinstance(models, dict) and models.get("cancel") is True

    def _generate(self, inputs, deadline):
        body = dict(self._common())
        body.update(inputs)
        attempt = 0
        if time.monotonic() >= deadline:
            raise GenerationTimeout("There is no time to start a task: nothing was sent.", None)
        while True:
            wait = None
            try:
                status, headers, reply = self._post("/v2/generate", body, 60)
            except requests.exceptions.RequestException as error:
                if not _never_sent(error):
                    raise OutcomeUnknown(
                        "The request was sent, but the answer was lost (%s). The task may be "
                        "running; it was not sent again." % _short(error)
                    ) from error
                if attempt >= 4 or isinstance(error, _MISTAKES):
                    raise NetworkError("The service can't be reached: %s" % _short(error)) from error
                problem = _short(error)
            else:
                wait = _retry_after(headers)
                problem = "HTTP %d: %s" % (status, _message(reply))
                if status == 429 or (status == 503 and wait is not None):
                    pass  # Temporarily refused: no task was started, so the request is repeated.
                elif status >= 500 and status != 501:
                    raise OutcomeUnknown(
                        "The service failed (HTTP %d) while it took the task in: %s. The task may "
                        "be running; it was not sent again." % (status, _message(reply))
                    )
                elif not 200 <= status < 300 or (
                    isinstance(reply, dict) and reply.get("success") is False
                ):
                    raise ServiceRefused(
                        "The service refused (HTTP %d): %s" % (status, _message(reply)), status
                    )
                else:
                    data = reply.get("data") if isinstance(reply, dict) else None
                    task_id = data.get("id") if isinstance(data, dict) else None
                    if task_id in (None, ""):
                        raise OutcomeUnknown("The service's answer holds no task id.")
                    return task_id, str(data.get("status") or "starting")
            self._back_off(attempt, wait, deadline, None, problem)
            attempt += 1

    def _wait_until_completed(self, task_id, deadline, on_status):
        """Returns the output if it is available before the service reports "completed"."""
        started = time.monotonic()
        last = note = None
        was_asked = False
        while True:
            # Every second at first, every two seconds after half a minute.
            interval = 1.0 if time.monotonic() - started < 30 else 2.0
            self._sleep(interval, deadline, task_id, note, to_the_end=True)
            data = self._ask("/v2/status", task_id, deadline)
            status = str(data.get("status") or "").strip().lower()
            if on_status and status != last:
                on_status(status)
            last = status
            if status == "completed":
                return
            if status == "failed":
                raise GenerationFailed(_message(data.get("error")), task_id)
            if self.on_progress:
                self.on_progress(*_progress_of(data))
            # A status that the interface does not define may also be final.
            note = None
            if data.get("error"):
                note = 'The service says "%s": %s' % (status, _message(data["error"]))
            if status in _LIKE_COMPLETED and not was_asked:
                was_asked = True
                try:
                    output = self._ask("/v2/response", task_id, deadline).get("output")
                except ServiceRefused:
                    output = None
                if output:
                    return _urls(output)

    def _fetch(self, task_id, deadline):
        while True:
            data = self._ask("/v2/response", task_id, deadline)
            if str(data.get("status") or "").strip().lower() == "failed":
                raise GenerationFailed(_message(data.get("error")), task_id)
            if data.get("output") is not None:
                return _urls(data["output"])
            if str(data.get("status") or "").strip().lower() in ("completed", ""):
                return []
            self._sleep(1.0, deadline, task_id, to_the_end=True)

    def _ask(self, path, task_id, deadline):
        body = dict(self._common(), id=task_id)
        return self._repeat(lambda: self._post(path, body, 30), task_id, deadline)

    def _send_files(self, files, deadline, renew=False):
        """Returns the address of each file, and whether none comes from an earlier call.

        Uploads each file once. If the service takes no uploads, the addresses are data: URIs.
        """
        addresses, are_new, inline = {}, True, 0
        for file in files:
            place = (self._base_url, self._token, str(file))
            with self._locked(_upload_locks[place], deadline):
                url, until = _uploads.get(place, (None, 0))
                if url is not None and time.monotonic() < until and not renew:
                    addresses[file], are_new = url, False
                    continue
                limits = self._upload_limits(deadline)
                types = limits.get("types") if isinstance(limits.get("types"), list) else []
                if limits and (file.data_uri is None or file.type in types):
                    began = time.monotonic()
                    addresses[file] = self._upload(file, limits, deadline)
                    # A tenth of the time is left for the task to start.
                    lifetime = 0.9 * _number(limits.get("ttl_seconds"), 0)
                    _uploads[place] = (addresses[file], began + lifetime)
                    continue
            if file.data_uri is None:
                inline += file.size * 4 // 3 + 30
                if file.type is None:
                    raise InvalidInput(
                        [
                            "this service takes no uploads, and the type of %s is unknown: give its address"
                            % file.name
                        ]
                    )
            if inline > MAX_INLINE:
                raise InvalidInput(
                    [
                        "this service takes no uploads, and files within a request may have %d kB "
                        "altogether: use smaller files, or give their addresses" % (MAX_INLINE * 3 // 4000)
                    ]
                )
            addresses[file] = file.to_data_uri()
        return addresses, are_new

    @contextlib.contextmanager
    def _locked(self, lock, deadline):
        """Holds a lock. The wait for it can be canceled."""
        while not lock.acquire(timeout=0.2):
            self._sleep(0, deadline, None)
        try:
            yield
        finally:
            lock.release()

    def _upload_limits(self, deadline):
        """Returns the limits of uploads as the service announces them; {} if it takes none."""

        def get():
            reply = requests.get(
                self._base_url + "/api/models",
                headers={"Accept": "application/json"},
                auth=_Bearer(self._token),
                timeout=(10, 30),
                allow_redirects=False,
            )
            status, headers, body = _read(reply)
            uploads = body.get("uploads") if isinstance(body, dict) else None
            return status, headers, {"data": uploads if isinstance(uploads, dict) else {}}

        if self._limits is None:
            try:
                self._limits = self._repeat(get, None, deadline)
            except ServiceRefused:
                self._limits = {}
        return self._limits

    def _upload(self, file, limits, deadline):
        """Uploads a file; returns its URL. An upload may be repeated, because equal files are stored once."""
        largest = _number(limits.get("max_bytes"), math.inf)
        if file.size > largest:
            raise InvalidInput(
                [
                    "%s has %.1f MB, and this service takes files of up to %.1f MB: use a smaller one, "
                    "or give its address" % (file.name, file.size / 1e6, largest / 1e6)
                ]
            )

        def post():
            with file.open() as data:
                return _read(
                    requests.post(
                        self._base_url + "/v2/uploads",
                        data=data,
                        headers={"Content-Type": file.type or "application/octet-stream"},
                        auth=_Bearer(self._token),
                        timeout=(10, 120),
                        allow_redirects=False,
                    )
                )

        try:
            data = self._repeat(post, None, deadline)
        except OSError as error:
            raise InvalidInput(["%s can't be read any more: %s" % (file.name, error)]) from error
        except ServiceRefused as error:
            error.args = ("%s was not uploaded. %s" % (file.name, error),)
            raise
        url = data.get("url")
        if str(data.get("sha256") or file.digest).lower() != file.digest:
            raise InvalidInput(["%s was changed while it was uploaded: try again" % file.name])
        if not isinstance(url, str) or not url:
            raise NetworkError("The service's answer to an upload has no URL.")
        return url

    def _repeat(self, call, task_id, deadline):
        """Makes a call that costs nothing, and repeats it until there is a response; returns its data."""
        attempt = 0
        while True:
            wait = None
            try:
                status, headers, reply = call()
            except requests.exceptions.RequestException as error:
                if isinstance(error, _MISTAKES):
                    raise NetworkError("The service can't be reached: %s" % _short(error)) from error
                problem = _short(error)
            else:
                problem = "HTTP %d: %s" % (status, _message(reply))
                data = reply.get("data") if isinstance(reply, dict) else None
                if 200 <= status < 300 and isinstance(data, dict):
                    return data
                if 200 <= status < 300 and isinstance(reply, dict):
                    if reply.get("success") is False:
                        raise ServiceRefused("The service refused: %s" % _message(reply), status)
                if 300 <= status < 500 and status not in (408, 425, 429):
                    raise ServiceRefused(
                        "The service refused (HTTP %d): %s" % (status, _message(reply)), status
                    )
                wait = _retry_after(headers)
            self._back_off(attempt, wait, deadline, task_id, problem)
            attempt += 1

    def _common(self):
        return {
            "uid": self._uid,
            "category": self._model["category"],
            "subcategory": self._model["subcategory"],
        }

    def _post(self, path, body, read_timeout):
        try:
            text = json.dumps(body, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InvalidInput(["the inputs can't be written as JSON: %s" % error]) from error
        # Doesn't follow redirects, which may change the method or lead to another server.
        reply = requests.post(
            self._base_url + path,
            data=text.encode("utf-8"),
            headers={"Content-Type": "application/json", "Accept": "application/json"},
            auth=_Bearer(self._token),
            timeout=(10, read_timeout),
            allow_redirects=False,
        )
        return _read(reply)

    def _back_off(self, attempt, wait, deadline, task_id, problem):
        if wait is None:
            wait = min(30.0, 2.0**attempt) * random.uniform(0.75, 1.25)
        self._sleep(wait, deadline, task_id, "The last attempt failed: %s" % problem)

    def _sleep(self, seconds, deadline, task_id, note=None, to_the_end=False):
        """Waits. Raises GenerationTimeout, with the note, if less time is left. With `to_the_end`, waits
        for the time that is left instead."""
        left = deadline - time.monotonic()
        if left <= 0 or (seconds > left and not to_the_end):
            if task_id is None:
                message = "The service did not accept the task in time."
            else:
                message = "Task %s was not completed in time. It may still be running." % task_id
            if note:
                message += " " + note
            raise GenerationTimeout(message, task_id)
        self._pause(min(seconds, left))


async def in_background(work, tick=None):
    """Runs work(pause) in a thread without blocking the event loop; returns its result.

    `tick` is awaited ten times a second and may raise. If it does, or if the caller is canceled,
    the thread ends at its next pause; a request in progress is not awaited.
    """
    stop, outcome = threading.Event(), {}

    def pause(seconds):
        if stop.wait(seconds):
            raise Cancelled("The wait for the result was canceled.")

    def run():
        try:
            outcome["value"] = work(pause)
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            if tick:
                await tick()
            await asyncio.sleep(0.1)
    finally:
        stop.set()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


# Words of other services for "completed". After one of these, the output is requested once.
_LIKE_COMPLETED = {"succeeded", "success", "successful", "done", "finished", "complete"}

# Errors in the address or the token, for which a retry is pointless.
_MISTAKES = (
    requests.exceptions.InvalidURL,
    requests.exceptions.InvalidHeader,
    requests.exceptions.InvalidSchema,
    requests.exceptions.MissingSchema,
)


def _read(reply):
    """Returns the status, the headers and the JSON of a response; None if it is not JSON."""
    try:
        return reply.status_code, reply.headers, reply.json()
    except ValueError:
        return reply.status_code, reply.headers, None


def _number(value, otherwise):
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number else otherwise


def _progress_of(data):
    """Returns the completed fraction of a task, None if it is unknown, and a message of one line."""
    fraction, message = _number(data.get("progress"), None), data.get("message")
    is_fraction = fraction is not None and 0 <= fraction <= 1
    line = " ".join(message.split())[:200] if isinstance(message, str) else ""
    return fraction if is_fraction else None, line


def _never_sent(error):
    """Whether no connection was made, so that the service can't have received the request."""
    if isinstance(error, _MISTAKES + (requests.exceptions.ConnectTimeout,)):
        return True
    reason = getattr(error.args[0] if error.args else None, "reason", None)
    return isinstance(reason, (NewConnectionError, ConnectTimeoutError))


def _retry_after(headers):
    """Seconds to wait, from a Retry-After header (seconds, or a date); None without one."""
    value = (headers.get("Retry-After") or "").strip()
    try:
        seconds = float(value)
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    except ValueError:
        pass
    try:
        then = parsedate_to_datetime(value).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    try:
        # Relative to the service's clock, because this machine's clock may be wrong.
        now = parsedate_to_datetime(headers.get("Date") or "").timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        now = time.time()
    return max(0.0, then - now)


def _message(value):
    """Returns the message of an error in any form."""
    if isinstance(value, str) and value.strip():
        return value.strip()[:2000]
    if isinstance(value, dict):
        for key in ("message", "error", "detail", "reason"):
            if value.get(key):
                return _message(value[key])
    if value in (None, "", {}, []):
        return "no reason was given"
    return json.dumps(value, ensure_ascii=False, default=str)[:2000]


def _urls(output):
    if isinstance(output, (list, tuple)):
        return [url for item in output for url in _urls(item)]
    if isinstance(output, dict) and isinstance(output.get("url"), str):
        return [output["url"]]
    return [output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)]


def _short(error):
    return "%s: %s" % (type(error).__name__, str(error)[:300])
