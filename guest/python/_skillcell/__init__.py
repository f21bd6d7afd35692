"""The harness: what runs inside a Python cell around the skill.

It holds no authority. The kernel stops what was not granted; the harness loads the skill,
speaks the frame protocol and reports denials in words. A skill that takes it apart gains nothing.
"""
