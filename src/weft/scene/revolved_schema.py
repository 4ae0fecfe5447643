"""Schema of planes, and of bodies of revolution about the y axis."""

import math
from typing import ClassVar

from pydantic import Field

from weft.base.schema.quantities import Length, Size
from weft.contact import Body, cone, cylinder, disk, plane
from weft.scene.shape_block import ShapeBlock


class PlaneBlock(ShapeBlock):
    """A level plane: a square so large that nothing leaves it, of 32 faces."""

    extent: Size = Field(20.0, gt=0, description="[m] of its sides")

    most_vertices: ClassVar[float] = 25
    most_faces: ClassVar[float] = 50

    def make(self, name: str) -> Body:
        """Build the plane."""
        return plane(self.extent, name)

    def vertices(self) -> float:
        """Return the number of vertices, which is always 25."""
        return 25.0


class CylinderBlock(ShapeBlock):
    """A cylinder with flat ends, along y."""

    radius: Size = Field(gt=0, description="[m]")
    length: Size = Field(gt=0, description="[m] between its ends")
    size: Size = Field(0.03, gt=0, description="[m] of its edges, about")

    def make(self, name: str) -> Body:
        """Build the cylinder."""
        return cylinder(self.radius, self.length, self.size, name)

    def vertices(self) -> float:
        """Estimate the vertices: those of a ring, times the rings along the side and both ends."""
        around = max(8.0, 2 * math.pi * self.radius / self.size)
        return around * (2 * self.radius / self.size + self.length / self.size + 3)


class ConeBlock(ShapeBlock):
    """A cone along y, its base below, its middle at the origin."""

    radius: Size = Field(gt=0, description="[m] of its base")
    height: Size = Field(gt=0, description="[m]")
    top: Length = Field(0.0, ge=0, description="[m] radius of a flat end above; 0: a tip")
    size: Size = Field(0.03, gt=0, description="[m] of its edges, about")

    def make(self, name: str) -> Body:
        """Build the cone."""
        return cone(self.radius, self.height, self.size, self.top, name)

    def vertices(self) -> float:
        """Estimate the vertices: those of a ring, times the rings along the side and both ends."""
        widest = max(self.radius, self.top)
        side = math.hypot(self.height, self.radius - self.top)
        return max(8.0, 2 * math.pi * widest / self.size) * (
            (self.radius + self.top + side) / self.size + 3
        )


class DiskBlock(ShapeBlock):
    """A level disk without thickness."""

    radius: Size = Field(gt=0, description="[m]")
    size: Size = Field(0.03, gt=0, description="[m] of its edges, about")

    def make(self, name: str) -> Body:
        """Build the disk."""
        return disk(self.radius, self.size, name)

    def vertices(self) -> float:
        """Estimate the vertices: those of a ring, times the rings from the middle out."""
        return max(8.0, 2 * math.pi * self.radius / self.size) * (self.radius / self.size + 1)
