"""From flat patterns to meshes."""
