/**
 * Conversations that continue from an answer: in `{"previous_response_id": "resp_1", "input": "And in Rome?"}` the id stands for all earlier
 * turns. What a turn adds is stored under the id of its answer, with the id of the answer before it.
 */
import type { Json, JsonObject } from "../../core/nouns.ts";
import { defined, isList, isText, listOf, textOf } from "../read.ts";
import type { Draft, WireInput } from "../wire.ts";

export const PREVIOUS = "previous_response_id";
/** Marks a request with what must be stored of its turn when the answer is complete. */
export const TURN = "#turn";

export const turnOf = ({ input, previous_response_id }: JsonObject): JsonObject =>
  defined<Draft>({ input, previous_response_id }) as JsonObject;

/** The body with all earlier turns in its input; `undefined`: not all of them are stored here. */
export function wholeBody({ previous_response_id, ...body }: JsonObject, recall: NonNullable<WireInput["recall"]>): JsonObject | undefined {
  const turns: (readonly Json[])[] = [itemsOf(body.input)];
  for (let id = textOf(previous_response_id); id; ) {
    const turn: JsonObject | undefined = recall(id);
    if (!isList(turn?.output)) return undefined;
    turns.push(turn.output, itemsOf(turn.input));
    id = textOf(turn.previous_response_id);
  }
  return { ...body, input: turns.reverse().flat() };
}

export const itemsOf = (input: Json | undefined): readonly Json[] => (isText(input) ? [{ role: "user", content: input }] : listOf(input));
