"""What models are written in: frozen values with units, motions, fits, and laws with their numbers."""
