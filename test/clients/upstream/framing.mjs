// How the bytes of a stream are sent: SSE in all its legal spellings, cut wherever the manner says.

/** What Anthropic and Gemini seal their thinking with. */
export const SIGNATURE = "c2lnbmF0dXJl";

/** Numbers from 0 to `below`, the same in every run. */
export function dice(seed = 1) {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

/** `text` in pieces of this many characters, never inside a surrogate pair, which JSON could not express. */
export function pieces(text, size = 24) {
  const characters = [...text];
  const count = Math.min(size, Math.max(1, characters.length));
  return Array.from({ length: Math.ceil(characters.length / count) }, (_, i) => characters.slice(i * count, (i + 1) * count).join(""));
}

/** One event of a stream; `name` is its `event:` line. */
export function sse({ name, data }, { eol = "\n", comments, noSpace, lines, events = true }) {
  const text = typeof data === "string" ? data : JSON.stringify(data, undefined, lines ? 1 : undefined);
  const head = name && events ? `event: ${name}${eol}` : "";
  const body = text.split("\n").map((line) => `data:${noSpace ? "" : " "}${line}${eol}`);
  return `${comments ? `: keep-alive${eol}${eol}` : ""}${head}${body.join("")}${eol}`;
}

/** What is sent in one write each: an event, or bytes cut anywhere, even inside a character. */
export function writes(texts, { cut }) {
  if (!cut) return texts;
  const bytes = Buffer.from(texts.join(""));
  const roll = dice(cut);
  const most = Math.max(8, Math.floor(bytes.length / 400));
  const parts = [];
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + roll(most);
    parts.push(bytes.subarray(at, at + size));
    at += size;
  }
  return parts;
}
