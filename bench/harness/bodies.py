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
    """Writes `small` (a plain answer) and `prompt100k` (a streamed answer, about 100 KB of prompt)."""
    files = {}
    for name, content in {"small": body(120, stream=False), "prompt100k": body(98_000, stream=True)}.items():
        files[name] = folder / f"{name}.json"
        files[name].write_bytes(content)
    return files
