"""msmemscope, or msleaks: leaktide in its place."""
from leaktide_msmemscope import *  # noqa: F401,F403
from . import analyzer  # noqa: F401
