"""Create `.venv`, install the pinned packages, then run them: `python3 inform_site/bootstrap.py run|setup|test`.

    run     what the site needs, then `manage.py up`
    setup   what development needs as well
    test    the same, then the tests; further arguments go to pytest

Use only the standard library and the syntax of Python 3.6: an old interpreter must be able to report its version.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from typing import Callable, Iterator, List, Optional, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
OLDEST = (3, 11)
INTERPRETERS = ("python3.11", "python3.12", "python3.13", "python3")  # the pins were resolved for the first
OWN_INTERPRETER = "INFORM_PYTHON"
QUICKER_BY = 0.9  # of the time of the fastest so far; a smaller gain may be chance
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
ANY_TORCH = "INFORM_ANY_TORCH"
LOCKS = {"run": ("base",), "setup": ("base", "dev"), "test": ("base", "dev")}  # each lock includes the ones before it
PROGRESS_EVERY = 25
NO_NETWORK = (
    "Failed to establish a new connection",
    "Temporary failure in name resolution",
    "NameResolutionError",
    "Network is unreachable",
    "ConnectTimeoutError",
    "Read timed out",
    "ProxyError",
)


class SetupError(Exception):
    """A failure, described in one sentence for the user."""


class Place:
    """A checkout with its `.venv` and the records of its installation."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.venv = os.path.join(root, ".venv")
        self.python = os.path.join(self.venv, "bin", "python")
        self.notes = os.path.join(root, ".data")
        self.log = os.path.join(self.notes, "setup.log")
        self.stamp = os.path.join(self.venv, "inform-installed")
        self.unfinished = os.path.join(self.venv, "inform-unfinished")

    def requirements(self, name: str) -> str:
        return os.path.join(self.root, "requirements", name)

    def fingerprint(self, lock: str) -> str:
        """Return the hash of a lock file, recorded after its installation."""
        digest = hashlib.sha256()
        for name in ("torch.txt", lock + ".lock"):
            with open(self.requirements(name), "rb") as pins:
                digest.update(pins.read())
        return f"{lock} {digest.hexdigest()}"

    def has_installed(self, lock: str) -> bool:
        if not os.access(self.python, os.X_OK) or not os.path.exists(self.stamp):
            return False
        return self.fingerprint(lock) in read_lines(self.stamp)


def main(arguments: List[str]) -> None:
    if not arguments or arguments[0] not in LOCKS:
        raise SetupError("Say what to do: run, setup or test.")
    task, rest = arguments[0], arguments[1:]
    place = Place(ROOT)
    install(place, LOCKS[task])
    if task == "run":
        os.execv(place.python, [place.python, "-u", os.path.join(ROOT, "manage.py"), "up", *rest])
    if task == "test":
        os.chdir(ROOT)
        os.execv(place.python, [place.python, "-m", "tests.run", *rest])


def install(place: Place, locks: Tuple[str, ...]) -> None:
    """Install these locks into `.venv`; do nothing when the last of them is installed. Raises SetupError."""
    if place.has_installed(locks[-1]):
        return
    with only_one(place):
        if place.has_installed(locks[-1]):  # by the one we waited for
            return
        make_venv(place)
        open(place.unfinished, "w").close()
        install_torch(place)
        install_lock(place, locks[-1])
        with open(place.stamp, "w") as stamp:
            stamp.write("\n".join(place.fingerprint(lock) for lock in locks))
        os.remove(place.unfinished)


@contextlib.contextmanager
def only_one(place: Place) -> Iterator[None]:
    """Lock the installation; a second `make` waits here for the first."""
    os.makedirs(place.notes, exist_ok=True)
    with open(os.path.join(place.notes, "setup.lock"), "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another make is installing; waiting for it.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# --- The three steps ------------------------------------------------------------------------------------------------


def make_venv(place: Place) -> None:
    """Create `.venv`; replace one that is unfinished or broken."""
    if works(place) and not os.path.exists(place.unfinished):
        return
    interpreter = find_interpreter(place)
    with timed(f"Making .venv with {interpreter}"):
        shutil.rmtree(place.venv, ignore_errors=True)
        status, output = run([interpreter, "-m", "venv", place.venv], place)
        if status:
            shutil.rmtree(place.venv, ignore_errors=True)
            raise SetupError(explain(output, place))


def install_torch(place: Place) -> None:
    """Install torch alone, from PyTorch's CPU index.

    Later steps do not use that index, because it is not always reachable.
    """
    pins = place.requirements("torch.txt")
    if os.environ.get(ANY_TORCH):
        options = [line.split()[0] for line in read_lines(pins) if line.startswith("torch==")]
    else:
        options = ["--no-deps", "--require-hashes", "--retries", "0", "--timeout", "5"]
        options += ["--extra-index-url", CPU_INDEX, "--requirement", pins]
    with timed("Installing torch, about 200 MB"):
        status, output = pip(place, options)
        if status:
            raise SetupError(explain(output, place, missing=no_torch_for_this_machine()))


def install_lock(place: Place, lock: str) -> None:
    pins = place.requirements(lock + ".lock")
    count = sum(1 for line in read_lines(pins) if "==" in line and not line.startswith(" "))
    with timed(f"Installing {count} packages"):
        status, output = pip(place, ["--require-hashes", "--requirement", pins], show=Progress(count))
        if status:
            raise SetupError(explain(output, place))


# --- Interpreters ---------------------------------------------------------------------------------------------------


def find_interpreter(place: Place) -> str:
    """Return the fastest suitable Python: INFORM_PYTHON where set, or else one on the path.

    It must be new enough and able to create virtual environments. A Python compiled without optimisations takes two
    fifths longer for every answer. Raises SetupError.
    """
    own = os.environ.get(OWN_INTERPRETER)
    without_venv = None
    for name in (own,) if own else INTERPRETERS:
        fitting = []
        for path in on_path(name):
            if os.path.realpath(os.path.dirname(path)) == os.path.dirname(place.python):
                continue  # the environment that is about to be replaced
            version = version_of(path)
            if version < OLDEST:
                continue
            if ask(path, "import ensurepip, venv; print('yes')"):
                fitting.append(path)
            else:
                without_venv = without_venv or "python%d.%d" % version
        if fitting:
            return quickest(fitting)
    if without_venv:
        raise SetupError(
            f"{without_venv} lacks the module that makes virtual environments: install the package {without_venv}-venv "
            f"(on Debian and Ubuntu: apt-get install {without_venv}-venv) and try again."
        )
    if own:
        raise SetupError(
            f"{OWN_INTERPRETER} is {own}: name a Python 3.11 or newer that is there and not in .venv, or none."
        )
    found = ".".join(map(str, sys.version_info[:3]))
    raise SetupError(f"InForm needs Python 3.11 or newer; this is {found}. Install Python 3.11 and try again.")


def on_path(name: str) -> List[str]:
    """Return the programs of this name in the order of PATH; an explicit path yields itself."""
    if os.path.dirname(name):
        return [os.path.abspath(name)]
    folders = filter(None, os.environ.get("PATH", os.defpath).split(os.pathsep))
    found = (shutil.which(name, path=os.path.abspath(folder)) for folder in folders)
    return list(filter(None, found))


def quickest(interpreters: List[str]) -> str:
    """Return the first interpreter, unless another is clearly faster."""
    best, least = interpreters[0], None
    for path in interpreters if len(interpreters) > 1 else ():
        answer = ask(path, WORK)
        if answer and (least is None or float(answer) < QUICKER_BY * least):
            best, least = path, float(answer)
    return best


# A sample of the work of a question: calls, dictionaries, strings, comprehensions. Prints the best time in seconds.
WORK = """
import time

def work():
    seen, total = {}, 0
    for number in range(10000):
        seen[str(number % 500)] = number
        total += len([part for part in (1, 2, 3, number) if part > number % 3])
        total += any(part == number for part in (5, 6, 7))

def timed():
    start = time.perf_counter()
    work()
    return time.perf_counter() - start

print(min(timed() for _ in range(15)))
"""


def works(place: Place) -> bool:
    return version_of(place.python) >= OLDEST and ask(place.python, "import pip; print('yes')") is not None


def version_of(interpreter: str) -> Tuple[int, ...]:
    """Return the major and minor version, or an empty tuple, which is below any version."""
    answer = ask(interpreter, "import sys; print('%d.%d' % sys.version_info[:2])")
    return tuple(map(int, answer.split("."))) if answer else ()


def ask(interpreter: str, source: str) -> Optional[str]:
    """Run code in an interpreter and return its output, None when it is missing or fails."""
    try:
        answer = subprocess.run([interpreter, "-c", source], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return None
    return answer.stdout.decode().strip() if answer.returncode == 0 else None


# --- Running, showing, explaining -----------------------------------------------------------------------------------


class Progress:
    """Print now and then how many packages pip has processed."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.done = 0

    def __call__(self, line: str) -> None:
        if line.startswith(("Collecting ", "Processing ", "Requirement already satisfied")):
            self.done = min(self.done + 1, self.count)
            if self.done % PROGRESS_EVERY == 0:
                print(f"  {self.done} of {self.count}", flush=True)
        if line.startswith("Installing collected packages"):
            print("  unpacking", flush=True)


@contextlib.contextmanager
def timed(text: str) -> Iterator[None]:
    print(f"{text} ...", flush=True)
    started = time.time()
    yield
    print(f"  done in {time.time() - started:.1f} s", flush=True)


def pip(place: Place, options: List[str], show: Callable[[str], None] = lambda line: None) -> Tuple[int, str]:
    command = [
        place.python,
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
        "--progress-bar",
        "off",
    ]
    return run(command + options, place, show)


def run(command: List[str], place: Place, show: Callable[[str], None] = lambda line: None) -> Tuple[int, str]:
    """Run a command, log its output and pass each line to `show`; return its status and its output."""
    lines = []
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=place.root
    )
    with open(place.log, "a") as log:
        log.write(f"$ {' '.join(command)}\n")
        for raw in process.stdout or ():
            lines.append(raw.decode(errors="replace"))
            log.write(lines[-1])
            show(lines[-1])
    return process.wait(), "".join(lines)


def explain(output: str, place: Place, missing: Optional[str] = None) -> str:
    """Summarise the output of pip or venv in one sentence; `missing` when no such package is available."""
    details = f"(all that was said is in {place.log})"
    if "No space left on device" in output:
        return disk_full(place.root)
    if "DO NOT MATCH THE HASHES" in output:
        return missing or f"A downloaded package is not the one that was pinned; it was not installed {details}."
    if any(sign in output for sign in NO_NETWORK):
        return f"The package index cannot be reached: check the network and try again {details}."
    if missing and "No matching distribution" in output:
        return missing
    errors = [line.strip() for line in output.split("\n") if line.startswith("ERROR:") or "Error:" in line]
    reason = (errors or ["it failed without a reason"])[0].replace("ERROR: ", "").rstrip(".")
    return f"The installation stopped: {reason} {details}."


def no_torch_for_this_machine() -> str:
    return (
        "No build of torch for the CPU is pinned for this machine (only for Linux x86-64 with Python 3.11, "
        f"and macOS on Apple silicon), or {CPU_INDEX} cannot be reached; {ANY_TORCH}=1 allows the build that pip "
        "finds, of several GB perhaps."
    )


def disk_full(root: str) -> str:
    return f"The disk that holds {root} is full: free about 3 GB and try again."


def read_lines(path: str) -> List[str]:
    with open(path) as file:
        return file.read().split("\n")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except SetupError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Stopped; the next make begins the installation anew.")
    except OSError as error:
        sys.exit(disk_full(ROOT) if error.errno == errno.ENOSPC else f"InForm could not be set up: {error}.")
