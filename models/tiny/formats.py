"""Conversations as text, in the formats of FunctionGemma and Gemma 4, byte for byte as src/dialects/functiongemma.ts and gemma4.ts
render them (test/models/tiny.test.ts compares). A conversation is a Request of src/core/nouns.ts as plain dictionaries.

    render("functiongemma", request)  ->  [("<bos><start_of_turn>developer\n...", False), ("<start_function_call>call:f{}...", True), ...]

Each span says whether the model wrote it.
"""

TRIGGER = "You are a model that can do function calling with the following functions"


class Format:
    """What the two formats spell differently."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def string(self, text):
        return self.quote + text + self.quote

    def value(self, value):
        if isinstance(value, str):
            return self.string(value)
        if value is None:
            return self.none
        if value is True:
            return "true"
        if value is False:
            return "false"
        if isinstance(value, (int, float)):
            return repr(value)
        if isinstance(value, list):
            return "[" + ",".join(self.value(item) for item in value) + "]"
        return "{" + self.pairs(value) + "}"

    def pairs(self, fields):
        return ",".join(key + ":" + self.value(fields[key]) for key in dictsort(fields))

    def quoted_value(self, value):
        """Below the schema of an array's elements the keys are quoted."""
        if isinstance(value, dict):
            return "{" + ",".join(self.string(key) + ":" + self.quoted_value(value[key]) for key in dictsort(value)) + "}"
        if isinstance(value, list):
            return "[" + ",".join(self.quoted_value(item) for item in value) + "]"
        return self.value(value)

    def declaration(self, tool):
        body = "description:" + self.string(tool.get("description", ""))
        if tool.get("parameters"):
            body += ",parameters:" + self.parameters(tool["parameters"])
        return f"{self.tool_open}declaration:{tool['name']}{{{body}}}{self.tool_close}"

    def parameters(self, schema):
        fields = []
        if schema.get("properties"):
            fields.append("properties:" + self.properties(schema["properties"]))
        fields += self.required(schema)
        fields.append("type:" + self.string(schema.get("type", "object").upper()))
        return "{" + ",".join(fields) + "}"

    def required(self, schema):
        return ["required:" + self.value(schema["required"])] if schema.get("required") else []

    def properties(self, properties):
        return "{" + ",".join(name + ":" + self.property(properties[name]) for name in dictsort(properties)) + "}"

    def property(self, schema):
        kind = schema["type"]
        fields = []
        if self.describes_all or schema.get("description"):
            fields.append("description:" + self.string(schema.get("description", "")))
        if kind == "string" and schema.get("enum"):
            fields.append("enum:" + self.value(schema["enum"]))
        if kind == "array" and schema.get("items"):
            fields.append("items:" + self.elements(schema["items"]))
        if kind == "object":
            fields.append("properties:" + self.properties(schema.get("properties", {})))
            fields += self.required(schema)
        fields.append("type:" + self.string(kind.upper()))
        return "{" + ",".join(fields) + "}"

    def elements(self, schema):
        fields = []
        for name in dictsort(schema):
            if name == "properties":
                fields.append(name + ":" + self.properties(schema[name]))
            elif name == "type":
                fields.append(name + ":" + self.string(schema[name].upper()))
            else:
                fields.append(name + ":" + self.quoted_value(schema[name]))
        return "{" + ",".join(fields) + "}"

    def call(self, call):
        return f"{self.call_open}call:{call['name']}{{{self.pairs(call['arguments'])}}}{self.call_close}"

    def response(self, result):
        output = result["output"]
        spread = self.spreads_lists and isinstance(output, list) and output
        blocks = []
        for item in output if spread else [output]:
            body = self.pairs(item) if isinstance(item, dict) else "value:" + self.value(item)
            blocks.append(f"{self.wait}response:{result['name']}{{{body}}}{self.result_close}")
        return "".join(blocks)

    def said(self, message, thinking):
        text = ""
        for part in message["content"]:
            if part["type"] == "text":
                text += part["text"]
            elif part["type"] == "tool-call":
                text += self.call(part)
            elif thinking:
                text += f"<|channel>thought\n{part['text']}\n<channel|>"
        return text


FUNCTIONGEMMA = Format(
    quote="<escape>", none="None", describes_all=True, spreads_lists=True,
    tool_open="<start_function_declaration>", tool_close="<end_function_declaration>",
    call_open="<start_function_call>", call_close="<end_function_call>",
    wait="<start_function_response>", result_close="<end_function_response>",
    turn_open="<start_of_turn>", turn_close="<end_of_turn>",
)
GEMMA4 = Format(
    quote='<|"|>', none="null", describes_all=False, spreads_lists=False,
    tool_open="<|tool>", tool_close="<tool|>",
    call_open="<|tool_call>", call_close="<tool_call|>",
    wait="<|tool_response>", result_close="<tool_response|>",
    turn_open="<|turn>", turn_close="<turn|>",
)
FORMATS = {"functiongemma": FUNCTIONGEMMA, "gemma4": GEMMA4}


def dictsort(keys):
    return sorted(keys, key=str.lower)


def has_call(message):
    return any(part["type"] == "tool-call" for part in message["content"])


def render(dialect, request, no_thought="<|channel>thought\n<channel|>"):
    """The spans of a conversation that ends with a message of the model, which is what is to be learnt. `no_thought` is what the
    variant of Gemma 4 puts in front of an answer without thinking."""
    form = FORMATS[dialect]
    messages = list(request["messages"])
    thinks = dialect == "gemma4" and request.get("thinking", {}).get("enabled", False)
    spans = [("<bos>" + head(form, dialect, request, messages, thinks), False)]
    last_user = max(i for i, message in enumerate(messages) if message["role"] == "user")
    last = len(messages) - 1
    open_turn = None
    for i, message in enumerate(messages):
        role = message["role"]
        if role == "user":
            text = message["content"][0]["text"].strip()
            spans.append((f"{form.turn_open}user\n{text}{form.turn_close}\n", False))
        elif role == "tool":
            spans.append((form.response(message)[len(form.wait) if open_turn == "call" else 0:], False))
            open_turn = "result"
        elif role == "assistant":
            if open_turn is None:
                spans.append((f"{form.turn_open}model\n", False))
            said = form.said(message, thinks and i > last_user)
            if i == last and dialect == "gemma4":
                if thinks and open_turn == "result":
                    spans.append(("<|channel>thought\n", False))
                    said = said.removeprefix("<|channel>thought\n")
                elif not thinks and open_turn is None:
                    spans.append((no_thought, False))
            if has_call(message):
                spans.append((said + form.wait, True))
                open_turn = "call"
            else:
                spans.append((said + form.turn_close, True))
                spans.append(("\n", False))
                open_turn = None
    if open_turn is None:
        spans.pop()
    return [span for span in spans if span[0]]


def head(form, dialect, request, messages, thinks):
    """Takes the system message off the messages."""
    tools = "".join(form.declaration(tool) for tool in request.get("tools", []))
    system = messages.pop(0)["content"][0]["text"].strip() if messages[0]["role"] == "system" else ""
    if not (system or tools or thinks):
        return ""
    if dialect == "functiongemma":
        text = "\n".join(part for part in (system, TRIGGER if tools else "") if part)
        return f"{form.turn_open}developer\n{text}{tools}{form.turn_close}\n"
    return f"{form.turn_open}system\n{'<|think|>' + chr(10) if thinks else ''}{system}{tools}{form.turn_close}\n"
