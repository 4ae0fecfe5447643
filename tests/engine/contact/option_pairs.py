"""Small scenes with moving bodies in which every pair of options occurs (a covering array)."""

import itertools
import random

OPTIONS = {
    "limit": [None, 0.05, [0.08, 0.12], "shear"],
    "integrator": [
        "backward_euler",
        "bdf2",
        "quasi_static",
        "baraff_witkin_1998",
        "bdf2_semi_implicit",
    ],
    "effort": ["converged", "interactive", 3],
    "linear": ["auto", "pcg", "multigrid", "splu"],
    "psd": ["projected", "gauss_newton", "exact"],
    "step": [0.005, 0.01, 0.02],
    "speed": [0.3, 1.0, 3.0],
    "body": ["ball", "rod", "blade", "spinning rod", "pinch", "rigid ball"],
    "cloth": ["sheet", "random sheet", "splines", "two sheets"],
    "pins": ["corners", "borders", "moving border", "one corner"],
    "attachment": [None, "body", "rope", "spring"],
    "friction": [0.0, 0.4],
    "lags": [1, 3],
    "thickness": [0.0, 0.001],
    "pinch": ["stop", "thin"],
    "gravity": [0.0, -9.81],
    "wind": [None, 4.0],
    "adaptive": [False, True],
    "bending": [None, "quadratic", "fitted"],
    "keyframes": [False, True],
}
SEARCHED = ("backward_euler", "bdf2", "quasi_static")  # integrators that hear barriers
STEPPED = ("backward_euler", "bdf2")


def agrees(case):
    """Whether options that weft refuses together are apart."""
    return not (
        (case["limit"] is not None and case["integrator"] not in SEARCHED)
        or (case["effort"] != "converged" and case["integrator"] not in STEPPED)
        or (case["psd"] == "exact" and case["effort"] != "converged")
        or (case["lags"] > 1 and case["integrator"] == "quasi_static")
        or (case["wind"] is not None and case["integrator"] == "quasi_static")
        or (case["adaptive"] and case["integrator"] == "quasi_static")
        or (case["cloth"] == "splines" and case["bending"] is not None)
        or (case["integrator"] == "baraff_witkin_1998" and case["bending"] is not None)
        or (case["body"] == "rigid ball" and case["integrator"] not in SEARCHED)
    )


def cases(n, seed):
    """n cases, each the best of some random ones by how many new pairs of options it has; the
    first few hundred cover nearly all pairs that go together.
    """
    rng, seen = random.Random(seed), set()
    for _ in range(n):
        tried = []
        while len(tried) < 30:
            case = {name: rng.choice(values) for name, values in OPTIONS.items()}
            if agrees(case):
                pairs = set(itertools.combinations([(k, str(v)) for k, v in case.items()], 2))
                tried.append((len(pairs - seen), len(tried), case, pairs))
        _, _, best, pairs = max(tried)
        seen |= pairs
        yield best


def document(case):
    """The scene of a case: cloth of 24 cm, 8 x 8, and a body that goes 9 cm through its plane."""
    seconds, kind, tied = 0.12 / case["speed"], case["cloth"], case["attachment"]
    fabric = {"preset": "cotton"}
    if case["limit"] == "shear":
        fabric["limit_shear"] = "12 deg"
    elif case["limit"] is not None:
        fabric["limit"] = case["limit"]
    sheet = {"nx": 8, "ny": 8, "width": 0.24, "height": 0.24}
    cloth = {"name": "cloth", "sheet": sheet, "fabric": fabric}
    if kind == "splines":
        cloth["discretization"] = "bspline"
    else:
        sheet["pattern"] = "random" if kind == "random sheet" else "alternating"
    cloths = [cloth]
    if kind == "two sheets":
        cloths.append({**cloth, "name": "above", "translation": [0.01, 0.012, 0.007]})
    tie = {"cloth": "cloth", "kind": tied, "corners": "bottom-left"}
    anchor = {"box": dict.fromkeys(("width", "height", "depth"), 0.02), "name": "anchor"}
    end = {"at": [-0.15, 0.08, 0.15], "stiffness": 200}
    if tied == "body":
        end = {"body": "anchor"}
    sideways = {"keys": [[0, 0], [seconds, 3]]} if case["keyframes"] else 0
    scene = {
        "cloths": cloths,
        "step": case["step"],
        "seconds": seconds,
        "gravity": [sideways, -9.81 if case["keyframes"] else case["gravity"], 0],
        "pins": [p for c in cloths for p in pins(case["pins"], c["name"], seconds)],
        "bodies": bodies(case["body"], seconds, case["speed"])
        + (tied == "body") * [{**anchor, "translation": [-0.12, 0.03, 0.12]}],
        "attachments": None if tied is None else [tie | end],
        "contact": {k: case[k] for k in ("friction", "pinch", "lags", "thickness")} | {"gap": 3e-3},
        "integrator": integrator(case),
        "wind": case["wind"] and {"velocity": [case["wind"], 0, 0]},
        "adaptive": {"limit": 0.05} if case["adaptive"] else None,
        "bending": case["bending"],
    }
    return {key: value for key, value in scene.items() if value is not None}


def pins(kind, name, seconds):
    """What holds a sheet."""
    corners = {"corners": "all", "one corner": "top-left"}.get(kind)
    if corners is not None:
        return [{"cloth": name, "corners": corners}]
    left, right = ({"cloth": name, "border": side} for side in ("left", "right"))
    if kind == "moving border":
        right["path"] = way(seconds, [-0.04, 0.02, 0], "smooth")
    return [left, right]


def way(seconds, translation, between="linear", **more):
    """A path."""
    return {
        "interpolation": between,
        "hold": True,
        "keyframes": [{"time": 0}, {"time": seconds, "translation": translation, **more}],
    }


def bodies(kind, seconds, speed):
    """What meets the sheet from below; of a pinch, from above, too."""
    up, sphere = {"path": way(seconds, [0, 0.12, 0])}, {"radius": 0.03, "size": 0.02}
    ball = {"name": "ball", "sphere": sphere, "translation": [0.011, -0.04, 0.006]}
    rod = {
        "name": "rod",
        "box": {"width": 0.16, "height": 0.012, "depth": 0.012, "size": 0.03},
        "translation": [0.007, -0.03, 0.01],
        "rotation": [0, 30, 0],
    }
    blade = {"width": 0.1, "height": 0.05, "depth": 0.002, "size": 0.03}
    turn = {**way(seconds, [0, 0.1, 0], rotation=90), "axis": [1, 0.2, 0]}
    above = {"name": "above ball", "sphere": sphere, "translation": [0.002, 0.06, 0.0]}
    return {
        "ball": [ball | up],
        "rigid ball": [ball | {"rigid": {"density": 800, "velocity": [0, speed, 0]}}],
        "rod": [rod | up],
        "spinning rod": [rod | {"path": turn}],
        "blade": [{"name": "blade", "box": blade, "translation": [0, -0.04, 0.008], **up}],
        "pinch": [
            ball | {"path": way(seconds, [0, 0.035, 0])},
            above | {"path": way(seconds, [0, -0.045, 0])},
        ],
    }[kind]


def integrator(case):
    """The integrator's block."""
    name = case["integrator"]
    settings = {"linear": case["linear"], "psd": case["psd"]}
    if name in STEPPED:
        settings["effort"] = case["effort"]
    if name == "quasi_static":
        settings |= {"friction": case["friction"] > 0, "max_iterations": 200}
    return {name: settings}
