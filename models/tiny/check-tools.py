"""Says what is wrong in files of tools and of words, and shows three conversations of each file of tools.

    python3 check-tools.py tools/home.txt words/common.txt

Others may be writing their files meanwhile: what can't be read of these is passed over.
"""
import ast
import random
import re
import sys
from pathlib import Path

import specs

SLOT = re.compile(r"\{(\+?)(\w*)(?::=([^}]*))?\}")
NAME = re.compile(r"[a-z][a-z0-9_.]*$")


def slots(phrase):
    """The keys that each reading of a phrase surely names, and all that it may name."""
    named = [match[2] for match in SLOT.finditer(phrase)]
    rng, sure = random.Random(1), set(named)
    for _ in range(40):
        text = phrase
        while "(" in text:
            shorter = re.sub(r"\(([^()]*)\)", lambda match: rng.choice(match[1].split("|")), text)
            if shorter == text:
                break
            text = shorter
        sure &= {match[2] for match in SLOT.finditer(text)}
    return sure, set(named)


def faults_of_phrase(spec, kind, phrase):
    params = {param.key: param for param in spec.params}
    if phrase.count("(") != phrase.count(")") or phrase.count("{") != phrase.count("}"):
        yield f"parentheses don't match: {phrase}"
        return
    if len(specs.split(phrase)) > 1:
        yield f"| outside of parentheses: {phrase}"
    sure, named = slots(phrase)
    for key in sorted(named - set(params)):
        yield f"{{{key}}} is no parameter of {spec.key}: {phrase}"
    if kind != "M":
        for param in spec.params:
            if not param.optional and param.key not in sure:
                yield f"{kind} does not (always) name the required {{{param.key}}}: {phrase}"
    elif not [param for param in spec.params if not param.optional and param.key not in named]:
        yield f"M lacks nothing: {phrase}"
    for match in SLOT.finditer(phrase):
        param, constant = params.get(match[2]), match[3]
        if param and constant is not None and param.kind[0] == "enum" and constant not in [option[0] for option in param.kind[1]]:
            yield f"{constant!r} is no value of {param.key}: {phrase}"
    if re.search(r"\w[?.!]$", phrase) or phrase != phrase.strip():
        yield f"ends with a mark or a blank: {phrase!r}"
    if not phrase.replace("°", "").isascii():
        yield f"not ASCII: {phrase}"


def faults_of_spec(spec):
    for name in spec.names + [name for param in spec.params for name in param.names]:
        if not NAME.match(name):
            yield f"a name is in small letters, digits, _ and .: {name!r}"
    if not spec.domain:
        yield f"{spec.key} is in no @domain"
    if not spec.descriptions[0] or any(not text.strip() for text in spec.descriptions):
        yield f"{spec.key} has an empty description"
    if not any(spec.phrases[kind] for kind in "ANQ"):
        yield f"{spec.key} has no phrase (A, N or Q)"
    keys = [param.key for param in spec.params]
    if len(set(keys)) < len(keys):
        yield f"{spec.key} has a parameter twice"
    for param in spec.params:
        if isinstance(param.attachments, list):
            for text in param.attachments:
                if "{}" not in text:
                    yield f"~ of {param.key} has no {{}}: {text!r}"
        if param.kind[0] == "enum" and len(param.kind[1]) < 2:
            yield f"{param.key} has fewer than two values"
    for kind, phrases in spec.phrases.items():
        for phrase in phrases:
            yield from faults_of_phrase(spec, kind, phrase)


def check_words(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        key, colon, items = line.partition(": ")
        if line and (not colon or not NAME.match(key)):
            yield number, f"a line is `kind: a, b, c`, not {line[:60]!r}"
        elif line and any(not item.strip() or item != item.strip() for item in items.split(", ")):
            yield number, f"{key}: an empty item, or one with a blank at its end"
        elif (key in specs.FUNCTIONS and path.stem != "common") or key in specs.NUMBERS:
            yield number, f"{key} is a kind of its own"


def keys_elsewhere(files):
    """Of all files but these: where each key is."""
    return {line.split("|")[0].split(" :: ")[0]: path.name for path in specs.FILES if path not in files for line in path.read_text().splitlines() if line and line[0] not in " @!"}


def check_tools(path, known, ours):
    faults = []
    found, groups = specs.parse(path, faults)
    for spec in found:
        faults += [(spec.line, fault) for fault in faults_of_spec(spec)]
        if spec.key in known:
            faults.append((spec.line, f"{spec.key} is in {known[spec.key]} already"))
        known[spec.key] = path.name
    for one in sorted({one for group in groups for one in group} - set(known) - ours):
        faults.append((0, f"! {one}: there is no such tool"))
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if "\t" in line or line != line.rstrip():
            faults.append((number, "a tab, or a blank at the end"))
    return found, faults


def sound(path):
    faults = []
    specs.parse(path, faults)
    return not faults


def left_out():
    """The keys that catalogue.py keeps out of the training; it is read, not run, for it wants all files to be sound."""
    text = (Path(__file__).parent / "catalogue.py").read_text()
    names = {node.targets[0].id: node.value for node in ast.parse(text).body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}
    return ast.literal_eval(names["HELD_OUT"]) | ast.literal_eval(names["NEAR"])


def show(found, seed):
    from generate import Generator

    generator = Generator(seed, found, 0, 0)
    for _ in range(3):
        request = {}
        while not request.get("tools"):
            request = generator.conversation()["request"]
        print("   tools: " + "; ".join(f"{tool['name']}({', '.join(tool.get('parameters', {}).get('properties', {}))})" for tool in request["tools"]))
        for message in request["messages"]:
            if message["role"] == "tool":
                print(f"     tool: {message['output']}")
                continue
            for part in message["content"]:
                if part["type"] != "thinking":
                    print(f"     {message['role']}: " + (part["text"] if part["type"] == "text" else f"{part['name']}{part['arguments']}"))
        print()


def main():
    paths = [Path(name).resolve() for name in sys.argv[1:]]
    tools = [path for path in paths if path.parent.name == "tools"]
    known, good, wrong = keys_elsewhere(tools), [], 0
    ours = {line.split("|")[0].split(" :: ")[0] for path in tools for line in path.read_text().splitlines() if line and line[0] not in " @!"}
    for path in paths:
        found, faults = ([], list(check_words(path))) if path.parent.name == "words" else check_tools(path, known, ours)
        for number, fault in sorted(faults):
            print(f"{path.name}:{number}: {fault}")
        wrong += len(faults)
        if found:
            phrases = sum(len(lines) for spec in found for lines in spec.phrases.values())
            print(f"{path.name}: {len(found)} tools, {phrases} phrases, {len(faults)} faults")
        if found and not faults:
            good.append((path, found))
    for key in sorted(left_out() - set(known)):
        print(f"catalogue.py: {key} is left out of the training, but there is no such tool")
        wrong += 1
    specs.FILES[:] = [path for path in specs.FILES if path not in tools and sound(path) or path in [path for path, _ in good]]
    for path, found in good:
        print(f"\n{path.name}, for example:")
        show(found, len(path.read_text()))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
