/** Colours by name or as #rrggbb, and the escape sequences that set a terminal's colours (OSC 10 and 11) and reset them (110 and 111). */

const NAMES: Readonly<Record<string, string>> = {
  black: "000000",
  white: "ffffff",
  gray: "808080",
  silver: "c0c0c0",
  red: "ff0000",
  crimson: "dc143c",
  maroon: "800000",
  brown: "a52a2a",
  salmon: "fa8072",
  coral: "ff7f50",
  orange: "ffa500",
  gold: "ffd700",
  yellow: "ffff00",
  beige: "f5f5dc",
  ivory: "fffff0",
  khaki: "f0e68c",
  olive: "808000",
  lime: "00ff00",
  green: "008000",
  mint: "98ff98",
  teal: "008080",
  turquoise: "40e0d0",
  cyan: "00ffff",
  aqua: "00ffff",
  azure: "f0ffff",
  blue: "0000ff",
  navy: "000080",
  indigo: "4b0082",
  violet: "ee82ee",
  purple: "800080",
  magenta: "ff00ff",
  orchid: "da70d6",
  plum: "dda0dd",
  lavender: "e6e6fa",
  pink: "ffc0cb",
  skyblue: "87ceeb",
  steelblue: "4682b4",
  royalblue: "4169e1",
  midnightblue: "191970",
  forestgreen: "228b22",
  seagreen: "2e8b57",
  hotpink: "ff69b4",
  chocolate: "d2691e",
  tan: "d2b48c",
};

export interface Colour {
  readonly hex: string;
  /** Needs dark text. */
  readonly isLight: boolean;
}

/** `undefined`: not a known colour. Knows "Dark green", "light blue" and "GREY", too. */
export function colourOf(name: string): Colour | undefined {
  const key = name
    .toLowerCase()
    .replaceAll(/[\s_-]/g, "")
    .replaceAll("grey", "gray");
  const hex = hexOf(key);
  if (hex !== undefined) return fromRgb(rgbOf(hex));
  const [, shade, base = ""] = /^(dark|light|pale|deep|bright)(.+)$/.exec(key) ?? [];
  const found = hexOf(base);
  if (found === undefined) return undefined;
  const share = shade === "dark" || shade === "deep" ? 0.55 : 0;
  return fromRgb(rgbOf(found).map((value) => (share ? value * share : shade === "bright" ? value : value + (255 - value) * 0.6)));
}

function hexOf(key: string): string | undefined {
  if (Object.hasOwn(NAMES, key)) return NAMES[key];
  const [, digits] = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/.exec(key) ?? [];
  return digits?.length === 3 ? [...digits].map((digit) => digit + digit).join("") : digits;
}

const rgbOf = (hex: string): number[] => [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

function fromRgb(rgb: readonly number[]): Colour {
  const [r = 0, g = 0, b = 0] = rgb.map(Math.round);
  const hex = `#${[r, g, b].map((value) => value.toString(16).padStart(2, "0")).join("")}`;
  return { hex, isLight: 0.299 * r + 0.587 * g + 0.114 * b > 140 };
}

export const paintTerminal = ({ hex, isLight }: Colour): string => `\x1b]11;${hex}\x1b\\\x1b]10;${isLight ? "#000000" : "#ffffff"}\x1b\\`;
export const UNPAINT = "\x1b]111\x1b\\\x1b]110\x1b\\";
