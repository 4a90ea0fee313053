/**
 * Conversations that go on from an answer: `{"previous_response_id": "resp_1", "input": "And in Rome?"}` stands for all that was said before.
 * What a turn adds is kept under the id of its answer, with the id of the answer before it.
 */
import type { Json, JsonObject } from "../../core/nouns.ts";
import { defined, isList, isText, listOf, textOf } from "../read.ts";
import type { Draft, WireInput } from "../wire.ts";

/** The answer before. */
export const PREVIOUS = "previous_response_id";
/** The mark by which a request tells its answer what has to be kept of the turn. */
export const TURN = "#turn";

export const turnOf = ({ input, previous_response_id }: JsonObject): JsonObject =>
  defined<Draft>({ input, previous_response_id }) as JsonObject;

/** A body with all that was said before in its input; `undefined`: not all of that is kept. */
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
