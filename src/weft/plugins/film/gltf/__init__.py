"""glTF: reader, writer and scenes."""
