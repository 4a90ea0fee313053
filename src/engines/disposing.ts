/** Lets `await using` close an engine: `await using engine = createRemote({ wire, url })`. */

/** `AsyncDisposable`, if the program's TypeScript library has it; the types must also work with an older one. */
export type Disposing = SymbolConstructor extends { readonly asyncDispose: infer Key extends symbol }
  ? Record<Key, () => Promise<void>>
  : object;

export const disposing = <T extends { close(): Promise<void> }>(closed: T): T & Disposing =>
  Object.assign(closed, { [Symbol.asyncDispose]: () => closed.close() });
