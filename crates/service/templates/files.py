# ---------------------------------------------------------------------------
# Files of this machine: uploaded, or sent within the request if the service takes no uploads.
# ---------------------------------------------------------------------------

# The maximum size of all files within a request, in characters. Services limit requests to about 1 MB.
MAX_INLINE = 700_000

# The beginnings of paths, and of addresses. A path such as "a.png" has neither.
_PATH = re.compile(r"~|/(?!outputs/)|\\|\.{1,2}[/\\]|[a-z]:[/\\]|file:", re.IGNORECASE)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:|/", re.IGNORECASE)

# The URL of each upload, with the time at which it is uploaded again, by service, token and digest.
_uploads = {}
_upload_locks = collections.defaultdict(threading.Lock)


class OwnFile(str):
    """A file for an input. Its text is the digest of its bytes, until it is replaced by an address.

    source: a pathlib.Path, bytes, or a file that is open in binary mode. data_uri: the text that the
    bytes come from, if any.
    """

    def __new__(cls, source, data_uri=None):
        path = os.fspath(source) if isinstance(source, os.PathLike) else None
        if isinstance(source, io.TextIOBase):
            raise ValueError("must be a file that is open in binary mode: open(path, 'rb')")
        if path is not None and not os.path.isfile(path):
            raise ValueError("must be a file: there is none at %r" % path)
        data = None
        if path is None:
            data = bytes(source.read() if hasattr(source, "read") else source)
        digest, size, head = hashlib.sha256(), 0, b""
        try:
            with io.BytesIO(data) if path is None else open(path, "rb") as file:
                for chunk in iter(lambda: file.read(1 << 20), b""):
                    digest.update(chunk)
                    size += len(chunk)
                    head = head or chunk[:32]
        except OSError as error:
            raise ValueError("can't be read: %s" % error) from error
        if not size:
            raise ValueError("must not be an empty file")
        self = super().__new__(cls, "sha256:" + digest.hexdigest())
        self._data, self._path, self.data_uri = data, path, data_uri
        self.digest = digest.hexdigest()
        self.name = "a file" if path is None else os.path.basename(path)
        self.size, self.type = size, _media_type(head)
        return self

    def open(self):
        return io.BytesIO(self._data) if self._path is None else open(self._path, "rb")

    def to_data_uri(self):
        if self.data_uri is not None:
            return self.data_uri
        with self.open() as file:
            data = file.read()
        if hashlib.sha256(data).hexdigest() != self.digest:
            raise InvalidInput(["%s was changed meanwhile: try again" % self.name])
        return "data:%s;base64,%s" % (self.type, base64.b64encode(data).decode("ascii"))


def with_own_files(parameter, value):
    """Returns the value with OwnFiles for the files in it, also in lists and dicts; raises ValueError if
    one can't be read.

    A text is a path only for parameters that take media, and only of a media file in the folders of
    SERVICE_FILES, because a chat model or a workflow may have written it.
    """
    if isinstance(value, str):
        is_plain = isinstance(value, OwnFile) or not parameter.get("media")
        return value if is_plain else _file_of_text(value)
    if isinstance(value, (os.PathLike, bytes, bytearray, memoryview)) or hasattr(value, "read"):
        return OwnFile(value)
    if isinstance(value, (list, tuple)):
        return [with_own_files(parameter, item) for item in value]
    if isinstance(value, dict):
        return {key: with_own_files(parameter, item) for key, item in value.items()}
    return value


def _file_of_text(text):
    """Returns the file that a path or a data: URI means; an address or another text stays as it is."""
    if text[:5].lower() == "data:":
        try:
            head, data = text.split(",", 1)
            data = unquote_to_bytes(data)
            if head.lower().endswith(";base64"):
                data = base64.b64decode(data.translate(bytes.maketrans(b"-_", b"+/")) + b"==")
            return OwnFile(data, text)
        except ValueError:
            return text  # The service explains what is wrong with it.
    kind = (mimetypes.guess_type(text)[0] or "").partition("/")[0]
    is_name = kind in ("image", "video", "audio") and not _ADDRESS.match(text)
    is_path = _PATH.match(text) is not None
    path = text
    if text[:5].lower() == "file:":
        path = url2pathname(urlsplit(text).path)
    path = os.path.expanduser(path)
    folders = os.environ.get("SERVICE_FILES", "").split(os.pathsep) if is_path or is_name else []
    for folder in folders:
        found = _file_in(os.path.abspath(os.path.expanduser(folder.strip())), path) if folder.strip() else None
        file = OwnFile(pathlib.Path(found)) if found else None
        if file is not None and file.type is not None:
            return file
    if not is_path:
        return text  # May be a name that the service knows.
    raise ValueError(
        "must be an address or a file: %r is no image, video or audio file in a folder that the environment "
        "variable SERVICE_FILES lists. Your own code can pass pathlib.Path(...) or bytes instead" % text
    )


def _file_in(folder, path):
    """Returns the real path of a file, if it is in the folder and neither hidden nor in a hidden folder."""
    # Compared as a text first, because on Windows a look-up already connects to the server of a path.
    given = os.path.normpath(os.path.join(folder, path))
    if not given.startswith(os.path.join(folder, "")):
        return None
    # The real path, because a link may lead out of the folder.
    folder, found = os.path.realpath(folder), os.path.realpath(given)
    parts = found[len(folder) :].split(os.sep)
    is_inside = found.startswith(os.path.join(folder, ""))
    is_hidden = any(part.startswith(".") for part in parts)
    return found if is_inside and not is_hidden and os.path.isfile(found) else None


def _media_type(head):
    """Returns the media type of a file by its first bytes; None if it is unknown."""
    if head[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(head[8:12])
    if head[4:8] == b"ftyp":
        brands = {b"avif": "image/avif", b"qt  ": "video/quicktime", b"M4A ": "audio/mp4"}
        return brands.get(head[8:12], "video/mp4")
    for beginning, name in (
        (b"\x89PNG", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF8", "image/gif"),
        (b"\x1aE\xdf\xa3", "video/webm"),
        (b"fLaC", "audio/flac"),
        (b"OggS", "audio/ogg"),
        (b"ID3", "audio/mpeg"),
        (b"\xff\xfb", "audio/mpeg"),
        (b"\xff\xf3", "audio/mpeg"),
    ):
        if head.startswith(beginning):
            return name


def _files_in(value):
    if isinstance(value, OwnFile):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [file for item in value for file in _files_in(item)] if isinstance(value, list) else []


def _with_addresses(value, addresses):
    if isinstance(value, OwnFile):
        return addresses[value]
    if isinstance(value, list):
        return [_with_addresses(item, addresses) for item in value]
    if isinstance(value, dict):
        return {key: _with_addresses(item, addresses) for key, item in value.items()}
    return value


