"""Made-up tools: a verb of made/verbs.txt and a thing of made/nouns.txt with parameters of made/params.txt, or a quantity that is calculated
from others. Declaration and request often have different words for the same, and things may have names that nobody knows.

    procedural(rng)   ->   a Spec: purge_invoice(id, notify), asked for with "get rid of bill 4711 and tell everybody"

In the phrases `{+key}` is a value as made/params.txt adds it, `{-key}` the same in front of the sentence, `{.key}` in a sentence of its own. An
addition that begins with ^ stands before the thing: `^{}` in "the red lamp".
"""
from lexicon import PREFIXED, QUANTITIES, RESULTS
from specs import Param, Spec
from values import FIELDS, MADE, MIXED, THINGS, WORDS, pick, pseudo

VERBS = {}
"""Key -> names, words of descriptions, words of requests, what it acts on, past participle."""
for line in (MADE / "verbs.txt").read_text().splitlines():
    if not line.startswith("#"):
        acts, names, says, asks, done = line.split(" ::")
        VERBS[names.split()[0]] = (names.split(), says.strip().split("|"), asks.strip().split("|"), acts.strip(), done.strip())
VERB_KEYS = list(VERBS)

UNITS = {}
for line in QUANTITIES.replace("\n", " ").split("; "):
    quantity, _, found = line.partition(":")
    UNITS[quantity.strip()] = [unit.strip() for unit in found.split(",") if unit.strip()]
OUTCOMES = [" ".join(result.split()) for result in RESULTS.split(",")]
FIELD_NAMES = list(FIELDS)
SIMPLE = [word for word in WORDS["adj"] if word.isalpha()]
COPIED = [key for key in MIXED if all(len(item) < 30 for item in WORDS[key])]

# Kinds that requests say alike: a tool has one parameter of each, unless a pair says which is which.
ALIKE = {}
for group in ("first name user", "city country place street address room street_no landmark", "date iso_date datetime weekday month", "time", "money", "company", "ident", "text title text_q sentence_note phrase_q content query task phrase topic", "word thing",
              "food ingredient drink", "product", "mins secs duration", "url domain", "list", "obj objs", "language", "path file"):
    for kind in group.split():
        ALIKE[kind] = group
PAIRS = [("start_date", "end_date"), ("start_hour", "end_hour"), ("from_place", "to_place"), ("sender", "recipient"), ("min_price", "max_price"), ("adults", "children"), ("width", "height"), ("date", "time")]


def alike(param):
    kind = param.kind[1] if param.kind[0] == "fn" else param.kind[0]
    if kind == "enum":
        return " ".join(sorted(str(option[0]) for option in param.kind[1])[:2])
    return ALIKE.get(kind, kind if kind in WORDS else param.key)


def chosen(rng, params, count, taken=()):
    """Some parameters that a request can tell apart."""
    by_key = {param.key: param for param in params}
    out, groups = [], set(taken)
    for _ in range(count):
        if rng.random() < 0.45:
            param = invented(rng)
            if alike(param) not in groups and param.key not in [one.key for one in out]:
                out.append(param)
                groups.add(alike(param))
            continue
        if rng.random() < 0.12:
            pair = [by_key[key] for key in pick(rng, PAIRS)]
            if not groups & {alike(param) for param in pair}:
                out += pair
                groups |= {alike(param) for param in pair}
                continue
        param = pick(rng, params)
        if alike(param) not in groups:
            out.append(param)
            groups.add(alike(param))
    return out


def invented(rng):
    """A parameter that is named after something: its values are said beside that name, or in its place."""
    kind = rng.random()
    field = pick(rng, FIELD_NAMES)
    thing = pick(rng, FIELDS[field]) if rng.random() < 0.85 else (pseudo(rng, 2),)
    noun = pick(rng, thing)
    words = (noun if rng.random() < 0.7 else pick(rng, thing)).replace("_", " ")
    other = noun.replace("_", " ")
    many = plural(words)
    if kind < 0.27:
        # a number
        names = pick(rng, [[f"{noun}_count", f"number_of_{plural(noun)}", plural(noun), f"num_{plural(noun)}"], [f"max_{plural(noun)}", f"{noun}_limit", f"max_{noun}"], [f"{noun}_number", noun, f"{noun}_no"]])
        if names[0].startswith("max"):
            texts, says = [f"At most so many {plural(other)}", f"Highest number of {plural(other)}", f"Limit of {plural(other)}"], [f"with at most {{}} {many}", f"up to {{}} {many}", f"but no more than {{}} {many}", f", {{}} {many} at most", f"(limited to|for a maximum of) {{}} {many}"]
        elif names[0].endswith("number"):
            texts, says = [f"Number of the {other}", f"Which {other}", f"{other.capitalize()} number"], [f"(on|in|at|for|from|to) {words} {{}}", f"(on|in|at|for|from|to) {words} (number|no.) {{}}", f", {words} {{}}", f"{words} {{}}"]
        else:
            texts, says = [f"Number of {plural(other)}", f"How many {plural(other)}", f"Count of {plural(other)}"], [f"with {{}} {many}", f"{{}} {many}", f"for {{}} {many}", f", {{}} {many}", f"and {{}} {many}", f"of {{}} {many}"]
        drawn = ["int", "1", pick(rng, ["9", "20", "60", "400", "3000"])]
    elif kind < 0.42:
        # a quantity with its unit
        quantity = pick(rng, [key for key in UNITS if UNITS[key]])
        unit = pick(rng, UNITS[quantity])
        name = pick(rng, [quantity, f"{noun}_{quantity}", f"{pick(rng, PREFIXED)}_{quantity}", f"{quantity}_{unit}" if unit.isalpha() else quantity])
        label = quantity.replace("_", " ")
        space = pick(rng, ["", " ", " "])
        names = [name, name, f"{name}_value"]
        texts = [f"{label.capitalize()} in {unit}", f"{label.capitalize()} of the {other} in {unit}", f"The {label} ({unit})"]
        says = [f"with {{}}{space}{unit}", f"at {{}}{space}{unit}", f"of {{}}{space}{unit}", f", {{}}{space}{unit}", f"with a {label} of {{}}{space}{unit}", f"{{}}{space}{unit}", f"to {{}}{space}{unit}", f"for {{}}{space}{unit}"]
        drawn = ["int", "1", "500"] if rng.random() < 0.6 else ["num", "0.1", "90"]
    elif kind < 0.62:
        # one of some words
        options = [pick(rng, one) for one in rng.sample(FIELDS[field], 2 + int(rng.random() * 4))] if rng.random() < 0.55 else rng.sample(SIMPLE, 2 + int(rng.random() * 4))
        if rng.random() < 0.25:
            options = [f"{pick(rng, SIMPLE)}_{option}" for option in options]
        options = list(dict.fromkeys(option.replace("-", "_") for option in options))
        names = pick(rng, [[f"{noun}_type", "type", "kind", f"{noun}_kind"], [noun, f"which_{noun}"], ["mode", "option", "variant", f"{noun}_mode"]])
        label = names[0].replace("_", " ")
        texts = [f"Kind of {other}", f"Which {other}", f"The {label}", f"One of the possible {plural(other)}"]
        says = ["as {}", "with {}", f"with the {label} {{}}", "using {}", ", {}", "in {} mode", f"with {{}} as the {label}", "of the {} kind", "^{}", f", {label}: {{}}"]
        drawn = ["enum", [(option, [option.replace("_", " ")]) for option in options]]
    elif kind < 0.78:
        # yes or no
        adjective = pick(rng, SIMPLE)
        form = pick(rng, ["include", "with", "send", "skip", "keep", "allow", "only", "is", "show", "add", "needs", "auto"])
        if form == "only":
            names, texts = [f"{adjective}_only", f"only_{adjective}"], [f"Only {adjective} ones", f"Whether only {adjective} {plural(other)} count"]
            yes, no = [f", only {adjective} ones", f"but only the {adjective} ones", f"that are {adjective}"], [f", not only {adjective} ones", f"whether {adjective} or not"]
        elif form == "is":
            names, texts = [f"is_{adjective}", adjective], [f"Whether it is {adjective}", f"{adjective.capitalize()} or not"]
            yes, no = [f", it's {adjective}", f"which is {adjective}", f", {adjective}"], [f", it's not {adjective}", f"which isn't {adjective}", f", not {adjective}"]
        elif form in ("with", "needs"):
            names, texts = [f"{form}_{noun}", f"has_{noun}"], [f"Whether there is {article_of(other)}", f"With or without {other}"]
            yes, no = [f"with {words}", f"with {article_of(words)}", f", (it has|there is) {article_of(words)}", f"plus {article_of(words)}"], [f"without {words}", f"without {article_of(words)}", f", no {words}"]
        else:
            verb = "automatically send" if form == "auto" else form
            names, texts = [f"{form}_{noun}", f"{form}_{plural(noun)}"], [f"Whether to {verb} the {other}", f"{verb.capitalize()} {plural(other)}"]
            yes, no = [f"and {verb} (the |){many}", f", please {verb} (the |){words}", f"and also {verb} the {words}", f", {verb} the {words} too"], [f"but (don't|do not) {verb} (the |){many}", f"and don't {verb} the {words}", f", no need to {verb} the {words}", f"without {verb}ing the {words}".replace("eing", "ing").replace("ping", "pping")]
        param = Param(names, False, ["bool", ["yes"], ["no"]], texts, {True: yes, False: no})
        param.key = names[0]
        return param
    elif kind < 0.84:
        # several of them
        names = [plural(noun), f"{noun}_list", f"{noun}_names"]
        texts = [f"The {plural(other)}", f"List of {plural(other)}", f"All {plural(other)}"]
        says = [f"with (the |){many} {{}}", "for {}", "with {}", f", {many}: {{}}", f"(on|in|at|from|to) the {many} {{}}", "of {}", "including {}"]
        drawn = ["list", pick(rng, [["fn", "thing"], ["fn", "ident"], ["first"], ["city"], ["int", "1", "90"], ["num", "0.1", "30"], [pick(rng, COPIED)], ["word"]]), 1 if rng.random() < 0.15 else 2, 4]
    else:
        # words to be copied
        names = pick(rng, [[noun, f"{noun}_name", f"{noun}_title"], [f"{noun}_name", f"target_{noun}"], [f"{noun}_id", f"{noun}_code", f"{noun}_ref"]])
        texts = [f"Name of the {other}", f"The {other}", f"Which {other}"] if not names[0].endswith("id") else [f"Id of the {other}", f"Code of the {other}", f"Which {other}"]
        says = [f"(on|in|at|for|from|to|with|by|of) the {words} {{}}", f"(on|in|at|for|from|to|with|by|of) {words} {{}}", f"with {words} {{}}", f", {words} {{}}", f", {words}: {{}}", f"(on|in|at|for|from|to|with) the {{}} {words}", f"using the {words} {{}}", "(on|in|at|for|from|to|with|by) {}"]
        drawn = ["fn", "ident"] if names[0].endswith("id") else pick(rng, [["fn", "thing"], ["fn", "thing"], ["fn", "title"], ["first"], ["word"], ["city"], ["product"], ["company"], ["fn", "version"], [pick(rng, COPIED)]])
    param = Param(names, False, drawn, texts, says)
    param.key = names[0]
    return param


def article_of(words):
    return ("an " if words[0] in "aeiou" else "a ") + words


def plural(said):
    if said.endswith(("s", "x", "ch", "sh")):
        return said + "es"
    return said[:-1] + "ies" if said.endswith("y") and said[-2:-1] not in "aeou" else said + "s"


def some_thing(rng):
    """What a tool is about: its words, the first of them those of the declaration."""
    kind = rng.random()
    if kind < 0.72:
        return pick(rng, THINGS)
    if kind < 0.84:
        return (pseudo(rng, 2),)
    if kind < 0.92:
        return (pick(rng, pick(rng, THINGS)) + "_" + pick(rng, ["report", "list", "plan", "record", "log", "check", "request", "entry", "test", "order", "profile", "schedule", "card", "sheet", pseudo(rng, 1)]),)
    return (pick(rng, SIMPLE) + "_" + pick(rng, pick(rng, THINGS)),)


def procedural(rng, generic, verb=None, thing=None):
    if verb is None and thing is None:
        kind = rng.random()
        if kind < 0.14:
            return quantities(rng)
        if kind < 0.22:
            return in_order(rng)
    verb = verb or pick(rng, VERB_KEYS)
    thing = thing or some_thing(rng)
    names, says, asks, acts, done = VERBS[verb]
    noun = pick(rng, thing)
    said = (noun if rng.random() < 0.6 else pick(rng, thing)).replace("_", " ")
    described = noun.replace("_", " ") if rng.random() < 0.7 else pick(rng, thing).replace("_", " ")
    many = acts == "many"
    asked = plural(said) if many else said
    spec = Spec("made", [f"{name}_{plural(noun) if many else noun}" for name in names], [])
    spec.key, spec.verb, spec.thing = f"{verb} {noun}", verb, thing
    if rng.random() < 0.25:
        spec.names = [f"{noun}.{name}" if rng.random() < 0.6 else f"{noun}_{name}" for name in names]
    article = "" if many else "an " if described[0] in "aeiou" else "a "
    spec.descriptions = [f"{say} {article}{plural(described) if many else described}{tail}" for say in says for tail in ("", pick(rng, TAILS))]

    subject = None
    if acts == "id" and rng.random() < 0.85:
        subject = "names" if rng.random() < 0.1 else "name" if rng.random() < 0.5 else "id"
    elif acts == "new" and rng.random() < 0.5:
        subject = "name"
    if subject == "names":
        several = plural(noun)
        spec.params.append(Param([several, f"{noun}_names", "names", "items", f"{noun}_list"], False, ["list", pick(rng, [["fn", "thing"], ["fn", "ident"], ["first"], ["city"], ["product"], [pick(rng, COPIED)], ["int", "1", "90"]]), 1 if rng.random() < 0.1 else 2, 4], [f"The {plural(described)}", f"Names of the {plural(described)}", f"Which {plural(described)}", f"All the {plural(described)}"], []))
        spec.params[0].key = "names"
    elif subject:
        spec.params.append(filled(generic[1] if subject == "name" else generic[0], noun, False))
    taken = {alike(spec.params[0])} if subject else set()
    for param in chosen(rng, generic[2:], pick(rng, [0, 1, 1, 2, 2, 3, 4]), taken):
        spec.params.append(filled(param, noun, rng.random() < 0.4))
    required = [param for param in spec.params if not param.optional and param.key not in ("id", "name", "names")]
    rng.shuffle(required)

    # A value may stand right before the thing.
    before, front = "", [param for param in spec.params if "^{}" in param.attachments]
    if front and rng.random() < 0.5:
        param = pick(rng, front)
        param.optional, before = False, "{" + param.key + "} "
        required = [one for one in required if one is not param]
    for param in front:
        param.attachments.remove("^{}")
    article = "" if many else "an " if said[0] in "aeiou" and not before else "a "
    core = before + asked
    if subject == "id":
        forms = [f"the {core} {{id}}", f"{core} {{id}}", f"{core} (number|no.|nr.) {{id}}", f"the {core} with (the |)id {{id}}", f"{core} #{{id}}", f"the {core} with (the |)number {{id}}", f"{core} {{id}}", "{id}", f"{{id}} (the|that) {core}" if rng.random() < 0.1 else f"our {core} {{id}}", f"{core} (ID|id) {{id}}"]
    elif subject == "name":
        forms = [f"(the|a|my|our) {core} (called|named|with the name|by the name of) {{name}}", f"the {core} {{name}}", f"{article}{core} called {{name}}", f"{article}{core} named {{name}}", f"{article}new {core} {{name}}" if acts == "new" else f"my {core} {{name}}", f"the {{name}} {core}", f"my {{name}} {core}", f"{core} {{name}}", "{name}", f"{article}{core}, (its name is|it's called) {{name}},"]
    elif subject == "names":
        group = plural(core)
        forms = [f"the {group} {{names}}", f"{group} {{names}}", "{names}", f"(these|the following|my|our) {group}: {{names}}", f"the {group} (called|named) {{names}}", f"{{names}}, (all|both) {group}," if rng.random() < 0.2 else f"the {{names}} {group}"]
    elif many:
        forms = [f"(all |the |all the |my |our |all of the |){core}", f"(all |the |){core}"]
    else:
        forms = [f"(the|a|my|our|this) {core}", f"{article}{core}" if acts == "new" else f"the {core}"]
    owner = next((param for param in required if param.key == "owner"), None)
    if owner and not subject and not before and rng.random() < 0.5:
        required.remove(owner)
        forms = [f"{{owner}}'s {core}", f"the {core} of {{owner}}"]

    def added():
        """The required values, one after the other, in front, or in sentences of their own."""
        lead, tail = "", ""
        for param in rng.sample(required, len(required)):
            chance = rng.random()
            if chance < 0.1 and not lead:
                lead = "{-" + param.key + "} "
            elif chance < 0.2:
                tail += " {." + param.key + "}"
            elif "." not in tail:
                tail = " {+" + param.key + "}" + tail if rng.random() < 0.3 else tail + " {+" + param.key + "}"
            else:
                tail = " {+" + param.key + "}" + tail
        return lead, tail

    for ask in asks:
        lead, tail = added()
        spec.phrases["A"].append(f"{lead}{ask} {pick(rng, forms)}{tail}")
    form = pick(rng, forms)
    lead, tail = added()
    if verb in KNOWING:
        spec.phrases["N"] = [form + tail.replace("{.", "{+") for form in forms] + [f"the (status|details|size|price|history|name|kind|origin|owner) and (the |)(place|color|date|weight|condition|age|number|value|maker) of {form}"] * (not tail and not many)
        spec.phrases["Q"] = [f"{lead}(do we have|where is|how is|what about|is there|what's up with|what happened to) {form}{tail}", f"what (does|do you know of|can you say about) {form}{tail}"]
    elif acts == "new":
        spec.phrases["Q"] = [f"{lead}I (need|want|would like|could use) {form}{tail}", f"we (need|want|still need) {form}{tail}", f"there should be {form}{tail}", f"{form}{tail.replace('{.', '{+')}, please {pick(rng, asks)} it", f"how about {form}{tail}"]
    elif acts == "id" and done:
        spec.phrases["Q"] = [f"{lead}{form} (has to be|must be|should be|needs to be|ought to be|can be|is to be) {done}{tail}", f"I (want|need|would like) (to have |){form} {done}{tail}", f"(can|could) {form} be {done}{tail}", f"{pick(rng, forms)}(:|,| -) {pick(rng, asks)} (it|that){tail}", f"(somebody|someone) (has to|should|must) {pick(rng, asks)} {form}{tail}"]
    if spec.params and not spec.params[0].optional:
        spec.phrases["M"] = [f"{pick(rng, asks)} (a|the|my) {said}" if not many else f"{pick(rng, asks)} {asked}"]
    return spec


TAILS = ["", "", " in the system", " of the user", " of the company", " by its data", " for the user", " in the list", ", with all details", " and return its data", " that is already there", " in the database", " in one step", " of a customer", " at once"]
KNOWING = {"get", "list", "track", "check", "search", "count", "compare", "inspect", "locate", "monitor", "summarize_all", "review", "explain", "identify", "measure", "weigh"}

def quantities(rng):
    """A tool that calculates something from numbers, each said with its name or its unit."""
    result = pick(rng, OUTCOMES) if rng.random() < 0.7 else f"{pick(rng, OUTCOMES)} of {pick(rng, ['a', 'the'])} {pick(rng, pick(rng, THINGS)).replace('_', ' ')}" if rng.random() < 0.6 else pseudo(rng, 2)
    snake = result.lower().replace(" ", "_").replace("-", "_")
    verbs = ["calculate", "compute", "get", "find", "estimate", "predict", "determine", "calc"]
    spec = Spec("made", [f"{verb}_{snake}" for verb in verbs] + [snake, f"{pick(rng, ['math', 'physics', 'finance', 'calculator', 'geometry', 'tools'])}.{snake}"], [f"{verb.capitalize()} the {result}{pick(rng, [' from the given values', '', '', ' of something', ' of an object', ' for the user'])}" for verb in ("calculate", "compute", "estimate", "find")])
    spec.key, spec.verb, spec.thing = f"calculate {snake}", "calculate", (snake,)
    parts = []
    for key in rng.sample(sorted(UNITS), 1 + int(rng.random() * 4)):
        name = f"{pick(rng, PREFIXED)}_{key}" if rng.random() < 0.25 else key
        words, units = name.replace("_", " "), UNITS[key]
        unit = pick(rng, units) if units else ""
        kind = ["int", "1", "500"] if rng.random() < 0.6 else ["num", "0.1", "900"]
        optional = bool(spec.params) and rng.random() < 0.3
        tail = ("" if unit in ("%", "°", "°C", "K", "V", "W", "kg", "cm", "m", "km", "g") and rng.random() < 0.6 else " ") + unit if unit and rng.random() < 0.75 else ""
        forms = [f"a {words} of {{}}{tail}", f"{words} {{}}{tail}", f"{words} of {{}}{tail}", f"the {words} is {{}}{tail}", f"{words} = {{}}{tail if rng.random() < 0.5 else ''}", f"{{}}{tail} {words}" if unit else f"{{}} {words}", f"{words}: {{}}{tail}", f"{words}={{}}"]
        names = [name, pick(rng, [f"{name}_value", f"{key}", f"{name}_{unit}" if unit.isalpha() else name, name, key[0]]), name]
        param = Param(names, optional, kind, [f"{words.capitalize()}{pick(rng, [f' in {unit}', ''])}" if unit else words.capitalize(), f"The {words}", f"The {words}{pick(rng, [' of the object', ' to use', ''])}"], [f"with {form}" if not form.startswith(("the", "{")) else f", {form}" for form in forms])
        param.key = name
        spec.params.append(param)
        if not optional:
            parts.append((name, forms))
    style = int(rng.random() * 8)
    for _ in range(4):
        said = [(forms[style] if rng.random() < 0.6 else pick(rng, forms)).replace("{}", "{" + name + "}") for name, forms in rng.sample(parts, len(parts))]
        joined = said[0] if len(said) == 1 else ", ".join(said[:-1]) + pick(rng, [" and ", " and ", ", and ", ", "]) + said[-1]
        link = pick(rng, [" with ", " with ", " for ", " given ", " using ", " if we have ", ", ", ": ", " when we have ", " based on ", " assuming ", " from "])
        spec.phrases["A"].append(f"{pick(rng, ['calculate', 'compute', 'find', 'work out', 'determine', 'estimate', 'get', 'figure out', 'tell me', 'give me', 'predict'])} (the |){result}{pick(rng, ['', '', '', ' of an object', ' of a house', ' of my project', ' for a trip', ' for a machine'])}{link}{joined}")
        spec.phrases["N"].append(f"the {result}{link}{joined}")
        spec.phrases["Q"].append(pick(rng, [f"(what is|what's|how (big|high|much) is) the {result}{link}{joined}", f"{joined}(:|,) what is the {result}", f"(we have|I have|given) {joined}, (what|how much) is the {result}"]))
    return spec


ORDERED = ["a b", "a b c", "x y", "x y z", "first second", "first second third", "number1 number2", "num1 num2", "value1 value2", "start end", "from to", "left right", "min max", "low high", "width height", "length width height", "old new", "item1 item2", "one other", "source target", "before after", "home away", "top bottom", "row column", "base exponent", "p q", "lower upper"]
ORDINALS = ["first", "second", "third"]


def in_order(rng):
    """A tool whose parameters are told apart by their order: `the distance between 3 and 7`."""
    keys = pick(rng, ORDERED).split()
    if len(keys) == 2 and rng.random() < 0.12:
        return two_lists(rng, keys)
    noun = pick(rng, pick(rng, THINGS))
    words = noun.replace("_", " ")
    verb, ask = pick(rng, [("compare", "compare"), ("add", "add"), ("connect", "connect"), ("merge", "merge"), ("calculate", "calculate the difference of"), ("get", "get the distance between"), ("find", "find the largest common part of"), ("match", "match"), ("swap", "swap"), ("combine", "combine"), ("draw", "draw a line through"), ("measure", "measure the gap between"), ("link", "link"), ("mix", "mix"), ("check", "check"), ("solve", "solve it for"), ("set", "set the range to"), ("choose", "choose between"), ("convert", "convert"), ("sum", "sum up")])
    kind = pick(rng, [["int", "1", "900"], ["int", "-50", "50"], ["num", "0.1", "90"], ["city"], ["first"], ["fn", "thing"], ["fn", "ident"], ["word"], ["product"], ["color"], [pick(rng, COPIED)], ["fn", "date"], ["fn", "time"]])
    spec = Spec("made", [f"{verb}_{noun}", f"{verb}_{plural(noun)}", f"{noun}_{verb}", f"{noun}.{verb}", f"{verb}_two_{plural(noun)}" if len(keys) == 2 else f"{verb}_{noun}"], [f"{verb.capitalize()} {'two ' if len(keys) == 2 else ''}{plural(words)}", f"{ask.capitalize()} {plural(words)}", f"{verb.capitalize()} {plural(words)} with each other"])
    spec.key, spec.verb, spec.thing = f"{verb} {noun}", "calculate", (noun,)
    style = pick(rng, ["", f"_{noun}", f"{noun}_"])
    for i, key in enumerate(keys):
        name = key + style if style.startswith("_") else style + key
        place = ORDINALS[i]
        param = Param([name, name, name], False, kind, [f"The {place} {words}", f"{place.capitalize()} {words}", f"{key.capitalize()} of the {words}", f"{place.capitalize()} value"], [])
        param.key = key
        spec.params.append(param)
    marks = ["{" + key + "}" for key in keys]
    several = pick(rng, [plural(words), plural(words), "numbers" if kind[0] in ("int", "num") else "ones", "values"])
    for _ in range(4):
        listing = ", ".join(marks[:-1]) + pick(rng, [" and ", " and ", ", and ", ", "]) + marks[-1]
        forms = [f"{ask} {listing}", f"{ask} (the |){several} {listing}", f"{ask} (the |){several}: {listing}", f"{ask} ({', '.join(marks)})".replace("(" + marks[0], "\u2768" + marks[0]).replace(marks[-1] + ")", marks[-1] + "\u2769"), f"{ask} {'two' if len(keys) == 2 else 'three'} {several}, (say |)(namely |){listing}", f"{ask} " + pick(rng, [" and ", ", "]).join(f"{key} {mark}" for key, mark in zip(keys, marks)), f"{ask} " + ", ".join(f"{key}={mark}" for key, mark in zip(keys, marks))]
        if len(keys) == 2:
            forms += [f"{verb} {words} {marks[0]} (with|and|to|against) {marks[1]}", f"{verb} {marks[0]} (with|to|and) {marks[1]}", f"{verb} from {marks[0]} to {marks[1]}", f"{verb} between {marks[0]} and {marks[1]}"]
        spec.phrases["A"].append(pick(rng, forms))
        spec.phrases["Q"].append(pick(rng, [f"(what about|how about|I have|here are|we have) (the |){several} {listing}, (can you|could you|please) {verb} them", f"{listing}: {verb} (them|these|it)", f"(what do I get|what comes out) if I {verb} {listing}"]))
    return spec


def two_lists(rng, keys):
    """A tool for two lists of numbers: `compare the prices [3, 4] and [5, 6]`."""
    noun = pick(rng, pick(rng, THINGS))
    words = plural(noun.replace("_", " "))
    verb = pick(rng, ["compare", "plot", "correlate", "test", "match", "chart", "add", "multiply", "check", "align"])
    spec = Spec("made", [f"{verb}_{plural(noun)}", f"{noun}_{verb}", f"{noun}.{verb}", f"{verb}_two_lists"], [f"{verb.capitalize()} two lists of numbers", f"{verb.capitalize()} the numbers of two {words}"])
    spec.key, spec.verb, spec.thing = f"{verb} {noun}", "calculate", (noun,)
    labels = [pick(rng, ["data", "values", "series", "sample", "group", "list", "array"])] * 2
    if rng.random() < 0.4:
        labels = rng.sample([pick(rng, one).replace("_", " ") for one in rng.sample(THINGS, 2)], 2)
    for i, key in enumerate(keys):
        name = f"{labels[i]}_{key}".replace(" ", "_") if rng.random() < 0.7 else key
        param = Param([name] * 3, False, ["list", pick(rng, [["int", "1", "90"], ["num", "0.1", "30"], ["int", "100", "9000"]]), 3, 6, "brackets"], [f"The {ORDINALS[i]} {labels[i]}", f"{ORDINALS[i].capitalize()} list", f"Numbers of the {labels[i]}"], [])
        param.key = key
        spec.params.append(param)
    one, two = ("{" + key + "}" for key in keys)
    if labels[0] != labels[1]:
        one, two = f"{labels[0]} {one}", f"{labels[1]} {two}"
    spec.phrases["A"] = [f"{verb} {one} (and|with|against) {two}", f"{verb} the {words} {one} and {two}", f"{verb} two lists, {one} and {two}", f"{verb} (these|the following) {words}: {one}, {two}"]
    spec.phrases["Q"] = [f"(I have|we measured|here are) {one} and {two}, {verb} them", f"{one} and {two}: {verb} (them|these)"]
    return spec


def filled(param, noun, optional):
    """A generic parameter, as one of a tool for this noun."""
    words = noun.replace("_", " ")
    attachments = param.attachments if isinstance(param.attachments, dict) else [text.replace("{noun}", words) for text in param.attachments]
    out = Param([name.replace("{noun}", noun) for name in param.names], optional, param.kind, [text.replace("{noun}", words) for text in param.descriptions], attachments)
    out.key = param.key
    return out
