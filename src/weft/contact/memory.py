"""Names under which contact remembers values from step to step."""

SLIP, STIFFNESS = "slip", "stiffness"  # elastic slip of friction; adaptive stiffness
RELEASED = "released"  # vertices of cloth that contact has released (``contact.released``)
