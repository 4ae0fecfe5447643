"""Construction of energies from the attachments of a scene, with the exceptions for contact."""

from collections.abc import Sequence

from weft.bodies.body import Body
from weft.bodies.rigid.rigid_bodies import NONE, RigidBodies
from weft.cloth.attachments.attached import Attached
from weft.cloth.attachments.attachment import Attachment
from weft.cloth.attachments.site import Site
from weft.cloth.cloth import Cloth
from weft.energies.energy import Energy


def attached(
    attachments: Sequence[Attachment],
    cloth: Cloth,
    bodies: Sequence[Body] = (),
    reach: float | None = None,
    rigid_bodies: RigidBodies = NONE,
) -> Attached:
    """Build the energies of a scene's attachments, and the exceptions for contact.

    Args:
        attachments: attachments as the scene lists them.
        cloth: the cloth at its start.
        bodies: bodies of the scene that are not rigid.
        reach: [m] distance at which contact begins; None: there is no contact.
        rigid_bodies: rigid bodies.

    Raises:
        SceneError: an attachment is impossible, for example too far from its body.
    """
    made = [
        a.build(Site(cloth, bodies, reach, name_of(a, k), rigid_bodies))
        for k, a in enumerate(attachments)
    ]
    return Attached(
        tuple(e for m in made for e in m.energies),
        tuple(p for m in made for p in m.together),
        tuple(link for m in made for link in m.links),
        tuple(k for k, m in enumerate(made) for _ in m.energies),
    )


def updated_energies(made: Attached, attachments: Sequence[Attachment]) -> list[Energy]:
    """Return the energies of ``made`` with the numbers that its attachments have at some time.

    The attached points and places, and the exceptions for contact, remain those of the start.
    """
    own: list[list[Energy]] = [[] for _ in attachments]
    for energy, owner in zip(made.energies, made.owners):
        own[owner].append(energy)
    return [e for a, energies in zip(attachments, own) for e in a.updated(energies)]


def name_of(a: Attachment, number: int) -> str:
    """Return the name of an attachment with this index, for messages and metrics."""
    return a.name or f"attachment {number + 1}"
