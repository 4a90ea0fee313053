/** Follows the brackets of JSON text that arrives in pieces: enough to know where a value ends, without parsing it twice. */
export class Balance {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #opened = false;

  /** An object or a list was opened, and all that was opened is closed. */
  get complete(): boolean {
    return this.#opened && this.#depth === 0;
  }

  /** Reads up to the end of the value, and answers how far that is; -1: the value goes on. */
  read(text: string, from = 0): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (code === 92) this.#escaped = true;
        else if (code === 34) this.#inString = false;
      } else if (code === 34) this.#inString = true;
      else if (code === 123 || code === 91) {
        this.#depth++;
        this.#opened = true;
      } else if ((code === 125 || code === 93) && this.#depth > 0 && --this.#depth === 0) return at + 1;
    }
    return -1;
  }
}
