"""Exact match of calls, greedy, in PyTorch, over test sets in both formats.

    python3 evaluate.py WEIGHTS_DIR SET.jsonl ... [--failures FILE]
    python3 evaluate.py --make 400 --held-out > SET.jsonl             # a set from the generator

A line of a set: {"id", "category"?, "tools": [OpenAI function objects], "messages": [OpenAI style], "expect": {"calls": [{"name", "arguments"}]} | {"text": true}}
"""
import argparse
import json
import re
from collections import defaultdict
from pathlib import Path

from formats import FORMATS, render
from tokenizer import Tokenizer


def request_of(case):
    """A Request, from OpenAI's messages and tools."""
    messages, names = [], {}
    for message in case["messages"]:
        role, text = message["role"], message.get("content")
        if role == "tool":
            try:
                output = json.loads(text)
            except (ValueError, TypeError):
                output = text
            messages.append({"role": "tool", "id": message["tool_call_id"], "name": names[message["tool_call_id"]], "output": output})
            continue
        parts = [{"type": "text", "text": text}] if text else []
        for call in message.get("tool_calls") or []:
            names[call["id"]] = call["function"]["name"]
            parts.append({"type": "tool-call", "id": call["id"], "name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"])})
        messages.append({"role": "system" if role == "developer" else role, "content": parts})
    return {"model": "tiny", "messages": messages, "tools": [tool.get("function", tool) for tool in case.get("tools") or []]}


def prompt_of(dialect, case):
    request = request_of(case)
    request["messages"].append({"role": "assistant", "content": []})
    spans = render(dialect, request)
    return "".join(text for text, _ in spans[:-1])


# ---- Reading calls


class Reader:
    def __init__(self, form, text):
        self.form, self.text, self.at = form, text, 0

    def take(self, mark):
        if not self.text.startswith(mark, self.at):
            raise ValueError(f"{mark} expected at {self.at}")
        self.at += len(mark)

    def value(self):
        text, quote = self.text, self.form.quote
        if text.startswith(quote, self.at):
            end = text.index(quote, self.at + len(quote))
            out, self.at = text[self.at + len(quote):end], end + len(quote)
            return out
        if text[self.at] == "{":
            return self.fields()
        if text[self.at] == "[":
            self.at += 1
            out = []
            while text[self.at] != "]":
                out.append(self.value())
                if text[self.at] == ",":
                    self.at += 1
            self.at += 1
            return out
        bare = re.compile(r"[^,}\]]*").match(text, self.at)[0]
        self.at += len(bare)
        return {"true": True, "false": False, self.form.none: None}[bare] if bare in ("true", "false", self.form.none) else json.loads(bare)

    def fields(self):
        self.take("{")
        out = {}
        while self.text[self.at] != "}":
            colon = self.text.index(":", self.at)
            key, self.at = self.text[self.at:colon], colon + 1
            out[key] = self.value()
            if self.text[self.at] == ",":
                self.at += 1
        self.at += 1
        return out

    def calls(self):
        out = []
        while (start := self.text.find(self.form.call_open, self.at)) >= 0:
            self.at = start + len(self.form.call_open)
            self.take("call:")
            brace = self.text.index("{", self.at)
            name, self.at = self.text[self.at:brace], brace
            out.append({"name": name, "arguments": self.fields()})
            self.take(self.form.call_close)
        return out


def judge(dialect, case, output):
    """ok, wrong or malformed."""
    try:
        calls = Reader(FORMATS[dialect], output).calls()
    except (ValueError, IndexError, KeyError):
        return "malformed"
    if "calls" not in case["expect"]:
        return "wrong" if calls else "ok"
    rest = list(case["expect"]["calls"])
    for call in calls:
        if call not in rest:
            return "wrong"
        rest.remove(call)
    return "wrong" if rest else "ok"


# ---- Sets from the generator


def make(count, seed, held_out):
    from catalogue import DEVELOPMENT, TRAINED
    from generate import Generator, sample

    generator = Generator(seed, DEVELOPMENT if held_out else TRAINED, 0, 0)
    made = 0
    while made < count:
        one = sample(generator)
        request, said = one["request"], one["expected"]
        calls = [{"name": part["name"], "arguments": part["arguments"]} for part in said["content"] if part["type"] == "tool-call"]
        if held_out and not calls or request["messages"][-1]["role"] == "tool" and not calls:
            continue
        messages = [openai(message) for message in request["messages"]]
        tools = [{"type": "function", "function": tool} for tool in request.get("tools", [])]
        print(json.dumps({"id": f"{one['category']}-{made}", "category": one["category"], "tools": tools, "messages": messages, "expect": {"calls": calls} if calls else {"text": True}}, ensure_ascii=False))
        made += 1


def openai(message):
    if message["role"] == "tool":
        output = message["output"]
        return {"role": "tool", "tool_call_id": message["id"], "content": output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)}
    text = "".join(part["text"] for part in message["content"] if part["type"] == "text")
    calls = [{"id": part["id"], "type": "function", "function": {"name": part["name"], "arguments": json.dumps(part["arguments"], ensure_ascii=False)}} for part in message["content"] if part["type"] == "tool-call"]
    return {"role": message["role"], "content": text or None, **({"tool_calls": calls} if calls else {})}


# ---- The model


def complete(model, torch, tokenizer, prompts, limit=220, width=64):
    """What the model says behind each prompt."""
    from model import rectangular

    device = model.embed.device
    order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
    outputs = [None] * len(prompts)
    stops = torch.tensor(tokenizer.stops, device=device)
    for first in range(0, len(order), width):
        group = order[first:first + width]
        ids = [tokenizer.encode(prompts[i]) for i in group]
        lengths = torch.tensor([len(one) for one in ids], device=device)
        rows = torch.zeros(len(ids), max(map(len, ids)) + limit, dtype=torch.long, device=device)
        for row, one in zip(rows, ids):
            row[:len(one)] = torch.tensor(one)
        done = torch.zeros(len(ids), dtype=torch.bool, device=device)
        ends = lengths.clone()
        for _ in range(limit):
            longest = int(ends.max())
            longest += -longest % 64
            longest = min(longest, rows.shape[1])
            with torch.no_grad():
                x = model.hidden(rows[:, :longest].reshape(-1), torch.arange(longest, device=device).repeat(len(ids)), rectangular(len(ids)))
                x = x.view(len(ids), longest, -1)[torch.arange(len(ids), device=device), ends - 1]
                best = model.logits(x).argmax(-1)
            rows[torch.arange(len(ids), device=device), ends] = torch.where(done, 0, best)
            ends = torch.where(done, ends, ends + 1)
            done |= torch.isin(best, stops)
            if done.all():
                break
        for i, row, start, end in zip(group, rows.tolist(), lengths.tolist(), ends.tolist()):
            outputs[i] = tokenizer.decode(row[start:end])
    return outputs


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("weights", nargs="?", type=Path)
    parser.add_argument("sets", nargs="*", type=Path)
    parser.add_argument("--failures", type=Path, help="where to write what went wrong, as JSON lines")
    parser.add_argument("--make", type=int, help="write a set of this many cases")
    parser.add_argument("--held-out", action="store_true", help="of tools that are not trained on")
    parser.add_argument("--seed", type=int, default=99)
    options = parser.parse_args()
    if options.make:
        return make(options.make, options.seed, options.held_out)

    import torch

    from model import Tiny
    from train import load

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, tokenizer = Tiny().to(device), Tokenizer.load()
    load(model, options.weights, torch)
    failures = []
    for path in options.sets:
        cases = [json.loads(line) for line in path.read_text().splitlines() if line]
        for dialect in FORMATS:
            counts = defaultdict(lambda: [0, 0, 0])
            outputs = complete(model, torch, tokenizer, [prompt_of(dialect, case) for case in cases])
            for case, output in zip(cases, outputs):
                verdict = judge(dialect, case, output)
                for category in ("all", case.get("category", "all")) if case.get("category") else ("all",):
                    counts[category][0] += 1
                    counts[category][1] += verdict == "ok"
                    counts[category][2] += verdict == "malformed"
                if verdict != "ok":
                    failures.append({"set": path.stem, "dialect": dialect, "id": case["id"], "verdict": verdict, "user": case["messages"][-1].get("content"), "expected": case["expect"], "output": output, "tools": [tool.get("function", tool)["name"] for tool in case.get("tools") or []]})
            for category, (all_, right, malformed) in counts.items():
                print(f"{path.stem:24} {dialect:14} {category:12} {right:5d} / {all_:5d}  {100 * right / all_:5.1f}%   malformed {malformed}", flush=True)
    if options.failures:
        options.failures.write_text("".join(json.dumps(failure, ensure_ascii=False) + "\n" for failure in failures))


if __name__ == "__main__":
    main()
