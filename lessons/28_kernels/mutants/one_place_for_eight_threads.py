"""The eight threads of a column add to one place in shared memory."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "__shared__ float parts[8][32];",
            "__shared__ float parts[8][32];\n    parts[threadIdx.y][threadIdx.x] = 0;\n    __syncthreads();",
        ),
        ("parts[threadIdx.y][threadIdx.x] = sum;", "parts[0][threadIdx.x] += sum;"),
        ("        sum += parts[k][threadIdx.x];", "        ;\n    sum = parts[0][threadIdx.x];"),
    )
)
