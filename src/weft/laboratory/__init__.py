"""Virtual tests of a textile laboratory: a fabric in, what its data sheet would say out."""
