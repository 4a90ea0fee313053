/**
 * Native tools: those that this API defines and its clients run. Other servers get each of them as a function. A call is an item of its own
 * type, with the arguments inside: `{"type": "shell_call", "action": {"commands": ["ls"]}}`.
 */
import { isObject } from "../../core/json.ts";
import type { Json, JsonObject, Tool } from "../../core/nouns.ts";
import { arrayOf, asSet, type Native, nativeType, oneOf, parametersOf, TEXT, WHOLE } from "../bridge.ts";
import { entryOf, isList, isText, objectOf } from "../read.ts";
import type { Draft } from "../wire.ts";

interface Kind {
  /** The key of the arguments in an item. */
  readonly key: string;
  /** The defaults of arguments that every item must have; the function leaves them out. */
  readonly always?: JsonObject;
  /** Other fields that every item has. */
  readonly item?: JsonObject;
  /** Absent: the client's declaration has the description and the parameters. */
  readonly native?: Native;
}

export const SEARCH = "tool_search";

const KINDS: Readonly<Record<string, Kind>> = {
  [SEARCH]: { key: "arguments", item: { execution: "client" } },
  local_shell: {
    key: "action",
    always: { type: "exec", command: [], env: {} },
    native: {
      description: 'Runs a command, given as its program and arguments: ["bash", "-lc", "ls | wc -l"].',
      parameters: parametersOf({
        command: arrayOf(TEXT),
        "working_directory?": TEXT,
        "timeout_ms?": WHOLE,
        "env?": { type: "object", additionalProperties: TEXT },
        "user?": TEXT,
      }),
    },
  },
  shell: {
    key: "action",
    always: { commands: [], timeout_ms: null, max_output_length: null },
    item: { environment: { type: "local" } },
    native: {
      description: "Runs shell commands and returns stdout, stderr and outcome of each.",
      parameters: parametersOf({ commands: arrayOf(TEXT), "timeout_ms?": WHOLE, "max_output_length?": WHOLE }),
    },
  },
  apply_patch: {
    key: "operation",
    native: {
      description: `Creates, updates or deletes a file by a diff without line numbers. In a new file each line begins with "+". In an update each \
change begins with a line "@@" (or "@@ def f():", if it is in one), then three lines of context with a blank in front, lines to remove with "-", lines \
to add with "+", and context again. To delete a file, give an empty diff.`,
      parameters: parametersOf({ type: oneOf("create_file update_file delete_file"), path: TEXT, diff: TEXT }),
    },
  },
  computer: {
    key: "actions",
    item: { pending_safety_checks: [] },
    native: {
      description: "Uses a computer by mouse and keyboard, and shows its screen. x and y are in pixels.",
      parameters: parametersOf({
        actions: arrayOf(
          parametersOf({
            type: oneOf("screenshot click double_click move drag scroll keypress type wait"),
            "x?": WHOLE,
            "y?": WHOLE,
            "button?": oneOf("left right wheel back forward"),
            "path?": arrayOf(parametersOf({ x: WHOLE, y: WHOLE })),
            "scroll_x?": WHOLE,
            "scroll_y?": WHOLE,
            "keys?": arrayOf(TEXT),
            "text?": TEXT,
          }),
        ),
      }),
    },
  },
};

// ---- Tools

/** `computer_use_preview` is the older type of `computer`. */
export const nativeName = (type: Json | undefined): string => String(type).replace("computer_use_preview", "computer");

/** Whether the client runs the tool: a search only if `execution` says so; a shell unless it has a container. */
const isRun = ({ type, execution, environment }: JsonObject): boolean =>
  type === SEARCH ? execution === "client" : (objectOf(environment).type ?? "local") === "local";

/** How a declared tool is described to other servers; `undefined`: only servers of this API know it. */
export function nativeOf(tool: JsonObject): Partial<Native> | undefined {
  const kind = isRun(tool) ? entryOf(KINDS, nativeName(tool.type)) : undefined;
  return kind && (kind.native ? asSet(tool, kind.native) : {});
}

export const isNative = (tools: readonly Tool[] | undefined, name: string): boolean =>
  tools?.some((tool) => tool.name === name && nativeType("openai-responses", tool)) ?? false;
export const isSearch = (tools: readonly Tool[] | undefined): boolean =>
  tools?.some((tool) => nativeType("openai-responses", tool) === SEARCH) ?? false;

// ---- Items

/** The name of the native tool whose call (or result) an item is. */
export function calledIn({ type, execution }: JsonObject, end: "_call" | "_call_output"): string | undefined {
  const name = isText(type) && type.endsWith(end) ? type.slice(0, -end.length) : "";
  return entryOf(KINDS, name) && (name !== SEARCH || execution === "client") ? name : undefined;
}

/** The arguments of a call. A computer call with a single action may have `action` instead of `actions`. */
export function readArguments(name: string, item: JsonObject): Json {
  const { key, always = {} } = KINDS[name]!;
  if (key === "actions") return { actions: item.actions ?? [item.action ?? {}] };
  const given = item[key] ?? {};
  if (!isObject(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(always[key])));
}

export function writeCall(name: string, given: JsonObject): Draft {
  const { key, always, item } = KINDS[name]!;
  const actions = isList(given.actions) ? { action: given.actions[0], actions: given.actions } : given;
  return { type: `${name}_call`, ...item, ...(key === "actions" ? actions : { [key]: { ...always, ...given } }) };
}
