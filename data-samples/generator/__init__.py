"""The plot of two autumn months in, the session files four recorders would have written of them out.

``story`` says who works when, on what, with which model, and what goes wrong; ``prose`` finds the words; ``tokens``
keeps the books; a module per format writes the files. Everything is drawn from seeded generators, so that the same
source always gives the same bytes.
"""
