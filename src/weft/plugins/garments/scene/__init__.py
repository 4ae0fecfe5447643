"""Scenes with garments: blocks for patterns, mannequins and outfits."""
