"""The harness that runs the skill inside a Python cell.

It holds no authority: the kernel stops everything that was not granted. The harness loads the skill,
speaks the frame protocol and explains denials. A skill that tampers with it gains nothing.
"""
