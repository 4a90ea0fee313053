/** What all dialects share that are spoken with one model: its vocabulary, its grammars, its sequences, and whether it is still there. */
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

  /** Throws once nobody wants the rest. Not by `AbortSignal.any`: of a signal that lives as long as the model, Node keeps something for each. */
  check(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.isClosed) throw new EngineError(CLOSED);
  }

  /** What llama.cpp says of a model that is gone is that it is closed. */
  explain(error: unknown): ErrorInfo {
    return this.isClosed ? CLOSED : explainError(error);
  }

  /** What is under way ends at its next token, and nobody who waits is served. */
  close(): void {
    this.isClosed = true;
    this.pool.close(new EngineError(CLOSED));
  }
}
