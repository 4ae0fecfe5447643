"""Names of pieces in five languages: part of the garment, side of the wearer, kind of garment."""

import re
import unicodedata
from dataclasses import dataclass

# Words of English, German, French, Spanish and Italian, without accents. Words of four letters or
# more are found inside of others, as in German ones; shorter ones stand alone.
_PARTS = {
    "other": "pocket yoke facing lining interfacing hood belt placket strap stay "
    "loop tasche beleg besatz futter einlage kapuze gurtel "
    "poche parementure doublure entoilage capuche patte "
    "bolsillo vista forro entretela capucha cinturon "
    "tasca paramontura fodera cappuccio",
    "cuff": "cuff manschette poignet puno polsino",
    "shoulders": "shoulders poncho cape umhang capa mantella",
    "sleeve": "sleeve slv sleev armel aermel manche manga manica",
    "back": "back rear bk bck hinter rucken ruecken hinten dos derriere espalda trasero trasera "
    "dietro posteriore schiena",
    "front": "front fr frt vorder vorn vorne devant avant delantero delantera davanti anteriore",
}
_SIDES = {
    "left": "left lft links linke linker linkes gauche izquierda izquierdo izq sinistra sinistro",
    "right": "right rgt rechts rechte rechter rechtes droite derecha derecho der destra destro",
}
_KINDS = {
    "waistband": "waistband bund ceinture pretina cintura cinturino",
    "collar": "collar neck kragen col cuello colletto collo",
    "trousers": "trouser trousers pants pant jeans shorts leg leggings hose hosen pantalon "
    "pantalons pantalones pantaloni pantalone jambe pierna gamba",
    "skirt": "skirt rock rocks jupe falda gonna",
    "top": "bodice shirt blouse top dress jacket coat oberteil hemd bluse kleid jacke mantel "
    "corsage chemise robe veste corpino camisa blusa vestido corpino camicia corpetto vestito",
}
BANDS = ("waistband", "collar")
_SHORTEST = 4  # letters of words that are found inside of others


@dataclass(frozen=True)
class PiecePlace:
    """Part, side and kind of garment that the name of a piece says.

    Args:
        part: ``front``, ``back``, ``sleeve``, ``cuff``, ``shoulders`` (on which a poncho lies),
            ``other`` (weft does not place it) or "".
        side: ``left`` or ``right`` of the wearer, or "".
        kind: ``top``, ``skirt``, ``trousers``, ``waistband``, ``collar`` or "".
    """

    part: str = ""
    side: str = ""
    kind: str = ""

    @property
    def text(self) -> str:
        """Return the place in words that ``read_place`` reads."""
        kind = "" if self.part == "shoulders" else self.kind
        return " ".join(filter(None, (self.side, kind, self.part)))

    @property
    def is_body(self) -> bool:
        """Return whether the piece is a front, a back or a sleeve."""
        return self.part in ("front", "back", "sleeve") and not self.is_band

    @property
    def is_band(self) -> bool:
        """Return whether the piece is a waistband, a collar or a cuff."""
        return self.part != "other" and (self.part == "cuff" or self.kind in BANDS)


def read_place(name: str) -> PiecePlace:
    """Return what a name says: ``SLV_Left`` is a left sleeve, ``Hosenvorderteil`` a front of
    trousers.
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    letters = unicodedata.normalize("NFD", spaced.lower())
    plain = "".join(c for c in letters if not unicodedata.combining(c))
    words = re.findall(r"[a-z]+", plain)
    return PiecePlace(*(_find(group, words) for group in (_PARTS, _SIDES, _KINDS)))


def _find(group: dict[str, str], words: list[str]) -> str:
    """Return the first entry of a group of which a word is among the words of a name."""
    for entry, text in group.items():
        for known in text.split():
            inside = len(known) >= _SHORTEST
            if known in words or (inside and any(known in word for word in words)):
                return entry
    return ""
