"""The course as a folder of static pages: python -m lessons.site OUT

`pages` turns Markdown and source files into pages, `formulas` LaTeX into MathML, and `folder` writes them.
`notebooks` turns the lessons into Jupyter notebooks instead.
"""
