"""What :mod:`jobs.config` is made of: schemas, overrides, composition, and errors that fit in one line."""
