"""The requests' bodies, the same bytes in every run."""

import json
import random
from pathlib import Path

MODEL = "meta-llama/Llama-3.1-8B-Instruct"
WORDS = ("the quick brown fox jumps over lazy dog while inference servers stream tokens back to clients and nobody "
         "waits for batch schedulers \"quoted\" text with\nnewlines and tabs\t maybe unicode like café").split(" ")


def text(characters: int) -> str:
    """Words with quotes, escapes and a few characters beyond ASCII, as prompts have."""
    chosen = random.Random(7)
    words, length = [], 0
    while length < characters:
        word = chosen.choice(WORDS)
        words.append(word)
        length += len(word) + 1
    return " ".join(words)[:characters]


def body(prompt_characters: int, stream: bool) -> bytes:
    request = {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": "You are a helpful assistant."},
            {"role": "user", "content": text(prompt_characters)},
        ],
        "max_tokens": 100,
        "temperature": 0.7,
        "stream": stream,
    }
    return json.dumps(request, separators=(",", ":")).encode()


def write(folder: Path) -> dict[str, Path]:
    """Writes `small` (a plain answer), `small_stream` (the same, streamed), `prompt100k` and `prompt400k` (long and streamed)."""
    files = {}
    contents = {
        "small": body(120, stream=False),
        "small_stream": body(120, stream=True),
        "prompt100k": body(98_000, stream=True),
        "prompt400k": body(392_000, stream=True),
    }
    for name, content in contents.items():
        files[name] = folder / f"{name}.json"
        files[name].write_bytes(content)
    return files
