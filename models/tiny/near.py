"""Which of our tools are nearly the same as tools of held-out/tools.jsonl, by the words of names and descriptions. It prints the keys of ours,
which belong into NEAR of catalogue.py, and nothing of the held-out set.

    python3 near.py
"""
import json
import re
from pathlib import Path

from catalogue import HELD_OUT, NEAR, SPECS

HELD = Path(__file__).parent / "held-out" / "tools.jsonl"
STOP = set("a an the of for to in on and or with by from at as is it its one new current given user all some that this what which how when where into per up out off over be are use returns return".split())


def stem(word):
    ending = next((ending for ending in ("ing", "ies", "es", "s", "ed") if word.endswith(ending) and len(word) - len(ending) >= 3), "")
    return word.removesuffix(ending)


def stems(text):
    words = re.findall("[A-Za-z]+", re.sub("([a-z])([A-Z])", r"\1 \2", text).replace("_", " "))
    return {stem(word.lower()) for word in words if word.lower() not in STOP and len(word) > 2}


def near(names, descriptions, name, description):
    """The same name, or half of the words of a description."""
    return any(one == name for one in names) or any(len(one & description) >= 2 and len(one & description) / len(one | description) >= 0.5 for one in descriptions)


def main():
    held = {}
    for line in HELD.read_text().splitlines():
        case = json.loads(line)
        for call in case["expect"].get("calls", []):
            tool = next(tool for tool in case["tools"] if tool["name"] == call["name"])
            held[tool["name"]] = (stems(tool["name"]), stems(tool.get("description", "")))
    found = {spec.key for spec in SPECS if any(near([stems(name) for name in spec.names], [stems(text) for text in spec.descriptions], *one) for one in held.values())}
    print("too near, and not left out:", " ".join(sorted(found - NEAR - HELD_OUT)) or "none")
    print("left out, and not near:", " ".join(sorted(NEAR - found)) or "none")


if __name__ == "__main__":
    main()
