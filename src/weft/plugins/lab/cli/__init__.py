"""Commands for fabrics in the laboratory, sweeps, data sets and the certificate."""
