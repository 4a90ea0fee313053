"""The tools of the conversations: those of tools/*.txt (see specs.py) and made-up ones (a verb, a noun, a few parameters). An instance is one
declaration of a tool, with names, descriptions, types and parameters drawn at random, so that a model must read the declaration.
"""
import re

from formats import FORMATS
from made import alike, chosen, filled
from specs import Param, Spec, read
from synonyms import renamed, reworded
from values import NOUNS, WORDS, pick, pseudo, value

HELD_OUT = {"set_fan_speed", "find_free_slot", "convert_mass", "book_table", "track_package", "play_podcast", "log_water", "rename_file", "git_create_branch", "check_stock",
            "order_drink", "close_app", "set_font_size", "pick_up_item", "flight_status", "define_word", "restart_service", "lock_door", "percentage", "post_message", "buy_stock",
            "search_jobs", "unlock_door", "create_playlist", "get_air_quality",
            "alter_garment", "apply_scholarship", "book_desk", "caption_meme", "check_expiry", "create_milestone", "create_webhook", "csat_survey", "cut_list", "degrees_to_radians",
            "delete_post", "drag_mouse", "fabric_needed", "forklift_call", "illness_info", "livestock_vaccinate", "multimeter_read", "notebook_to_script", "order_materials", "pet_vaccination",
            "pick_random", "player_stats", "reject_expense", "rent_bike", "resize_instance", "run_javascript", "scan_file_virus", "set_email_signature", "spray_field", "stud_finder",
            "allowance_jar", "antenatal_visit", "bed_free_on_ward", "blister_pack", "cab_airport_run", "cad_check_collision", "cad_drill_hole", "cad_extrude",
            "cancel_broker_order", "chore_rota", "clean_job_book", "clean_quality_score", "coffee_order_usual", "compound_cream", "count_colonies", "deer_cull",
            "drawing_revision_get", "drop_patent", "dryer_control", "enclosure_climate", "energise_circuit", "escrow_release", "file_tax_extension", "fire_drill_plan",
            "fixture_postpone", "generator_stop", "headcount", "hourly_check", "inoculate_tank", "iou_settle", "lamp_replace_log", "landfill_gas", "license_patent",
            "listing_reprice", "lost_pet_notice", "lunchbox", "move_inpatient", "nap_log", "outage_window", "overflow_event", "parts_van_stock", "payslip", "penalty_notice",
            "permit_to_work_grid", "pin_chat_message", "podcast_chapter", "post_status_page", "post_vacancy", "query_card_charge", "queue_depth", "rack_wine", "ration_mix",
            "register_for_vat", "remove_container", "render_cut", "repeat_script", "resize_ring", "room_move_resident", "royalty_due", "sample_dispose", "setup_instrument_at",
            "site_photo_file", "snags_open", "snow_cannon", "spike_recovery", "spray_recommend", "stop_suspend", "summon_witness", "take_choose", "taste_fix", "toilet_change",
            "trial_balance", "verify_signature", "vet_procedure_book", "who_is_away"}
"""Not trained on: the development set."""

NEAR = {"abort_pipeline", "add_dns_record", "blood_order_units", "book_ferry", "cancel_workflow", "container_stop", "cool_camera", "court_book", "customs_declare",
        "customs_label_fill", "drain_node", "earthquakes", "expose_image", "farrier_visit", "fire_kiln_load", "fly_scenery", "hive_inspection", "horse_stable_book", "lift_speed",
        "light_cue", "loan_artwork", "loan_incoming", "log_bird_sighting", "open_valve", "point_scope", "print_3d", "quake_recent", "reagent_open", "renew_loan", "scale_recipe",
        "scale_service", "seating_plan", "shear_schedule", "stage_light", "start_kiln", "telescope_point", "tram_points_set", "turn_wheels"}
"""Not trained on either: nearly the same as tools of held-out/, found by comparing names and descriptions."""

SPECS, GENERIC, CLASHES = read()
TRAINED = [spec for spec in SPECS if spec.key not in HELD_OUT | NEAR]
DEVELOPMENT = [spec for spec in SPECS if spec.key in HELD_OUT]

WORDS_ONLY = re.compile(r"[a-z]+(_[a-z]+)*")
INNER = re.compile(r"\(([^()]*)\)")


def expand(rng, phrase):
    """One reading of the alternatives. \u2768 and \u2769 are parentheses that stay."""
    while "(" in phrase:
        phrase = INNER.sub(lambda m: pick(rng, m[1].split("|")), phrase)
    return phrase.strip().replace("\u2768", "(").replace("\u2769", ")")


# ---- Names

SYNONYMS = {
    "get": "get fetch retrieve read query find show load lookup".split(), "set": "set change update adjust put".split(), "create": "create add new make insert".split(), "add": "add create insert append new".split(), "delete": "delete remove erase drop".split(),
    "remove": "remove delete drop".split(), "send": "send dispatch submit".split(), "search": "search find lookup query".split(), "find": "find search lookup locate".split(), "list": "list show get enumerate".split(), "show": "show display view get".split(), "open": "open launch start".split(),
    "start": "start begin launch run".split(), "stop": "stop end halt".split(), "log": "log record track add save".split(), "calculate": "calculate compute calc".split(), "book": "book reserve".split(), "buy": "buy purchase order".split(), "check": "check verify test get".split(), "play": "play start".split(), "write": "write save store".split(),
    "update": "update edit modify change".split(), "make": "make create generate".split(), "convert": "convert change transform".split(), "track": "track follow trace".split(), "order": "order buy request".split(), "generate": "generate create make".split(),
}
NAMESPACES = "api app home tools util system my user client default service core assistant mcp functions company".split()


def words_of(name):
    return [word for word in re.split(r"[_.]", re.sub(r"\d+$", "", name)) if word]


def style_words(rng, words, style):
    if style == "camel":
        return words[0] + "".join(word.capitalize() for word in words[1:])
    if style == "pascal":
        return "".join(word.capitalize() for word in words)
    if style == "kebab":
        return "-".join(words)
    if style == "dotted":
        return words[0] + "." + "_".join(words[1:]) if len(words) > 1 else pick(rng, NAMESPACES) + "." + words[0]
    if style == "upper":
        return "_".join(words).upper()
    return "_".join(words)


STYLES = ["snake"] * 54 + ["camel"] * 20 + ["pascal"] * 4 + ["kebab"] * 7 + ["dotted"] * 9 + ["upper"]


def tool_name(rng, spec, style):
    kind = rng.random()
    if kind < 0.05:
        words = [pseudo(rng, 2)] if rng.random() < 0.6 else [pick(rng, ["tool", "fn", "action", "command", "op"]), pick(rng, ["a", "b", "1", "2", "7", "x", "42"])]
    else:
        words = words_of(pick(rng, spec.names))
        if words[0] in SYNONYMS and rng.random() < 0.35:
            words = [pick(rng, SYNONYMS[words[0]])] + words[1:]
        if rng.random() < 0.12:
            words = renamed(rng, words)
        if rng.random() < 0.06:
            words = words + [pick(rng, ["tool", "function", "v2", "now", "api", "action"])]
        if rng.random() < 0.05:
            words = [pick(rng, NAMESPACES)] + words
        elif rng.random() < 0.03:
            words = [spec.domain] + words
    return style_words(rng, words, style), kind < 0.05


CLUTTER = ["Returns JSON.", "Requires an account.", "Only for signed-in users.", "Use it when the user asks for it.", "Do not call it twice.", "Works worldwide.", "May take a while.", "Returns the result as text.", "Call this tool when needed.", "The result is an object.", "Supports all common cases.", "This action can't be undone.", "Use only if the user explicitly asks.", "Returns an error if nothing is found.", "Fails without permission.", "Useful for everyday requests.", "The user must confirm first.", "Takes effect immediately.", "Does not need a login.", "Part of the public API.", "Available on all plans.", "Limited to ten calls a minute.", "Deprecated soon."]
PREFIXES = ["Use this tool to {}", "A tool to {}", "Use this to {}", "Call this function to {}", "This function is used to {}", "Lets you {}", "Allows the assistant to {}", "Function to {}", "Tool to {}"]


def tool_description(rng, spec, hidden):
    kind = rng.random()
    out = pick(rng, spec.descriptions)
    if out is spec.descriptions[0]:
        first, _, rest = out.partition(" ")
        if first.lower() in SYNONYMS and rng.random() < 0.3:
            out = pick(rng, SYNONYMS[first.lower()]).capitalize() + " " + rest
        if kind < 0.12:
            out = pick(rng, PREFIXES).format(out[0].lower() + out[1:])
    if 0.5 < kind < 0.65:
        out = reworded(rng, out[0].lower() + out[1:])
        out = out[0].upper() + out[1:]
    if kind > 0.86 and len(spec.descriptions) > 1:
        other = pick(rng, spec.descriptions)
        if other != out:
            out = out.rstrip(".") + ". " + other
    if 0.4 < kind < 0.5:
        return out.rstrip(".") + ". " + pick(rng, CLUTTER)
    if kind < 0.03 and not hidden:
        return ""
    return out + "." if rng.random() < 0.35 and not out.endswith(".") else out


# ---- Instances


class Instance:
    """One declaration of a tool."""

    def __init__(self, rng, spec):
        self.spec = spec
        style = pick(rng, STYLES)
        self.name, hidden = tool_name(rng, spec, style)
        self.params, self.extra = {}, []
        used = set()
        properties, required = {}, []
        for param in spec.params:
            if param.optional and rng.random() < 0.3:
                continue
            name, odd = self.param_name(rng, param, style, used)
            used.add(name)
            kind, schema = self.schema(rng, param)
            if rng.random() < 0.9 or hidden or odd:
                schema["description"] = self.param_description(rng, param, kind, schema)
            properties[name] = schema
            if not param.optional:
                required.append(name)
            self.params[param.key] = (name, kind, param)
        if properties and rng.random() < 0.25:
            for param in chosen(rng, GENERIC[2:], 1 + int(rng.random() * 2), {alike(param) for param in spec.params}):
                param = filled(param, words_of(spec.names[0])[-1], True)
                name, odd = self.param_name(rng, param, style, used)
                if param.key not in self.params:
                    used.add(name)
                    self.extra.append(param)
                    kind, properties[name] = self.schema(rng, param)
                    if rng.random() < 0.85 or odd:
                        properties[name]["description"] = self.param_description(rng, param, kind, properties[name])
        self.tool = {"name": self.name, "description": tool_description(rng, spec, hidden)}
        if properties:
            self.tool["parameters"] = {"type": "object", "properties": properties}
            if required and rng.random() < 0.97:
                self.tool["parameters"]["required"] = required
        elif rng.random() < 0.8:
            self.tool["parameters"] = {"type": "object", "properties": {}} if rng.random() < 0.7 else {"type": "object"}
        self.required = [self.params[param.key] for param in spec.params if not param.optional]
        self.declared = {}

    def declaration(self, dialect):
        if dialect not in self.declared:
            self.declared[dialect] = FORMATS[dialect].declaration(self.tool)
        return self.declared[dialect]

    def param_name(self, rng, param, style, used):
        """A name, and whether only a description can say what it means."""
        for _ in range(20):
            odd = rng.random() < 0.06
            words = words_of(pseudo(rng, 2) if odd else pick(rng, param.names))
            if rng.random() < 0.04:
                words = [pick(rng, ["target", "user", "the", "input", "new", "selected"])] + words
            elif rng.random() < 0.03:
                words = words + [pick(rng, ["name", "value", "param", "text", "input"])]
            name = style_words(rng, words, "camel" if style in ("camel", "pascal") else "kebab" if style == "kebab" and rng.random() < 0.3 else "snake")
            if name not in used:
                return name, odd
        return param.key + "_" + pseudo(rng, 1), False

    def schema(self, rng, param):
        kind = param.kind
        if kind[0] == "enum":
            options = list(kind[1])
            if len(options) > 2 and rng.random() < 0.5:
                options = rng.sample(options, 2 + int(rng.random() * (len(options) - 1)))
            rng.shuffle(options)
            if rng.random() < 0.08 and all(WORDS_ONLY.fullmatch(option[0]) for option in options):
                # Without the list of its values it is a text like any other, copied as it was said.
                return ["enum", [(option[0].replace("_", " "), [option[0].replace("_", " ")]) for option in options]], {"type": "string"}
            return ["enum", options], {"type": "string", "enum": [option[0] for option in options]}
        if kind[0] == "enum_int":
            return ["enum", kind[1]], {"type": "integer"}
        if kind[0] == "list":
            element = kind[1]
            return kind, {"type": "array", "items": {"type": json_type(rng, element)}}
        if kind[0] == "objs":
            return kind, {"type": "array", "items": {"type": "object", "properties": {name: {"type": json_type(rng, field)} for name, field in kind[1]}}}
        if kind[0] == "obj":
            fields = {name: {"type": json_type(rng, field)} for name, field in kind[1]}
            if rng.random() < 0.5:
                for name, field in fields.items():
                    field["description"] = pick(rng, ["The " + name.replace("_", " "), name.replace("_", " ").capitalize()])
            schema = {"type": "object", "properties": fields}
            if rng.random() < 0.6:
                schema["required"] = list(fields)
            return kind, schema
        if kind[0] in ("int", "num", "money") and rng.random() < 0.05:
            return ["digits", kind], {"type": "string"}
        return kind, {"type": json_type(rng, kind)}

    def param_description(self, rng, param, kind, schema):
        out = pick(rng, param.descriptions)
        chance = rng.random()
        if chance < 0.12 and kind[0] not in ("obj", "objs", "list", "bool", "digits", "enum") and kind[-1] not in ("content", "code"):
            out = f"{out.rstrip('.')}, {pick(rng, ['e.g.', 'for example', 'such as', 'like'])} {value(rng, kind)[0]}"
        elif chance < 0.2 and kind[0] == "enum":
            out = f"{out}: {' or '.join(str(option[0]) for option in kind[1])}"
        elif chance < 0.26 and param.optional:
            out += pick(rng, [" (optional)", ", optional", ". Optional."])
        elif chance < 0.3:
            out += pick(rng, [" (required)", ". Must be given", ", as the user said it", " as text"]) if not param.optional else ""
        elif chance < 0.46:
            words = param.names[0].replace("_", " ")
            out = pick(rng, ["{d} to use", "The {w} to use", "{d} of the request", "{d}. Must be a valid {w}", "{d}, given by the user", "The {w} for the request", "The desired {w}", "{d} that the user mentioned", "Exact {w}", "The {w} in question", "{d}, case sensitive", "Required {w} of the {t}"]).format(d=out.rstrip("."), w=words, t=words_of(self.spec.names[0])[-1])
        elif chance < 0.52:
            out = pick(rng, ["The ", "This is the ", "Specifies the ", "Contains the "]) + param.names[0].replace("_", " ")
        return out + "." if rng.random() < 0.2 and not out.endswith(".") else out


def json_type(rng, kind):
    if kind[0] in ("int", "nth", "mins", "secs"):
        return "integer" if rng.random() < 0.75 else "number"
    if kind[0] in ("num", "money", "lat", "lon"):
        return "number"
    if kind[0] == "bool":
        return "boolean"
    return "string"


def draw(rng, kind):
    """A value of a parameter, and the words for it."""
    if kind[0] == "list":
        drawn, seen = [], set()
        for _ in range(kind[2] + int(rng.random() * (kind[3] - kind[2] + 1))):
            item, said = value(rng, kind[1])
            if item not in seen:
                seen.add(item)
                drawn.append((item, said))
        if len(kind) > 4:
            return [item for item, _ in drawn], "[" + pick(rng, [", ", ","]).join(str(item) for item, _ in drawn) + "]"
        return [item for item, _ in drawn], series(rng, drawn) if rng.random() < 0.18 else enumeration(rng, [said for _, said in drawn])
    if kind[0] == "obj":
        fields = [(name, *value(rng, field)) for name, field in kind[1]]
        said = [f"{name.replace('_', ' ')} {text}" if i or rng.random() < 0.8 else text for i, (name, _, text) in enumerate(fields)]
        return {name: item for name, item, _ in fields}, enumeration(rng, said)
    if kind[0] == "objs":
        rows = [[(name, *value(rng, field)) for name, field in kind[1]] for _ in range(1 + int(rng.random() * 3))]
        return [{name: item for name, item, _ in row} for row in rows], enumeration(rng, [" ".join(said for _, _, said in row) for row in rows])
    if kind[0] == "digits":
        item, said = value(rng, kind[1])
        return str(item), str(item) if "," not in said else said.replace(",", "")
    if kind[0] == "city" and rng.random() < 0.1:
        place = f"{value(rng, kind)[0]}, {pick(rng, REGIONS) if rng.random() < 0.5 else pick(rng, WORDS['country'])}"
        return place, place
    return value(rng, kind)


REGIONS = "CA NY TX WA IL FL MA CO OR NJ UK USA Ontario Bavaria California Texas Queensland Scotland Kerala Jalisco Normandy Tuscany".split()


def series(rng, drawn):
    """A list as programs write it, or without any \"and\"."""
    if all(not isinstance(item, str) for item, _ in drawn):
        items = [str(item) for item, _ in drawn]
        return pick(rng, ["[{}]", "[{}]", "{}", "({})"]).format(pick(rng, [", ", ","]).join(items))
    items = [said for _, said in drawn]
    kind = rng.random()
    if kind < 0.5 and not any(mark in item for item, _ in drawn for mark in "'\"`"):
        items = [pick(rng, ["'{}'", '"{}"']).format(item) for item, _ in drawn] if kind < 0.25 else ["'" + item + "'" for item, _ in drawn]
        return "[" + ", ".join(items) + "]" if kind < 0.35 else enumeration(rng, items)
    return pick(rng, [", ", ", ", " / ", "; ", " + ", " & "]).join(items)


def enumeration(rng, items):
    if len(items) == 1:
        return items[0]
    last = pick(rng, [" and ", " and ", " and ", " and ", ", and ", ", ", " & ", " plus "])
    return ", ".join(items[:-1]) + last + items[-1]


# ---- Disguises

WORD = re.compile(r"[A-Za-z]{4,}")
SLOT = re.compile(r"(\{[^}]*\})")
COMMON = set("with that this from have what when where which should would could please into them they then there about after before their some more many much does doing need want been were will your mine ours other another each every must make made give gave take them than only also just like name named called value values text number list".split())
SUBSTITUTES = sorted({noun for noun in NOUNS if " " not in noun and "-" not in noun} | set(WORDS["noun"]) | set(WORDS["word"]) | {word for key in ("product", "food", "ingredient", "animal", "plant", "sport", "element", "appliance", "device", "category", "tag", "subject", "genre") for word in WORDS[key] if WORD.fullmatch(word)})


def disguise(rng, spec):
    """The same tool, but some words that requests and declaration share are other words, or no words at all: what it is about can
    only be read in the declaration."""
    asked = set(WORD.findall(" ".join(SLOT.sub(" ", phrase) for phrases in spec.phrases.values() for phrase in phrases).lower()))
    declared = set(WORD.findall(" ".join(spec.names + spec.descriptions).replace("_", " ").lower()))
    shared = sorted((asked & declared) - COMMON)
    rng.shuffle(shared)
    words = {word: pick(rng, SUBSTITUTES) if rng.random() < 0.6 else pseudo(rng, 1 + int(rng.random() * 2)) for word in shared[:1 + int(rng.random() * 3)]}
    for word in list(words):
        for end in ("s", "es"):
            words.setdefault(word + end, words[word] + end)
    if words:
        finder = re.compile(r"(?<![A-Za-z])(" + "|".join(sorted(words, key=len, reverse=True)) + r")(?![A-Za-z])", re.I)

        def put(text):
            return finder.sub(lambda m: words[m[0].lower()].capitalize() if m[0][0].isupper() else words[m[0].lower()], text)
    else:
        def put(text):
            return text

    out = Spec(spec.domain, [put(name) for name in spec.names], [put(text) for text in spec.descriptions])
    out.key = spec.key
    out.phrases = {kind: ["".join(part if part.startswith("{") else put(part) for part in SLOT.split(phrase)) for phrase in phrases] for kind, phrases in spec.phrases.items()}
    for param in spec.params:
        kind = param.kind
        if kind[0] == "enum" and rng.random() < 0.35:
            options = rng.sample(SUBSTITUTES, len(kind[1])) if rng.random() < 0.7 else [pseudo(rng, 2) for _ in kind[1]]
            kind = ["enum", [(option, [option]) for option in dict.fromkeys(options)]]
        elif kind[0] in WORDS and kind[0] not in LOCAL and rng.random() < 0.2:
            kind = [pick(rng, OPEN_KINDS)]
        attachments = {yes: [put(text) for text in texts] for yes, texts in param.attachments.items()} if isinstance(param.attachments, dict) else [put(text) for text in param.attachments]
        copy = Param([put(name) for name in param.names], param.optional, kind, [put(text) for text in param.descriptions], attachments)
        copy.key = param.key
        out.params.append(copy)
    return out


LOCAL = {"unit_len", "unit_mass", "unit_vol", "currency", "hex_color", "timezone", "weekday", "month"}
OPEN_KINDS = ["first", "city", "company", "song", "artist", "movie", "book", "food", "ingredient", "product", "team", "topic", "place", "street", "service", "status", "label", "position", "word", "color", "room", "device"]
