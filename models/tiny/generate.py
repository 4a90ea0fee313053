"""Conversations with tools, made at random, as text in the formats of FunctionGemma and Gemma 4.

    python3 generate.py --count 300 --seed 7       # JSON lines: {dialect, variant, request, text, completion, category}

`request` is a Request of src/core/nouns.ts without the message to be learnt; `text` is its prompt and `completion` what the model says.
"""
import argparse
import json
import random
import re

from catalogue import CLASHES, COMMON, DEVELOPMENT, GENERIC, SPECS, TRAINED, Instance, disguise, draw, expand, words_of
from formats import has_call, render
from lexicon import AND, CHAT, COMMAND, CONTEXTS, GREETINGS, KNOWLEDGE, NO_TOOL, OPEN_ANSWERS, OPEN_QUESTIONS, REASONS, SYSTEMS, THEN, WHICH_TOOLS, gerund
from made import VERB_KEYS, VERBS, alike, plural, procedural, some_thing
from specs import Param, Spec
from synonyms import reworded
from values import NOUNS, PAST, WORDS, content, date, ident, iso_date, name, path, phrase, pick, pseudo, sentence, unheard

SLOT = re.compile(r"\{([-+.]?)(\w*)(?::=([^}]*))?\}")
MARK = re.compile("[\ue000-\uf8ff]")
BESIDE = re.compile(r"([a-z]*) ?\{[^}]*\}(?: ([a-z]+))?")
WORD_SLOT = re.compile(r"\{(\w+)\}")
OPEN_KINDS = {"text", "title", "query", "task", "content", "code", "expr", "command", "sql", "text_q", "phrase_q", "sentence_note", "phrase", "url", "path", "file"}
QUESTION = re.compile(r"^(what|how|is|are|do|did|when|where|who|which|will|should|can|could|has|have|was|does|am|any|would|shall|may)\b", re.I)
FOR_ME = re.compile(r"\w+ (me|us) ")
LOWERED = {"city", "first", "country", "song", "artist", "movie", "book", "company", "app", "language", "weekday", "month", "team"}
VARIANTS = {"google-gemma-4-31b-2026-07-09": "<|channel>thought\n<channel|>", "google-gemma-4-e2b-2026-07-09": ""}


class Ask:
    """A request for one call: a sentence or a part of one, with marks for the values."""

    def __init__(self, kind, text, instance, arguments, open_end=False, marks=None, lead="", closing=""):
        self.kind, self.text, self.instance, self.arguments, self.open_end = kind, text, instance, arguments, open_end
        self.marks, self.lead, self.closing = marks or {}, lead, closing

    @property
    def clause(self):
        """All of it, without a frame."""
        return (f"{self.lead}, " if self.lead else "") + self.text + self.closing

    @property
    def call(self):
        return {"name": self.instance.name, "arguments": self.arguments}


class Generator:
    def __init__(self, seed, specs=None, made=0.3, disguised=0.3):
        self.rng = random.Random(seed)
        self.specs = specs or TRAINED
        self.by_domain = {}
        for spec in self.specs:
            self.by_domain.setdefault(spec.domain, []).append(spec)
        # What has several parameters is harder to learn, and comes more often.
        self.weighted = [spec for spec in self.specs for _ in range((2, 2, 3, 5)[min(3, len(spec.params))])]
        self.made, self.disguised = made, disguised
        self.pool, self.said, self.low = {}, [], False
        self.frames = {"A": weighted(COMMAND), "N": weighted(KNOWLEDGE)}

    # ---- Tools

    def instance(self, spec):
        """A declaration of this tool, now and then a new one, or one in disguise."""
        if self.rng.random() < self.disguised:
            return Instance(self.rng, disguise(self.rng, spec))
        known = self.pool.setdefault(spec.key, [])
        if len(known) < 4 or self.rng.random() < 0.25:
            made = Instance(self.rng, spec)
            if len(known) < 12:
                known.append(made)
            else:
                known[int(self.rng.random() * 12)] = made
            return made
        return pick(self.rng, known)

    def positive(self):
        """A tool to be called, and tools like it that must not be."""
        rng = self.rng
        if rng.random() >= self.made:
            spec = pick(rng, self.weighted)
            near = [one for one in self.by_domain[spec.domain] if one is not spec and one.key not in CLASHES.get(spec.key, ())]
            return self.instance(spec), [self.instance(pick(rng, near)) for _ in range(pick(rng, [0, 0, 1, 1, 1, 2, 2, 3, 4])) if near]
        spec = procedural(rng, GENERIC)
        if spec.verb == "calculate":
            return Instance(rng, spec), [Instance(rng, procedural(rng, GENERIC)) for _ in range(int(rng.random() * 2))]
        near = [Instance(rng, procedural(rng, GENERIC, self.other_verb(spec.verb), spec.thing)) for _ in range(int(rng.random() * 2.2))]
        if rng.random() < 0.5:
            other = some_thing(rng)
            near += [Instance(rng, procedural(rng, GENERIC, spec.verb, other))] if not set(other) & set(spec.thing) else []
        return Instance(rng, spec), near

    def other_verb(self, verb):
        """One that nobody takes for this verb."""
        taken = set(VERBS[verb][2]) | set(VERBS[verb][0])
        while True:
            other = pick(self.rng, VERB_KEYS)
            if other != verb and not taken & (set(VERBS[other][2]) | set(VERBS[other][0])):
                return other

    def others(self, count, asked):
        """Tools that have nothing to do with what is asked."""
        rng, out = self.rng, []
        clash = set()
        for one in asked:
            clash |= CLASHES.get(one.spec.key, set()) | {one.spec.key}
        domains = {one.spec.domain for one in asked}
        for _ in range(count * 3):
            if len(out) == count:
                break
            if rng.random() < 0.85:
                spec = pick(rng, self.specs)
                if spec.key not in clash and (spec.domain not in domains or rng.random() < 0.1):
                    out.append(self.instance(spec))
            else:
                out.append(Instance(rng, procedural(rng, GENERIC)))
        return out

    def shuffled(self, tools, limit=8):
        """Each name once."""
        named = {}
        for tool in tools:
            if tool.name not in named and len(named) < limit:
                named[tool.name] = tool
        out = list(named.values())
        self.rng.shuffle(out)
        return out

    # ---- Requests

    def mark(self, said):
        self.said.append(said)
        return chr(0xE000 + len(self.said) - 1)

    def drawn(self, kind, taken, argument=""):
        """A value and the words for it. "lot 5" is `5` where the parameter is a `lot`, and `lot 5` where it is not."""
        for _ in range(4):
            item, said = draw(self.rng, kind)
            if not isinstance(item, str) or item not in taken:
                break
        if self.low and kind[0] in LOWERED and isinstance(item, str) and said == item:
            item = said = item.lower()
        numbered = NUMBERED.match(item) if isinstance(item, str) and kind[0] != "enum" else None
        if numbered and item == said and numbered[1].lower() in readable(argument).split(" "):
            item = numbered[2]
        return item, said

    def ask(self, instance, kinds="ANQ", optional=0.35, fixed=None):
        """One way to ask for a call of this tool."""
        rng, phrases = self.rng, instance.spec.phrases
        for _ in range(30):
            kind = pick(rng, [one for one in kinds if phrases[one] for _ in range({"A": 5, "N": 3, "Q": 4, "M": 1}[one])] or [""])
            if not kind:
                return None
            if kind == "A" and rng.random() < 0.12:
                phrase = self.described(instance)
            else:
                phrase = expand(rng, pick(rng, phrases[kind]))
                chance = rng.random()
                phrase = reworded(rng, phrase) if chance < 0.3 else self.estranged(instance, phrase) if chance < 0.38 else phrase
            made = self.fill(instance, phrase, kind, optional, fixed or {})
            if made:
                return made
        return None

    def estranged(self, instance, phrase):
        """The phrase with a word or two that nobody knows; what it has in common with the declaration stays, and so do the words that
        say which value is which, that stand for one, or that stand beside one and could be taken for a part of it."""
        if ":=" in phrase:
            return phrase
        declared = stems(instance.name + " " + instance.tool["description"])
        words = [m for part in re.finditer(r"[^{}]+(?![^{]*\})", phrase) for m in re.finditer(r"[a-z]{4,}", part[0])]
        beside = {word for pair in BESIDE.findall(phrase) for word in pair}
        foreign = [m[0] for m in words if m[0][:5] not in declared and m[0] not in STOP_WORDS | COMMON | RELATIONS | beside]
        if not foreign or not any(m[0][:5] in declared for m in words):
            return phrase
        for _ in range(1 + (self.rng.random() < 0.35)):
            strange = pseudo(self.rng, 1 + int(self.rng.random() * 2)) if self.rng.random() < 0.6 else pick(self.rng, NOUNS)
            phrase = re.sub(r"(?<![\w{+.-])" + pick(self.rng, foreign) + r"(?![\w}:])", strange, phrase, count=1)
        return phrase

    def described(self, instance):
        """A request in the words of the declaration."""
        rng, spec = self.rng, instance.spec
        text = pick(rng, spec.descriptions)
        if text.split(" ")[0].lower() not in IMPERATIVES:
            text = spec.descriptions[0]
        text = text[0].lower() + text[1:].rstrip(".")
        kind = rng.random()
        if kind < 0.25 or text.split(" ")[0] not in IMPERATIVES:
            text = " ".join(words_of(pick(rng, spec.names)))
        elif kind < 0.35:
            text = pick(rng, ["call ", "use ", "run ", "invoke ", "use the tool ", "call the function "]) + instance.name
        needed = [param.key for param in spec.params if not param.optional]
        rng.shuffle(needed)
        return text + "".join(" {+" + key + "}" for key in needed)

    def fill(self, instance, template, kind, optional, fixed):
        rng, arguments, used, marks, again, added = self.rng, {}, set(), {}, {}, 0
        parts = SLOT.split(template)
        text, open_end, lead, closing = parts[0], False, "", ""
        slots = list(zip(parts[1::4], parts[2::4], parts[3::4], parts[4::4]))
        at = 0
        while at < len(slots):
            mode, key, constant, tail = slots[at]
            if key not in instance.params:
                return None
            argument, drawable, param = instance.params[key]
            used.add(key)
            at += 1
            if key in again and not mode and constant is None:
                text += again[key] + tail
            elif constant is not None:
                if drawable[0] == "enum" and constant not in [option[0] for option in drawable[1]]:
                    return None
                arguments[argument] = {"true": True, "false": False}.get(constant, int(constant) if constant.isdigit() else constant)
                text += tail
            elif mode == "+" and not tail.strip() and at < len(slots) and rng.random() < 0.4:
                group = [key]
                while at < len(slots) and slots[at][0] == "+" and not tail.strip():
                    tail = slots[at][3]
                    group.append(slots[at][1])
                    at += 1
                used.update(group)
                said, open_end = self.grouped(instance, group, arguments)
                text += said + tail
            elif mode == "-":
                said, _ = self.attachment(instance, key, arguments)
                if LEADS.match(said) and not lead:
                    lead = said
                    text = text.rstrip() + tail.lstrip()
                else:
                    closing += " " + said
                    text += tail
            elif mode == ".":
                closing += self.apart(instance, key, arguments)
                text += tail
            elif mode:
                said, open_end = self.attachment(instance, key, arguments)
                text += self.coordinated(said, added) + tail
                added += 1
            else:
                item, said = fixed[key] if key in fixed else self.drawn(drawable, arguments.values(), argument)
                if drawable[0] not in ("enum", "digits") and item == said and is_common(item):
                    item, tail = self.whole(instance, argument, param, item, tail)
                    said = item
                arguments[argument] = item
                marks[argument] = len(self.said)
                again[key] = self.mark(said)
                named = self.kind_word(argument, drawable, param, text, tail) if key not in fixed and not is_common(item) else ""
                if not named and leaf(drawable) in ("first", "name") and rng.random() < 0.04 and BARE.search(text):
                    named = pick(rng, BEFORE_NAMES) + " {}"
                text += named.replace("{}", again[key]) + tail if named else again[key] + tail
                open_end = not tail and leaf(drawable) in OPEN_KINDS and said[-1:] not in "\"'”`»"
        if kind != "M":
            rest = [key for key, (_, _, param) in instance.params.items() if key not in used and param.optional and rng.random() < optional]
            rng.shuffle(rest)
            for key in rest:
                chance = rng.random()
                if chance < 0.15 and not open_end:
                    closing += self.apart(instance, key, arguments)
                    continue
                said, ends = self.attachment(instance, key, arguments)
                if chance < 0.27 and not lead and LEADS.match(said) and not ends:
                    lead = said
                else:
                    text += " " + self.coordinated(said, added)
                    open_end = ends
                    added += 1
            if len(arguments) < len(instance.required):
                return None
            # "in Rome, check the weather" for "check the weather in Rome"
            moved = not lead and not open_end and kind in "AQ" and rng.random() < 0.07 and MOVABLE.match(text)
            if moved and not TORN.search(moved[1]):
                text, lead = moved[1], moved[2]
        text = re.sub(r"  +", " ", text).replace(" all all ", " all ").replace(" ,", ",").replace(" :", ":").strip(" ,")
        return Ask(kind, text, instance, arguments, open_end and not closing, marks, lead.strip(" ,"), re.sub(r"  +", " ", closing).replace(" ,", ",").rstrip())

    def coordinated(self, said, added):
        """`by Ann and with five stars`: an addition behind another one."""
        if added and said[0].isalpha() and not said.startswith(("and ", "but ")) and self.rng.random() < 0.25:
            return pick(self.rng, ["and ", "and ", "and ", ", and ", "and also "]) + said
        return said

    def whole(self, instance, argument, param, item, tail):
        """What has no name of its own is called by its kind too: "the reef tank" is the `reef tank`, though "the Apollo tank" is `Apollo`."""
        kinds = {word.replace("_", " ") for word in getattr(instance.spec, "thing", ())} | {word for name in param.names for word in words_of(name)}
        behind = next((word for word in sorted(kinds, key=len, reverse=True) if re.match(f" {re.escape(word)}(?![a-z])", tail)), "")
        if behind and behind in KNOWN - VAGUE:
            return f"{item} {behind}", tail[len(behind) + 1:]
        words = spoken_name(argument, param)
        if not behind and words in KNOWN - VAGUE and words not in item and words not in tail and self.rng.random() < 0.06:
            return f"{item} {words}", tail
        return item, tail

    def kind_word(self, argument, drawable, param, text, tail):
        """`{}` with the word for what it is: "the borrower Ann" for "Ann"."""
        words = spoken_name(argument, param)
        if self.rng.random() > 0.05 or leaf(drawable) not in NAMED_KINDS or words in UNNAMED or words.split(" ")[-1] in (text + tail).lower() or not re.search(r"(^|[ (])$", text):
            return ""
        if text.endswith(("the ", "my ", "our ")):
            return pick(self.rng, [words + " {}", "{} " + words])
        return pick(self.rng, [words + " {}", words + " {}", "the " + words + " {}", "the {} " + words]) if not text.endswith(("a ", "an ")) else ""

    def apart(self, instance, key, arguments):
        """A value in a sentence of its own."""
        argument, drawable, param = instance.params[key]
        item, said = self.drawn(drawable, arguments.values(), argument)
        arguments[argument] = item
        words = self.words_for(argument, param)
        if isinstance(item, bool):
            return ". " + pick(self.rng, APART_BOOL[item][:1] if NEGATED.match(words) else APART_BOOL[item]).replace("{w}", words)
        return ". " + pick(self.rng, APART).replace("{w}", words).replace("{}", self.mark(said))

    def words_for(self, argument, param):
        """How people call a parameter: by its name, or as it is described."""
        if self.rng.random() < 0.15:
            short = [text for text in param.descriptions if DESCRIBED.match(text)]
            if short:
                return plain_words(pick(self.rng, short))
        return spoken_name(argument, param)

    def grouped(self, instance, keys, arguments):
        """Several values in a row, each with its name: `with size 4, color red and owner Ann`."""
        rng, items = self.rng, []
        form = pick(rng, ["{w} {v}", "{w} {v}", "{w}: {v}", "{w} = {v}", "the {w} {v}", "{v} as {w}", "{w} is {v}", "{v} as the {w}", "a {w} of {v}"])
        for key in keys:
            argument, drawable, param = instance.params[key]
            item, said = self.drawn(drawable, arguments.values(), argument)
            arguments[argument] = item
            if isinstance(item, bool):
                said = pick(rng, ["true", "yes", "on"] if item else ["false", "no", "off"])
            items.append(form.replace("{w}", spoken_name(argument, param)).replace("{v}", self.mark(said)))
        return pick(rng, ["with ", "with ", "with ", ": ", ", ", "using ", "where ", "and use ", "having "]) + listed(items, pick(rng, [" and ", " and ", ", ", ", and "])), leaf(instance.params[keys[-1]][1]) in OPEN_KINDS

    def attachment(self, instance, key, arguments):
        argument, drawable, param = instance.params[key]
        item, said = self.drawn(drawable, arguments.values(), argument)
        arguments[argument] = item
        plain = not param.attachments or self.rng.random() < 0.25
        words = self.words_for(argument, param)
        if isinstance(item, bool):
            forms = PLAIN_NEGATED[item] if plain and NEGATED.match(words) else (PLAIN_DO if DOING.match(words) else PLAIN_BOOL)[item] if plain else param.attachments[item]
            return expand(self.rng, pick(self.rng, forms)).replace("{w}", words), False
        form = expand(self.rng, pick(self.rng, PLAIN_ENUM if drawable[0] == "enum" and self.rng.random() < 0.3 else PLAIN if plain else param.attachments)).replace("{w}", words)
        ends = form.endswith("{}") and leaf(drawable) in OPEN_KINDS and said[-1:] not in "\"'”`»"
        return form.replace("{}", self.mark(said)), ends

    def sentence(self, ask, plain=0.0):
        """The request as a sentence."""
        text = self.framed(ask, plain)
        if ask.lead:
            text = ask.lead + pick(self.rng, [", ", ", ", ", ", ": ", " - "]) + text
        if ask.closing.startswith("."):
            return (text if text.endswith("?") else text + ".") + ask.closing[1:]
        return text.removesuffix("?") + ask.closing if ask.closing else text

    def framed(self, ask, plain):
        rng = self.rng
        if ask.kind in ("Q", "M") and not (ask.kind == "M" and rng.random() < 0.6):
            text = ask.text
            if QUESTION.match(text):
                text += "?" if rng.random() < 0.75 else ""
            return text
        frame = "{A}" if rng.random() < plain else self.frames["N" if ask.kind == "N" else "A"](rng)
        if ask.open_end and not re.search(r"\{(A|ing|N)\}\??$", frame):
            frame = "{" + ("N" if ask.kind == "N" else "A") + "}"
        if FOR_ME.match(ask.text) and frame.startswith(("I", "we", "let's", "time", "can I", "can we", "could we", "it's", "help", "my boss", "{first}", "the plan", "can you help")):
            frame = "{A}"
        frame = frame.replace("{first}", pick(rng, WORDS["first"][:60]))
        text = frame.replace("{A}", ask.text).replace("{N}", ask.text)
        if "{ing}" in text:
            text = text.replace("{ing}", gerund(ask.text))
        if text.endswith("?") and rng.random() < (0.5 if ask.open_end else 0.2):
            text = text[:-1]
        return text

    def context(self):
        """Something that is said beside the request."""
        rng = self.rng
        if rng.random() < 0.35:
            return pick(rng, WORDS["filler"])
        words = {"noun": lambda: pick(rng, NOUNS), "adj": lambda: pick(rng, WORDS["adj"]), "past": lambda: pick(rng, PAST), "who": lambda: pick(rng, RELATIVES)}
        return WORD_SLOT.sub(lambda m: words[m[1]](), expand(rng, pick(rng, CONTEXTS)))

    def finish(self, text, open_end=False, ask=None):
        """Greetings, context, capitals, full stops, slips; then the values."""
        rng = self.rng
        if ask and not open_end and rng.random() < 0.05 and text[-1] not in ".?!" and not ask.closing and not any("text" in alike(param) for param in [*(param for _, _, param in ask.instance.params.values()), *ask.instance.extra]):
            reason = expand(rng, pick(rng, REASONS))
            text += ("" if reason[0] == "," else " ") + reason.replace("{noun}", pick(rng, NOUNS)).replace("{adj}", pick(rng, WORDS["adj"])).replace("{who}", pick(rng, RELATIVES))
        if rng.random() < 0.1:
            text = pick(rng, GREETINGS) + text
        if rng.random() < 0.17:
            said = self.context()
            if rng.random() < 0.25 and said[-1] == ".":
                text = said[:-1] + pick(rng, [", ", ", so ", " - ", "; ", ", and so ", ", please "]) + text
            else:
                text = said + " " + (text[0].upper() + text[1:])
        if not self.low and rng.random() < 0.85:
            text = text[0].upper() + text[1:]
            text = re.sub(r"([.!?] )([a-z])", lambda m: m[1] + m[2].upper(), text)
        if self.low:
            text = text.lower()
        last = self.said[ord(text[-1]) - 0xE000][-1:] if MARK.match(text[-1]) else text[-1]
        if last not in ".!?" and rng.random() < (0.12 if open_end else 0.4):
            text += pick(rng, [".", ".", ".", ".", ".", "!"])
            last = "."
        if rng.random() < 0.08 and (last in ".!?" or not open_end):
            text += (" " if last in ".!?" else ". ") + (pick(rng, WORDS["after"]) if rng.random() < 0.7 else self.context())
        if rng.random() < 0.03:
            text = self.slip(text)
        text = MARK.sub(lambda m: self.said[ord(m[0]) - 0xE000], text)
        self.said = []
        return text.strip()

    def slip(self, text):
        words = [m for m in re.finditer(r"[a-z]{5,}", text)]
        if not words:
            return text
        m = pick(self.rng, words)
        i = m.start() + 1 + int(self.rng.random() * (m.end() - m.start() - 2))
        return text[:i] + text[i + 1:] if self.rng.random() < 0.5 else text[:i] + text[i + 1] + text[i] + text[i + 2:]

    # ---- Results and answers

    def result(self, ask):
        """What a tool gives back, and what the model says of it."""
        rng, kind = self.rng, self.rng.random()
        if kind < 0.3:
            fields = {}
            for _ in range(1 + int(rng.random() * 3)):
                key, make = pick(rng, FIELDS)
                fields[key] = make(rng)
            if rng.random() < 0.25 and ask.arguments:
                key = pick(rng, list(ask.arguments))
                if isinstance(ask.arguments[key], (str, int, float)) and not isinstance(ask.arguments[key], bool) and "\n" not in str(ask.arguments[key]):
                    fields[key] = ask.arguments[key]
            return fields, told(fields)
        if kind < 0.55:
            return pick(rng, [{"success": True}, {"status": "ok"}, "OK", "ok", "Done", "success", {"result": "success"}, {"ok": True}, {"status": "success"}, "done", {"done": True}, "true", {"saved": True}]), "Done."
        if kind < 0.7:
            text = sentence(rng) if rng.random() < 0.7 else f"{phrase(rng)}, {phrase(rng)}"
            return (text, text) if rng.random() < 0.7 else ({pick(rng, ["result", "text", "message", "output", "content", "answer"]): text}, text)
        if kind < 0.8:
            error = pick(rng, ["not found", "permission denied", "timeout", "invalid input", "no connection", "the service is not available", "access denied", "file not found", "quota exceeded", f"unknown {pick(rng, WORDS['noun'])}", f"{phrase(rng)} not found", f"no {pick(rng, WORDS['noun'])} with this name", "too many requests", "internal error"])
            return pick(rng, [{"error": error}, f"Error: {error}", {"error": error, "code": pick(rng, [400, 403, 404, 500])}, {"success": False, "error": error}]), f"That did not work: {error}."
        if kind < 0.83:
            rows = [{key: make(rng) for key, make in [pick(rng, NAMING), pick(rng, FIELDS)]} for _ in range(1 + int(rng.random() * 3))]
            titles = [str(next(iter(row.values()))) for row in rows]
            return pick(rng, [rows, {pick(rng, ["results", "items", "matches", "records", "entries"]): rows}, {"count": len(rows), "results": rows}]), f"I found {listed(titles)}."
        if kind < 0.89:
            n = pick(rng, [int(rng.random() * 100), int(rng.random() * 10000), round(rng.random() * 100, 2) + 0.01])
            n = round(n, 2)
            n = int(n) if n == int(n) else n
            return pick(rng, [n, {"result": n}, {"value": n}, str(n)]), f"The result is {n}."
        items = [pick(rng, [phrase, lambda r: pick(r, WORDS["first"][:90]), lambda r: pick(r, WORDS["city"]), pseudo, lambda r: pick(r, WORDS["product"]), ident])(rng) for _ in range(1 + int(rng.random() * 3))]
        if rng.random() < 0.1:
            return {"results": []}, "I found nothing."
        return ({pick(rng, ["results", "items", "list", "files", "data", "names"]): items} if rng.random() < 0.6 else "\n".join(items)), f"I found {listed(items)}."

    def given(self, output, said=""):
        """A result as an object, which is written with sorted keys, or as the JSON text that most clients send."""
        if isinstance(output, str) or self.rng.random() < 0.6:
            return output, said
        if isinstance(output, dict) and said == told(output):
            said = told(output, list)
        return json.dumps(output, ensure_ascii=self.rng.random() < 0.2, separators=pick(self.rng, [None, (",", ":")]), indent=pick(self.rng, [None] * 8 + [2])), said

    def answered(self, results):
        texts = [text for _, text in results]
        return "Done." if all(text == "Done." for text in texts) else " ".join(text if text[-1:] in ".!?" or len(texts) == 1 else text + "." for text in texts)

    # ---- Conversations

    def conversation(self):
        """One conversation, cut behind one message of the model."""
        rng = self.rng
        self.said, self.low = [], rng.random() < 0.13
        dialect = "functiongemma" if rng.random() < 0.5 else "gemma4"
        thinks = dialect == "gemma4" and rng.random() < 0.35
        self.messages, self.cuts = [], []
        category = pick(rng, KINDS)
        tools = getattr(self, category)()
        messages, cuts = self.messages, self.cuts
        for _ in range(pick(rng, TURNS) if category not in ("listing", "desk", "chat", "decline") else 0):
            tools = self.further(tools)
        tools = tools if category in ("listing", "desk") else self.shuffled(tools)
        end = rng.choices(cuts, [3 if has_call(messages[i]) else 1 for i in cuts])[0] if rng.random() < 0.3 else cuts[-1]
        messages = messages[:end + 1]
        if not thinks:
            for message in messages:
                if message["role"] == "assistant":
                    message["content"] = [part for part in message["content"] if part["type"] != "thinking"]
        if rng.random() < 0.22:
            fields = {"name": name, "date": date}
            text = WORD_SLOT.sub(lambda m: fields[m[1]](rng) if m[1] in fields else pick(rng, WORDS[m[1]]), pick(rng, SYSTEMS))
            messages = [{"role": "system", "content": [{"type": "text", "text": text}]}] + messages
        request = {"model": "tiny", "messages": messages}
        if tools:
            request["tools"] = [tool.tool for tool in tools]
        if thinks:
            request["thinking"] = {"enabled": True}
        variant = pick(rng, list(VARIANTS)) if dialect == "gemma4" else "google-functiongemma-270m-it"
        spans = render(dialect, request, VARIANTS.get(variant, ""))
        return {"dialect": dialect, "variant": variant, "request": request, "spans": spans, "category": category}

    def user(self, text):
        self.messages.append({"role": "user", "content": [{"type": "text", "text": text}]})

    def model(self, text, thought):
        self.cuts.append(len(self.messages))
        self.messages.append({"role": "assistant", "content": [{"type": "thinking", "text": thought}, {"type": "text", "text": text}]})

    def round(self, asks):
        """Calls, and their results."""
        self.cuts.append(len(self.messages))
        calls = [{"type": "tool-call", "id": f"call_{len(self.messages)}_{i}", **ask.call} for i, ask in enumerate(asks)]
        self.messages.append({"role": "assistant", "content": [{"type": "thinking", "text": planned(asks)}, *calls]})
        results = [self.given(*self.result(ask)) for ask in asks]
        for call, (output, _) in zip(calls, results):
            self.messages.append({"role": "tool", "id": call["id"], "name": call["name"], "output": output})
        return results

    def answer(self, results):
        self.model(self.answered(results), "I have the result." if len(results) == 1 else "I have the results.")

    def asked(self, near_count=None):
        """A tool, its distractors and a request."""
        while True:
            instance, near = self.positive()
            self.said = []
            ask = self.ask(instance)
            if ask:
                return instance, near, ask

    def single(self):
        rng = self.rng
        instance, near, ask = self.asked()
        text = self.sentence(ask)
        if instance.spec.phrases["M"] and rng.random() < 0.05:
            # Said in general first: still one call.
            general = expand(rng, pick(rng, instance.spec.phrases["M"]))
            if "{" not in general:
                text = self.framed(Ask("M", general, instance, {}), 0.3).rstrip("?.") + pick(rng, [". ", ". ", ": ", "? ", " - ", ", "]) + (text[0].upper() + text[1:] if rng.random() < 0.6 else text)
        self.user(self.finish(text, ask.open_end, ask))
        results = self.round([ask])
        self.answer(results)
        return [instance] + near + self.others(self.extra(), [instance])

    def extra(self):
        """How many more tools: mostly few."""
        return pick(self.rng, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7])

    def parallel(self):
        """One tool for two or three values."""
        rng = self.rng
        for _ in range(50):
            instance, near, ask = self.asked()
            if self.places(ask):
                break
        if rng.random() < 0.35 or not self.spread(ask):
            self.repeated(instance)
        return [instance] + near + self.others(self.extra(), [instance])

    def places(self, ask):
        """Arguments of which there could be several, and that don't stand in a list already."""
        kinds = {argument: kind for argument, kind, _ in ask.instance.params.values()}
        return [(argument, kinds[argument]) for argument, at in ask.marks.items() if kinds[argument][0] not in ONE_OF and leaf(kinds[argument]) not in OPEN_KINDS
                and (kinds[argument][0] not in ("int", "nth") or len(ask.marks) == 1)
                and (leaf(kinds[argument]) not in FORMED or self.unmistakable(ask.instance, argument, ask.arguments)) and not re.search(LISTED.replace("X", chr(0xE000 + at)), ask.clause)]

    def values(self, kind, count, argument):
        """Different values, and the words for them."""
        items, saids = [], []
        for _ in range(count):
            item, said = self.drawn(kind, items, argument)
            if item not in items and ", " not in said and " and " not in said:
                items.append(item)
                saids.append(said)
        return items, saids

    def spread(self, ask):
        """This request for several values of one argument; false where it has none."""
        rng, places = self.rng, self.places(ask)
        if not places or any(" and " in str(item) for item in ask.arguments.values()):
            return False
        argument, kind = pick(rng, places)
        values, saids = self.values(kind, pick(rng, [2, 2, 2, 3, 3, 4]), argument)
        if len(values) < 2:
            return False
        at, calls = ask.marks[argument], [{**ask.arguments, argument: item} for item in values]
        mark, others = chr(0xE000 + at), [place for place in places if place[0] != argument]
        chance = rng.random()
        if chance < 0.06 and others and len(values) < 4:
            other, other_kind = pick(rng, others)
            second, second_saids = self.values(other_kind, len(values), other)
            if len(second) < len(values):
                return False
            self.said[at], self.said[ask.marks[other]] = listed(saids), listed(second_saids)
            for call, item in zip(calls, second):
                call[other] = item
            self.user(self.finish(self.sentence(ask).rstrip("?.") + pick(rng, [" respectively", ", respectively", ", in this order"]), ask.open_end))
        elif chance < 0.25 and not ask.open_end and isinstance(values[0], str) and kind[0] != "enum" and self.unmistakable(ask.instance, argument, ask.arguments):
            self.said[at] = saids[0]
            so = re.match(f"(the |my |our |)({mark}) (is|was|has)\\b", ask.text) if len(saids) == 2 and not ask.lead and not ask.closing else None
            form = f" and so {so[3]} {so[1]}{{}}" if so else pick(rng, SAME)
            self.user(self.finish(self.sentence(ask).rstrip("?.") + form.replace("{}", listed([self.mark(said) for said in saids[1:]])), True))
        else:
            self.many(ask, argument, mark)
            both = "both " if len(saids) == 2 and rng.random() < 0.08 and not re.search(f"(the|my|our|an?|[a-z]s) {mark}", ask.text) else ""
            self.said[at] = both + ", ".join(saids[:-1]) + (" and " if both else pick(rng, [" and ", " and ", " and ", " and also ", ", and ", " as well as ", " and then ", " plus ", " & "])) + saids[-1]
            self.user(self.finish(self.sentence(ask), ask.open_end))
        self.answer(self.round([Ask(ask.kind, "", ask.instance, call) for call in calls]))
        return True

    def unmistakable(self, instance, argument, arguments):
        """Whether another value alone says that it is for this argument: no other one could have it."""
        sorts = {name: sort_of(kind) for name, kind, _ in instance.params.values() if name in arguments}
        return list(sorts.values()).count(sorts[argument]) == 1

    def many(self, ask, argument, mark):
        """The word for what they are in the plural: `read sensors A1 and B2`, `the kitchen and garden lamps`."""
        rng, param = self.rng, next(param for name, _, param in ask.instance.params.values() if name == argument)
        words = {word for name in param.names for word in words_of(name)} & KNOWN - UNNAMED - VAGUE
        near = next((m for form in (f"(?<= )[a-z]+(?= {mark})", f"(?<={mark} )[a-z]+") for m in re.finditer(form, ask.text) if m[0] in words), None)
        if near:
            if not near[0].endswith("s") and not re.search(r"\ban? [^,.]{0,30}$", ask.text[:near.start()]) and rng.random() < 0.75:
                ask.text = ask.text[:near.start()] + plural(near[0]) + ask.text[near.end():]
        elif spoken_name(argument, param) in words and rng.random() < 0.15 and f" {mark}" in ask.text and not re.search(f"\\b(an?|[a-z]+s) ([a-z]+ )*{mark}", ask.text):
            many = plural(spoken_name(argument, param)) + " " + mark
            ask.text = ask.text.replace(mark, many if re.search(f"(the|my|our) {mark}", ask.text) else pick(rng, ["", "the "]) + many, 1)

    def repeated(self, instance):
        """One tool twice or three times, asked for as often: in full, or only with what is different."""
        self.said = []
        short = self.gapped(instance) if self.rng.random() < 0.65 else None
        if short:
            asks, text = short
        else:
            while not (first := self.ask(instance, optional=0.15)) or not (second := self.ask(instance, kinds=first.kind, optional=0.15)):
                self.said = []
            asks = [first, second] if first.arguments != second.arguments else [first]
            text = self.sentence(first).rstrip("?.") + pick(self.rng, AND) + second.clause
        self.user(self.finish(text, asks[-1].open_end))
        self.answer(self.round(asks))

    def gapped(self, instance):
        """`set the oven to 200 and the grill to 3, both with steam`."""
        rng = self.rng
        phrases = [phrase for kind in "AQ" for phrase in instance.spec.phrases[kind]]
        for _ in range(8 if phrases else 0):
            self.said = []
            phrase = expand(rng, pick(rng, phrases))
            slots = list(SLOT.finditer(phrase))
            if len(slots) < 2 or slots[0][1] or any(slot[1] not in ("", "+") or slot[3] is not None for slot in slots):
                continue
            start = slots[0].start()
            for article in ("the ", "my ", "a ", "for ", "to ", "at ", "from ", "in ", "on "):
                if phrase[:start].endswith(" " + article):
                    start -= len(article)
                    break
            asks = [self.fill(instance, phrase if not i else phrase[start:], "M", 0, {}) for i in range(2 if rng.random() < 0.6 else 3)]
            if all(asks) and all(len(ask.arguments) == len(asks[0].arguments) >= len(instance.required) for ask in asks) and all(one.arguments != other.arguments for i, one in enumerate(asks) for other in asks[:i]):
                asks[0].kind = "A" if phrase.split(" ")[0] in IMPERATIVES else "Q"
                text = ", ".join([self.sentence(asks[0]).rstrip("?."), *(ask.text for ask in asks[1:-1])]) + pick(rng, [" and ", " and ", ", ", " and then ", "; ", ", and "]) + asks[-1].text
                return asks, text + self.shared(instance, asks)
        return None

    def shared(self, instance, asks):
        """Now and then something that is meant for all of these calls."""
        rest = [key for key, (argument, _, param) in instance.params.items() if param.optional and argument not in asks[0].arguments]
        if not rest or asks[-1].open_end or self.rng.random() < 0.65:
            return ""
        arguments = {}
        said, ends = self.attachment(instance, pick(self.rng, rest), arguments)
        said = said.lstrip(" ,")
        if ends or said.startswith(("and ", "but ", "(", "-")):
            return ""
        for ask in asks:
            ask.arguments.update(arguments)
        return pick(self.rng, [", both ", ", both ", ", each ", ", in both cases "] if len(asks) == 2 else [", all ", ", each ", ", all of them "]) + said

    def several(self, joints=AND, count=None):
        """Several tools, together or one after the other."""
        rng = self.rng
        asks, tools = [], []
        self.said = []
        for _ in range(count or pick(rng, [2, 2, 2, 3])):
            for _ in range(30):
                instance, near = self.positive()
                if asks and rng.random() < 0.45:
                    domain = [spec for spec in self.by_domain.get(asks[0].instance.spec.domain, ()) if spec.key != asks[0].instance.spec.key]
                    instance = self.instance(pick(rng, domain)) if domain else instance
                if any(instance.spec.key in CLASHES.get(ask.instance.spec.key, {ask.instance.spec.key}) | {ask.instance.spec.key} for ask in asks) or instance.name in [tool.name for tool in tools]:
                    continue
                ask = self.ask(instance, kinds="A" if asks and asks[0].kind == "A" and rng.random() < 0.8 else "ANQ", optional=0.15)
                if ask:
                    asks.append(ask)
                    tools.append(instance)
                    break
        self.joined(asks, joints)
        return tools + self.others(pick(rng, [0, 0, 1, 1, 2, 3, 4]), tools)

    def joined(self, asks, joints):
        """Several requests in one message, their calls together or one after the other."""
        rng = self.rng
        text = self.sentence(asks[0]).rstrip("?.")
        for before, ask in zip(asks, asks[1:]):
            joint = pick(rng, joints) if len(asks) == 2 or ask is asks[-1] or rng.random() < 0.3 else ", "
            joint = " and " if joint == ", " and before.open_end else joint
            said = ask.clause if ask.kind == "A" else self.sentence(ask, 0.5)
            text += ("? " if joints is AND and ask.kind == "Q" and QUESTION.match(text) else joint) + said
        text = re.sub(r"([.?!] )([a-z])", lambda m: m[1] + m[2].upper(), text)
        self.user(self.finish(text, asks[-1].open_end))
        if joints is THEN:
            results = [result for ask in asks for result in self.round([ask])]
        else:
            results = self.round(asks)
        self.answer(results)

    def sequence(self):
        return self.several(THEN, 2)

    def chain(self):
        """The second call needs what the first one gave."""
        rng = self.rng
        for _ in range(60):
            self.said = []
            first_instance, _ = self.positive()
            second_instance, _ = self.positive()
            if first_instance.name == second_instance.name or first_instance.spec.key in CLASHES.get(second_instance.spec.key, set()) | {second_instance.spec.key}:
                continue
            keys = [key for key, (_, kind, param) in second_instance.params.items() if leaf(kind) in CHAINED and not param.optional]
            if not keys:
                continue
            key = pick(rng, keys)
            argument, kind, _ = second_instance.params[key]
            item = str(draw(rng, kind)[0])
            field = CHAINED[leaf(kind)]
            first = self.ask(first_instance, kinds="A", optional=0.1)
            second = self.ask(second_instance, kinds="A", optional=0.1, fixed={key: (item, pick(rng, [f"the {field}", f"that {field}", f"the {field} you get", f"this {field}"]))})
            if first and second:
                break
        else:
            return self.single()
        self.user(self.finish(self.sentence(first).rstrip("?.") + pick(rng, THEN) + second.clause, second.open_end))
        results = self.round([first])
        self.messages[-1]["output"] = self.given({field: item, **({pick(rng, FIELDS)[0]: phrase(rng)} if rng.random() < 0.4 else {})})[0]
        results = self.round([second])
        self.answer(results)
        return [first_instance, second_instance] + self.others(pick(rng, [0, 1, 2]), [first_instance, second_instance])

    def clarify(self):
        """Something is missing: ask for it, then call."""
        rng = self.rng
        for _ in range(60):
            self.said = []
            instance, near = self.positive()
            ask = self.ask(instance, kinds="M") if instance.spec.phrases["M"] else None
            if ask:
                break
        else:
            return self.single()
        missing = [(argument, kind) for argument, kind, _ in instance.required if argument not in ask.arguments]
        if not missing:
            return self.single()
        self.user(self.finish(self.sentence(ask)))
        names = [readable(argument) for argument, _ in missing]
        self.model(f"Please tell me the {listed(names, ' and the ')}.", f"{instance.name} fits, but the {listed(names, ' and the ')} {'is' if len(names) == 1 else 'are'} missing.")
        if rng.random() < 0.6:
            self.low, parts = False, []
            for argument, kind in missing:
                item, said = draw(rng, kind)
                ask.arguments[argument] = item
                parts.append(said if len(missing) == 1 or rng.random() < 0.4 else f"{readable(argument)} {said}")
            text = ", ".join(parts) if rng.random() < 0.6 or len(parts) == 1 else " and ".join(parts)
            if len(missing) == 1:
                text = pick(rng, ["{}", "{}", "{}", "{} please", "it's {}", "{}, please", "make it {}", "I mean {}"]).format(text)
            self.user(text.strip())
            self.answer(self.round([ask]))
        return [instance] + near + self.others(self.extra(), [instance])

    def decline(self):
        """No tool fits."""
        return self.declined(self.others(1 + self.extra(), []))

    def declined(self, offered):
        """A request that none of these tools is for; gives back those for which that is certain."""
        instance, _, ask = self.asked()
        text = self.finish(self.sentence(ask), ask.open_end)
        words = stems(text + " " + instance.name + " " + instance.spec.key)
        tools = [tool for tool in offered if tool.spec.domain != instance.spec.domain and not words & stems(tool.name + " " + tool.tool["description"])
                 and tool.spec.key not in ("search_web", "run_command", "wikipedia") and tool.spec.key not in CLASHES.get(instance.spec.key, ())]
        if self.messages and len(tools) < len(offered):
            return offered
        self.user(text)
        self.model(pick(self.rng, NO_TOOL), "No tool fits.")
        return tools

    def chat(self):
        """No tool is needed."""
        rng = self.rng
        tools = self.others(pick(rng, [0, 0, 1, 1, 2, 2, 3, 4, 5]), [])
        if rng.random() < 0.45:
            asks, reply = pick(rng, CHAT)
            text = pick(rng, asks.split("|"))
        else:
            text = WORD_SLOT.sub(lambda m: name(rng) if m[1] == "name" else pick(rng, WORDS[m[1]]), pick(rng, OPEN_QUESTIONS))
            words = stems(text)
            tools = [tool for tool in tools if not words & stems(tool.name + " " + tool.tool["description"]) and tool.spec.key not in ("search_web", "wikipedia", "get_news", "tell_joke", "country_info")]
            reply = pick(rng, OPEN_ANSWERS)
        if QUESTION.match(text) and rng.random() < 0.7:
            text += "?"
        self.user(self.finish(text))
        self.model(reply, "No tool is needed.")
        return tools

    def desk(self):
        """The tools that `dragoman chat` has, declared and answering as there, turn after turn."""
        rng = self.rng
        tools = [DESK[key] for key in DESK]
        for _ in range(pick(rng, [1, 1, 2, 2, 3, 4, 5])):
            self.said = []
            if rng.random() < 0.12:
                asks, reply = pick(rng, CHAT)
                self.user(self.finish(pick(rng, asks.split("|"))))
                self.model(reply, "No tool is needed.")
                continue
            instance = pick(rng, tools)
            ask = self.ask(instance, optional=0.15)
            text = self.sentence(ask)
            self.user(self.finish(text, ask.open_end, ask))
            self.round([ask])
            output, said = DESK_RESULTS[instance.name](rng, ask.arguments)
            if rng.random() < 0.06:
                error = pick(rng, ["no such file", "permission denied", "the output is not a terminal: there is nothing to paint", "not a number", f"{pseudo(rng)} is no color that this terminal knows; give #rrggbb"])
                output, said = {"error": error}, f"That did not work: {error}."
            self.messages[-1]["output"], said = self.given(output, said)
            self.model(said, "I have the result.")
        return tools

    def listing(self):
        """What can you do?"""
        tools = self.shuffled(self.others(pick(self.rng, [0, 1, 1, 2, 2, 3, 4, 5, 6]), []))
        text = pick(self.rng, WHICH_TOOLS)
        self.user(self.finish(text + ("?" if QUESTION.match(text) and self.rng.random() < 0.7 else "")))
        self.model(f"I can call {listed([tool.name for tool in tools])}." if tools else "I have no tools here.", "The user asks for my tools.")
        return tools

    def follow(self):
        """The same again, with another value."""
        rng = self.rng
        tools = self.single()
        call = next(part for message in self.messages if message["role"] == "assistant" for part in message["content"] if part["type"] == "tool-call")
        instance = next(tool for tool in tools if tool.name == call["name"])
        keys = [key for key, (argument, kind, _) in instance.params.items() if argument in call["arguments"] and kind[0] not in ("list", "obj", "objs", "bool", "digits") and self.unmistakable(instance, argument, call["arguments"])]
        if not keys:
            return tools
        key = pick(rng, keys)
        argument, kind, _ = instance.params[key]
        item, said = self.drawn(kind, [call["arguments"][argument]], argument)
        forms = ["and {}?", "what about {}?", "and for {}?", "how about {}?", "now {}", "same for {}", "and {}", "do the same for {}", "again with {}", "try {}", "no, {}", "I meant {}", "{} instead", "change it to {}", "make it {}", "same thing with {}", "and now {}", "what about {} instead?", "now for {} please", "and {} please"]
        self.said = []
        self.user(self.finish(pick(rng, forms).replace("{}", self.mark(said)), True))
        self.answer(self.round([Ask("A", "", instance, {**call["arguments"], argument: item})]))
        return tools

    def further(self, tools):
        """Another turn with the same tools: what they are for, mostly; a word of thanks; something that none of them does."""
        rng = self.rng
        self.said, kind = [], rng.random()
        if kind < 0.07:
            asks, reply = pick(rng, CHAT[2:6])
            self.user(self.finish(pick(rng, asks.split("|"))))
            self.model(reply, "No tool is needed.")
            return tools
        tools = self.shuffled(tools, 8)
        clear = [one for one in tools if not any(other is not one and other.spec.key in CLASHES.get(one.spec.key, {one.spec.key}) | {one.spec.key} for other in tools)]
        asks = [ask for ask in (self.ask(instance, optional=0.35 if kind < 0.8 else 0.15) for instance in rng.sample(clear, min(len(clear), 2 if kind > 0.8 else 1))) if ask]
        if kind < 0.13:
            self.declined(tools)
        elif len(asks) == 2:
            self.joined(asks, AND)
        elif asks and kind < 0.7 or asks and not self.spread(asks[0]):
            self.user(self.finish(self.sentence(asks[0]), asks[0].open_end, asks[0]))
            self.answer(self.round(asks))
        return tools


def tool_of(name, description, spec, **params):
    """A declaration that is always the same, of a tool that is written by hand."""
    properties = {argument: {"type": "string", "description": text} for argument, (_, text, _) in params.items()}
    required = [argument for argument, (_, _, needed) in params.items() if needed]
    made = Instance.__new__(Instance)
    made.spec, made.name, made.extra, made.declared = spec, name, [], {}
    by_key = {param.key: param for param in spec.params}
    made.params = {key: (argument, by_key[key].kind, by_key[key]) for argument, (key, _, _) in params.items()}
    made.required = [made.params[key] for _, (key, _, needed) in params.items() if needed]
    made.tool = {"name": name, "description": description, "parameters": {"type": "object", "properties": properties, **({"required": required} if required else {})}}
    return made


def list_any(specs):
    """Files, of one folder or of all."""
    one, all_ = specs["list_files"], specs["list_all_files"]
    out = Spec("files", one.names, one.descriptions)
    param = one.params[0]
    out.params = [Param(param.names, True, param.kind, param.descriptions, ["in {}", "of {}", "in the folder {}"])]
    out.phrases = {kind: one.phrases[kind] + all_.phrases[kind] * 2 for kind in one.phrases}
    return out


BY_KEY = {spec.key: spec for spec in SPECS}
DESK = {tool.name: tool for tool in (
    tool_of("get_time", "Tell the current date and time.", BY_KEY["get_time"], timezone=("timezone", "IANA time zone, such as Europe/Oslo; by default the local one", False)),
    tool_of("calculate", "Evaluate an arithmetic expression.", BY_KEY["calculate"], expression=("expression", "For example 2 * (3 + 4)", True)),
    tool_of("list_files", "List the files of the folder.", list_any(BY_KEY), path=("path", "A folder in it; by default all of it", False)),
    tool_of("read_file", "Read a text file of the folder.", BY_KEY["read_file"], path=("path", "Path of the file", True)),
    tool_of("write_file", "Write a text file into the folder. A file that is there is replaced.", BY_KEY["write_file"], path=("path", "Path of the file", True), content=("content", "Text of the file", True)),
    tool_of("change_background_color", "Change the background color of the terminal.", BY_KEY["change_background_color"], color=("color", "Name of a color, or #rrggbb", True)),
)}


def clock(rng, arguments):
    fields = {"date": iso_date(rng), "time": f"{int(rng.random() * 24):02d}:{int(rng.random() * 60):02d}:{int(rng.random() * 60):02d}", "weekday": pick(rng, WORDS["weekday"]), "timezone": arguments.get("timezone", pick(rng, WORDS["timezone"]))}
    return fields, told(fields)


def calculated(rng, arguments):
    number = pick(rng, [int(rng.random() * 200), int(rng.random() * 9000) - 500, round(rng.random() * 100, 1 + int(rng.random() * 9)) + 0.5])
    return {"result": number}, f"The result is {number}."


def folder_listing(rng, arguments):
    found = [path(rng) for _ in range(int(rng.random() * 5))]
    return {"files": found}, f"I found {listed(found)}." if found else "I found nothing."


def file_text(rng, arguments):
    text = content(rng)
    return {"content": text}, text


def file_written(rng, arguments):
    fields = {"path": arguments["path"], "bytes": len(arguments["content"].encode())}
    return fields, told(fields)


def painted(rng, arguments):
    fields = {"color": "#" + "".join(pick(rng, "0123456789abcdef") for _ in range(6))}
    return fields, told(fields)


DESK_RESULTS = {"get_time": clock, "calculate": calculated, "list_files": folder_listing, "read_file": file_text, "write_file": file_written, "change_background_color": painted}
KINDS = ["desk"] * 2 + ["single"] * 52 + ["parallel"] * 14 + ["several"] * 12 + ["sequence"] * 3 + ["chain"] * 2 + ["clarify"] * 5 + ["decline"] * 7 + ["chat"] * 6 + ["listing"] * 2 + ["follow"] * 6
TURNS = [0] * 5 + [1] * 4 + [2] * 4 + [3] * 3 + [4] * 2 + [5] * 2
NAMED_KINDS = {"first", "name", "user", "thing", "title", "ident", "city", "place", "street", "room", "company", "product", "team", "service", "file", "word", "country", "song", "movie", "book", "animal", "plant", "food", "device", "subject", "topic", "pseudo", "version", "host", "branch"}
UNNAMED = set("because until since about against during after before via through reason_for who_for next_to beside near up_to to from what when where which who at by on in of for with how as into via key value text it one other all the target input new old".split())
CHAINED = {"email": "email", "ident": "id", "phone": "number", "url": "link", "path": "file", "file": "file", "city": "city", "address": "address", "user": "user", "domain": "domain"}
NAMING = [("title", phrase), ("name", name), ("name", lambda r: unheard(r, True)), ("title", lambda r: unheard(r, True)), ("id", ident)]
FIELDS = [
    ("temperature", lambda r: int(r.random() * 45) - 10), ("condition", lambda r: pick(r, ["sunny", "cloudy", "rain", "snow", "windy", "foggy", "partly cloudy", "clear", "thunderstorm"])), ("status", lambda r: pick(r, WORDS["status"])), ("price", lambda r: round(r.random() * 500, 1) + 0.05 if r.random() < 0.3 else int(r.random() * 900)),
    ("total", lambda r: int(r.random() * 9000)), ("count", lambda r: int(r.random() * 50)), ("name", name), ("id", ident), ("city", lambda r: pick(r, WORDS["city"])), ("time", lambda r: f"{int(r.random() * 24):02d}:{int(r.random() * 60):02d}"), ("date", lambda r: f"2026-{1 + int(r.random() * 12):02d}-{1 + int(r.random() * 28):02d}"),
    ("message", sentence), ("balance", lambda r: int(r.random() * 9000)), ("distance", lambda r: f"{int(r.random() * 900)} km"), ("duration", lambda r: f"{int(r.random() * 90)} minutes"), ("rating", lambda r: 1 + int(r.random() * 5)), ("humidity", lambda r: int(r.random() * 100)), ("wind", lambda r: f"{int(r.random() * 60)} km/h"), ("size", lambda r: f"{int(r.random() * 900)} kB"),
    ("owner", name), ("color", lambda r: pick(r, WORDS["color"])), ("level", lambda r: int(r.random() * 100)), ("order_id", ident), ("confirmation_code", ident), ("delivery_date", lambda r: f"2026-{1 + int(r.random() * 12):02d}-{1 + int(r.random() * 28):02d}"), ("unit", lambda r: pick(r, ["celsius", "km", "EUR", "kg", "percent"])), ("translation", lambda r: pick(r, WORDS["foreign_text"])), ("title", phrase), ("rate", lambda r: round(r.random() * 3 + 0.0005, 4)),
]


RELATIVES = "my sister,my brother,my neighbor,a friend,my cousin,the boss,my aunt,our guest,my roommate,the kids,my partner,my uncle,the team,a colleague,somebody,my son,my daughter".split(",")
LEADS = re.compile(r"(on|for|in|at|from|with|by|until|due|starting|near|to|using|under|within|via|through|about|after|before|during|because of|as|since) .", re.I)
BARE = re.compile(r"(^|\b(to|for|from|with|by|of|and|tell|ask|call|invite|let|give|send|about|pay|put|book|remind|is) )$")
NUMERIC = {"int", "nth", "num", "money", "mins", "secs", "lat", "lon"}
FORMED = {"date", "time", "datetime", "iso_date", "iso_time", "email", "url", "phone", "ip", "hex_color", "weekday", "month"}
ONE_OF = {"list", "obj", "objs", "bool", "digits", "num", "money", "mins", "secs", "lat", "lon"}
LISTED = r"(\band|\bor|\bplus|&|[\ue000-\uf8ff],) X|X (and|or|plus|&)\b|X, [\ue000-\uf8ff] and"
NUMBERED = re.compile(r"([A-Za-z]+) (\d[\w./-]*|[A-Z]\d*)$")
TORN = re.compile(r"(\b(is|are|was|be|been|not|goes?|went|came|comes?|gets?|to|than|and|or|but|no|only|just|from|up|out|it|them|that)|[,:])$")
MOVABLE = re.compile("(.{12,}) ((?:in|at|on|for|from|to|with|by|near|under|about) (?:the |my |our )?[\ue000-\uf8ff])$")
DESCRIBED = re.compile(r"(The |Number of |Name of |Title of |Kind of |Date of |Price of |Amount of )?[A-Za-z]+( [a-z]+)?$")
SAME = [", and the same for {}", ", same for {}", ". The same for {}", ", likewise {}", ", {} too", ". {} too", ", and {} as well", ". And {} as well", ", and so for {}", ". Same with {}", ", also {}", ". Also {}", "; {} as well", ", the same goes for {}", " and do likewise for {}"]
BEFORE_NAMES = ["little", "old", "young", "our", "my son", "my sister", "my friend", "poor", "our colleague", "my neighbor", "good old", "the famous", "a certain", "dear", "our own", "my boss", "their"]
APART = ["The {w} is {}", "The {w} should be {}", "{w}: {}", "Use {} as the {w}", "Make the {w} {}", "Set the {w} to {}", "And the {w} is {}", "The {w} must be {}", "As for the {w}, take {}", "{} is the {w}", "I'd like {} as the {w}", "For the {w}, use {}"]
# Which value is which: without these words nobody could tell.
RELATIONS = set("until till under over between against behind past half above below since without instead never none both every first last next minus plus times more less least most because while during through toward towards around across along upon onto down again back twice once double full empty right left same different except already still later earlier early late today tomorrow".split())
APART_BOOL = {True: ["{w}: yes", "With {w}, please", "And {w} on", "{w} should be true", "I want {w}", "Turn {w} on"], False: ["{w}: no", "Without {w}, please", "And {w} off", "{w} should be false", "I don't want {w}", "Turn {w} off"]}
PLAIN = ["with {w} {}", "with the {w} {}", "{w} {}", "and {w} {}", "with {} as the {w}", ", {w}: {}", ", {w} {}", "and set the {w} to {}", "and the {w} {}", "using {w} {}", ", the {w} should be {}", "where the {w} is {}", "and use {} as the {w}", ", {w} = {}", "and put the {w} at {}", "with a {w} of {}", ", {w} is {}"]
PLAIN_ENUM = ["make it {}", ", {} please", ", preferably {}", ", {}", "- {}", "({})", "and make it {}", ", {} if possible", ", I'd prefer {}", ", it should be {}", ", ideally {}", ", {} would be best", ", {} this time"]
PLAIN_BOOL = {True: ["with {w}", "{w}", "with {w} on", ", {w}: yes", "and {w}", "with {w} set to true", ", {w} true", "and turn {w} on", "with {w} enabled"], False: ["without {w}", "no {w}", "not {w}", "with {w} off", ", {w}: no", "with {w} set to false", ", {w} false", "but without {w}", "with {w} disabled"]}
DOING = re.compile(r"(include|send|show|add|keep|skip|allow|notify|use|enable|save|overwrite|force|ignore|open|close|print|play|record|attach|delete|remove|create|follow|repeat|share|hide|lock|wait|ask|check|confirm) ")
PLAIN_DO = {True: ["and {w}", ", please {w}", ", {w} too", "and also {w}", ", {w}: yes", "with {w} set to true", ", do {w}"], False: ["but don't {w}", "and do not {w}", ", no need to {w}", ", {w}: no", "with {w} set to false", ", don't {w}"]}
PLAIN_NEGATED = {True: [", {w}: yes", "with {w} set to true", ", {w} true"], False: [", {w}: no", "with {w} set to false", ", {w} false"]}
NEGATED = re.compile(r"(no|not|non|without|hide|skip|never|un\w+|dis\w+)\b")
IMPERATIVES = {phrase.lstrip("(").split(" ")[0].split("|")[0].strip("()") for spec in SPECS for phrase in spec.phrases["A"]} | set(VERBS)


def leaf(kind):
    return kind[1] if kind[0] == "fn" else kind[0]


def sort_of(kind):
    """What one can tell a value by: a number, one of a list, a date; other texts are all alike."""
    return "number" if kind[0] in NUMERIC else str(kind[1]) if kind[0] == "enum" else leaf(kind) if leaf(kind) in FORMED else "text"


def weighted(frames):
    texts = [frame for frame, _ in frames]
    weights, total = [], 0.0
    for _, weight in frames:
        total += weight
        weights.append(total)
    return lambda rng: rng.choices(texts, cum_weights=weights)[0]


KNOWN = set(NOUNS) | {noun.split(" ")[-1] for noun in NOUNS} | set(WORDS["noun"])
VAGUE = set("name item object person thing color colour kind type title code number text subject incident was product user word value one part piece place site doctor department food note task what group new old area asset label term source target variable city person which that".split())
DESCRIBING = KNOWN | {word for noun in NOUNS for word in noun.split(" ")} | set(WORDS["adj"]) | set(WORDS["word"]) | set(WORDS["animal"]) | set(WORDS["plant"]) | set(WORDS["food"])


def is_common(item):
    """Whether it is said in words of the language, not by a name."""
    return isinstance(item, str) and item.islower() and all(word in DESCRIBING for word in item.split(" "))


def plain_words(text):
    return text.removeprefix("The ").lower() if not text.isupper() else text


def readable(key):
    return re.sub(r"([a-z])([A-Z])", r"\1 \2", key).replace("_", " ").replace("-", " ").lower()


def spoken_name(argument, param):
    """The name of a parameter, as long as one can say it: "recipient" for `to`."""
    return next((readable(name) for name in [argument if argument in param.names else param.names[0], *param.names] if readable(name) not in UNNAMED), readable(param.names[0]))


def listed(items, last=" and "):
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + last + items[-1]


def told(fields, order=lambda fields: sorted(fields, key=lambda field: field[0].lower())):
    said = [f"the {readable(key)} is {item}" for key, item in order(fields.items())]
    text = listed(said)
    return text[0].upper() + text[1:] + "."


def planned(asks):
    names = [ask.instance.name for ask in asks]
    if len(asks) == 1:
        said = [f"{key} is {item}" for key, item in asks[0].arguments.items() if isinstance(item, (str, int, float)) and not isinstance(item, bool) and len(str(item)) < 30 and "\n" not in str(item)]
        return f"I need {names[0]}" + (f": {', '.join(said)}." if said else ".")
    return f"I need {len(asks)} calls: {listed(names)}."


STOP_WORDS = set("the and for you that with this are from can how what have please could would want need tool use user all out his her its get set new name list show make one when does".split())


def stems(text):
    words = re.findall(r"[a-z]{3,}", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())
    return {word[:5] for word in words if word not in STOP_WORDS}


def sample(generator):
    made = generator.conversation()
    messages = made["request"]["messages"]
    request = {**made["request"], "messages": messages[:-1]}
    text = "".join(text for text, _ in made["spans"][:-1])
    return {"dialect": made["dialect"], "variant": made["variant"], "category": made["category"], "request": request, "text": text, "completion": made["spans"][-1][0], "expected": messages[-1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--held-out", action="store_true", help="only with the tools that are not trained on")
    options = parser.parse_args()
    generator = Generator(options.seed, DEVELOPMENT, 0, 0) if options.held_out else Generator(options.seed)
    for _ in range(options.count):
        print(json.dumps(sample(generator), ensure_ascii=False))


if __name__ == "__main__":
    main()
