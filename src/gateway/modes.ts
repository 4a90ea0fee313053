/**
 * How an upstream's engine is used for a model: what its rule asks for beyond passing on wraps the engine, layer by layer.
 *
 *     [models.local]
 *     tools = "off"       # the engine never sees a tool
 *
 * A layer is an engine around an engine. It is made once for each rule and upstream, not for each request.
 */
import type { Request, Warning } from "../core/nouns.ts";
import { getDialect } from "../dialects/registry.ts";
import { around, warning } from "../engines/around.ts";
import type { Engine } from "../engines/engine.ts";
import { createInband } from "../engines/inband/inband.ts";
import { createRescue } from "../engines/inband/rescue.ts";

/** What a rule says of tools. Everything absent: the upstream gets the tools, and what it answers is believed. */
export interface Modes {
  /** Who writes and reads the calls: the server (`native`), Dragoman in the model's dialect (`inband`), nobody (`off`). */
  readonly tools?: "native" | "inband" | "off" | undefined;
  /** The dialect that the model speaks, or `auto`. */
  readonly dialect?: string | undefined;
  /** Whether calls that the server left in the text are read by us. */
  readonly rescue?: boolean | "auto" | undefined;
}

/** Gives the engine itself where the modes ask nothing of this layer. */
export type Layer = (engine: Engine, modes: Modes) => Engine;

/** The innermost first. */
const LAYERS: readonly Layer[] = [inDialect, inBand, rescued, withoutTools];

export const layered = (engine: Engine, modes: Modes): Engine => LAYERS.reduce((inner, layer) => layer(inner, modes), engine);

/** An engine that writes and reads a dialect itself is told which. */
function inDialect(engine: Engine, { dialect }: Modes): Engine {
  if (!engine.speaking || dialect === undefined) return engine;
  return engine.speaking(dialect === "auto" ? "auto" : getDialect(dialect));
}

function inBand(engine: Engine, { tools, dialect }: Modes): Engine {
  return tools === "inband" && !engine.speaking ? createInband(engine, { dialect }) : engine;
}

/** What a server left in the text. `auto`: only where its template or the model's name tell the dialect for sure. */
function rescued(engine: Engine, { tools = "native", dialect, rescue = "auto" }: Modes): Engine {
  const asked = rescue === true || (rescue === "auto" && engine.about !== undefined);
  if (!asked || tools !== "native" || engine.speaking) return engine;
  return createRescue(engine, { dialect, always: rescue === true });
}

function withoutTools(engine: Engine, { tools }: Modes): Engine {
  if (tools !== "off") return engine;
  const stripped = ({ tools: _, toolChoice: __, parallelCalls: ___, ...request }: Request): Request => request;
  return around(engine, {
    generate: (request, options) => engine.generate(stripped(request), request.tools?.length ? warning(options, [NO_TOOLS]) : options),
    countTokens: (request, options) => engine.countTokens(stripped(request), options),
  });
}

const NO_TOOLS: Warning = { code: "tools", message: "this model is configured without tools: they were left out" };
