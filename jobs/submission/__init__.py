"""What :mod:`jobs.submit` is made of: the package that is sent, the variables that go with it, the cluster's side."""
