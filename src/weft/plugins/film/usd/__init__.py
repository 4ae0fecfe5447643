"""USD: reader, writer, layers on assets, skeletons and materials."""
