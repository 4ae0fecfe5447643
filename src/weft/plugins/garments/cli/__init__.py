"""Commands for patterns and mannequins."""
