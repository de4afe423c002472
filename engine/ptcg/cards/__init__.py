"""One file a set: a printing stands in the file of its set (PAF-54 in ``paf.py``), numbers and behaviour together."""
