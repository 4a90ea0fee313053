// Combinators that describe the JSON an API accepts. A check returns its complaints, each with the path of the fault.

export type Check = (value: unknown, at: string) => string[];
export type Fields = Readonly<Record<string, Check>>;

const none: string[] = [];
export const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};
const wrong = (at: string, what: string, value: unknown): string[] => [`${at} must be ${what}; it is ${shown(value)}`];

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const recordsOf = (value: unknown): Record<string, unknown>[] => listOf(value).filter(isRecord);

// Values

const typed =
  (what: string, is: (value: unknown) => boolean): Check =>
  (value, at) =>
    is(value) ? none : wrong(at, what, value);

export const anything: Check = () => none;
export const text = typed("a string", (value) => typeof value === "string");
export const filled = typed("a string that is not empty", (value) => typeof value === "string" && value !== "");
export const flag = typed("true or false", (value) => typeof value === "boolean");
export const amount = typed("a number", (value) => typeof value === "number" && Number.isFinite(value));
export const whole = typed("a whole number", Number.isInteger);
export const count = typed("a whole number from 0", (value) => Number.isInteger(value) && Number(value) >= 0);
export const positive = typed("a whole number from 1", (value) => Number.isInteger(value) && Number(value) >= 1);
export const between = (low: number, high: number): Check =>
  typed(`a number from ${low} to ${high}`, (value) => typeof value === "number" && value >= low && value <= high);
export const nothing = typed("null", (value) => value === null);
export const record = typed("an object", isRecord);
export const matching = (pattern: RegExp): Check =>
  typed(`a string like ${pattern.source}`, (value) => typeof value === "string" && pattern.test(value));
export const oneOf = (...values: readonly (string | number | boolean)[]): Check =>
  typed(`one of ${values.join(", ")}`, (value) => values.includes(value as string));
export const base64 = matching(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/);
export const url = matching(/^(?:https?:\/\/|data:[^,]*;base64,)/);

// Combinations

/** An object with these keys and no others. */
export const object =
  (required: Fields, optional: Fields = {}): Check =>
  (value, at) => {
    if (!isRecord(value)) return wrong(at, "an object", value);
    const missing = Object.keys(required).filter((key) => !Object.hasOwn(value, key));
    return [
      ...missing.map((key) => `${at}.${key} is missing`),
      ...Object.entries(value).flatMap(([key, item]) => {
        const table = Object.hasOwn(required, key) ? required : optional;
        const check = Object.hasOwn(table, key) ? table[key] : undefined;
        return check ? check(item, `${at}.${key}`) : [`${at}.${key} is not a field of this API`];
      }),
    ];
  };

export const list =
  (check: Check, least = 0, most = Number.POSITIVE_INFINITY): Check =>
  (value, at) => {
    if (!Array.isArray(value)) return wrong(at, "a list", value);
    const length = value.length < least || value.length > most ? [`${at} must have ${least} to ${most} items; it has ${value.length}`] : [];
    return [...length, ...value.flatMap((item, i) => check(item, `${at}[${i}]`))];
  };

export const mapOf =
  (check: Check): Check =>
  (value, at) =>
    isRecord(value) ? Object.entries(value).flatMap(([key, item]) => check(item, `${at}.${key}`)) : wrong(at, "an object", value);

/** All of these checks. */
export const both =
  (...checks: readonly Check[]): Check =>
  (value, at) =>
    checks.flatMap((check) => check(value, at));

/** The first alternative without complaints, or the complaints of the last. */
export const either =
  (...checks: readonly Check[]): Check =>
  (value, at) => {
    const found = checks.map((check) => check(value, at));
    return found.find((complaints) => complaints.length === 0) ?? found.at(-1) ?? none;
  };

export const nullable = (check: Check): Check => either(nothing, check);

/** The check is chosen by the value of one key. */
export const tagged =
  (key: string, table: Fields, otherwise?: Check): Check =>
  (value, at) => {
    const tag = isRecord(value) ? value[key] : undefined;
    const check = typeof tag === "string" && Object.hasOwn(table, tag) ? table[tag] : otherwise;
    return check ? check(value, at) : wrong(`${at}.${key}`, `one of ${Object.keys(table).join(", ")}`, tag);
  };

export const when =
  (applies: (value: Record<string, unknown>) => boolean, complaint: string): Check =>
  (value, at) =>
    isRecord(value) && applies(value) ? [`${at} ${complaint}`] : none;

/** A recursive check. */
export const lazily =
  (make: () => Check): Check =>
  (value, at) =>
    make()(value, at);

// JSON

export function parsed(value: unknown): unknown {
  if (typeof value !== "string") return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** JSON Schema, as deep as an API checks it: types are types, properties are schemas, references resolve. */
export const jsonSchema: Check = (value, at) => (isRecord(value) ? schemaComplaints(value, value, at) : wrong(at, "a JSON Schema", value));

const TYPES = ["string", "number", "integer", "boolean", "null", "array", "object"];

function schemaComplaints(value: unknown, root: Record<string, unknown>, at: string): string[] {
  if (typeof value === "boolean") return none;
  if (!isRecord(value)) return wrong(at, "a JSON Schema", value);
  const inner = (item: unknown, where: string): string[] => schemaComplaints(item, root, where);
  const { type, properties, required, items, $ref } = value;
  const bad = [type].flat().filter((name) => name !== undefined && !TYPES.includes(String(name)));
  return [
    ...bad.map((name) => `${at}.type ${shown(name)} is not a type`),
    ...(required === undefined ? none : list(text)(required, `${at}.required`)),
    ...(properties === undefined ? none : mapOf(inner)(properties, `${at}.properties`)),
    ...(items === undefined ? none : (Array.isArray(items) ? list(inner) : inner)(items, `${at}.items`)),
    ...["anyOf", "oneOf", "allOf"].flatMap((key) => (value[key] === undefined ? none : list(inner, 1)(value[key], `${at}.${key}`))),
    ...(typeof $ref === "string" && $ref.startsWith("#") && !resolves($ref, root) ? [`${at}.$ref ${$ref} leads nowhere`] : none),
  ];
}

function resolves(ref: string, root: Record<string, unknown>): boolean {
  let at: unknown = root;
  for (const step of ref.slice(1).split("/").filter(Boolean)) at = isRecord(at) || Array.isArray(at) ? Reflect.get(at, step) : undefined;
  return at !== undefined;
}

// Streams

export interface SseFrame {
  event: string | undefined;
  data: string;
}

/** The frames of a well-formed server-sent event stream: whole lines, a blank line after each frame. */
export function readSse(stream: string): { frames: SseFrame[]; complaints: string[] } {
  const frames: SseFrame[] = [];
  const complaints: string[] = [];
  if (stream !== "" && !/\n\r?\n$/.test(stream)) complaints.push("the stream does not end with a blank line");
  for (const block of stream.split(/\r?\n\r?\n/).filter(Boolean)) {
    const lines = block.split(/\r?\n/).filter((line) => !line.startsWith(":"));
    const values = (field: string): string[] =>
      lines.filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2));
    const strange = lines.filter((line) => !/^(?:data|event): /.test(line));
    complaints.push(...strange.map((line) => `the line ${shown(line)} is neither "data: " nor "event: "`));
    if (lines.length > 0) frames.push({ event: values("event")[0], data: values("data").join("\n") });
  }
  return { frames, complaints };
}

export const json = (value: string, at: string): { value?: Record<string, unknown>; complaints: string[] } => {
  const object = parsed(value);
  return isRecord(object) ? { value: object, complaints: [] } : { complaints: wrong(at, "the JSON text of an object", value) };
};

/** Complaints about calls that a client would take for complete. */
export const completeCall = (json: string, at: string): string[] =>
  json === "" || isRecord(parsed(json)) ? none : [`${at}: a call is passed off as complete, and its arguments are ${shown(json)}`];
