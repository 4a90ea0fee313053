// Every variant of an SDK's type, as the smallest value that has it: each optional field and each member of each union, at every level. The
// compiler reads the installed declarations, so a newer SDK adds cases by itself.
import ts from "typescript";

/** A value, and the same value without what is tried. `without` is absent if the type allows nothing smaller. */
export interface Variant {
  readonly at: string;
  readonly value: unknown;
  readonly without?: unknown;
}

type Values = { readonly [key: string]: unknown };

const { TypeFlags: Is, SymbolFlags: Symbols } = ts;
const LITERAL = Is.StringLiteral | Is.NumberLiteral;
const TEXT = Is.String | Is.TemplateLiteral;

export class SdkTypes {
  readonly #checker: ts.TypeChecker;
  readonly #roots: ts.Type;
  readonly #values: Values;

  /**
   * `roots`: the text of a file that exports an interface, whose properties are the types; `values`: the values of fields with this name,
   * or of `Type.field`, which is then never absent.
   */
  constructor(path: string, roots: string, values: Values) {
    const options: ts.CompilerOptions = {
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2023,
      strict: true,
      skipLibCheck: true,
    };
    const host = ts.createCompilerHost(options);
    const { getSourceFile } = host;
    host.getSourceFile = (name, ...rest) =>
      name === path ? ts.createSourceFile(name, roots, ts.ScriptTarget.ES2023) : getSourceFile(name, ...rest);
    const program = ts.createProgram([path], options, host);
    this.#checker = program.getTypeChecker();
    this.#roots = this.#checker.getTypeAtLocation(program.getSourceFile(path)!.statements.find(ts.isInterfaceDeclaration)!);
    this.#values = values;
  }

  variants(root: string): Variant[] {
    return [...this.#variants(this.#checker.getTypeOfSymbol(this.#roots.getProperty(root)!), root, [])];
  }

  /** `open`: the types around this one; a recursive type is not entered again. */
  *#variants(type: ts.Type, name: string, open: readonly ts.Type[]): Generator<Variant, void, undefined> {
    if (type.isUnion()) {
      for (const member of type.types) if (!(member.flags & (Is.Undefined | Is.Null))) yield* this.#variants(member, name, open);
      return;
    }
    const value = this.#least(type, name, open);
    if (value === undefined) return;
    const typeName = nameOf(type);
    const shown = type.flags & (LITERAL | Is.BooleanLiteral) ? `=${JSON.stringify(value)}` : typeName && `<${typeName}>`;
    if (this.#checker.isArrayType(type)) {
      const [element] = this.#checker.getTypeArguments(type as ts.TypeReference);
      for (const inner of this.#variants(element!, name, open))
        yield { at: `[]${inner.at}`, value: [inner.value], ...("without" in inner ? { without: [inner.without] } : {}) };
      return;
    }
    yield { at: shown, value };
    if (typeof value !== "object" || open.includes(type) || this.#checker.isTupleType(type)) return;
    for (const property of this.#fields(type)) {
      const isOptional = (property.flags & Symbols.Optional) !== 0 && !(property.name in (value as Values));
      let isFirst = true;
      for (const inner of this.#variants(this.#checker.getTypeOfSymbol(property), property.name, [...open, type])) {
        const tried = { ...(value as Values), [property.name]: inner.value };
        const less =
          "without" in inner ? { without: { ...(value as Values), [property.name]: inner.without } } : isOptional ? { without: value } : {};
        if (isOptional || !isFirst) yield { at: `${shown}.${property.name}${inner.at}`, value: tried, ...less };
        isFirst = false;
      }
    }
  }

  /** The smallest value of a type; `undefined` if there is none, or it would not end. */
  #least(type: ts.Type, name: string, open: readonly ts.Type[]): unknown {
    if (type.isUnion()) {
      const values = type.types.map((member) => (member.flags & (Is.Undefined | Is.Null) ? undefined : this.#least(member, name, open)));
      return values.find((value) => value !== undefined) ?? null;
    }
    if (type.flags & LITERAL) return (type as ts.LiteralType).value;
    if (type.flags & Is.BooleanLiteral) return this.#checker.typeToString(type) === "true";
    const isText = type.flags & TEXT || (type.isIntersection() && type.types.some(({ flags }) => flags & TEXT)); // `string & {}`
    if (isText) return this.#values[name] ?? `a ${name}`;
    if (nameOf(type) === "Uint8Array") return undefined; // over HTTP it is a string, which is the other member of the union
    if (type.flags & Is.Number) return this.#values[name] ?? 0.5;
    if (type.flags & (Is.Any | Is.Unknown)) return this.#values[name] ?? { some: "thing" };
    if (this.#checker.isTupleType(type))
      return this.#checker.getTypeArguments(type as ts.TypeReference).map((item) => this.#least(item, name, open));
    if (this.#checker.isArrayType(type)) return [this.#least(this.#checker.getTypeArguments(type as ts.TypeReference)[0]!, name, open)];
    if (open.includes(type) || type.getCallSignatures().length > 0) return undefined;
    const typeName = nameOf(type);
    const value: { [key: string]: unknown } = {};
    for (const property of this.#fields(type)) {
      const own = this.#values[`${typeName}.${property.name}`];
      if (own === undefined && property.flags & Symbols.Optional) continue;
      value[property.name] = own === undefined ? this.#least(this.#checker.getTypeOfSymbol(property), property.name, [...open, type]) : own;
      if (value[property.name] === undefined) return undefined;
    }
    return value;
  }

  /** Properties, without methods. */
  #fields(type: ts.Type): ts.Symbol[] {
    return type
      .getProperties()
      .filter(
        (property) =>
          !(property.flags & (Symbols.Method | Symbols.GetAccessor)) &&
          this.#checker.getTypeOfSymbol(property).getCallSignatures().length === 0,
      );
  }
}

const nameOf = ({ aliasSymbol, symbol }: ts.Type): string => (aliasSymbol ?? symbol)?.name.replace(/^__\w+$/, "") ?? "";

/** The leaves of a value, each with its path. */
export function leaves(value: unknown, at = "", found = new Map<string, string>()): Map<string, string> {
  if (typeof value !== "object" || value === null) found.set(at, JSON.stringify(value));
  else for (const [key, inner] of Object.entries(value)) leaves(inner, Array.isArray(value) ? `${at}[${key}]` : `${at}.${key}`, found);
  return found;
}
