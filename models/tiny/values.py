"""Values of parameters, each with the way a request says it: `value(rng, ["int", "1", "60"])` may give (20, "twenty"), a city
("Oslo", "Oslo"), an enum ("fahrenheit", "Fahrenheit"). Words come from words/*.txt (`kind: a, b, c`; lists of one kind add up); some are made up, so that the model copies them
instead of knowing them.
"""
import re
from pathlib import Path

WORDS = {}
for path in sorted((Path(__file__).parent / "words").glob("*.txt"), key=lambda path: (path.stem != "common", path.stem)):
    for line in path.read_text().splitlines():
        key, colon, items = line.partition(": ")
        if colon:
            known = WORDS.setdefault(key, [])
            known += [item for item in dict.fromkeys(items.split(", ")) if item not in known]

MADE = Path(__file__).parent / "made"
FIELDS = {}
"""The things of a field of life, each with other words for it."""
for line in (MADE / "nouns.txt").read_text().splitlines():
    field, _, things = line.partition(": ")
    FIELDS[field] = [tuple(thing.split("|")) for thing in things.split()]
THINGS = [thing for things in FIELDS.values() for thing in things]
NOUNS = sorted({word.replace("_", " ") for thing in THINGS for word in thing})

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
CLOSED = {"language", "lang_code", "currency", "unit_len", "unit_mass", "unit_vol", "weekday", "month", "airport", "color", "hex_color",
          "timezone", "ticker", "zodiac", "planet", "emoji", "country", "room", "currency_word", "mood", "verb_obj", "symptom", "reason", "name_fact", "sentence", "idiom", "alert", "history", "selector", "formula"}


def in_words(n):
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10] + ("-" + ONES[n % 10] if n % 10 else "")
    if n < 1000 and n % 100 == 0:
        return ONES[n // 100] + " hundred"
    if n < 20000 and n % 1000 == 0:
        return in_words(n // 1000) + " thousand"
    return str(n)


NTH = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth".split()


def ordinal(n):
    return f"{n}{'th' if n % 100 in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"


def pick(rng, items):
    return items[int(rng.random() * len(items))]


ONSETS = "b br c ch cl d dr f fl g gr h j k kl l m n p pl pr qu r s sh sk sl st t th tr v w z".split()
RIMES = "a ab ack ad al am an ar at e eb ed el en er et i ib ick il im in ip it o ob ock ol om on op or ot u ub uck ul um un ur ut ai ee oo ou".split()


def pseudo(rng, syllables=None):
    """A word that nobody has seen."""
    n = syllables or 1 + int(rng.random() * 3)
    return "".join(pick(rng, ONSETS) + pick(rng, RIMES) for _ in range(n)) + (pick(rng, "aeilmnorstxy") if rng.random() < 0.4 else "")


def name(rng):
    if rng.random() < 0.03:
        return pick(rng, WORDS["odd_name"])
    first = pick(rng, WORDS["first"][:-9]) if rng.random() < 0.75 else pseudo(rng, 2).capitalize()
    if rng.random() < 0.4:
        last = pick(rng, WORDS["last"]) if rng.random() < 0.7 else pseudo(rng).capitalize()
        return f"{pick(rng, ['Dr.', 'Mr.', 'Mrs.', 'Ms.', 'Prof.'])} {last}" if rng.random() < 0.12 else f"{first} {last}"
    return first


def date(rng):
    kind = rng.random()
    day, month, year = 1 + int(rng.random() * 28), int(rng.random() * 12), 2020 + int(rng.random() * 12)
    if kind < 0.3:
        return f"{year}-{month + 1:02d}-{day:02d}"
    if kind < 0.45:
        return pick(rng, ["today", "tomorrow", "tonight", "yesterday", "next week", "next month", "this weekend", "the day after tomorrow"])
    if kind < 0.65:
        return pick(rng, ["", "next ", "this ", ""]) + pick(rng, WORDS["weekday"])
    text = pick(rng, [f"{WORDS['month'][month]} {day}", f"{WORDS['month'][month]} {ordinal(day)}", f"{day} {WORDS['month'][month]}"])
    return text + (f" {year}" if rng.random() < 0.3 else "")


def iso_date(rng):
    return f"{2020 + int(rng.random() * 12)}-{1 + int(rng.random() * 12):02d}-{1 + int(rng.random() * 28):02d}"


def time(rng):
    hour, minute = int(rng.random() * 24), pick(rng, [0, 15, 30, 45, 5, 10, 20, 40, 50])
    if rng.random() < 0.4:
        return f"{hour:02d}:{minute:02d}"
    hour = hour % 12 or 12
    half = pick(rng, ["am", "pm", " am", " pm", "am", "pm", " AM", " PM"])
    return pick(rng, [f"{hour}{half}", f"{hour}:{minute:02d}{half}", f"{hour}{half}", "noon", "midnight"] if rng.random() < 0.5 else [f"{hour}{half}"])


def datetime(rng):
    return pick(rng, [f"{iso_date(rng)}T{int(rng.random() * 24):02d}:{pick(rng, ['00', '15', '30'])}:00", f"{date(rng)} at {time(rng)}", f"{iso_date(rng)} {int(rng.random() * 24):02d}:00"])


def duration(rng):
    unit = pick(rng, ["minutes", "hours", "seconds", "days", "weeks", "min", "h"])
    n = pick(rng, [2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 45, 50, 60, 90])
    return pick(rng, [f"{n} {unit}"] * 6 + [f"{in_words(n)} {unit}", "an hour", "half an hour", "a week", "2 and a half hours"])


def phrase(rng):
    return f"{pick(rng, WORDS['adj'])} {pick(rng, WORDS['noun']) if rng.random() < 0.5 else pick(rng, NOUNS)}"


def title(rng):
    kind = rng.random()
    if kind < 0.2:
        return phrase(rng)
    if kind < 0.35:
        return phrase(rng).title()
    if kind < 0.6:
        return unheard(rng, True)
    if kind < 0.75:
        return pick(rng, WORDS["noun"]) + " " + pick(rng, ["review", "planning", "update", "notes", "kickoff", "retrospective", "draft", "workshop", "checklist"])
    if kind < 0.85:
        return f"{pick(rng, WORDS['company'])} {pick(rng, WORDS['noun'])}"
    if kind < 0.95:
        return pick(rng, ["Team lunch", "Dentist appointment", "Yoga class", "Sprint review", "Birthday party", "Project kickoff", "Budget 2026", "Weekly sync", "Coffee with Ana", "Board meeting", "Parent evening", "Car service", "Shopping list", "Reading list", "Q3 results", "Welcome aboard", "Happy Birthday", "Guitar lesson"])
    return " ".join(pseudo(rng) for _ in range(2)).capitalize()


SENTENCES = [
    "I'll be {n} minutes late", "I am running late", "the {np} is ready", "The {np} has been moved to {time}", "see you at {time}", "see you {day}", "Happy birthday!",
    "can you send me the {np}", "please bring the {np}", "dinner is at {time}", "don't forget the {noun}", "I love you", "thanks for the {noun}", "the {np} is {adj}",
    "meeting cancelled", "Let's meet at {place}", "call me back", "where are you?", "we need more {ing}", "I'm on my way", "the {noun} and the {noun} are done", "good morning", "hello",
    "Hello World", "hello there", "congratulations on the {np}", "The {noun} costs {n} euros", "ETA {n} minutes", "I fixed the {np}", "what time is the {noun}?", "are we still on for {day}?",
    "Deployment finished", "Build failed on {branch}", "good luck {day}!", "welcome to the team, {name}", "sorry, I can't make it {day}", "my new number is {phone}", "The {noun} is broken again",
    "I left the {noun} in the {room}", "we won!", "great job", "it works", "ok", "yes, {time} works for me", "no problem", "please review the {np} by {day}", "{name} will pick you up",
    "lunch?", "The quick brown fox jumps over the lazy dog", "Rain expected {day}, take an umbrella", "password is {id}", "Server {host} is down", "tests pass now", "all {n} tickets are closed",
    "I really enjoyed the {noun}", "the food was cold and the service was {adj}", "Best {noun} ever", "I am {mood} today", "the cat sat on the {noun}", "time flies", "keep calm and carry on", "to be or not to be",
    "fix the {np}", "add {noun} page", "update the {noun}", "initial commit", "refactor {noun} code", "Error: {noun} not found", "bump version to {version}", "be right back", "Out of office until {day}",
]
SLOT = re.compile(r"\{(\w+)\}")


PAST = "lost found broke cleaned moved sold bought forgot opened closed painted fixed missed dropped hid borrowed returned saw heard met called liked hated tested built burned washed needed wanted remembered checked counted mentioned finished started cancelled ordered delivered replaced stole carried noticed covered watched".split()
PRESENT = "is was looks seems smells feels sounds became stays remains".split()
MANNER = "quietly slowly again today twice yesterday quickly carefully almost nearly finally together outside upstairs downtown abroad alone once often sometimes never always".split()
WHERE = "under behind near above inside beside below around across past beyond against along between".split()


def babble(rng):
    """A sentence that nobody has said, to be copied and not to be known."""
    def thing():
        noun = pick(rng, NOUNS) if rng.random() < 0.85 else pseudo(rng)
        return f"{pick(rng, WORDS['adj'])} {noun}" if rng.random() < 0.4 else noun

    def the():
        return f"{pick(rng, ['the', 'the', 'a', 'my', 'our', 'your', 'this', 'that', 'his', 'her', 'their', 'every', 'no', 'some'])} {thing()}"

    def who():
        return pick(rng, ["I", "we", "they", "you", "she", "he", "somebody", "everyone", "nobody", pick(rng, WORDS["first"][:90]), the()])

    kind = rng.random()
    if kind < 0.22:
        out = f"{who()} {pick(rng, PAST)} {the()}"
    elif kind < 0.38:
        out = f"{the()} {pick(rng, PRESENT)} {pick(rng, WORDS['adj'])}"
    elif kind < 0.5:
        out = f"{who()} {pick(rng, PAST)} {the()} {pick(rng, WHERE)} {the()}"
    elif kind < 0.6:
        out = f"{thing()} and {thing()}"
    elif kind < 0.68:
        out = f"{thing()} {pick(rng, ['for', 'of', 'with', 'without', 'from', 'in', 'on', 'at', 'by', 'after', 'before'])} {the()}"
    elif kind < 0.76:
        out = f"{pick(rng, ['why', 'how', 'when', 'where', 'if', 'because', 'that', 'who'])} {who()} {pick(rng, PAST)} {the()}"
    elif kind < 0.84:
        out = f"{pick(rng, ['do not', 'always', 'never', 'please', 'you should', 'we must', 'remember to'])} {pick(rng, ['open', 'close', 'touch', 'move', 'clean', 'sell', 'bring', 'keep', 'check', 'fix', 'read', 'leave', 'water', 'paint', 'lock', 'feed'])} {the()}"
    elif kind < 0.92:
        out = f"{who()} {pick(rng, PAST)} {2 + int(rng.random() * 90)} {pick(rng, NOUNS)}s {pick(rng, MANNER)}"
    else:
        out = " ".join(pick(rng, NOUNS) if rng.random() < 0.7 else pseudo(rng) for _ in range(2 + int(rng.random() * 4)))
    if rng.random() < 0.25:
        out += " " + pick(rng, MANNER)
    if rng.random() < 0.12:
        out += pick(rng, [", ", " and ", " but ", " because ", "; ", ". "]) + babble(rng)
    return out


def sentence(rng):
    if rng.random() < 0.4:
        return babble(rng)
    short = {"np": phrase, "n": lambda r: str(2 + int(r.random() * 58)), "day": lambda r: pick(r, WORDS["weekday"] + ["tomorrow", "tonight"]),
             "ing": lambda r: pick(r, WORDS["ingredient"]), "time": time, "name": lambda r: pick(r, WORDS["first"][:-9]), "phone": phone, "id": ident, "version": version}
    return SLOT.sub(lambda m: short[m[1]](rng) if m[1] in short else pick(rng, WORDS[m[1]]), pick(rng, SENTENCES))


def text(rng):
    kind = rng.random()
    if kind < 0.72:
        out = sentence(rng)
    elif kind < 0.8:
        out = sentence(rng) + ". " + sentence(rng)
    elif kind < 0.87:
        out = pick(rng, WORDS["foreign_text"])
    elif kind < 0.93:
        out = sentence(rng) + " " + pick(rng, WORDS["emoji"])
    else:
        out = " ".join(pseudo(rng) if rng.random() < 0.3 else pick(rng, WORDS[pick(rng, ["noun", "adj", "word"])]) for _ in range(2 + int(rng.random() * 5)))
    return out[0].upper() + out[1:] if rng.random() < 0.4 else out


def query(rng):
    return pick(rng, [
        lambda: pick(rng, WORDS["topic"]), lambda: pick(rng, WORDS["topic"]), lambda: f"best {pick(rng, WORDS['product'])} under {pick(rng, [50, 100, 200, 500])} euros",
        lambda: f"how to {pick(rng, ['bake bread', 'tie a tie', 'fix a flat tire', 'learn ' + pick(rng, WORDS['language']), 'sort a list in ' + pick(rng, WORDS['prog_lang']), 'cook ' + pick(rng, WORDS['food']), 'remove a stain', 'train a dog', 'write a cover letter'])}",
        lambda: f"{pick(rng, WORDS['cuisine'])} restaurants in {pick(rng, WORDS['city'])}", lambda: phrase(rng), lambda: f"{pick(rng, WORDS['food'])} recipe",
        lambda: f"{pick(rng, WORDS['company'])} {pick(rng, ['stock', 'annual report', 'careers', 'news', 'CEO'])}", lambda: name(rng), lambda: f"{pick(rng, WORDS['animal'])} videos",
        lambda: " ".join(pseudo(rng) for _ in range(1 + int(rng.random() * 3))), lambda: f"cheap flights to {pick(rng, WORDS['city'])}", lambda: f"{pick(rng, WORDS['package'])} {pick(rng, ['tutorial', 'documentation', 'error', 'vs ' + pick(rng, WORDS['package'])])}",
        lambda: f"population of {pick(rng, WORDS['country'])}", lambda: f"{pick(rng, WORDS['sport'])} {pick(rng, ['scores', 'rules', 'shoes', 'highlights'])}", lambda: pick(rng, WORDS["foreign_text"]),
    ])()


def task(rng):
    if rng.random() < 0.55:
        return pick(rng, WORDS["verb_obj"])
    verb = pick(rng, "buy call clean check send order finish review write read pack fix bring pick_up return sell print paint email sign test visit deliver cancel update prepare repair collect".split()).replace("_", " ")
    return pick(rng, [f"{verb} the {pick(rng, WORDS['noun'])}", f"{verb} the {phrase(rng)}", f"{verb} {pick(rng, WORDS['ingredient'])}" if verb in ("buy", "order", "bring", "pack") else f"{verb} my {pick(rng, WORDS['noun'])}",
                      f"{verb} {name(rng)}" if verb in ("call", "email", "visit") else f"{verb} the {pick(rng, WORDS['noun'])} for {name(rng)}", f"{verb} the {pseudo(rng)}"])


ALPHABETS = ["0123456789", "0123456789abcdef", "0123456789ABCDEF", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "ABCDEFGHJKLMNPQRSTUVWXYZ23456789", "abcdefghijklmnopqrstuvwxyz0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"]
GROUPS = [[8, 4, 4, 4, 12], [4, 4, 4, 4], [5, 5, 5], [2, 2, 2, 2, 2, 2], [4, 4, 4], [3, 3, 3], [6, 6], [4, 6, 5], [2, 4, 4, 4, 4, 2]]


def serial(rng):
    """A long code, as keys, checksums and addresses of devices are. Where it has few letters, pieces of it come again, and only their
    places tell what follows."""
    letters = pick(rng, ALPHABETS)
    if rng.random() < 0.35:
        letters = [pick(rng, letters) for _ in range(2 + int(rng.random() * 4))]
    if rng.random() < 0.5:
        return "".join(pick(rng, letters) for _ in range(7 + int(rng.random() * pick(rng, [8, 8, 16, 34]))))
    return pick(rng, ["-", "-", "-", ":", ".", " ", "_"]).join("".join(pick(rng, letters) for _ in range(size)) for size in pick(rng, GROUPS))


def ident(rng):
    if rng.random() < 0.1:
        return serial(rng)
    n = int(rng.random() * 9000) + 100
    letters = "".join(pick(rng, "ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(2 + int(rng.random() * 2)))
    mixed = "".join(pick(rng, "abcdefghjkmnpqrstuvwxyz0123456789") for _ in range(6 + int(rng.random() * 3)))
    return pick(rng, [str(n), str(n), f"{letters}-{n}", f"{letters}{n}", f"{letters.lower()}_{n}", mixed, f"{n}-{letters}", f"{letters}-{2020 + n % 8}-{n % 100:02d}"])


def phone(rng):
    digits = "".join(pick(rng, "0123456789") for _ in range(10))
    return pick(rng, [f"+{1 + int(rng.random() * 90)}{digits}", f"555-{digits[:4]}", f"({digits[:3]}) {digits[3:6]}-{digits[6:]}", f"{digits[:3]}-{digits[3:6]}-{digits[6:]}", f"+44 {digits[:4]} {digits[4:]}"])


def user(rng):
    return pick(rng, [lambda: pick(rng, WORDS["first"][:-9]).lower(), lambda: pick(rng, WORDS["first"][:-9]).lower() + str(int(rng.random() * 99)), lambda: pseudo(rng, 2), lambda: pick(rng, WORDS["first"][:-9]).lower() + "_" + pick(rng, WORDS["last"]).lower(), lambda: pick(rng, WORDS["first"][:-9])[0].lower() + pick(rng, WORDS["last"]).lower()])()


def email(rng):
    local = pick(rng, [user(rng), f"{pick(rng, WORDS['first'][:-9]).lower()}.{pick(rng, WORDS['last']).lower()}", pick(rng, ["info", "support", "sales", "team", "hello", "admin"])])
    return re.sub(r"[^a-z0-9._+@-]", "", f"{local}@{domain(rng)}")


def domain(rng):
    return pick(rng, WORDS["domain"]) if rng.random() < 0.6 else pseudo(rng, 2) + pick(rng, [".com", ".org", ".io", ".net", ".de"])


def url(rng):
    path = pick(rng, ["", "/", "/index.html", f"/{pick(rng, WORDS['stem'])}", f"/{pick(rng, WORDS['dir'])}/{pick(rng, WORDS['stem'])}", f"/api/v{1 + int(rng.random() * 3)}/{pick(rng, WORDS['table'])}", f"/search?q={pick(rng, WORDS['word'])}", f"/{pick(rng, WORDS['table'])}/{int(rng.random() * 999)}"])
    return pick(rng, ["https://", "https://", "http://", "https://www."]) + domain(rng) + path


def stem(rng):
    return pick(rng, [pick(rng, WORDS["stem"]), pick(rng, WORDS["stem"]), f"{pick(rng, WORDS['stem'])}_{pick(rng, WORDS['stem'])}", f"{pick(rng, WORDS['stem'])}-{int(rng.random() * 40)}", f"{pick(rng, WORDS['stem'])}{2020 + int(rng.random() * 9)}", pseudo(rng), pick(rng, WORDS["stem"]).capitalize()])


def file(rng):
    return f"{stem(rng)}.{pick(rng, WORDS['ext'])}"


def folder(rng):
    deep = f"{pick(rng, WORDS['dir'])}/{pick(rng, WORDS['dir'])}"
    return pick(rng, [pick(rng, WORDS["dir"]), "/" + pick(rng, ["tmp", "var/log", "etc", "home/" + user(rng), "usr/local", "opt/app"]), f"./{pick(rng, WORDS['dir'])}", deep, f"~/{pick(rng, WORDS['dir'])}", f"{pick(rng, WORDS['dir'])}/", pseudo(rng), ".", "C:\\Users\\" + user(rng)])


def path(rng):
    return pick(rng, [lambda: file(rng), lambda: file(rng), lambda: f"{folder(rng).rstrip('/')}/{file(rng)}", lambda: f"/home/{user(rng)}/{file(rng)}", lambda: f"{pick(rng, WORDS['dir'])}/{file(rng)}"])()


def version(rng):
    return pick(rng, ["", "", "", "v"]) + f"{int(rng.random() * 20)}.{int(rng.random() * 20)}" + (f".{int(rng.random() * 20)}" if rng.random() < 0.7 else "")


def ip(rng):
    return ".".join(str(int(rng.random() * 256)) for _ in range(4))


def expr(rng, depth=0):
    def leaf():
        n = pick(rng, [int(rng.random() * 12), int(rng.random() * 100), int(rng.random() * 1000)])
        return f"{n}.{1 + int(rng.random() * 9)}" if rng.random() < 0.12 else str(n)
    op = pick(rng, [" + ", " - ", " * ", " / ", "+", "*", "-", "/", " + ", " * ", "^", " % ", "**"])
    kind = rng.random()
    if depth > 1 or kind < 0.4:
        return leaf() + op + leaf()
    if kind < 0.6:
        return f"({expr(rng, depth + 1)}){op}{leaf()}"
    if kind < 0.75:
        return f"{leaf()}{op}({expr(rng, depth + 1)})"
    if kind < 0.85:
        return f"{pick(rng, ['sqrt', 'sin', 'cos', 'log', 'abs', 'sqrt'])}({leaf()}){op}{leaf()}"
    return leaf() + op + leaf() + pick(rng, [" + ", " - ", " * ", "+"]) + leaf()


def sql(rng):
    table, column = pick(rng, WORDS["table"]), pick(rng, WORDS["column"])
    return pick(rng, [f"SELECT * FROM {table}", f"SELECT {column} FROM {table} WHERE id = {int(rng.random() * 500)}", f"SELECT COUNT(*) FROM {table}", f"DELETE FROM {table} WHERE {column} IS NULL", f"select {column}, {pick(rng, WORDS['column'])} from {table} order by {column} desc limit {5 + int(rng.random() * 20)}"])


def code(rng):
    v, n = pick(rng, ["x", "y", "total", "name", "i", "result", "items"]), int(rng.random() * 100)
    return pick(rng, [f"print('{sentence(rng).replace(chr(39), '')}')", f'print("hello {pseudo(rng)}")', f"console.log({n} + {v})", f"{v} = {n}\nprint({v})", f"def f({v}):\n    return {v} * {n}", f"for {v} in range({n}):\n    print({v})", f"const {v} = [{n}, {n + 1}];", f"if ({v} > {n}) {{ return {v}; }}", f"import math\nprint(math.sqrt({n}))", f"<h1>{title(rng)}</h1>", f"let {v} = {{a: {n}}}", f"SELECT {n};", f"echo {pseudo(rng)}", f"return {v} + {n}", f"sum([{n}, {n + 3}, {n * 2}])", f"lambda {v}: {v} ** {n % 9}"])


def content(rng):
    kind = rng.random()
    if kind < 0.4:
        return text(rng)
    if kind < 0.55:
        return code(rng)
    if kind < 0.65:
        return "\n".join(pick(rng, ["- ", "* ", "", "# "]) + pick(rng, [task, phrase, sentence])(rng) for _ in range(2 + int(rng.random() * 2)))
    if kind < 0.72:
        return f'{{"{pick(rng, WORDS["column"])}": {int(rng.random() * 100)}, "{pseudo(rng)}": "{pick(rng, WORDS["word"])}"}}'
    if kind < 0.78:
        return ",".join(pick(rng, WORDS["column"]) for _ in range(3)) + "\n" + ",".join(str(int(rng.random() * 50)) for _ in range(3))
    return sentence(rng)


def command(rng):
    return pick(rng, ["ls -la", "git status", f"npm install {pick(rng, WORDS['package'])}", f"cat {file(rng)}", f"mkdir {pseudo(rng)}", f"rm -rf {pick(rng, WORDS['dir'])}", f"grep -r {pick(rng, WORDS['word'])} {pick(rng, WORDS['dir'])}", "df -h", "npm test", f"ping {domain(rng)}", f"python {file(rng)}", "docker ps", f"curl {url(rng)}", f"echo {pick(rng, WORDS['word'])}", "uptime", f"tail -n {5 + int(rng.random() * 50)} {pick(rng, WORDS['stem'])}.log", "whoami", f"export {pseudo(rng).upper()}={folder(rng)}", f"{pseudo(rng).upper()}={stem(rng)} {stem(rng)}", f"alias {pseudo(rng, 1)}='{stem(rng)} -{pick(rng, 'abfhlrv')}'", f"{stem(rng)} --{pick(rng, WORDS['column'])}={int(rng.random() * 90)}", f"cd {folder(rng)} && ls", f"cat {file(rng)} | grep {pick(rng, WORDS['word'])} > {file(rng)}", f"chmod +x {stem(rng)}.sh", "make build"])


def address(rng):
    n = 1 + int(rng.random() * 300)
    street = pick(rng, WORDS["street"])
    return pick(rng, [f"{n} {street}", f"{n} {street}, {pick(rng, WORDS['city'])}", f"{street} {n}", f"{n} {street}"])


def regex(rng):
    return pick(rng, [r"\d+", r"[a-z]+", r"^\s*$", r"\w+@\w+\.com", r"TODO", r"fo+", r"[0-9]{4}", r"error|warning", r"^#.*", r"import .*"])


def hashtag(rng):
    return "#" + pick(rng, WORDS["tag"])


def text_q(rng):
    return text(rng).replace('"', "")


def phrase_q(rng):
    return pick(rng, WORDS["reason"]) if rng.random() < 0.6 else phrase(rng)


def thing(rng):
    """How things are called."""
    return pick(rng, [title, title, name, ident, lambda r: unheard(r, True), lambda r: unheard(r, False), lambda r: pick(r, WORDS["room"]), lambda r: pick(r, WORDS["word"]), lambda r: pick(r, WORDS["company"])])(rng)


def sentence_note(rng):
    return sentence(rng)


def street_no(rng):
    return f"{1 + int(rng.random() * 200)} {pick(rng, WORDS['street'])}"


def coordinate(rng, span):
    number = round((rng.random() * 2 - 1) * span, pick(rng, [1, 2, 4]))
    return int(number) if number == int(number) else number


FUNCTIONS = {f.__name__: f for f in (name, date, iso_date, time, datetime, duration, phrase, title, text, query, task, serial, ident, phone, user, email, domain, url, file, folder, path, version, ip, expr, sql, code, content, command, address, regex, hashtag, stem, pseudo, text_q, phrase_q, sentence_note, street_no, thing)}
QUOTABLE = {"text", "title", "query", "task", "content", "code", "expr", "command", "sql", "song", "movie", "book", "word", "regex", "phrase", "file", "path", "ident", "foreign_text", "text_q", "sentence_note", "thing"}
QUOTES = ['"{}"', '"{}"', "'{}'", "“{}”", "`{}`", "«{}»"]


def value(rng, spec):
    """A value of this type, and the words for it."""
    kind = spec[0]
    if kind == "int":
        return integer(rng, int(spec[1]), int(spec[2]))
    if kind == "num":
        low, high = float(spec[1]), float(spec[2])
        number = round(low + rng.random() * (high - low), pick(rng, [0, 1, 1, 2]))
        number = int(number) if number == int(number) else number
        return number, str(number)
    if kind == "money":
        n = pick(rng, [int(rng.random() * 50) + 1, (int(rng.random() * 100) + 1) * 10, (int(rng.random() * 50) + 1) * 100, round(rng.random() * 100, 2)])
        n = int(n) if n == int(n) else n
        chance = rng.random()
        if chance > 0.97 and n < 500 and n == int(n):
            return n * 1_000_000, pick(rng, [f"{n} million", f"${n} million", f"{n}M"])
        if chance < 0.14:
            return n, pick(rng, ["${}", "${}", "€{}", "£{}"]).format(n)
        if chance < 0.2 and n >= 1000 and n % 1000 == 0:
            return n, f"{n // 1000}k"
        return n, (f"{n:,}" if n >= 1000 and chance > 0.85 else str(n))
    if kind == "nth":
        n = int(spec[1]) + int(rng.random() * (int(spec[2]) - int(spec[1]) + 1))
        return n, ordinal(n) if n > 10 or rng.random() < 0.6 else NTH[n]
    if kind == "mins":
        return minutes(rng)
    if kind == "secs":
        return seconds(rng)
    if kind == "lat":
        n = coordinate(rng, 90)
        return n, str(n)
    if kind == "lon":
        n = coordinate(rng, 180)
        return n, str(n)
    if kind == "enum":
        choice = pick(rng, spec[1])
        said = str(pick(rng, choice[1])) if rng.random() < 0.65 else spoken(choice[0])
        return choice[0], said
    if kind == "bool":
        yes = rng.random() < 0.5
        return yes, pick(rng, spec[1] if yes else spec[2])
    if kind == "fn":
        function = FUNCTIONS[spec[1]]
        out = function(rng)
        return out, quoted(rng, spec[1], out)
    words = WORDS[kind]
    if kind == "first":
        out = name(rng) if rng.random() < 0.75 else pick(rng, words)
    elif kind == "city" and rng.random() < 0.07:
        out = pick(rng, WORDS["odd_city"])
    elif kind == "city" and rng.random() < 0.25:
        out = unheard(rng, True)
    elif kind not in CLOSED and rng.random() < 0.35:
        out = unheard(rng, words[0][0].isupper())
    else:
        out = pick(rng, words)
    if out.startswith("the "):
        return out[4:], out
    return out, quoted(rng, kind, out)


MIXED = [key for key in WORDS if key not in CLOSED | {"filler", "after", "foreign_text", "verb_obj", "ext", "dir", "stem", "column", "table", "odd_city"}]
SMALL = ["of", "of the", "and", "in", "in the", "for", "on the", "with", "without", "to", "at", "by the", "from", "&", "vs", "-", "/", "'n'"]
ENDINGS = ["s", "s", "s", "er", "ers", "ing", "ed", "ly", "ness", "ful", "less", "ish", "land", "ville", "ton", "berg", "son", "ova", "escu", "ini", "ez"]


def compound(rng):
    """Words that stand together, all of them the name: "spring water account 4"."""
    words = [pick(rng, NOUNS) for _ in range(2 + (rng.random() < 0.25))]
    if rng.random() < 0.3:
        words.insert(0, pick(rng, WORDS["adj"]))
    if rng.random() < 0.15:
        words.append(pick(rng, [str(1 + int(rng.random() * 40)), pick(rng, "ABCDEFGH"), f"no. {1 + int(rng.random() * 20)}", f"{5 * (1 + int(rng.random() * 40))} {pick(rng, ['mg', 'mm', 'kg', 'ml', 'cm', 'W'])}"]))
    if rng.random() < 0.12:
        words.insert(1, pick(rng, ["and", "of", "for", "with", "in"]))
    return " ".join(words)


def unheard(rng, capital):
    """A name that is in no list, or in that of something else."""
    kind = rng.random()
    if kind < 0.02:
        return pick(rng, WORDS[pick(rng, ["odd_name", "odd_city", "foreign_text"])])
    if kind < 0.035:
        return serial(rng) if rng.random() < 0.75 else " ".join([pick(rng, NOUNS) if rng.random() < 0.6 else pseudo(rng, 1)] * (2 + int(rng.random() * 3)))
    if kind < 0.16:
        out = " ".join(pseudo(rng) for _ in range(1 + (rng.random() < 0.3)))
        return out.title() if capital else out
    if kind < 0.46:
        out = pick(rng, WORDS[pick(rng, MIXED)])
        return out if len(out) < 40 else pick(rng, NOUNS)
    if kind < 0.62:
        out = compound(rng)
        return out.title() if capital and rng.random() < 0.6 else out
    one, two = (pick(rng, NOUNS) if rng.random() < 0.45 else pick(rng, WORDS[pick(rng, ["word", "adj", "animal", "plant", "last", "food", "color", "city"])]) if rng.random() < 0.6 else pseudo(rng) for _ in range(2))
    if kind < 0.66:
        one = one.split(" ")[-1] + pick(rng, ENDINGS)
    if capital:
        one, two = one.title(), two.title()
    if kind < 0.7:
        return one
    n, letter = 1 + int(rng.random() * 99), pick(rng, "ABCDEFGHKLMNPRSTVXZ")
    if kind < 0.78:
        return pick(rng, [f"{letter}{n}", f"{letter}-{n * 10}", f"{n}{letter}", f"{one} {letter}", f"{letter}&{pick(rng, 'BDMTPS')}", f"{one} {n}", f"{one}-{n}", f"v{n % 9}.{n % 7}", f"#{n}", f"{letter}.{pick(rng, 'BJKS')}. {two}", f"{one} ({two})", f"{one}+", f"No. {n}", f"{one} {n}%", f"{n}/{letter}", f"{one}: {two}", f"{letter.lower()}{one}", f"{n}-{n + 2} {two}"])
    return pick(rng, [f"{one} {two}", f"{one} {two}", f"{one}-{two}", f"{one}'s {two}", f"{one} {two}s", f"{one} {pick(rng, SMALL)} {two}", f"{one} {pick(rng, SMALL)} {two}", f"The {two}" if capital else f"{one}_{two}", f"{one} {two} {pseudo(rng)}", f"St. {one}" if capital else f"{one}{two}", f"{one} {two} {pick(rng, SMALL)} {pick(rng, WORDS['city'])}"])


def minutes(rng):
    """A time in minutes, said in minutes or hours."""
    if rng.random() < 0.45:
        n = pick(rng, [2, 3, 5, 8, 10, 12, 15, 20, 25, 30, 35, 40, 45, 50, 60, 75, 90, 120])
        return n, f"{in_words(n) if n < 21 and rng.random() < 0.2 else n} {pick(rng, ['minutes', 'minutes', 'min', 'mins'])}"
    return pick(rng, [(60, "an hour"), (60, "one hour"), (60, "1 hour"), (30, "half an hour"), (15, "a quarter of an hour"), (120, "two hours"), (120, "2 hours"), (90, "an hour and a half"), (90, "1.5 hours"), (180, "3 hours"), (180, "three hours"), (240, "4 hours"), (300, "5 hours"), (360, "six hours"), (480, "8 hours"), (600, "ten hours"), (720, "12 hours"), (1440, "24 hours"), (45, "45 minutes"), (1, "a minute"), (1, "one minute")])


def seconds(rng):
    """A time in seconds, said in seconds, minutes or hours."""
    if rng.random() < 0.35:
        n = pick(rng, [5, 10, 15, 20, 30, 40, 45, 50, 60, 75, 90, 100, 120])
        return n, f"{in_words(n) if n < 21 and rng.random() < 0.2 else n} {pick(rng, ['seconds', 'seconds', 'sec', 'secs'])}"
    n = pick(rng, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 45, 60, 90])
    return pick(rng, [(n * 60, f"{n} minutes" if n > 1 else "one minute"), (n * 60, f"{n} {pick(rng, ['min', 'minutes'])}" if n > 1 else "a minute"), (n * 60, f"{in_words(n)} minutes" if 1 < n < 21 else f"{n} min"), pick(rng, [(3600, "an hour"), (1800, "half an hour"), (3600, "one hour"), (7200, "2 hours"), (7200, "two hours"), (5400, "an hour and a half")])])


def spoken(word):
    return word.replace("_", " ") if isinstance(word, str) and word.islower() else str(word)


def quoted(rng, kind, out):
    if kind in QUOTABLE:
        often = 0.75 if kind in ("content", "code", "text_q") else 0.12 if kind in ("file", "path", "ident", "thing") else 0.3
        if rng.random() < often or "\n" in out:
            mark = pick(rng, QUOTES)
            if "\n" in out and rng.random() < 0.3:
                return f"\n```\n{out}\n```"
            if mark[0] not in out and mark[-1] not in out:
                return mark.format(out)
    return out


def integer(rng, low, high):
    n = low + int(rng.random() * (high - low + 1))
    if high - low > 50 and rng.random() < 0.5:
        step = 5 if high <= 200 else 50 if high <= 5000 else 1000
        n = max(low, n // step * step)
    if n >= 0 and rng.random() < 0.15:
        return n, in_words(n)
    return n, (f"{n:,}" if n >= 10000 and rng.random() < 0.2 else str(n))
