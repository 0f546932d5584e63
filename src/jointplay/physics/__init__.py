"""The equations of planar mechanisms, one text on engine values: recorded or eager."""
