/** OpenAI's list of models, which both of its APIs share: `{"object": "list", "data": [{"id": "m", "object": "model", …}]}`. */
import { defined, listOf, numberOf, objectOf, parsed, textOf } from "./read.ts";
import type { ModelInfo, Wire } from "./wire.ts";

export const openaiModels: Pick<Wire, "modelsPath" | "encodeModels" | "decodeModels"> = {
  modelsPath: "/v1/models",

  encodeModels: (models) => ({
    object: "list",
    data: models.map(({ id, created = 0, contextLength }) => ({
      id,
      object: "model",
      created,
      owned_by: "dragoman",
      ...(contextLength === undefined ? {} : { max_model_len: contextLength }), // as vLLM has it
    })),
  }),

  decodeModels: (body) =>
    listOf(objectOf(typeof body === "string" ? parsed(body) : body).data)
      .map(objectOf)
      .filter(({ id }) => textOf(id))
      .map((model) =>
        defined<ModelInfo>({
          id: textOf(model.id) ?? "",
          created: numberOf(model.created),
          contextLength: numberOf(model.max_model_len) ?? numberOf(model.context_length) ?? numberOf(objectOf(model.meta).n_ctx_train),
        }),
      ),
};
