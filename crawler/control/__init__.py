"""The control measurement: whether the network worked while a visit failed,
so that our faults are not blamed on sites."""
