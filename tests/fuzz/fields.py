"""Every field of the small scenes with every wrong value: what is said, and of which field.

python -m tests.fuzz.fields [--scene rigid] [--seed N] [--part 0.1]
"""
