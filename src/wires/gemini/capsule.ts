/** What our capsule in a `thoughtSignature` carries: thinking and its state, and what another wire knows of the call. */
import type { Json, Opaque } from "../../core/nouns.ts";
import type { Capsule } from "../opaque.ts";
import { listOf } from "../read.ts";
import { WIRE } from "./tables.ts";

const CALL = "call";

export const callState = (state: readonly Opaque[]): Opaque[] =>
  state.length > 0 ? [{ wire: WIRE, kind: CALL, data: state as unknown as Json }] : [];

const isOfCall = ({ wire, kind }: Opaque): boolean => wire === WIRE && kind === CALL;

export const ofCall = ({ state = [] }: Capsule): Opaque[] =>
  state.filter(isOfCall).flatMap(({ data }) => listOf(data) as unknown as Opaque[]);

export const ofThinking = ({ state = [] }: Capsule): Opaque[] => state.filter((opaque) => !isOfCall(opaque));
