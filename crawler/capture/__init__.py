"""What a browser receives, seen by a packet capture and opened by its own key log."""
