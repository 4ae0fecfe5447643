"""How well a garment is worn: lines, seams, ease and pressure in the frames of a run."""
