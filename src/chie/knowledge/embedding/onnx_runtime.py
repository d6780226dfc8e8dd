"""ONNX Runtime, without its reports to its vendor. Nothing else may import it (`tests/app/test_architecture.py`).

From 1.29 it sends events to Microsoft, and keeps an id of the machine and a database of events in `~/.cache/Microsoft`.
Only the environment prevents both, and it is read when the library is loaded.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

OPT_OUT = "ORT_DISABLE_TELEMETRY"


def open_session(model: Path, *, weights_beside: Path | None = None) -> "InferenceSession":
    """A session on one CPU thread. `weights_beside` is the folder of weights that the model refers to."""
    os.environ[OPT_OUT] = "1"  # whatever it was: an empty value, `0` and even `no` mean that it reports
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # Windows has other events, and no variable
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # saves 7 MB and is not slower for single texts
    source: str | bytes = str(model)
    if weights_beside:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(weights_beside))
        source = model.read_bytes()
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
