"""Level of retransmissions of single responses over slow lines."""
