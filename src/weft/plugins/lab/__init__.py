"""The laboratory: tests of fabrics, fits, sweeps, data sets and the certificate."""
