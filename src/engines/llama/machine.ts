/** What the engines for all dialects of one loaded model share: its vocabulary, its grammars, its sequences, and whether it is closed. */
import type { LlamaContext, LlamaContextSequence, LlamaModel } from "node-llama-cpp";
import type { ErrorInfo } from "../../core/nouns.ts";
import { EngineError } from "../error.ts";
import { explainError } from "../finish.ts";
import { Grammars } from "./hold.ts";
import { Pool } from "./pool.ts";
import { Vocabulary } from "./vocabulary.ts";

const CLOSED: ErrorInfo = { code: "aborted", message: "the model was closed" };

export class Machine {
  readonly vocabulary: Vocabulary;
  readonly grammars: Grammars;
  readonly sequences: readonly LlamaContextSequence[];
  readonly pool: Pool;
  isClosed = false;

  constructor(model: LlamaModel, context: LlamaContext, parallel: number) {
    this.vocabulary = new Vocabulary(model);
    this.grammars = new Grammars(model);
    this.sequences = Array.from({ length: parallel }, () => context.getSequence());
    this.pool = new Pool(this.sequences);
  }

  /** Throws after an abort or `close`. Not with `AbortSignal.any`: Node would keep memory for each request as long as the model lives. */
  check(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.isClosed) throw new EngineError(CLOSED);
  }

  /** After `close`, every error of llama.cpp means that the model was closed. */
  explain(error: unknown): ErrorInfo {
    return this.isClosed ? CLOSED : explainError(error);
  }

  /** Running answers end at their next token, and waiting requests fail. */
  close(): void {
    this.isClosed = true;
    this.pool.close(new EngineError(CLOSED));
  }
}
