"""A scripted gripper picks a napkin up by an edge, by contact and friction, and lets it fall."""

import tempfile

import weft

cloth = weft.sheet(13, 13, "30 cm", "30 cm", fabric="cotton").move((0, "9 mm", 0))
table = weft.contact.plate(0.8, 0.8, 0.1, "table")
hand = weft.Gripper(("16.5 cm", "9 mm", 0), opening="3 cm", pads=("6 cm", "6 mm", "8 cm"))
hand = hand.close("4.5 mm", speed="10 cm/s").move_to((0.1, 0.25, 0.0), speed=0.6)
lifted = hand.wait(0.1).now.time
hand = hand.wait(0.1).open(speed=0.3)
scene = weft.Scene(
    cloth,
    bodies=[table, *hand.bodies],
    contact=weft.SelfContact(gap=4e-3, friction=0.8, lags=2),
    step=0.01,
)
with tempfile.TemporaryDirectory() as folder:
    run = weft.simulate(scene, seconds=hand.now.time + 0.4, fps=25, out=f"{folder}/run")
    heights = [run.positions(k)[:, 1].max() for k in (0, round(25 * lifted), -1)]
    print("highest point at first, lifted and let go:", [round(float(h), 3) for h in heights], "m")
