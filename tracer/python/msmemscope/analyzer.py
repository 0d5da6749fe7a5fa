"""The analyzers of msmemscope: leaktide in its place."""
from leaktide_msmemscope import (InefficientAnalyzer, LeaksAnalyzer, analyze,  # noqa: F401
                                 check_inefficient, check_leaks)
