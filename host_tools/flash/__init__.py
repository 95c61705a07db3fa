"""Application images and how they reach a cabinet."""
