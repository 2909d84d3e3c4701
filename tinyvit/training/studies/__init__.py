"""The paper's studies at home: the runs of each, carried out one after another, and what they found."""
