/** Models in the gateway's process: loaded once, and kept as long as the configuration has them. */
import type { Engine } from "../engines/index.ts";
import { createLimited } from "../engines/limited.ts";
import type { LocalSettings, Settings } from "../gateway/index.ts";
import { Complaint } from "./complaint.ts";
import { type Opened, openModel } from "./local-model.ts";

export interface Local {
  /** Its name as an upstream. */
  readonly name: string;
  /** With its limits applied, if it has any. */
  readonly engine: Engine;
  readonly opened: Opened;
}

export class Locals {
  #open: ReadonlyMap<string, Local> = new Map();

  /** Opens what is not open yet. Models that are no longer configured are closed by the gateway. */
  async open(settings: Settings["locals"]): Promise<Local[]> {
    const locals = new Map<string, Local>();
    try {
      for (const [name, local] of Object.entries(settings)) {
        const key = JSON.stringify([name, local]);
        locals.set(key, this.#open.get(key) ?? (await openOne(name, local)));
      }
    } catch (error) {
      for (const [key, { engine }] of locals) if (!this.#open.has(key)) await engine.close();
      throw error;
    }
    this.#open = locals;
    return [...locals.values()];
  }
}

async function openOne(name: string, { model, gpu, context, parallel, limits }: LocalSettings): Promise<Local> {
  try {
    const opened = await openModel(model, {
      ...(gpu === undefined ? {} : { gpu }),
      ...(context === undefined ? {} : { context }),
      ...(parallel === undefined ? {} : { parallel }),
    });
    return { name, engine: limits ? createLimited(opened.engine, limits) : opened.engine, opened };
  } catch (error) {
    throw error instanceof Complaint ? new Complaint(`upstream ${name}: ${error.message}`, { cause: error }) : error;
  }
}
