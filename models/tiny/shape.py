"""The sizes of the model."""

SHAPE = {"vocab": 3072, "width": 320, "layers": 9, "heads": 8, "kv_heads": 4, "head": 64, "hidden": 640, "eps": 1e-6, "base": 10000.0, "context": 4096}
