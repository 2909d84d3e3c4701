"""The bench: where a page of the course lets its reader write the exercise, check it, and run the listings.

`build` gathers its files. In the reader's browser, `bench.js` is the page's part and `worker.js` runs Python
(Pyodide, which is CPython in WebAssembly) beside it, `in_page.py` being the Python that it calls. `matmul.c`,
compiled to `matmul.wasm`, makes matrix products fast enough to train; `matmul.js` hands it to NumPy.
"""
