/** What `await using` closes: `await using engine = createRemote({ wire, url })`. */

/** `AsyncDisposable`, where the program's library has it: the types are for programs of an older one, too. */
export type Disposing = SymbolConstructor extends { readonly asyncDispose: infer Key extends symbol }
  ? Record<Key, () => Promise<void>>
  : object;

export const disposing = <T extends { close(): Promise<void> }>(closed: T): T & Disposing =>
  Object.assign(closed, { [Symbol.asyncDispose]: () => closed.close() });
