"""The sizes of the model."""

SHAPE = {"vocab": 5120, "width": 384, "layers": 10, "heads": 8, "kv_heads": 2, "head": 64, "hidden": 768, "eps": 1e-6, "base": 10000.0, "context": 4096}
