/**
 * Arithmetic as people write it, without `eval`:
 *
 *     calculate("2 * (3 + 4)^2 + 15% of 80")    // 110
 *
 * Precedence, from low to high: sums, products, signs, powers. `%` between two numbers is the remainder, after a number it is a percentage:
 * `7 % -3` is a remainder, `50% - 3` a difference.
 */

const CONSTANTS: Readonly<Record<string, number>> = { pi: Math.PI, π: Math.PI, e: Math.E, tau: 2 * Math.PI };

const FUNCTIONS: Readonly<Record<string, (...values: number[]) => number>> = {
  sqrt: Math.sqrt,
  cbrt: Math.cbrt,
  abs: Math.abs,
  round: Math.round,
  floor: Math.floor,
  ceil: Math.ceil,
  exp: Math.exp,
  ln: Math.log,
  log: Math.log10,
  log2: Math.log2,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  min: Math.min,
  max: Math.max,
  hypot: Math.hypot,
};

/** The functions of any number of values. */
const SEVERAL: ReadonlySet<string> = new Set(["min", "max", "hypot"]);

/** Spellings of the same sign. */
const SIGNS: Readonly<Record<string, string>> = { "×": "*", "·": "*", "÷": "/", ":": "/", "−": "-", "**": "^" };

/** A `%` that is followed by a number with a sign, as its blanks show. */
const REMAINDER = "% ";
const TOKEN = /\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|(\*\*|(?<= )% (?=[-+−]\S)|[-+*/^%(),×·÷:−!])|([a-zA-Zπ]\w*))/y;
/** Far more than written by hand, and too short to nest too deep for the stack. */
const MAX_LENGTH = 1000;

type Token = { readonly type: "number"; readonly value: number } | { readonly type: "sign" | "name" | "end"; readonly text: string };

/** Throws with what is wrong, and where. */
export function calculate(expression: string): number {
  if (expression.length > MAX_LENGTH) throw new Error(`the expression is longer than ${MAX_LENGTH} characters`);
  const value = new Parser(tokensOf(expression.replace(/=\s*\??\s*$/, ""))).parse();
  if (!Number.isFinite(value))
    throw new Error(Number.isNaN(value) ? "the result is not a real number" : "the result is infinite: a division by zero?");
  return Number.isInteger(value) ? value : Number(value.toPrecision(15)); // 0.1 + 0.2 is 0.3
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (text.slice(TOKEN.lastIndex).trim() !== "") {
    const at = TOKEN.lastIndex;
    const [, number, sign, name] = TOKEN.exec(text) ?? [];
    const word = name?.toLowerCase();
    if (number !== undefined) tokens.push({ type: "number", value: Number(number) });
    else if (sign !== undefined) tokens.push({ type: "sign", text: SIGNS[sign] ?? sign });
    else if (word !== undefined) tokens.push(word === "of" ? { type: "sign", text: "of" } : { type: "name", text: word });
    else throw new Error(`cannot read ${JSON.stringify(text.slice(at).trim().slice(0, 20))}`);
  }
  return [...tokens, { type: "end", text: "the end" }];
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): number {
    const value = this.#sum();
    if (this.#next.type !== "end") this.#fail();
    return value;
  }

  #sum(): number {
    let value = this.#product();
    for (;;) {
      if (this.#take("+")) value += this.#product();
      else if (this.#take("-")) value -= this.#product();
      else return value;
    }
  }

  #product(): number {
    let value = this.#sign();
    for (;;) {
      if (this.#take("*") || this.#take("of")) value *= this.#sign();
      else if (this.#take("/")) value /= this.#sign();
      else if (this.#take("%") || this.#take(REMAINDER)) value %= this.#sign();
      else if (this.#isText("(") || this.#next.type === "name")
        value *= this.#power(); // 2(3 + 4), 2 pi
      else return value;
    }
  }

  #sign(): number {
    if (this.#take("-")) return -this.#sign();
    return this.#take("+") ? this.#sign() : this.#power();
  }

  /** Right-associative: 2^3^2 is 2^9. Binds tighter than a sign: -2^2 is -4. */
  #power(): number {
    const base = this.#postfix();
    return this.#take("^") ? base ** this.#sign() : base;
  }

  #postfix(): number {
    let value = this.#atom();
    for (;;) {
      if (this.#take("!")) value = factorial(value);
      else if (this.#isText("%") && !this.#beginsValue(this.#tokens[this.#at + 1])) {
        this.#at++;
        value /= 100;
      } else return value;
    }
  }

  #atom(): number {
    const token = this.#next;
    if (token.type === "end" || token.type === "sign") {
      if (!this.#take("(")) return this.#fail();
      const value = this.#sum();
      this.#expect(")");
      return value;
    }
    this.#at++;
    if (token.type === "number") return token.value;
    if (Object.hasOwn(FUNCTIONS, token.text)) return this.#call(token.text);
    if (Object.hasOwn(CONSTANTS, token.text)) return CONSTANTS[token.text] ?? Number.NaN;
    throw new Error(`${token.text} is neither a number nor one of ${[...Object.keys(FUNCTIONS), ...Object.keys(CONSTANTS)].join(", ")}`);
  }

  #call(name: string): number {
    this.#expect("(");
    const values = [this.#sum()];
    while (this.#take(",")) values.push(this.#sum());
    this.#expect(")");
    if (values.length > 1 && !SEVERAL.has(name)) throw new Error(`${name} takes one number, not ${values.length}`);
    return FUNCTIONS[name]?.(...values) ?? Number.NaN;
  }

  #beginsValue(token: Token | undefined): boolean {
    return token !== undefined && (token.type === "number" || token.type === "name" || (token.type === "sign" && token.text === "("));
  }

  get #next(): Token {
    return this.#tokens[this.#at] ?? { type: "end", text: "the end" };
  }

  #isText(text: string): boolean {
    const token = this.#next;
    return token.type === "sign" && token.text === text;
  }

  #take(text: string): boolean {
    if (!this.#isText(text)) return false;
    this.#at++;
    return true;
  }

  #expect(text: string): void {
    if (!this.#take(text)) this.#fail(`${text} is missing before `);
  }

  #fail(why = "did not expect "): never {
    const token = this.#next;
    throw new Error(`${why}${token.type === "number" ? token.value : token.text}`);
  }
}

function factorial(n: number): number {
  if (!Number.isInteger(n) || n < 0 || n > 170) throw new Error("a factorial needs a whole number from 0 to 170");
  let value = 1;
  for (let i = 2; i <= n; i++) value *= i;
  return value;
}
