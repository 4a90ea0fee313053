"""Writes the model as a GGUF file that llama.cpp runs as `gemma3`: matrices as q5_0, which training rounded them to, the vectors of tokens as
q8_0, norms as floats; and reads such a file, so that training can go on from it.

    python3 gguf.py WEIGHTS_DIR|GGUF [WEIGHTS_DIR|GGUF ...] dragoman-tiny.gguf

Several weights are averaged; what is named twice counts twice.
"""
import argparse
import struct
from pathlib import Path

import numpy as np

U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
Q5_0, Q8_0 = 6, 8
HERE = Path(__file__).parent
NAMES = {
    "attn_norm": "attn_norm", "wq": "attn_q", "wk": "attn_k", "wv": "attn_v", "wo": "attn_output", "q_norm": "attn_q_norm", "k_norm": "attn_k_norm",
    "post_attn_norm": "post_attention_norm", "ffn_norm": "ffn_norm", "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down", "post_ffn_norm": "post_ffw_norm",
}


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def entry(kind, value):
    if kind == STRING:
        return string(value)
    return struct.pack({U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}[kind], value)


def field(key, kind, value):
    return string(key) + struct.pack("<I", kind) + entry(kind, value)


def array(key, kind, values):
    return string(key) + struct.pack("<IIQ", ARRAY, kind, len(values)) + b"".join(entry(kind, value) for value in values)


def q8_0(matrix):
    """Blocks of 32 weights: a half float and 32 bytes."""
    blocks = matrix.astype(np.float32).reshape(-1, 32)
    scale = np.abs(blocks).max(axis=1, keepdims=True) / 127
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    out = np.empty(len(blocks), np.dtype([("scale", "<f2"), ("weights", "i1", 32)]))
    out["scale"] = scale[:, 0]
    out["weights"] = np.rint(blocks * inverse)
    return out.tobytes()


def q5_0(matrix):
    """Blocks of 32 weights: a half float, the fifth bits, and 16 bytes with the other four of two weights each."""
    blocks = matrix.astype(np.float32).reshape(-1, 32)
    largest = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=1)[:, None], axis=1)
    scale = (largest / -16).astype(np.float16)
    inverse = np.divide(1, scale.astype(np.float32), out=np.zeros_like(largest), where=scale != 0)
    levels = np.clip(np.floor(blocks * inverse + 16.5), 0, 31).astype(np.uint32)
    out = np.empty(len(blocks), np.dtype([("scale", "<f2"), ("high", "<u4"), ("low", "u1", 16)]))
    out["scale"] = scale[:, 0]
    out["high"] = ((levels >> 4) << np.arange(32, dtype=np.uint32)).sum(axis=1, dtype=np.uint32)
    out["low"] = (levels[:, :16] & 15) | ((levels[:, 16:] & 15) << 4)
    return out.tobytes()


def tensors_of(weights, layers):
    yield "token_embd.weight", weights["embed"]
    yield "output_norm.weight", weights["out_norm"]
    for layer in range(layers):
        for ours, theirs in NAMES.items():
            yield f"blk.{layer}.{theirs}.weight", weights[ours][layer]


def write_model(path, weights, shape, tokenizer):
    """The size of the file, in bytes."""
    fields = [
        field("general.architecture", STRING, "gemma3"),
        field("general.type", STRING, "model"),
        field("general.name", STRING, "Dragoman Tiny"),
        field("general.description", STRING, "A very small model that speaks the tool formats of FunctionGemma and Gemma 4. It calls tools; it knows nothing of the world."),
        field("general.author", STRING, "Dragoman contributors"),
        field("general.license", STRING, "apache-2.0"),
        field("general.file_type", U32, 8),
        field("general.quantization_version", U32, 2),
        field("gemma3.context_length", U32, shape["context"]),
        field("gemma3.embedding_length", U32, shape["width"]),
        field("gemma3.block_count", U32, shape["layers"]),
        field("gemma3.feed_forward_length", U32, shape["hidden"]),
        field("gemma3.attention.head_count", U32, shape["heads"]),
        field("gemma3.attention.head_count_kv", U32, shape["kv_heads"]),
        field("gemma3.attention.key_length", U32, shape["head"]),
        field("gemma3.attention.value_length", U32, shape["head"]),
        field("gemma3.attention.layer_norm_rms_epsilon", F32, shape["eps"]),
        field("gemma3.rope.freq_base", F32, shape["base"]),
        field("tokenizer.ggml.model", STRING, "llama"),
        field("tokenizer.ggml.pre", STRING, "default"),
        array("tokenizer.ggml.tokens", STRING, tokenizer.tokens),
        array("tokenizer.ggml.scores", F32, tokenizer.scores()),
        array("tokenizer.ggml.token_type", I32, tokenizer.types()),
        field("tokenizer.ggml.bos_token_id", U32, tokenizer.ids["<bos>"]),
        field("tokenizer.ggml.eos_token_id", U32, tokenizer.ids["<eos>"]),
        field("tokenizer.ggml.unknown_token_id", U32, tokenizer.ids["<unk>"]),
        field("tokenizer.ggml.padding_token_id", U32, tokenizer.ids["<pad>"]),
        field("tokenizer.ggml.add_bos_token", BOOL, True),
        field("tokenizer.ggml.add_space_prefix", BOOL, False),
    ]
    for template in sorted((HERE / "templates").glob("*.jinja")):
        key = "tokenizer.chat_template" + ("" if template.stem == "gemma4" else f".{template.stem}")
        fields.append(field(key, STRING, template.read_text()))
    infos, data = [], bytearray()
    for name, tensor in tensors_of(weights, shape["layers"]):
        raw, kind = (tensor.astype("<f4").tobytes(), 0) if tensor.ndim == 1 else (q8_0(tensor), Q8_0) if name.startswith("token") else (q5_0(tensor), Q5_0)
        infos.append(string(name) + struct.pack("<I", tensor.ndim) + b"".join(struct.pack("<Q", size) for size in reversed(tensor.shape)) + struct.pack("<IQ", kind, len(data)))
        data += raw + bytes(-len(raw) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(fields)) + b"".join(fields) + b"".join(infos)
    content = head + bytes(-len(head) % 32) + bytes(data)
    Path(path).write_bytes(content)
    return len(content)


# ---- Reading


def halves(raw, blocks, size):
    """Blocks of a half float and some bytes."""
    rows = np.frombuffer(raw, np.uint8).reshape(blocks, size)
    return rows[:, :2].copy().view("<f2").astype(np.float32), rows[:, 2:]


def from_q8_0(raw, count):
    scale, rest = halves(raw, count // 32, 34)
    return rest.view(np.int8).astype(np.float32) * scale


def from_q5_0(raw, count):
    scale, rest = halves(raw, count // 32, 22)
    high = (rest[:, :4].copy().view("<u4") >> np.arange(32, dtype=np.uint32)) & 1
    low = np.concatenate([rest[:, 4:] & 15, rest[:, 4:] >> 4], axis=1)
    return ((low | high << 4).astype(np.float32) - 16) * scale


STORED = {0: (4, lambda raw, count: np.frombuffer(raw, "<f4")), Q8_0: (34 / 32, from_q8_0), Q5_0: (22 / 32, from_q5_0)}


def read_model(path, layers):
    """The weights that write_model wrote."""
    data, at = Path(path).read_bytes(), 24

    def take(form):
        nonlocal at
        at += struct.calcsize(form)
        return struct.unpack_from(form, data, at - struct.calcsize(form))[0]

    def text():
        nonlocal at
        size = take("<Q")
        at += size
        return data[at - size:at].decode()

    def skip(kind):
        if kind == STRING:
            text()
        elif kind == ARRAY:
            kind, size = take("<I"), take("<Q")
            for _ in range(size):
                skip(kind)
        else:
            take({U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}[kind])

    tensors, fields = struct.unpack_from("<QQ", data, 8)
    for _ in range(fields):
        text()
        skip(take("<I"))
    infos = []
    for _ in range(tensors):
        name = text()
        sizes = [take("<Q") for _ in range(take("<I"))]
        infos.append((name, sizes[::-1], take("<I"), take("<Q")))
    start, found = at + -at % 32, {}
    for name, sizes, kind, offset in infos:
        count = int(np.prod(sizes))
        size, decode = STORED[kind]
        found[name] = decode(data[start + offset:start + offset + int(count * size)], count).reshape(sizes)
    weights = {"embed": found["token_embd.weight"], "out_norm": found["output_norm.weight"]}
    return weights | {ours: np.stack([found[f"blk.{layer}.{theirs}.weight"] for layer in range(layers)]) for ours, theirs in NAMES.items()}


def read_weights(source, layers):
    """From a folder of weights, or from a GGUF file, which has the matrices as they were trained and the vectors of tokens rounded."""
    if source.is_file():
        return read_model(source, layers)
    found = {}
    for path in sorted(source.glob("weights-*.npz")):
        with np.load(path) as part:
            found.update({name: part[name] for name in part.files})
    return found


def main():
    from shape import SHAPE
    from tokenizer import Tokenizer

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("weights", type=Path, nargs="+")
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    weights = {}
    for source in options.weights:
        for name, array in read_weights(source, SHAPE["layers"]).items():
            weights[name] = weights.get(name, 0) + array.astype(np.float32) / len(options.weights)
    print(f"{write_model(options.file, weights, SHAPE, Tokenizer.load()):,} bytes")


if __name__ == "__main__":
    main()
