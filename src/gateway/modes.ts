/**
 * How an upstream's engine is used for a model: whatever its rule asks for beyond passing requests on wraps the engine, layer by layer.
 *
 *     [models.local]
 *     tools = "off"       # the engine never sees a tool
 *
 * A layer is an engine around an engine. Layers are created once per rule and upstream, not per request.
 */
import type { Request, Warning } from "../core/nouns.ts";
import { getDialect } from "../dialects/registry.ts";
import { around, warning } from "../engines/around.ts";
import type { Engine } from "../engines/engine.ts";
import { createInband } from "../engines/inband/inband.ts";
import { createRescue } from "../engines/inband/rescue.ts";

/** A rule's settings for tools. By default the upstream gets the tools, and its calls are taken as it reports them. */
export interface Modes {
  /** Who writes and reads the calls: the server (`native`), Dragoman in the model's dialect (`inband`), nobody (`off`). */
  readonly tools?: "native" | "inband" | "off" | undefined;
  /** The dialect that the model speaks, or `auto`. */
  readonly dialect?: string | undefined;
  /** Whether Dragoman reads calls that the server left in the text. */
  readonly rescue?: boolean | "auto" | undefined;
}

/** Returns the engine itself if the modes do not concern this layer. */
export type Layer = (engine: Engine, modes: Modes) => Engine;

/** The innermost first. */
const LAYERS: readonly Layer[] = [inDialect, inBand, rescued, withoutTools];

export const layered = (engine: Engine, modes: Modes): Engine => LAYERS.reduce((inner, layer) => layer(inner, modes), engine);

/** Sets the dialect of an engine that reads and writes one itself. */
function inDialect(engine: Engine, { dialect }: Modes): Engine {
  if (!engine.speaking || dialect === undefined) return engine;
  return engine.speaking(dialect === "auto" ? "auto" : getDialect(dialect));
}

function inBand(engine: Engine, { tools, dialect }: Modes): Engine {
  return tools === "inband" && !engine.speaking ? createInband(engine, { dialect }) : engine;
}

/** Reads calls that a server left in the text. `auto`: only if its template or the model's name make the dialect certain. */
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

const NO_TOOLS: Warning = {
  code: "tools",
  message: 'this model is configured without tools (tools = "off"): the request\'s tools were left out',
};
