/** The options that `dragoman serve` and `dragoman chat` share: which model, and where it is. */
import { type Command, Option } from "commander";
import { KNOWN } from "../engines/known.ts";
import { listWires } from "../wires/registry.ts";
import { readCount, readDialectSetting } from "./input.ts";

/** `otherwise`: what is used without `--upstream`. */
export const addModelOptions = (command: Command, otherwise: string): Command =>
  command
    .option("--upstream <url or name>", `where the model is: a URL, or one of ${Object.keys(KNOWN).join(", ")} (default: ${otherwise})`)
    .addOption(
      new Option(
        "--upstream-wire <wire>",
        "the API that the upstream speaks, or completions if it only completes text (default: found by probing)",
      ).choices([...listWires().map(({ id }) => id), "completions"]),
    )
    .option("--upstream-key <env:NAME>", "the environment variable with the upstream's API key")
    .option(
      "--model <name or file>",
      "the model that answers: a name that the upstream knows; or a model to run in this process: a GGUF file, its URL, hf:owner/repo[:quant], embedded",
    )
    .option("--gpu [kind]", "run the model on the GPU, or fail: metal, cuda, vulkan, or any (default: a GPU if there is one)")
    .option("--no-gpu", "run the model on the CPU")
    .option("--context <tokens>", "the context size: how long a conversation with the model may be", readCount)
    .option(
      "--dialect <id>",
      "the dialect that the model speaks, with or without a variant (hermes, hermes/qwen2.5-7b-instruct; default: detected from its file or server)",
      readDialectSetting,
    );
