"""Reads the tools that are written by hand, tools/*.txt. A spec says what a tool can be called and how people ask for it. `check-tools.py`
reads one's own files and says what is wrong in them.

    @home                                                                      the domain of what follows: tools of one domain are offered together
    set_timer|start_timer|countdown :: Start a timer|Sets a countdown          names :: descriptions; the first name is the key, unique in all files
     minutes|duration = int 1 120 :: Duration in minutes                        names = kind :: descriptions; required
     label?|name = food :: Name of the timer ~ for the {}|called {}             optional; behind ~ how a request adds it, {} is the value
     loud?|ring = bool yes/no :: Whether it rings ~ +with a bell -silently      a boolean: + how it is said when true, - when false
     A (set|start) a timer for {minutes} minutes( now|)                         a command that begins with its verb; (a|b) either, {key} a value
     N the time left on timer {id}                                              something to know: "what is …", "show me …" go before it
     Q I need {minutes} minutes for the {label}                                 a whole sentence or question as it is, without its ? or .
     M (set|start) a timer                                                      a command that lacks something required: the model asks
     ! set_alarm create_reminder                                                never offered with these, because a request could mean either
    ! set_volume volume_change mute                                            none of these is offered with another of them

A, N and Q name every required parameter. `{key:=value}` says nothing and passes the value (`turn {state:=on} the lamp on`); `{+key}` says
the value as behind `~`. Optional parameters are added by themselves. Requests are in small letters but for names.

Kinds: `int 1 60`, `num 0.5 9`, `nth 1 9` (3, said "third" or "3rd"), `money`, `mins`, `secs`, `lat`, `lon`; `enum a|b=said/otherwise said|c` (values, each with the words for it);
`bool yes words/no words` (words divided by commas); `list KIND 1 3` (KIND with : for blanks, `list int:1:9 2 4`); `obj name:KIND,name:KIND`
and `objs …`, a list of such objects; the lists of words/*.txt (`city`, `food`); the functions of values.py (`name`, `date`, `time`, `text`, `title`, `ident`).
"""
import re
from pathlib import Path

from values import FUNCTIONS, WORDS

MADE = Path(__file__).parent / "made" / "params.txt"
FILES = sorted((Path(__file__).parent / "tools").glob("*.txt"))
NUMBERS = {"int": 2, "num": 2, "nth": 2, "money": 0, "mins": 0, "secs": 0, "lat": 0, "lon": 0}


class Param:
    def __init__(self, names, optional, kind, descriptions, attachments):
        self.key, self.names, self.optional, self.kind = names[0], names, optional, kind
        self.descriptions, self.attachments = descriptions, attachments


class Spec:
    def __init__(self, domain, names, descriptions):
        self.domain, self.names, self.descriptions = domain, names, descriptions
        self.key = names[0]
        self.params, self.phrases = [], {"A": [], "N": [], "Q": [], "M": []}
        self.line = 0


def split(text, mark="|"):
    """At marks outside of parentheses."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == mark and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]]


def parse_kind(text):
    word, _, rest = text.strip().partition(" ")
    if word in ("enum", "enum_int"):
        options = []
        for option in rest.split("|"):
            name, _, said = option.partition("=") if " = " not in option else (option, "", "")
            options.append((int(name) if word == "enum_int" else name, said.split("/") if said else [name]))
        return [word, options]
    if word == "bool":
        yes, slash, no = rest.partition("/")
        if not slash:
            raise ValueError(f"bool wants words for yes and for no: bool with/without, not {text!r}")
        return ["bool", yes.split(","), no.split(",")]
    if word == "list":
        parts = rest.split(" ")
        if len(parts) != 3:
            raise ValueError(f"list wants a kind, a least and a most: list food 1 3, not {text!r}")
        return ["list", parse_kind(parts[0].replace(":", " ")), int(parts[1]), int(parts[2])]
    if word in ("obj", "objs"):
        return [word, [(field.split(":")[0], parse_kind(field.split(":", 1)[1])) for field in rest.split(",")]]
    if word in NUMBERS:
        if len(rest.split()) != NUMBERS[word]:
            raise ValueError(f"{word} wants {NUMBERS[word]} numbers, not {text!r}")
        return [word] + rest.split()
    if rest or word not in WORDS and word not in FUNCTIONS:
        raise ValueError(f"no such kind: {text!r}")
    return [word] if word in WORDS else ["fn", word]


def parse_param(line):
    head, equals, rest = line.partition(" = ")
    if not equals:
        raise ValueError(f"neither a parameter (name = kind :: description) nor a phrase (A, N, Q, M): {line!r}")
    kind, colons, rest = rest.partition(" :: ")
    if not colons:
        raise ValueError(f"a parameter without :: description: {line!r}")
    descriptions, _, attachments = rest.partition(" ~ ")
    names = head.strip().split("|")
    optional = names[0].endswith("?")
    names[0] = names[0].rstrip("?")
    parsed = parse_kind(kind)
    if parsed[0] == "bool" and attachments:
        yes, minus, no = attachments.partition(" -")
        if not minus or not yes.strip().startswith("+"):
            raise ValueError(f"a boolean is added as `~ +when true|otherwise -when false|otherwise`, not {attachments!r}")
        attachments = {True: split(yes.strip().removeprefix("+")), False: split(no)}
    else:
        attachments = split(attachments) if attachments else []
    return Param(names, optional, parsed, descriptions.strip().split("|"), attachments)


def parse(path, faults=None):
    """The specs of a file, and the groups of keys that are never offered together. Faults are raised, or listed with their lines."""
    specs, groups, domain = [], [], ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            if line.startswith("@"):
                domain = line[1:]
            elif line.startswith("! "):
                groups.append(line[2:].split())
            elif line and not line.startswith(" "):
                names, colons, descriptions = line.partition(" :: ")
                if not colons:
                    raise ValueError(f"a tool without :: description: {line!r}")
                specs.append(Spec(domain, names.split("|"), descriptions.split("|")))
                specs[-1].line = number
            elif re.match(r" [ANQM] ", line):
                specs[-1].phrases[line[1]].append(line[3:])
            elif line.startswith(" ! "):
                groups += [[specs[-1].key, other] for other in line[3:].split()]
            elif line:
                specs[-1].params.append(parse_param(line[1:]))
        except (ValueError, IndexError) as error:
            if faults is None:
                raise ValueError(f"{path.name}:{number}: {error}") from None
            faults.append((number, str(error)))
    return specs, groups


def read():
    """All specs, the parameters of made-up tools, and with which tools each must not be offered."""
    specs, clashes, named = [], {}, {}
    for path in FILES:
        found, groups = parse(path)
        specs += found
        for spec in found:
            for name in spec.names:
                named.setdefault(name, []).append(spec.key)
        for group in groups:
            for one in group:
                clashes.setdefault(one, set()).update(group)
    for group in named.values():
        for one in group if len(group) > 1 else ():
            clashes.setdefault(one, set()).update(group)
    return specs, parse(MADE)[0][0].params, clashes
