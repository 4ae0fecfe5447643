"""The minimizer: ``minimize``, directions of ``descent``, ``line_search``, and ``psd``."""
