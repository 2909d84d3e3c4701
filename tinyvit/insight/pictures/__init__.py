"""Everything that is drawn.

A function that draws to a path writes a PNG there, in place of what was there, at once or not at all. It
raises UserError if the picture cannot be written, and ValueError if there is nothing to draw.
"""
