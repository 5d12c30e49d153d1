from conclust.generation.members import Member as Member

__all__ = [
    "Member",
]
