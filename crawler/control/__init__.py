"""The control measurement: whether the network was good while a visit failed, so that no fault of ours is taken for a site's."""
