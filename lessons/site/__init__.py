"""The course as a folder of static pages: python -m lessons.site OUT

`pages` turns Markdown and source files into pages, `formulas` LaTeX into MathML, and `folder` writes them;
`live` trains the model that runs in two of them.
"""
