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
    seconds = 0.12 / case["speed"]
    way = {
        "interpolation": "linear",
        "hold": True,
        "keyframes": [{"time": 0}, {"time": seconds, "translation": [0, 0.12, 0]}],
    }
    fabric = {"preset": "cotton"}
    if case["limit"] == "shear":
        fabric["limit_shear"] = "12 deg"
    elif case["limit"] is not None:
        fabric["limit"] = case["limit"]
    sheet = {"nx": 8, "ny": 8, "width": 0.24, "height": 0.24, "pattern": "alternating"}
    if case["cloth"] == "random sheet":
        sheet["pattern"] = "random"
    cloth = {"name": "cloth", "sheet": sheet, "fabric": fabric}
    if case["cloth"] == "splines":
        del sheet["pattern"]
        cloth["discretization"] = "bspline"
    scene = {"step": case["step"], "seconds": seconds, "gravity": [0, case["gravity"], 0]}
    if case["cloth"] == "two sheets":
        above = {**cloth, "name": "above", "translation": [0.01, 0.012, 0.007]}
        scene["cloths"] = [cloth, above]
    else:
        scene["cloth"] = cloth
    scene["pins"] = pins(case, [c["name"] for c in scene.get("cloths", [])] or [None], seconds)
    scene["bodies"] = bodies(case["body"], way, seconds, case["speed"])
    tied = {"cloth": "cloth"} if case["cloth"] == "two sheets" else {}
    if case["attachment"] == "body":
        anchor = {"box": {"width": 0.02, "height": 0.02, "depth": 0.02}, "name": "anchor"}
        scene["bodies"].append({**anchor, "translation": [-0.12, 0.03, 0.12]})
        scene["attachments"] = [
            {**tied, "kind": "body", "corners": "bottom-left", "body": "anchor"}
        ]
    elif case["attachment"] is not None:
        scene["attachments"] = [
            {
                **tied,
                "kind": case["attachment"],
                "corners": "bottom-left",
                "at": [-0.15, 0.08, 0.15],
                "stiffness": 200,
            }
        ]
    scene["contact"] = {
        "gap": 0.003,
        "friction": case["friction"],
        "pinch": case["pinch"],
        "lags": case["lags"],
        "thickness": case["thickness"],
    }
    scene["integrator"] = integrator(case)
    if case["wind"] is not None:
        scene["wind"] = {"velocity": [case["wind"], 0, 0]}
    if case["adaptive"]:
        scene["adaptive"] = {"limit": 0.05}
    if case["bending"] is not None:
        scene["bending"] = case["bending"]
    if case["keyframes"]:
        scene["gravity"] = [{"keys": [[0, 0], [seconds, 3]]}, -9.81, 0]
    return scene


def pins(case, names, seconds):
    """What holds each sheet."""
    found = []
    for name in names:
        which = {} if name is None else {"cloth": name}
        if case["pins"] == "corners":
            found.append({**which, "corners": "all"})
        elif case["pins"] == "one corner":
            found.append({**which, "corners": "top-left"})
        else:
            right = {**which, "border": "right"}
            if case["pins"] == "moving border":
                keys = [{"time": 0}, {"time": seconds, "translation": [-0.04, 0.02, 0]}]
                right["path"] = {"keyframes": keys, "hold": True}
            found += [{**which, "border": "left"}, right]
    return found


def bodies(kind, way, seconds, speed):
    """What meets the sheet from below; of a pinch, from above, too."""
    ball = {
        "name": "ball",
        "sphere": {"radius": 0.03, "size": 0.02},
        "translation": [0.011, -0.04, 0.006],
    }
    rod = {
        "name": "rod",
        "box": {"width": 0.16, "height": 0.012, "depth": 0.012, "size": 0.03},
        "translation": [0.007, -0.03, 0.01],
        "rotation": [0, 30, 0],
    }
    if kind == "ball":
        return [{**ball, "path": way}]
    if kind == "rigid ball":
        return [{**ball, "rigid": {"density": 800, "velocity": [0, speed, 0]}}]
    if kind == "rod":
        return [{**rod, "path": way}]
    if kind == "spinning rod":
        turn = [{"time": 0}, {"time": seconds, "translation": [0, 0.1, 0], "rotation": 90}]
        return [{**rod, "path": {**way, "keyframes": turn, "axis": [1, 0.2, 0]}}]
    if kind == "blade":
        blade = {"width": 0.1, "height": 0.05, "depth": 0.002, "size": 0.03}
        return [{"name": "blade", "box": blade, "translation": [0, -0.04, 0.008], "path": way}]
    above = {
        "name": "above ball",
        "sphere": {"radius": 0.03, "size": 0.02},
        "translation": [0.002, 0.06, 0.0],
    }
    down = [{"time": 0}, {"time": seconds, "translation": [0, -0.045, 0]}]
    up = [{"time": 0}, {"time": seconds, "translation": [0, 0.035, 0]}]
    return [
        {**ball, "path": {**way, "keyframes": up}},
        {**above, "path": {**way, "keyframes": down}},
    ]


def integrator(case):
    """The integrator's block."""
    name = case["integrator"]
    settings = {"linear": case["linear"], "psd": case["psd"]}
    if name in STEPPED:
        settings["effort"] = case["effort"]
    if name == "quasi_static":
        settings["friction"] = case["friction"] > 0
        settings["max_iterations"] = 200
    return {name: settings}
