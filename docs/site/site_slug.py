"""Anchors as GitHub makes them of a heading, so that a link to a section works in both places."""


def github(heading, separator):
    kept = (letter for letter in heading.strip().lower() if letter.isalnum() or letter in "-_ ")
    return "".join(kept).replace(" ", separator)
