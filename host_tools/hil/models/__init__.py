"""Device models: the far ends of the cabinet's lines, written from their protocols."""
